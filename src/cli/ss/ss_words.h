/* SPDX-License-Identifier: MIT */
/* The words of a filter: from the command line, then from a file. */
#ifndef CLI_SS_SS_WORDS_H
#define CLI_SS_SS_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/text.h"

/*
 * Each argument is split at blanks and tabs; a backslash takes the next byte as it is. Zeroed: no
 * words.
 */
struct ss_words {
    const char *const *arguments; /* borrowed */
    size_t count;
    char *lines; /* those of the file, each terminated; owned */
    size_t size;

    size_t argument, line; /* read before these */
    const char *at;        /* inside one, or NULL */
};

/*
 * Reads a file, "-" for standard input. Lines that begin with # or 0 are skipped. Returns 0 or
 * -errno: -EILSEQ for a byte 0, -EFBIG for more than 16 MiB.
 */
int ss_words_read(struct ss_words *words, const char *path);

/* The next word, as typed: still with backslashes. Returns false behind the last. */
bool ss_words_next(struct ss_words *words, struct text *word);

void ss_words_finish(struct ss_words *words);

#endif
