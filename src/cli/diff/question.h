/* SPDX-License-Identifier: MIT */
/* The question of a saved listing: the command line that the head of its file records. The file may
 * be a stranger's, so only commands that list are known, and only options that choose rows or
 * columns are run again. */
#ifndef CLI_DIFF_QUESTION_H
#define CLI_DIFF_QUESTION_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/personality.h"

/* A command that lists rows, and its options as names (or letters, without a name) separated by
 * spaces. */
struct lister {
    int (*run)(int argc, char *const argv[]);
    const struct grammar *grammar;
    const char *rows;  /* options that choose the rows */
    const char *shows; /* options that choose columns or their order, or have no effect */
};

enum { QUESTION_WORDS_MAX = 256, QUESTION_BYTES = 16384, QUESTION_MESSAGE = 512 };

struct question {
    const struct lister *lister;     /* NULL: `message` says why it is not known */
    char *words[QUESTION_WORDS_MAX]; /* to run again, without options for output */
    bool shows[QUESTION_WORDS_MAX];  /* the word does not choose rows */
    size_t count;
    bool has_columns; /* --columns names all columns to show */
    bool is_limited;  /* it shows only some of its rows (--limit) */
    bool is_refused;  /* must not be run again: `message` says why */
    char message[QUESTION_MESSAGE];
    char bytes[QUESTION_BYTES];
    size_t used;
};

/* Reads the arguments of a head. */
void question_read(struct question *question, const char *const *arguments);

/* True if both ask for the same rows. */
bool question_is_same(const struct question *one, const struct question *other);

#endif
