/* The last line of a table: how many rows there are, in which states, and what needs attention. */
#ifndef FORMAT_SINKS_TOTALS_H
#define FORMAT_SINKS_TOTALS_H

#include "fastnet/sink.h"
#include "fastnet/value.h"

enum { TOTALS_STATES = 24, TOTALS_NAME = 24 };

/* Zeroed to start with. */
struct totals {
    uint64_t rows;
    struct {
        char name[TOTALS_NAME];
        uint64_t rows;
    } states[TOTALS_STATES]; /* those that have rows */
    uint64_t attention[ATTENTIONS];
};

/* Counts a cell of the column of states. A state too many, or with too long a name, is left out. */
void totals_add_state(struct totals *totals, const char *name, size_t length);

/*
 * Writes the line: "620 sockets: 487 TIME_WAIT, 128 ESTABLISHED; accept queue full ×2", at most
 * `width` columns of the terminal.
 */
void totals_put(struct totals *totals, const char *rows, size_t width, struct writer *writer);

#endif
