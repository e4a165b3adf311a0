#include "lookup/number_map.h"

#include <stdlib.h>
#include <string.h>

enum { BITS_FIRST = 5 };

/* Where the number is, or belongs; there is always a free slot. */
static struct number_name *slot_of(struct number_name *slots, unsigned bits, uint32_t number)
{
    const size_t mask = ((size_t)1 << bits) - 1;
    size_t slot = number * UINT32_C(0x9e3779b9) >> (32 - bits);
    while (slots[slot].used && slots[slot].number != number)
        slot = (slot + 1) & mask;
    return &slots[slot];
}

static bool grow(struct number_map *map)
{
    const unsigned bits = !map->slots ? BITS_FIRST : map->bits + 1;
    struct number_name *slots = calloc((size_t)1 << bits, sizeof *slots);
    if (!slots)
        return false;
    if (map->slots)
        for (size_t i = 0; i < (size_t)1 << map->bits; i++)
            if (map->slots[i].used)
                *slot_of(slots, bits, map->slots[i].number) = map->slots[i];
    free(map->slots);
    map->slots = slots;
    map->bits = bits;
    return true;
}

const struct number_name *number_map_find(const struct number_map *map, uint32_t number)
{
    if (!map->slots)
        return NULL;
    const struct number_name *slot = slot_of(map->slots, map->bits, number);
    return slot->used ? slot : NULL;
}

struct number_name *number_map_put(struct number_map *map, uint32_t number, const char *name)
{
    const bool full = !map->slots || 2 * (map->count + 1) > (size_t)1 << map->bits;
    if (full && !grow(map))
        return NULL;
    char *copy = NULL;
    if (name && !(copy = strdup(name)))
        return NULL;

    struct number_name *slot = slot_of(map->slots, map->bits, number);
    map->count += !slot->used;
    free(slot->name);
    *slot = (struct number_name){.number = number, .used = true, .name = copy};
    return slot;
}

void number_map_finish(struct number_map *map)
{
    if (map->slots)
        for (size_t i = 0; i < (size_t)1 << map->bits; i++)
            free(map->slots[i].name);
    free(map->slots);
    *map = (struct number_map){0};
}
