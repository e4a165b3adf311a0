/* SPDX-License-Identifier: MIT */
/*
 * Names of functions out of any bytes in place of /proc/kallsyms: a place is in the last function
 * that begins before it, so a name stands in the input, and does not get lost for a later place of
 * the same function. The first byte says how far apart the places are.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fastnet/hosts.h"
#include "fastnet/symbols.h"
#include "fuzz.h"

enum { PLACES = 16 };

static void check_name(const uint8_t *data, size_t size, const char *name)
{
    const size_t length = strlen(name);

    require(length > 0 && !strpbrk(name, "\n\t ."));
    require(memmem(data, size, name, length) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("symbols", MFD_CLOEXEC);
    struct symbols *symbols = symbols_create();
    const uint64_t distance = size ? *data + 1 : 1;
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    require(fd >= 0 && symbols && write(fd, data, size) == (ssize_t)size);
    for (uint64_t i = PLACES; i > 0; i--)
        require(symbols_add(symbols, i * distance) == 0);
    require(symbols_add(symbols, UINT64_MAX) == 0 && symbols_add(symbols, distance) == 0);
    require(symbols_read(symbols, path) == 0);
    for (uint64_t i = 1; i <= PLACES; i++) {
        const char *name = symbols_name(symbols, i * distance);
        if (name)
            check_name(data, size, name);
        require(name || i == 1 || !symbols_name(symbols, (i - 1) * distance));
    }
    require(!symbols_name(symbols, PLACES * distance + 1));
    symbols_destroy(symbols);
    close(fd);
    return 0;
}
