/* SPDX-License-Identifier: MIT */
/* Data that a caller keeps for each network namespace from one sample to the next. An entry is
 * found by the cookie of its namespace. It is forgotten if a sample did not read that namespace,
 * because the namespace ended or cannot be entered any more. Before Linux 5.14 the cookie is an
 * inode number, which can be reused after a namespace ended: then the caller compares two
 * namespaces. */
#ifndef FASTNET_NETNS_STORE_H
#define FASTNET_NETNS_STORE_H

#include "fastnet/hash_table.h"

/* The first member of the caller's struct. */
struct netns_entry {
    uint64_t cookie; /* namespace_own_cookie(); 0: the only namespace */
    uint32_t number; /* index in the store while the entry is in use */
    bool is_used;    /* false: the whole entry is zeroes */
    bool is_read;    /* set by the caller: the entry stays after this sample */
};

/* An empty store has only `size` set. */
struct netns_store {
    size_t size; /* bytes of an entry */
    char *entries;
    size_t count, capacity; /* number and room of entries, used or not */
    uint32_t last,
        unused; /* last: number that was found last; unused: all numbers below it are in use */
    struct hash_table numbers; /* numbers of entries by their cookies */
};

static inline void *netns_store_at(const struct netns_store *store, size_t number)
{
    return store->entries + number * store->size;
}

/* Returns the entry of the namespace with this cookie, or NULL. */
void *netns_store_find(struct netns_store *store, uint64_t cookie);

/* Returns the entry of the namespace. If it is missing, adds an entry of zeroes: then other entries
 * may move. NULL: memory is short. */
void *netns_store_add(struct netns_store *store, uint64_t cookie);

/* Ends a sample: forgets entries without is_read, and clears is_read. finish: frees what an entry
 * owns; may be NULL. */
void netns_store_next(struct netns_store *store, void (*finish)(void *entry));

/* Forgets all entries. */
void netns_store_finish(struct netns_store *store, void (*finish)(void *entry));

#endif
