/* Network addresses: the family goes with the bytes. */
#ifndef FASTNET_ADDRESS_H
#define FASTNET_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

struct address {
    uint8_t family;    /* AF_INET, AF_INET6; AF_UNSPEC: there is none */
    uint8_t bytes[16]; /* network byte order; of IPv4 the first four, then 0 */
};

/* Bytes that count: 4, 16 or 0. */
static inline size_t address_size(const struct address *address)
{
    return address->family == AF_INET ? 4 : address->family == AF_INET6 ? 16 : 0;
}

/* bytes: as many as the family has, network byte order. */
static inline struct address address_make(uint8_t family, const void *bytes)
{
    struct address address = {.family = family};

    memcpy(address.bytes, bytes, address_size(&address));
    return address;
}

static inline bool address_equal(const struct address *a, const struct address *b)
{
    return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

/* 0.0.0.0 or :: */
static inline bool address_is_unspecified(const struct address *address)
{
    static const uint8_t zeroes[sizeof address->bytes];

    return memcmp(address->bytes, zeroes, sizeof zeroes) == 0;
}

/* An IPv4 address in IPv6 form (RFC 4291, 2.5.5.2). */
static inline bool address_is_mapped(const struct address *address)
{
    static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

    return address->family == AF_INET6 && memcmp(address->bytes, prefix, sizeof prefix) == 0;
}

#endif
