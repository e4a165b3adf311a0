/* SPDX-License-Identifier: MIT */
/* The share of an interface's traffic that the listed flows have, in words. */
#include <stdio.h>

#include "cli/traffic/traffic.h"

/* At most 100: the interface and fastnet read their counters at different times, and not every
 * interface counts VLAN tags. */
static double percent(uint64_t part, uint64_t whole)
{
    return part >= whole ? 100 : 100.0 * (double)part / (double)whole;
}

const char *traffic_count_prefix(const struct predicate *where)
{
    return predicate_needs(where).lookups ? "at most " : "";
}

void traffic_put_share(const struct traffic_share *share, const struct predicate *where,
                       char text[SHARE_TEXT])
{
    char frames[48] = "";

    if (share->counted_frames)
        snprintf(frames, sizeof frames, " and %.3g %% of the frames",
                 percent(share->frames, share->counted_frames));
    snprintf(text, SHARE_TEXT, "these flows%s are %s%.3g %% of the bytes%s that %s counted",
             where ? " (after the filter)" : "", traffic_count_prefix(where),
             percent(share->bytes, share->counted_bytes), frames, share->name);
}
