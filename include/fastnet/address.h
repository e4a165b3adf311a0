/* SPDX-License-Identifier: MIT */
/* A network address: its family and its bytes. */
#ifndef FASTNET_ADDRESS_H
#define FASTNET_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

struct address {
    uint8_t family;    /* AF_INET, AF_INET6, or AF_UNSPEC: no address */
    uint8_t bytes[16]; /* network byte order; IPv4: the first 4 bytes, the others are 0 */
};

/* An address with its prefix: 192.0.2.1/24. */
struct network {
    struct address address;
    uint8_t prefix; /* length of the prefix in bits, or NO_PREFIX */
};

enum { NO_PREFIX = 255 }; /* struct network has only an address */

enum { LLADDR_MAX = 32 }; /* bytes; MAX_ADDR_LEN of linux/netdevice.h */

/* Returns the number of bytes that the family uses: 4 (AF_INET), 16 (AF_INET6), otherwise 0. */
static inline size_t address_size(const struct address *address)
{
    return address->family == AF_INET ? 4 : address->family == AF_INET6 ? 16 : 0;
}

/* Makes an address from `bytes`: 4 (AF_INET) or 16 (AF_INET6), in network byte order. */
static inline struct address address_make(uint8_t family, const void *bytes)
{
    struct address result = {.family = family};

    if (family == AF_INET)
        memcpy(result.bytes, bytes, 4);
    else if (family == AF_INET6)
        memcpy(result.bytes, bytes, sizeof result.bytes);
    return result;
}

/* True if family and bytes are equal. */
static inline bool address_equal(const struct address *a, const struct address *b)
{
    return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

/* True if all bytes are 0, as in 0.0.0.0 and ::. */
static inline bool address_is_unspecified(const struct address *address)
{
    static const uint8_t zeroes[sizeof address->bytes];

    return memcmp(address->bytes, zeroes, sizeof zeroes) == 0;
}

/* True if `address` is IPv4-mapped, such as ::ffff:192.0.2.1 (RFC 4291, 2.5.5.2). */
static inline bool address_is_mapped(const struct address *address)
{
    static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

    return address->family == AF_INET6 && memcmp(address->bytes, prefix, sizeof prefix) == 0;
}

/* Returns the IPv4 address inside an IPv4-mapped address, and every other address unchanged. */
static inline struct address address_unmapped(const struct address *address)
{
    return address_is_mapped(address) ? address_make(AF_INET, address->bytes + 12) : *address;
}

/* True if the address is in 127.0.0.0/8, or is ::1. */
static inline bool address_is_loopback(const struct address *address)
{
    static const uint8_t loopback6[sizeof address->bytes] = {[15] = 1};

    return address->family == AF_INET ? address->bytes[0] == 127
                                      : memcmp(address->bytes, loopback6, sizeof loopback6) == 0;
}

/* True if the address is in 224.0.0.0/4 or ff00::/8. */
static inline bool address_is_multicast(const struct address *address)
{
    return address->family == AF_INET ? (address->bytes[0] & 0xf0) == 0xe0
                                      : address->bytes[0] == 0xff;
}

/* True if the first `bits` bits of both addresses are equal. bits: at most those of the family. */
static inline bool address_is_within(const struct address *address, const struct address *network,
                                     unsigned bits)
{
    const size_t full = bits / 8; /* bytes */

    return address->family == network->family &&
           memcmp(address->bytes, network->bytes, full) == 0 &&
           (bits % 8 == 0 || (address->bytes[full] ^ network->bytes[full]) >> (8 - bits % 8) == 0);
}

/* Sets *prefix to the number of leading 1 bits of `mask`, which has `size` bytes. Returns false if
 * another 1 bit follows: then the mask is not a prefix. */
static inline bool mask_prefix(const uint8_t *mask, size_t size, uint8_t *prefix)
{
    size_t bit = 0;

    while (bit < 8 * size && mask[bit / 8] & 0x80 >> bit % 8)
        bit++;
    *prefix = (uint8_t)bit;
    for (; bit < 8 * size; bit++)
        if (mask[bit / 8] & 0x80 >> bit % 8)
            return false;
    return true;
}

#endif
