/* SPDX-License-Identifier: MIT */
/* fastnet top and fastnet closed with --count-by: groups of connections, with their turnover. */
#ifndef CLI_TOP_COUNTED_H
#define CLI_TOP_COUNTED_H

#include "cli/top/top.h"

/* Creates top->grouped, and makes top->listing a copy of the command's listing that is not counted.
 * Returns 0 or -ENOMEM. */
int counted_create(struct top *top);
void counted_destroy(struct counted *counted);

/* Creates the live store, and takes the first sample. Returns 0 or -errno. */
int counted_begin(struct counted *counted, struct report *report);

/* Lists the groups. Call it after a sample of all sockets. Returns 0 or -errno. */
int counted_list(struct counted *counted, struct sink *sink, struct report *report);

/* Shows the groups on a terminal. Returns the exit status. */
int counted_screen(struct counted *counted, struct writer *writer);

#endif
