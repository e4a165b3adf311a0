/* SPDX-License-Identifier: MIT */
/*
 * Problems of a listing: gathered while it runs, printed on stderr when it ends, each once and in
 * one line. Backends and lookups add to it; only the command line prints it.
 */
#ifndef FASTNET_REPORT_H
#define FASTNET_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { REPORT_LINES = 16, REPORT_LENGTH = 384 };

struct report {
    bool partial;     /* rows may be missing: exit status 1 */
    bool unreadable;  /* a table that may exist could not be read */
    bool ended;       /* a required table is missing: do not run again */
    bool verbose;     /* details are wanted, too */
    uint64_t listed;  /* rows that were handed to the sink, counted, or remembered for --delta */
    uint64_t unshown; /* rows, or groups, that the listing has no place for (listing.most) */
    size_t count;
    bool verbatim[REPORT_LINES];
    char lines[REPORT_LINES][REPORT_LENGTH];
};

enum report_line { REPORT_NOTE, REPORT_VERBATIM, REPORT_LOSS };

/* Adds a line, unless the report has it already. */
void report_add(struct report *report, enum report_line what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A line that does not change the exit status. */
#define report_note(report, ...) report_add((report), REPORT_NOTE, __VA_ARGS__)
/* The same, but printed unchanged: not escaped, without a program name before it. */
#define report_verbatim(report, ...) report_add((report), REPORT_VERBATIM, __VA_ARGS__)
/* A problem that may have cost rows: the exit status is 1. */
#define report_loss(report, ...) report_add((report), REPORT_LOSS, __VA_ARGS__)

/* A note about something that is as it should be, for users who ask for it. */
#define report_detail(report, ...)                                                                 \
    ((report)->verbose ? report_note((report), __VA_ARGS__) : (void)0)

/* Hands on what another report says, if rows may be missing there. */
void report_hand_on(struct report *report, const struct report *losses);

/*
 * Adds what one of many looks says: not the lines that an earlier look has said, which may differ
 * in their numbers. said: lines of earlier looks, to which new ones are added.
 */
void report_add_news(struct report *report, const struct report *look, struct report *said);

/* Prints each line as "PROGRAM: line" and forgets it; partial stays. */
void report_print(struct report *report, FILE *stream, const char *program);

#endif
