/* SPDX-License-Identifier: MIT */
#include "fastnet/hash_table.h"

#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"

/* The slot keeps half of the hash, so that a search rarely compares with a wrong element. */
struct hash_slot {
    uint32_t hash;
    uint32_t entry; /* 1 + the index of the element; 0: the slot is free */
};

/* Linear probing: starts at the slot of the lowest bits of the hash. */
void *hash_table_find(const struct hash_table *table, uint64_t hash,
                      bool (*same)(const void *element, const void *key), const void *key)
{
    const size_t mask = 2 * table->capacity - 1;
    const struct hash_slot *slot;

    if (!table->count)
        return NULL;
    for (size_t at = (size_t)hash & mask; (slot = &table->slots[at])->entry; at = (at + 1) & mask) {
        void *element = hash_table_at(table, slot->entry - 1);
        if (slot->hash == (uint32_t)hash && same(element, key))
            return element;
    }
    return NULL;
}

static bool has_number(const void *element, const void *number)
{
    return *(const uint64_t *)element == *(const uint64_t *)number;
}

void *hash_table_find_number(const struct hash_table *table, uint64_t hash, uint64_t number)
{
    return hash_table_find(table, hash, has_number, &number);
}

static void hash_table_put(struct hash_slot *slots, size_t mask, struct hash_slot slot)
{
    size_t at = slot.hash & mask;

    while (slots[at].entry)
        at = (at + 1) & mask;
    slots[at] = slot;
}

static bool hash_table_grow(struct hash_table *table, size_t size)
{
    size_t capacity = table->capacity;
    void *elements = array_with_room(table->elements, &capacity, table->count + 1, size);
    struct hash_slot *slots;

    if (!elements)
        return false;
    table->elements = elements;
    slots = capacity <= UINT32_MAX / 2 ? calloc(2 * capacity, sizeof *slots) : NULL;
    if (!slots)
        return false;
    for (size_t i = 0; i < 2 * table->capacity; i++)
        if (table->slots[i].entry)
            hash_table_put(slots, 2 * capacity - 1, table->slots[i]);
    free(table->slots);
    table->slots = slots;
    table->capacity = capacity;
    return true;
}

void *hash_table_add(struct hash_table *table, uint64_t hash, size_t size)
{
    if (table->count == table->capacity && !hash_table_grow(table, size))
        return NULL;
    table->size = size;
    hash_table_put(table->slots, 2 * table->capacity - 1,
                   (struct hash_slot){(uint32_t)hash, (uint32_t)++table->count});
    return memset(hash_table_at(table, table->count - 1), 0, size);
}

void hash_table_finish(struct hash_table *table)
{
    free(table->elements);
    free(table->slots);
    *table = (struct hash_table){0};
}
