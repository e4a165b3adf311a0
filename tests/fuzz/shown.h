/* All that columns show of a row, to compare rows by. */
#ifndef FUZZ_SHOWN_H
#define FUZZ_SHOWN_H

#include <stdint.h>

#include "fastnet/column.h"

/* Takes the text of every column, and checks that each value is of its column's type. */
uint64_t shown_hash(uint64_t hash, const struct record *record, const struct context *context);

#endif
