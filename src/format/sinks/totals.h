/* SPDX-License-Identifier: MIT */
/* The last line of a table: the number of rows, their states, and what needs attention. */
#ifndef FORMAT_SINKS_TOTALS_H
#define FORMAT_SINKS_TOTALS_H

#include "fastnet/sink.h"
#include "fastnet/value.h"

enum { TOTALS_STATES = 24, TOTALS_NAME = 24, TOTALS_REASONS = 8 };

/* Must be zeroed before use. */
struct totals {
    uint64_t rows, marked; /* marked: rows that need attention */
    struct {
        char name[TOTALS_NAME];
        uint64_t rows;
    } states[TOTALS_STATES];          /* states that have rows */
    uint64_t reasons[TOTALS_REASONS]; /* rows with this bit of the set "attention" */
};

/* Counts a state's cell. Ignores names that are too long, and states beyond TOTALS_STATES. */
void totals_add_state(struct totals *totals, const char *name, size_t length);

/* Writes the line "620 sockets: 487 TIME_WAIT, 128 ESTABLISHED; accept queue full ×2; see:
 * COMMAND". Without the command it is at most as wide as the terminal. */
void totals_put(struct totals *totals, const struct sink_options *options);

#endif
