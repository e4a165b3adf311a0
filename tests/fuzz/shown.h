/* SPDX-License-Identifier: MIT */
/* All that columns show of a row, to compare rows by. */
#ifndef FUZZ_SHOWN_H
#define FUZZ_SHOWN_H

#include <stdint.h>

#include "fastnet/field.h"

/* Whether a row always shows the same in this column: its age grows while it is looked at. */
bool shown_stands_still(const struct field *column);

/* Takes the text of every such column, and checks that each value is of its column's type. */
uint64_t shown_hash(uint64_t hash, const struct record *record, const struct context *context);

#endif
