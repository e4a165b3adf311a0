/* SPDX-License-Identifier: MIT */
/* Numbers and bytes out of an input, one after the other; what is missing is 0. */
#ifndef FUZZ_BYTES_H
#define FUZZ_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const uint8_t *at;
    size_t left;
};

static inline void bytes_take(struct bytes *bytes, void *value, size_t size)
{
    const size_t length = size < bytes->left ? size : bytes->left;

    memset(value, 0, size);
    if (length)
        memcpy(value, bytes->at, length);
    bytes->at += length;
    bytes->left -= length;
}

static inline uint8_t bytes_u8(struct bytes *bytes)
{
    uint8_t value;

    bytes_take(bytes, &value, sizeof value);
    return value;
}

static inline uint16_t bytes_u16(struct bytes *bytes)
{
    uint16_t value;

    bytes_take(bytes, &value, sizeof value);
    return value;
}

static inline uint32_t bytes_u32(struct bytes *bytes)
{
    uint32_t value;

    bytes_take(bytes, &value, sizeof value);
    return value;
}

#endif
