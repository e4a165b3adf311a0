/* SPDX-License-Identifier: MIT */
/* Problems of a listing: collected while it runs, printed on stderr at its end, each problem once,
 * as one line. Backends and lookups add problems; only cli prints them. */
#ifndef FASTNET_REPORT_H
#define FASTNET_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { REPORT_LINES = 16, REPORT_LENGTH = 384 };

/* Problems that wait to be printed, and their consequences. */
struct report {
    bool partial;    /* rows may be missing: exit status 1 */
    bool unreadable; /* a table that may exist could not be read */
    bool found;      /* a table was read, all of it or a part */
    /* Network namespaces that the user did not ask for (listing.netns_implied) were not read. */
    bool netns_unread;
    bool ended;       /* a required table is missing: do not run again */
    bool verbose;     /* the user wants details, too */
    uint64_t listed;  /* rows sent to the sink, counted, or remembered for --delta */
    uint64_t unshown; /* number of rows or groups beyond listing.most */
    size_t count;
    /* true: print the line unchanged */
    bool verbatim[REPORT_LINES];
    char lines[REPORT_LINES][REPORT_LENGTH];
};

enum report_line { REPORT_NOTE, REPORT_VERBATIM, REPORT_LOSS };

/* Adds a line, unless the report has the same line. */
void report_add(struct report *report, enum report_line what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a line that does not change the exit status. */
#define report_note(report, ...) report_add((report), REPORT_NOTE, __VA_ARGS__)
/* As report_note(), but the line is printed unchanged: not escaped, without the program's name. */
#define report_verbatim(report, ...) report_add((report), REPORT_VERBATIM, __VA_ARGS__)
/* Adds a problem that may have lost rows: the exit status is 1. */
#define report_loss(report, ...) report_add((report), REPORT_LOSS, __VA_ARGS__)

/* Adds a note about something that is not a problem, if the user wants details. */
#define report_detail(report, ...)                                                                 \
    ((report)->verbose ? report_note((report), __VA_ARGS__) : (void)0)

/* Reports the lines of `losses` as losses, if losses->partial is set (rows may be missing). */
void report_hand_on(struct report *report, const struct report *losses);

/* Adds the report of a sample, without lines that an earlier sample had; lines that differ only in
 * numbers count as equal. reported: all lines of earlier samples; new lines are added. */
void report_add_news(struct report *report, const struct report *sample, struct report *reported);

/* Prints each line as "PROGRAM: line" and removes it; `partial` stays. */
void report_print(struct report *report, FILE *stream, const char *program);

#endif
