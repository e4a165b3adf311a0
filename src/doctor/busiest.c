/* SPDX-License-Identifier: MIT */
#include "doctor/busiest.h"

#include "fastnet/hash.h"

struct busy *busiest_add(struct busy *slots, size_t count, const struct destination *key)
{
    const uint64_t hash = hash_bytes(hash_word(hash_seed(), key->port), key->local.bytes, 16);
    struct busy *slot = &slots[hash_bytes(hash, key->remote.bytes, 16) % count];

    if (!slot->count)
        slot->key = *key;
    if (slot->key.port == key->port && address_equal(&slot->key.remote, &key->remote) &&
        address_equal(&slot->key.local, &key->local)) {
        slot->count++;
        return slot;
    }
    slot->count--;
    slot->missed++;
    return NULL;
}
