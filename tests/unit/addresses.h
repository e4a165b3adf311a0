/* SPDX-License-Identifier: MIT */
/* Addresses as people write them. */
#ifndef UNIT_ADDRESSES_H
#define UNIT_ADDRESSES_H

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fastnet/address.h"

/* Initializers: IPV4(192, 0, 2, 1), IPV6(0x20, 0x01, [15] = 1). */
#define IPV4(...)                                                                                  \
    {                                                                                              \
        .family = AF_INET, .bytes = { __VA_ARGS__ }                                                \
    }
#define IPV6(...)                                                                                  \
    {                                                                                              \
        .family = AF_INET6, .bytes = { __VA_ARGS__ }                                               \
    }

/* "192.0.2.1" or "2001:db8::1"; anything else fails the test. */
static inline struct address ip(const char *text)
{
    struct address parsed = {.family = strchr(text, ':') ? AF_INET6 : AF_INET};

    assert_int_equal(inet_pton(parsed.family, text, parsed.bytes), 1);
    return parsed;
}

static inline void assert_ip(const struct address *address, const char *expected)
{
    const struct address wanted = ip(expected);

    assert_int_equal(address->family, wanted.family);
    assert_memory_equal(address->bytes, wanted.bytes, sizeof wanted.bytes);
}

#endif
