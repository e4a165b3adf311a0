/* SPDX-License-Identifier: MIT */
#include "fastnet/sysctl.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/proc_tree.h"

enum { LINE_MAX_BYTES = 256 }; /* more bytes than SYSCTL_NUMBERS_MAX numbers of 20 digits */

static int sysctl_open_file(const char *proc_root, const char *name)
{
    char path[PATH_MAX];

    if ((size_t)snprintf(path, sizeof path, "sys/%s", name) >= sizeof path)
        return -ENAMETOOLONG;
    return proc_tree_open_file(proc_root, path);
}

static bool sysctl_take_number(const char **at, const char *end, uint64_t *number)
{
    const char *start = *at;
    uint64_t sum = 0;

    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        const uint64_t digit = (uint64_t)(**at - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *number = sum;
    return *at > start;
}

int sysctl_numbers(const char *proc_root, const char *name, uint64_t *numbers, size_t count)
{
    char text[LINE_MAX_BYTES];
    uint64_t taken[SYSCTL_NUMBERS_MAX];
    const int fd = sysctl_open_file(proc_root, name);
    const char *at = text;
    ssize_t length;

    if (fd < 0)
        return fd;
    length = proc_read(fd, text, sizeof text);
    close(fd);
    if (length < 0)
        return (int)length;
    if (count > SYSCTL_NUMBERS_MAX || length == LINE_MAX_BYTES) /* the rest was not read */
        return -EBADMSG;
    for (size_t i = 0; i < count; i++) {
        while (at < text + length && (*at == ' ' || *at == '\t'))
            at++;
        if (!sysctl_take_number(&at, text + length, &taken[i]))
            return -EBADMSG;
    }
    if (at + 1 != text + length || *at != '\n')
        return -EBADMSG;
    memcpy(numbers, taken, count * sizeof *numbers);
    return 0;
}

int sysctl_number(const char *proc_root, const char *name, uint64_t *number)
{
    return sysctl_numbers(proc_root, name, number, 1);
}

/* --- Ranges ----------------------------------------------------------------------------------- */

/* Reads the text up to `end`, which points to a NUL byte. False: it is not a list of ranges. */
static bool count_ranges(const char *at, const char *end, uint64_t first, uint64_t last,
                         uint64_t *count)
{
    uint64_t from, to, sum = 0;

    for (bool more = *at != '\n'; more; at += more) {
        if (!sysctl_take_number(&at, end, &from))
            return false;
        to = from;
        at += *at == '-';
        if (at[-1] == '-' && !sysctl_take_number(&at, end, &to))
            return false;
        if (from > UINT32_MAX || to > UINT32_MAX)
            return false;
        from = from > first ? from : first;
        to = to < last ? to : last;
        sum += from <= to ? to - from + 1 : 0;
        more = *at == ',';
    }
    if (at + 1 != end || *at != '\n')
        return false;
    *count = sum;
    return true;
}

int sysctl_count_listed(const char *proc_root, const char *name, uint64_t first, uint64_t last,
                        uint64_t *count)
{
    enum { LIST_MAX_BYTES = 512 * 1024 }; /* a list of all ports, each alone, takes 383 KB */
    const int fd = sysctl_open_file(proc_root, name);
    char *text = fd < 0 ? NULL : malloc(LIST_MAX_BYTES + 1);
    size_t length = 0;
    ssize_t more = 1;

    if (fd < 0)
        return fd;
    for (; text && more > 0; length += more > 0 ? (size_t)more : 0)
        more = proc_read(fd, text + length, LIST_MAX_BYTES - length);
    close(fd);
    if (text)
        text[length] = '\0';
    if (text && more == 0 && !count_ranges(text, text + length, first, last, count))
        more = -EBADMSG;
    free(text);
    return text ? (int)more : -ENOMEM;
}
