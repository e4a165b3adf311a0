/* SPDX-License-Identifier: MIT */
/* The decoder of /proc/net/softnet_stat. */
#ifndef BACKEND_COUNTER_PROC_SOFTNET_H
#define BACKEND_COUNTER_PROC_SOFTNET_H

#include <stdint.h>

#include "backend/proc/lines.h"
#include "fastnet/record.h"

/* A line of the file: the counters of a processor (softnet_seq_show() of net/core/net-procfs.c). */
enum { SOFTNET_COUNTERS = 5, SOFTNET_NAME_SIZE = 24 };
struct softnet {
    char name[SOFTNET_NAME_SIZE]; /* "Cpu7" */
    uint32_t values[SOFTNET_COUNTERS];
    size_t count; /* how many of them this kernel has */
};

/*
 * number: of the line, the first is 1. Kernels before 5.10 do not say which processor a line is of:
 * then it is taken from the number, which is wrong behind a processor that is not in use. Returns 0
 * or -EBADMSG.
 */
int softnet_decode(const struct line *line, size_t number, struct softnet *softnet);

/* Makes the row of one counter (below softnet->count), which borrows its protocol from softnet. */
void softnet_row(const struct softnet *softnet, size_t i, struct record *record);

#endif
