/* SPDX-License-Identifier: MIT */
/* What makes two rows one neighbour, however they were read. */
#ifndef BACKEND_NEIGHBOUR_NEIGHBOUR_IDENTITY_H
#define BACKEND_NEIGHBOUR_NEIGHBOUR_IDENTITY_H

#include <linux/neighbour.h>
#include <sys/socket.h>

#include "fastnet/hash.h"
#include "fastnet/record.h"

/*
 * For struct record.identity: address, interface, and whether it is a proxy, of which the kernel
 * has only one (net/core/neighbour.c). For IPv4 these are the identity, because they fit into it.
 * For IPv6 they are hashed under the secret: a machine on the link can choose its addresses, but
 * not so that one of them is taken for a repeat of another.
 */
static inline uint64_t neighbour_identity(const struct neighbour_record *neighbour)
{
    const uint64_t which =
        (uint64_t)neighbour->interface << 1 | ((neighbour->flags & NTF_PROXY) != 0);
    uint64_t secret[2], hash;
    uint32_t ipv4;

    if (neighbour->address.family == AF_INET && neighbour->interface) {
        memcpy(&ipv4, neighbour->address.bytes, sizeof ipv4);
        return (uint64_t)ipv4 << 32 | which;
    }
    hash_secret(secret);
    hash = hash_bytes(secret[0], neighbour->address.bytes, sizeof neighbour->address.bytes);
    hash = hash_word(hash, secret[1] ^ (which << 8 | neighbour->address.family));
    return hash_bytes(hash, neighbour->interface_name, sizeof neighbour->interface_name);
}

#endif
