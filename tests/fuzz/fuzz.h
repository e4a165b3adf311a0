/* SPDX-License-Identifier: MIT */
/* What all fuzz targets share. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "fastnet/address.h"

/* Takes one input; aborts when it shows something that must never be. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checked in every build, unlike assert(). */
static inline void require(int condition)
{
    if (!condition)
        abort();
}

/* An address of the family, with nothing behind its bytes. */
static inline void require_address(const struct address *address, uint8_t family)
{
    const struct address alone = address_make(family, address->bytes);

    require(family == AF_INET || family == AF_INET6);
    require(address_equal(address, &alone));
}

#endif
