/* SPDX-License-Identifier: MIT */
/* What the files of fastnet traffic share. traffic.c lists, live.c is the table on a terminal. */
#ifndef CLI_TRAFFIC_TRAFFIC_H
#define CLI_TRAFFIC_TRAFFIC_H

#include "cli/command.h"
#include "fastnet/traffic.h"

struct traffic_command {
    struct common common;  /* first */
    const char *interface; /* NULL: any */
    unsigned milliseconds;
    uint64_t flows, threads; /* 0: as many as are usual */
    bool live;
    unsigned tick_ms; /* live: between two looks */
    struct traffic *traffic;
    struct listing_command listing;
};

/* How much of what an interface counted these flows are. Its name is not escaped. */
enum { SHARE_TEXT = 200 };
void traffic_put_share(const struct traffic_share *share, const struct predicate *where,
                       char text[SHARE_TEXT]);
/* Before a number of flows that a filter chose: they are added up before owners are known. */
const char *traffic_at_most(const struct predicate *where);

/* listing_command.go_on */
int traffic_live(struct listing_command *command, struct engine *engine, struct sink *sink);

#endif
