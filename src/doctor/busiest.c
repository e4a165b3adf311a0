/* SPDX-License-Identifier: MIT */
#include "doctor/busiest.h"

#include "fastnet/hash.h"

static size_t busiest_slot(size_t count, const struct destination *key)
{
    const uint64_t hash = hash_bytes(hash_word(hash_seed(), key->port), key->local.bytes, 16);

    return (size_t)(hash_bytes(hash, key->remote.bytes, 16) % count);
}

static bool busiest_has(const struct busy *slot, const struct destination *key)
{
    return slot->key.port == key->port && address_equal(&slot->key.remote, &key->remote) &&
           address_equal(&slot->key.local, &key->local);
}

const struct busy *busiest_find(const struct busy *slots, size_t count,
                                const struct destination *key)
{
    const struct busy *slot = &slots[busiest_slot(count, key)];

    return slot->count && busiest_has(slot, key) ? slot : NULL;
}

struct busy *busiest_add(struct busy *slots, size_t count, const struct destination *key)
{
    struct busy *slot = &slots[busiest_slot(count, key)];

    if (!slot->count)
        slot->key = *key;
    if (busiest_has(slot, key)) {
        slot->count++;
        return slot;
    }
    slot->count--;
    slot->missed++;
    return NULL;
}
