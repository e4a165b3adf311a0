/* SPDX-License-Identifier: MIT */
/* A listing of now, which a child of this program makes as saved rows. */
#ifndef CLI_DIFF_NOW_H
#define CLI_DIFF_NOW_H

#include <sys/types.h>

#include "cli/diff/question.h"

struct now_listing {
    pid_t child; /* 0: none */
    int rows;    /* descriptor to read the rows from */
};

/* Starts the child, which runs the command of the question. Neither a shell nor another program is
 * started. Returns 0 or -errno. */
int now_begin(struct now_listing *now, const struct question *question);

/* Closes the descriptor, and waits for the child. Returns its exit status; -1: a signal ended it.
 */
int now_finish(struct now_listing *now);

#endif
