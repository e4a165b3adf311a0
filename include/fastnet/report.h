/*
 * What could not be had, gathered while a listing runs and said on stderr when it ends: each
 * matter once, in one line. Backends and lookups add to it; only the command line prints it.
 */
#ifndef FASTNET_REPORT_H
#define FASTNET_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { REPORT_LINES = 16, REPORT_LENGTH = 384 };

struct report {
    bool partial;    /* rows may be missing: exit status 1 */
    bool refused;    /* a table is there, as far as is known, but not to be had */
    bool ended;      /* what was asked for is not there: no use in asking again */
    uint64_t listed; /* rows that were handed to the sink, counted, or remembered for --delta */
    size_t count;
    bool verbatim[REPORT_LINES];
    char lines[REPORT_LINES][REPORT_LENGTH];
};

/* Adds a line that changes no exit status; the same line is kept once. */
void report_note(struct report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for a matter that may have cost rows: the listing exits 1. */
void report_loss(struct report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same as a note, but printed as it stands, with no program name before it. */
void report_verbatim(struct report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes what was gathered as "PROGRAM: line" and forgets it; partial stays. */
void report_print(struct report *report, FILE *stream, const char *program);

#endif
