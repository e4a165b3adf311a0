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
void traffic_put_share(const struct traffic_share *share, bool filtered, char text[SHARE_TEXT]);

/* listing_command.go_on */
int traffic_live(struct listing_command *command, struct engine *engine, struct sink *sink);

#endif
