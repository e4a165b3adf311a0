#include "format/interface/interface_names.h"
#include "fastnet/array.h"

#include <linux/if_arp.h>
#include <stddef.h>

static const char *const flag_bits[] = {
    "UP",        "BROADCAST", "DEBUG",    "LOOPBACK", "POINTOPOINT", "NOTRAILERS", "RUNNING",
    "NOARP",     "PROMISC",   "ALLMULTI", "MASTER",   "SLAVE",       "MULTICAST",  "PORTSEL",
    "AUTOMEDIA", "DYNAMIC",   "LOWER_UP", "DORMANT",  "ECHO",
};
const struct flag_names interface_flag_names = {flag_bits, COUNT(flag_bits)};

const char *interface_state_name(uint64_t state)
{
    static const char *const names[] = {
        "UNKNOWN", "NOTPRESENT", "DOWN", "LOWERLAYERDOWN", "TESTING", "DORMANT", "UP",
    };

    return state < COUNT(names) ? names[state] : NULL;
}
