/* SPDX-License-Identifier: MIT */
/* Predicates, as tests make them and read them. */
#ifndef UNIT_PREDICATES_H
#define UNIT_PREDICATES_H

#include "fastnet/predicate.h"

/* The whole of these parts, which are linked; in their order. */
struct predicate whole_of(enum predicate_operator operation, struct predicate *parts, size_t count);
#define WHOLE_OF(operation, parts) whole_of(operation, parts, sizeof(parts) / sizeof *(parts))

/*
 * In words, until the next call: "mark & 0xf0 = 0x10 and (src_nat_port = 80 or labels is known)".
 * The parts stand in the order in which they were added. NULL is "all".
 */
const char *said_of(const struct predicate *predicate);

#endif
