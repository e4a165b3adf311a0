/* SPDX-License-Identifier: MIT */
/* One run of the program, and what is wrong with it. */
#ifndef MUTATE_TRIAL_H
#define MUTATE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

enum { WORDS_MAX = 64, REASON_SIZE = 256 };

struct trial {
    const char *directory;      /* takes the files out and err; sanitizers write report.PID there */
    char *words[WORDS_MAX + 1]; /* the command line, up to NULL */
    const char *helpers;        /* the directory of jsonlint and csvlint */
    bool tabs;                  /* the layout has tabs */
    char reason[REASON_SIZE];   /* what is wrong, or "" */
    char report[REASON_SIZE];   /* the name of a sanitizer's report, or "" */
};

/* Runs it to its end, or ends it; returns whether all was well. */
bool trial_run(struct trial *trial);

#endif
