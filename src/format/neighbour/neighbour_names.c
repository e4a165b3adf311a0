#include "fastnet/neighbour_names.h"

#include <linux/neighbour.h>
#include <string.h>
#include <strings.h>

#include "fastnet/array.h"

static const struct {
    uint16_t state;
    const char *name;
} states[] = {
    {NUD_NONE, "NONE"},     {NUD_INCOMPLETE, "INCOMPLETE"}, {NUD_REACHABLE, "REACHABLE"},
    {NUD_STALE, "STALE"},   {NUD_DELAY, "DELAY"},           {NUD_PROBE, "PROBE"},
    {NUD_FAILED, "FAILED"}, {NUD_NOARP, "NOARP"},           {NUD_PERMANENT, "PERMANENT"},
};

const char *neighbour_state_name(uint64_t state)
{
    for (size_t i = 0; i < COUNT(states); i++)
        if (states[i].state == state)
            return states[i].name;
    return NULL;
}

int neighbour_state_number(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT(states); i++)
        if (strlen(states[i].name) == length && strncasecmp(states[i].name, name, length) == 0)
            return states[i].state;
    return -1;
}

/* NTF_*, then NTF_EXT_*; some linux/neighbour.h lack the newest of them. */
static const char *const flag_bits[] = {
    "use",    "self",   "master",  "proxy",  "extern_learn", "offloaded",
    "sticky", "router", "managed", "locked", "extern_valid",
};
const struct flag_names neighbour_flag_names = {flag_bits, COUNT(flag_bits)};
