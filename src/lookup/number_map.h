/* A number to its name, or to the knowledge that it has none. */
#ifndef LOOKUP_NUMBER_MAP_H
#define LOOKUP_NUMBER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct number_name {
    uint32_t number;
    bool used;
    int detail; /* whatever else is kept with the number, 0 at first */
    char *name; /* owned; NULL: has none */
};

/* Zeroed it is empty. */
struct number_map {
    struct number_name *slots;
    unsigned bits;
    size_t count;
};

/* NULL when the number was never put. */
const struct number_name *number_map_find(const struct number_map *map, uint32_t number);

/* Copies the name (or NULL), in place of an earlier one. Returns what is kept, NULL without memory.
 */
struct number_name *number_map_put(struct number_map *map, uint32_t number, const char *name);

void number_map_finish(struct number_map *map);

#endif
