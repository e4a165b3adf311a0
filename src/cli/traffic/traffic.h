/* SPDX-License-Identifier: MIT */
/* Declarations of fastnet traffic. traffic.c lists, traffic_screen.c is the screen. */
#ifndef CLI_TRAFFIC_TRAFFIC_H
#define CLI_TRAFFIC_TRAFFIC_H

#include "cli/command.h"
#include "fastnet/traffic.h"

struct traffic_command {
    struct common common;  /* must be first */
    const char *interface; /* NULL: any interface */
    unsigned milliseconds;
    uint64_t flows, threads; /* 0: the default number */
    bool screen;
    unsigned tick_ms; /* for a screen: time between two samples */
    struct traffic *traffic;
    struct listing_command listing;
};

/* Writes the listed flows' share of an interface's traffic. The interface's name is not escaped. */
enum { SHARE_TEXT = 200 };
void traffic_put_share(const struct traffic_share *share, const struct predicate *where,
                       char text[SHARE_TEXT]);
/* "at most ", or "" if the number of flows is exact. A filter by owners makes it a limit, because
 * flows are added up before owners are known. */
const char *traffic_count_prefix(const struct predicate *where);

/* Runs the screen. For the member run_endless of struct listing_command. */
int traffic_screen_run(struct listing_command *command, struct engine *engine, struct sink *sink);

#endif
