/*
 * A hash table of elements of one size, which stand in an array in the order they were added. The
 * caller makes the hash of an element, with a secret where others choose what it is made of
 * (hash.h), and looks the element up by it. Single elements cannot be removed.
 */
#ifndef FASTNET_HASH_TABLE_H
#define FASTNET_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed it is empty. */
struct hash_table {
    void *elements; /* an array; it moves when one is added, and pointers into it end then */
    size_t count;
    size_t size;             /* of an element */
    size_t capacity;         /* how many there is room for */
    struct hash_slot *slots; /* open addressing; twice the capacity, so that half are free */
};

/* In the order they were added; index is below count. */
static inline void *hash_table_at(const struct hash_table *table, size_t index)
{
    return (char *)table->elements + index * table->size;
}

/* The element with this hash of which same(element, key) is true, or NULL. */
void *hash_table_find(const struct hash_table *table, uint64_t hash,
                      bool (*same)(const void *element, const void *key), const void *key);

/*
 * Adds an element of zeroes, which the caller fills in; one that is not there yet. The size is the
 * same for all elements. NULL when memory is short: then it holds what it held.
 */
void *hash_table_add(struct hash_table *table, uint64_t hash, size_t size);

/* Frees the elements, and leaves the table empty. */
void hash_table_finish(struct hash_table *table);

#endif
