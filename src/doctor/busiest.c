#include "doctor/busiest.h"

#include "fastnet/hash.h"

static uint64_t hash_of(const struct destination *key)
{
    uint64_t secret[2];

    hash_secret(secret);
    const uint64_t hash = hash_bytes(hash_word(secret[0], key->port), key->local.bytes, 16);
    return hash_bytes(hash, key->remote.bytes, 16);
}

static bool is_same(const struct destination *a, const struct destination *b)
{
    return a->port == b->port && address_equal(&a->remote, &b->remote) &&
           address_equal(&a->local, &b->local);
}

void busiest_add(struct busy *slots, size_t count, const struct destination *key)
{
    struct busy *slot = &slots[hash_of(key) % count];

    if (!slot->count)
        slot->key = *key;
    if (is_same(&slot->key, key)) {
        slot->count++;
        return;
    }
    slot->count--;
    slot->missed++;
}
