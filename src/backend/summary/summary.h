/* SPDX-License-Identifier: MIT */
/* The decoder of /proc/net/protocols. */
#ifndef BACKEND_SUMMARY_SUMMARY_H
#define BACKEND_SUMMARY_SUMMARY_H

#include <stdint.h>

#include "backend/proc/lines.h"
#include "fastnet/text.h"

/* Takes from a line how many sockets of a protocol this network namespace has (proto_seq_printf()
 * of net/core/sock.c). The name borrows from the line. Returns 0, or -EBADMSG, also for the heading
 * and for a protocol whose sockets are not counted (-1). */
int protocols_decode(const struct line *line, struct text *name, uint64_t *sockets);

#endif
