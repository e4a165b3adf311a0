/* Decoder for lines of /proc/net/dev. */
#ifndef BACKEND_INTERFACE_PROC_DEV_H
#define BACKEND_INTERFACE_PROC_DEV_H

#include "fastnet/query.h"

struct line;

/*
 * Fills the record from one line of PROC_ROOT/net/dev (dev_seq_printf_stats() of the kernel's
 * net/core/net-procfs.c): a name and its counters. Returns 0, or -EBADMSG if the line does not have
 * that form; the record is then of no use. The name borrows from the line.
 */
int proc_dev_decode(const struct line *line, struct record *record);

#endif
