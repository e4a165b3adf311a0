/* SPDX-License-Identifier: MIT */
/* --output and --save: replaces a file at once. The output goes to a new file beside it, which
 * takes its name (rename(2)) when it is complete, so readers see either the old listing or the new
 * listing. */
#ifndef CLI_REPLACEMENT_H
#define CLI_REPLACEMENT_H

#include <stdbool.h>

#include "cli/common.h"

struct replacement {
    const struct common *common;
    const char *name;   /* name of the file in `directory`; NULL: no --output */
    int directory;      /* descriptor of the file's directory */
    int fd;             /* descriptor of the new file; -1: not open */
    char temporary[32]; /* name of the new file */
};

/* Opens the directory. Returns 0, or an exit status after a line on stderr, for example because the
 * name belongs to something else than a regular file. Without --output, this function and the other
 * functions do nothing. */
int replacement_begin(struct replacement *file, const struct common *common);

/* Creates the new file, with the rights that the user has without capabilities. Returns 0, or an
 * exit status after a line on stderr. */
int replacement_open(struct replacement *file);

/* Renames the new file to `name` if `replace`, else removes it. Returns as replacement_open(). */
int replacement_close(struct replacement *file, bool replace);

/* Removes the new file if it was not renamed. May follow a replacement_begin() that failed. */
void replacement_finish(struct replacement *file);

#endif
