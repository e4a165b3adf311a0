/* SPDX-License-Identifier: MIT */
/* The words of a filter: from the command line, then from a file. */
#ifndef CLI_SS_SS_WORDS_H
#define CLI_SS_SS_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/text.h"

/* Arguments and lines are split at spaces and tabs; \ quotes the next byte. Zeroed: no words. */
struct ss_words {
    const char *const *arguments; /* borrowed */
    size_t count;
    char *lines; /* lines of the file, each terminated; owned */
    size_t size;

    size_t argument, line; /* the next argument (index) and line (offset) to read */
    const char *at;        /* position in an argument or a line, or NULL */
};

/* Reads a file; "-" is standard input. Skips empty lines and lines that begin with # or 0. Returns
 * 0 or -errno: -EILSEQ for a NUL byte, -EFBIG for more than 16 MiB. */
int ss_words_read(struct ss_words *words, const char *path);

/* Finds the next word, still with its backslashes. Returns false after the last word. */
bool ss_words_next(struct ss_words *words, struct text *word);

void ss_words_finish(struct ss_words *words);

#endif
