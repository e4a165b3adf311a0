/* A number to its name, or to the knowledge that it has none, in a hash table. */
#ifndef LOOKUP_NUMBER_MAP_H
#define LOOKUP_NUMBER_MAP_H

#include "fastnet/hash_table.h"

/* What each element begins with. */
struct number_name {
    uint32_t number;
    char *name; /* owned; NULL: has none */
};

/* NULL when the number was never put. */
void *number_map_find(const struct hash_table *map, uint32_t number);

/*
 * Copies the name (or NULL), in place of an earlier one. `size` is that of every element; behind
 * the name a new one holds zeroes. Returns the element, NULL when memory is short.
 */
void *number_map_put(struct hash_table *map, uint32_t number, const char *name, size_t size);

void number_map_finish(struct hash_table *map);

#endif
