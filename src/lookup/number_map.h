/* SPDX-License-Identifier: MIT */
/* A hash table of numbers and their names. It also remembers that a number has no name. */
#ifndef LOOKUP_NUMBER_MAP_H
#define LOOKUP_NUMBER_MAP_H

#include "fastnet/hash_table.h"

/* Must be the first member of each element. */
struct number_name {
    uint64_t number;
    char *name; /* owned; NULL: the number has no name */
};

/* Returns NULL if the number was never stored. */
void *number_map_find(const struct hash_table *map, uint64_t number);
/* Returns the name; NULL if the number was never stored or has no name. */
const char *number_map_name(const struct hash_table *map, uint64_t number);

/* Stores a copy of `name` (or NULL), in place of an earlier name. `size` is the size of every
 * element; a new element is all zero after its struct number_name. Returns the element, or NULL
 * when memory is short. */
void *number_map_put(struct hash_table *map, uint64_t number, const char *name, size_t size);

void number_map_finish(struct hash_table *map);

#endif
