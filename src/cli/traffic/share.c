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
    char frames[64] = "", rounded[TEXT_ROUNDED];

    if (share->counted_frames)
        snprintf(frames, sizeof frames, " and %s %% of the frames",
                 text_rounded(rounded, percent(share->frames, share->counted_frames)));
    snprintf(text, SHARE_TEXT, "these flows%s are %s%s %% of the bytes%s that %s counted",
             where ? " (after the filter)" : "", traffic_count_prefix(where),
             text_rounded(rounded, percent(share->bytes, share->counted_bytes)), frames,
             share->name);
}
