/*
 * Hashes of what others choose: addresses, names, numbers. Begun with a secret of this process,
 * they let nobody look for inputs that come to the same.
 */
#ifndef FASTNET_HASH_H
#define FASTNET_HASH_H

#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* Two random words of this process (AT_RANDOM, getauxval(3)); 0 where the kernel gave none. */
static inline void hash_secret(uint64_t secret[2])
{
    const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);

    if (random)
        memcpy(secret, random, 2 * sizeof *secret);
    else
        secret[0] = secret[1] = 0;
}

/* Takes one more word, so that all bits of the result depend on all that went before. */
static inline uint64_t hash_word(uint64_t hash, uint64_t word)
{
    hash += word;
    hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
    hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 33;
}

/* NULs behind the last of them make no difference: take the size, too, where it is no constant. */
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
