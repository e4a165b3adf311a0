/* What all fuzz targets share. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Takes one input; aborts when it shows something that must never be. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checked in every build, unlike assert(). */
static inline void require(int condition)
{
    if (!condition)
        abort();
}

#endif
