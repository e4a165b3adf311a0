/* SPDX-License-Identifier: MIT */
/*
 * --output: a file that is replaced at once. What is written goes to a new file beside it, which
 * takes its name (rename(2)) when all of it is there: readers see the old listing or the new one.
 */
#ifndef CLI_REPLACEMENT_H
#define CLI_REPLACEMENT_H

#include <stdbool.h>

#include "cli/common.h"

struct replacement {
    const struct common *common;
    const char *name;   /* of the file in the directory; NULL: there is no --output */
    int directory;      /* its directory */
    int fd;             /* of the new file; -1: none */
    char temporary[32]; /* its name */
};

/*
 * Opens the directory. Returns 0, or an exit status after a line on stderr: what has the file's
 * name must be a regular file. Without --output it does nothing, and neither do the others.
 */
int replacement_begin(struct replacement *file, const struct common *common);

/*
 * Makes the new file, with the rights that the user has without capabilities. Returns 0, or an exit
 * status after a line on stderr.
 */
int replacement_open(struct replacement *file);

/* Lets the new file take the name, or removes it. Returns as replacement_open(). */
int replacement_close(struct replacement *file, bool replace);

/* Accepts one whose replacement_begin() failed. */
void replacement_finish(struct replacement *file);

#endif
