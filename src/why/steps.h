/* SPDX-License-Identifier: MIT */
/* Rows about evidence: one for each step of the explanation. */
#ifndef WHY_STEPS_H
#define WHY_STEPS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "fastnet/addresses.h"
#include "fastnet/query.h"
#include "fastnet/record.h"
#include "why/evidence.h"
#include "why/verdicts.h"

/* A row in the making. */
struct step_row {
    struct record record;
    FILE *stream; /* writes to `text` */
    char text[2 * VERDICT_TEXT];
    char netns[NAME_MAX + 1];
};

/* Begins a row; then the caller writes the result to row->stream. Returns false if there is no
 * memory. Each row that was begun is ended. */
bool step_row_begin(struct step_row *row, enum step step, const char *source);
/* Passes the row to `fn` if it is wanted. Returns 0 or the error of `fn`. */
int step_row_end(struct step_row *row, bool wanted, record_fn fn, void *arg);
/* Writes the process, and sets the columns. Name "": unknown. */
void step_row_process(struct step_row *row, const char *name, uint32_t pid);
/* Sets the column of the network namespace, without writing it. */
void step_row_netns(struct step_row *row, const struct evidence_netns *netns);

/* The steps of an explanation: the evidence, and texts that are not part of it. */
struct steps {
    const struct evidence *evidence;
    const struct addresses *addresses; /* all addresses of the name */
    uint64_t name_elapsed;             /* time of the lookup, ns */
    const char *first; /* why the first address is left out: "unreachable"; NULL: it is explained */
    const char *unseen;   /* why dropped packets could not be noted; NULL: they were noted */
    bool probed, watched; /* an attempt was made; attempts of others were watched */
    record_fn fn;
    void *arg;
};

/* Passes all rows, except the answer, to steps->fn. Returns 0 or its error. */
int steps_emit(const struct steps *steps);
int steps_emit_answer(const struct steps *steps, const struct verdict *verdict);

#endif
