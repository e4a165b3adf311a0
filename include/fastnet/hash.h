/* SPDX-License-Identifier: MIT */
/* Hashes of data that others choose: addresses, names, numbers. Start each hash with a secret of
 * this process, so that an attacker cannot compute inputs that collide. */
#ifndef FASTNET_HASH_H
#define FASTNET_HASH_H

#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* Returns two random words of this process (AT_RANDOM, getauxval(3)); 0 if the kernel gave none. */
static inline void hash_secret(uint64_t secret[2])
{
    static _Thread_local const void *random; /* cached: it never changes, and getauxval() is slow */

    if (!random)
        random = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    if (random)
        memcpy(secret, random, 2 * sizeof *secret);
    else
        secret[0] = secret[1] = 0;
}

/* Returns the first word of hash_secret(). */
static inline uint64_t hash_seed(void)
{
    uint64_t secret[2];

    hash_secret(secret);
    return secret[0];
}

/* Adds a word to a hash. Every bit of the result depends on all words so far. */
static inline uint64_t hash_word(uint64_t hash, uint64_t word)
{
    hash += word;
    hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
    hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 33;
}

/* Adds `size` bytes to a hash. Trailing NUL bytes do not change it: add the size too, unless it is
 * constant. */
static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const char *bytes = data;
    uint64_t word;

    for (; size >= sizeof word; size -= sizeof word, bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = hash_word(hash, word);
    }
    if (!size)
        return hash;
    word = 0;
    memcpy(&word, bytes, size);
    return hash_word(hash, word);
}

#endif
