/* SPDX-License-Identifier: MIT */
/* Rows about evidence: one for each step of the explanation. */
#ifndef WHY_STEPS_H
#define WHY_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/addresses.h"
#include "fastnet/query.h"
#include "why/evidence.h"
#include "why/verdicts.h"

/* What steps say beside the evidence. */
struct steps {
    const struct evidence *evidence;
    const struct addresses *addresses; /* of the name */
    uint64_t name_elapsed;             /* time of the lookup, ns */
    const char *first;    /* why the first address is not explained: "unreachable"; NULL: it is */
    const char *unseen;   /* why dropped packets could not be noted; NULL: they were */
    bool probed, watched; /* an attempt was made; attempts of others were watched */
    record_fn fn;
    void *arg;
};

/* Passes all rows, except the answer, to steps->fn. Returns 0 or its error. */
int steps_emit(const struct steps *steps);
int steps_emit_answer(const struct steps *steps, const struct verdict *verdict);

#endif
