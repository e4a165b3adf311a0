/* SPDX-License-Identifier: MIT */
/*
 * Sockets that packets were for, by the addresses of the packets (packet_sockets.h): for kernels
 * that do not tell them (before Linux 6.11).
 */
#ifndef WATCH_DROP_SOCKETS_H
#define WATCH_DROP_SOCKETS_H

#include "watch/packet_sockets.h"

struct drop_watch;

/*
 * For each drop of the watch in the namespace that this thread is in, with this id, looks for the
 * socket among those of TCP and UDP: fitting[] has a place for each drop. Returns 0 or -errno.
 */
int drop_sockets_find(struct engine *engine, const struct drop_watch *watch, uint64_t id,
                      struct fitting *fitting, struct report *report);

/* Sets the socket of a drop that has none, if exactly one fits. */
void drop_sockets_take(const struct fitting *fitting, struct record *record);

#endif
