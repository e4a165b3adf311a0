#include "format/neighbour/neighbour_names.h"

#include <linux/neighbour.h>

#include "fastnet/array.h"

const char *neighbour_state_name(uint64_t state)
{
    switch (state) {
    case NUD_NONE:
        return "NONE";
    case NUD_INCOMPLETE:
        return "INCOMPLETE";
    case NUD_REACHABLE:
        return "REACHABLE";
    case NUD_STALE:
        return "STALE";
    case NUD_DELAY:
        return "DELAY";
    case NUD_PROBE:
        return "PROBE";
    case NUD_FAILED:
        return "FAILED";
    case NUD_NOARP:
        return "NOARP";
    case NUD_PERMANENT:
        return "PERMANENT";
    default:
        return NULL;
    }
}

/* NTF_*, then NTF_EXT_*; some linux/neighbour.h lack the newest of them. */
static const char *const flag_bits[] = {
    "use",    "self",   "master",  "proxy",  "extern_learn", "offloaded",
    "sticky", "router", "managed", "locked", "extern_valid",
};
const struct flag_names neighbour_flag_names = {flag_bits, COUNT(flag_bits)};
