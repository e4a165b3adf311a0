/* SPDX-License-Identifier: MIT */
/*
 * Lines of fdinfo of a ring out of any bytes: an inode is taken only from a line that names a
 * socket, and is in that line.
 */
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "lookup/owners_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char line[256], number[32];
    uint64_t inode = 0;

    if (size >= sizeof line)
        return 0;
    memcpy(line, data, size);
    line[size] = '\0';
    if (!ring_line_decode(line, &inode)) {
        require(inode == 0);
        return 0;
    }
    require(inode != 0 && strstr(line, ": socket:["));
    snprintf(number, sizeof number, "%llu]", (unsigned long long)inode);
    require(strstr(line, number) != NULL);
    return 0;
}
