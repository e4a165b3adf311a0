/* SPDX-License-Identifier: MIT */
/* A hash table of numbers and their names. It also remembers that a number has no name. */
#ifndef LOOKUP_NUMBER_MAP_H
#define LOOKUP_NUMBER_MAP_H

#include "fastnet/hash_table.h"

/* The first member of each element. */
struct number_name {
    uint64_t number;
    char *name; /* owned; NULL: has none */
};

/* NULL if the number was never put. */
void *number_map_find(const struct hash_table *map, uint64_t number);
/* Its name; NULL if it has none, too. */
const char *number_map_name(const struct hash_table *map, uint64_t number);

/*
 * Stores a copy of the name (or NULL) and frees an earlier one. `size` is that of every element; a
 * new one is all zeroes after the name. Returns the element, or NULL when memory is short.
 */
void *number_map_put(struct hash_table *map, uint64_t number, const char *name, size_t size);

void number_map_finish(struct hash_table *map);

#endif
