/* What makes two rows one neighbour, however they were read. */
#ifndef BACKEND_NEIGHBOUR_IDENTITY_H
#define BACKEND_NEIGHBOUR_IDENTITY_H

#include <linux/neighbour.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>

#include "fastnet/record.h"

/* Takes one more word, so that all bits of the result depend on all that went before. */
static inline uint64_t neighbour_identity_stir(uint64_t hash, uint64_t word)
{
    hash += word;
    hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
    hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 33;
}

/*
 * For struct record.identity: over address, interface, and whether it is a proxy, of which the
 * kernel has but one (net/core/neighbour.c). For IPv4 these fit into the 64 bits, and no two are
 * alike: stirring loses nothing.
 *
 * Who is on the link chooses his addresses. A secret of this process (AT_RANDOM, getauxval(3))
 * keeps him from choosing them so that one passes for another come again.
 */
static inline uint64_t neighbour_identity(const struct neighbour_record *neighbour)
{
    const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    const uint64_t which =
        (uint64_t)neighbour->interface << 1 | ((neighbour->flags & NTF_PROXY) != 0);
    uint64_t secret[2] = {0, 0}, words[2], hash;
    uint32_t ipv4;

    if (random)
        memcpy(secret, random, sizeof secret);
    memcpy(&ipv4, neighbour->address, sizeof ipv4);
    if (neighbour->family == AF_INET && neighbour->interface)
        return neighbour_identity_stir(secret[0], (uint64_t)ipv4 << 32 | which);
    memcpy(words, neighbour->address, sizeof words);
    hash = neighbour_identity_stir(neighbour_identity_stir(secret[0], words[0]), words[1]);
    hash = neighbour_identity_stir(hash, secret[1] ^ (which << 8 | neighbour->family));
    memcpy(words, neighbour->interface_name, sizeof words);
    return neighbour_identity_stir(neighbour_identity_stir(hash, words[0]), words[1]);
}

#endif
