/* SPDX-License-Identifier: MIT */
/*
 * Records that bytes describe: any fields, but of a shape that record.h allows. A field that
 * record.has does not name holds anything, a pointer to nowhere too.
 */
#ifndef FUZZ_MADE_RECORDS_H
#define FUZZ_MADE_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "fastnet/record.h"

enum { MADE_OWNED_MAX = 24, MADE_ADDRESSES_MAX = 3, MADE_ROWS_MAX = 3 };

struct made_record {
    struct record record;
    void *owned[MADE_OWNED_MAX]; /* what it borrows */
    size_t owned_count;
};

/* The kind of a number: each kind that backends hand on has one. */
const struct kind *made_kind(uint8_t number);

/* A record of the kind of that number. */
void made_record_init(struct made_record *made, uint8_t kind, struct bytes *bytes);

/* Frees what the record borrows. */
void made_record_finish(struct made_record *made);

/* The fields of a socket, and those that come with every one of them. */
static inline uint64_t socket_fields_with(uint64_t has)
{
    return has | ((has & SOCKET_TCP_INFO) ? SOCKET_TCP_BASICS : 0) |
           ((has & SOCKET_MEMORY) ? SOCKET_DROPS : 0);
}

#endif
