/* SPDX-License-Identifier: MIT */
/*
 * A hash table. Its elements have one size and stand in an array, in the order they were added. The
 * caller computes the hash of an element, with a secret if others choose the key (hash.h). Single
 * elements cannot be removed.
 */
#ifndef FASTNET_HASH_TABLE_H
#define FASTNET_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zeroes: an empty table. */
struct hash_table {
    void *elements; /* an array; adding may move it, and pointers into it then become invalid */
    size_t count;
    size_t size;             /* bytes of an element */
    size_t capacity;         /* elements that fit */
    struct hash_slot *slots; /* open addressing; twice the capacity, so that half are free */
};

/* The element at index, which is below count; in the order they were added. */
static inline void *hash_table_at(const struct hash_table *table, size_t index)
{
    return (char *)table->elements + index * table->size;
}

/* The element with this hash for which same(element, key) is true, or NULL. */
void *hash_table_find(const struct hash_table *table, uint64_t hash,
                      bool (*same)(const void *element, const void *key), const void *key);

/* The same of a table whose elements begin with a uint64_t: the one with this number, or NULL. */
void *hash_table_find_number(const struct hash_table *table, uint64_t hash, uint64_t number);

/*
 * Adds an element that is not in the table yet. It is all zeroes; the caller fills it in. size is
 * the same in every call. Returns NULL when memory is short: the table is unchanged then.
 */
void *hash_table_add(struct hash_table *table, uint64_t hash, size_t size);

/* Frees the elements, and leaves the table empty. */
void hash_table_finish(struct hash_table *table);

#endif
