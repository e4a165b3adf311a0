/* SPDX-License-Identifier: MIT */
#include "fastnet/netns_store.h"

#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/hash.h"

/* An element of netns_store.numbers. */
struct netns_number {
    uint64_t cookie;
    uint32_t number;
};

/* Tries the namespace that was found last first: most rows of a dump belong to it. */
void *netns_store_find(struct netns_store *store, uint64_t cookie)
{
    struct netns_entry *last = store->count ? netns_store_at(store, store->last) : NULL;
    const struct netns_number *found;

    if (last && last->is_used && last->cookie == cookie)
        return last;
    found = hash_table_find_number(&store->numbers, hash_word(0, cookie), cookie);
    if (!found)
        return NULL;
    store->last = found->number;
    return netns_store_at(store, found->number);
}

static bool add_number(struct netns_store *store, uint64_t cookie, uint32_t number)
{
    struct netns_number *added =
        hash_table_add(&store->numbers, hash_word(0, cookie), sizeof *added);

    if (added)
        *added = (struct netns_number){cookie, number};
    return added;
}

void *netns_store_add(struct netns_store *store, uint64_t cookie)
{
    struct netns_entry *entry = netns_store_find(store, cookie);

    if (entry)
        return entry;
    while (store->unused < store->count &&
           ((struct netns_entry *)netns_store_at(store, store->unused))->is_used)
        store->unused++;
    if (store->unused == store->count &&
        !array_add(&store->entries, &store->count, &store->capacity, store->size))
        return NULL;
    if (!add_number(store, cookie, store->unused))
        return NULL;
    store->last = store->unused;
    entry = netns_store_at(store, store->last);
    *entry = (struct netns_entry){cookie, store->last, true, false};
    return entry;
}

/* If memory is short, a namespace may not be found at the next walk: then it counts as new. */
void netns_store_next(struct netns_store *store, void (*finish)(void *entry))
{
    hash_table_finish(&store->numbers);
    store->unused = 0;
    for (size_t i = 0; i < store->count; i++) {
        struct netns_entry *entry = netns_store_at(store, i);
        if (entry->is_read) {
            entry->is_read = false;
            (void)add_number(store, entry->cookie, entry->number);
            continue;
        }
        if (entry->is_used && finish)
            finish(entry);
        memset(entry, 0, store->size);
    }
}

void netns_store_finish(struct netns_store *store, void (*finish)(void *entry))
{
    netns_store_next(store, finish);
    netns_store_next(store, finish); /* now nothing is marked as read */
    free(store->entries);
    *store = (struct netns_store){.size = store->size};
}
