/* SPDX-License-Identifier: MIT */
/* A hash table. Its elements have one size and are in one array, in the order of hash_table_add().
 * The caller computes the hash of an element, with a secret if others choose the key (hash.h).
 * Single elements cannot be removed. */
#ifndef FASTNET_HASH_TABLE_H
#define FASTNET_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zeroes: an empty table. */
struct hash_table {
    void *elements; /* an array; adding may move it and makes pointers into it invalid */
    size_t count;
    size_t size;             /* bytes of an element */
    size_t capacity;         /* number of elements that fit */
    struct hash_slot *slots; /* open addressing; twice the capacity, so that half are free */
};

/* Returns element number `index`, in the order of adding; index must be below count. */
static inline void *hash_table_at(const struct hash_table *table, size_t index)
{
    return (char *)table->elements + index * table->size;
}

/* Returns the element with this hash for which same(element, key) is true, or NULL. */
void *hash_table_find(const struct hash_table *table, uint64_t hash,
                      bool (*same)(const void *element, const void *key), const void *key);

/* Returns the element whose first member, a uint64_t, is `number`, or NULL. All elements of the
 * table must begin with a uint64_t. */
void *hash_table_find_number(const struct hash_table *table, uint64_t hash, uint64_t number);

/* Adds an element, which must not be in the table yet. The element is all zeroes; the caller fills
 * it. size: bytes of an element, equal in all calls. Returns NULL if memory is short: then the
 * table is unchanged. */
void *hash_table_add(struct hash_table *table, uint64_t hash, size_t size);

/* Frees the elements, and leaves the table empty. */
void hash_table_finish(struct hash_table *table);

#endif
