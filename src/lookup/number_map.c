/* SPDX-License-Identifier: MIT */
#include "lookup/number_map.h"

#include <stdlib.h>
#include <string.h>

#include "fastnet/hash.h"

void *number_map_find(const struct hash_table *map, uint64_t number)
{
    return hash_table_find_number(map, hash_word(0, number), number);
}

const char *number_map_name(const struct hash_table *map, uint64_t number)
{
    const struct number_name *known = number_map_find(map, number);

    return known ? known->name : NULL;
}

void *number_map_put(struct hash_table *map, uint64_t number, const char *name, size_t size)
{
    struct number_name *kept = number_map_find(map, number);
    char *copy = NULL;

    if (name && !(copy = strdup(name)))
        return NULL;
    if (!kept && !(kept = hash_table_add(map, hash_word(0, number), size))) {
        free(copy);
        return NULL;
    }
    free(kept->name);
    kept->number = number;
    kept->name = copy;
    return kept;
}

void number_map_finish(struct hash_table *map)
{
    for (size_t i = 0; i < map->count; i++)
        free(((struct number_name *)hash_table_at(map, i))->name);
    hash_table_finish(map);
}
