/* SPDX-License-Identifier: MIT */
/*
 * What a caller keeps of each network namespace from one sample to the next. An entry is found by
 * the cookie of its namespace, and forgotten if a sample did not read that namespace: it has ended,
 * or cannot be entered any more. Before Linux 5.14 the cookie is an inode's number, which a new
 * namespace can get from an ended one: the caller would compare two namespaces.
 */
#ifndef FASTNET_NETNS_STORE_H
#define FASTNET_NETNS_STORE_H

#include "fastnet/hash_table.h"

/* The caller's struct begins with it. */
struct netns_entry {
    uint64_t cookie; /* namespace_own_cookie(); 0: the only namespace */
    uint32_t number; /* index in the store, as long as the entry is in use */
    bool is_used;    /* if not, the whole entry is zeroes */
    bool is_read;    /* the caller sets it, and the entry outlasts this sample */
};

/* Zeroes but for the size: an empty store. */
struct netns_store {
    size_t size; /* bytes of an entry */
    char *entries;
    size_t count, capacity;    /* of entries, with unused ones */
    uint32_t last, unused;     /* numbers: found last; all before it are used */
    struct hash_table numbers; /* of entries, by their cookies */
};

static inline void *netns_store_at(const struct netns_store *store, size_t number)
{
    return store->entries + number * store->size;
}

/* The entry of this namespace, or NULL. */
void *netns_store_find(struct netns_store *store, uint64_t cookie);

/* The same; a new entry is zeroes, and the others may move. NULL when memory is short. */
void *netns_store_add(struct netns_store *store, uint64_t cookie);

/* Ends a sample: forgets the entries that were not read. finish: frees what an entry has; or NULL.
 */
void netns_store_next(struct netns_store *store, void (*finish)(void *entry));

/* Forgets all entries. */
void netns_store_finish(struct netns_store *store, void (*finish)(void *entry));

#endif
