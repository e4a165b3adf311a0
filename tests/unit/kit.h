/* SPDX-License-Identifier: MIT */
/* What unit tests share: cmocka, and what stands for the kernel, for /proc and for a terminal. */
#ifndef UNIT_KIT_H
#define UNIT_KIT_H

/* cmocka.h needs these four. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <string.h>

#include "cells.h"
#include "fastnet/address.h"
#include "output.h"
#include "peer.h"
#include "scene.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

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
