/*
 * Records that bytes describe: any fields, but of a shape that record.h allows. A field that
 * record.has does not name holds anything, a pointer to nowhere too.
 */
#ifndef FUZZ_MADE_RECORDS_H
#define FUZZ_MADE_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "fastnet/record.h"

enum { MADE_TEXTS_MAX = 8, MADE_ADDRESSES_MAX = 3 };

/* What an input has left; behind its end there are zeroes. */
struct bytes {
    const uint8_t *at, *end;
};

uint8_t bytes_take(struct bytes *bytes);

struct made_record {
    struct record record;
    void *owned[MADE_TEXTS_MAX + 1]; /* what it borrows */
    size_t owned_count;
};

void made_record_init(struct made_record *made, enum record_kind kind, struct bytes *bytes);

/* Frees what the record borrows. */
void made_record_finish(struct made_record *made);

/* A text of its own of the next bytes. */
struct text made_record_text(struct made_record *made, struct bytes *bytes);

#endif
