/* SPDX-License-Identifier: MIT */
#include "fastnet/sysctl.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/proc_tree.h"

enum { LINE_MAX_BYTES = 256 }; /* more than SYSCTL_NUMBERS_MAX numbers of 20 digits take */

static int open_file(const char *proc_root, const char *name)
{
    char path[PATH_MAX];

    if ((size_t)snprintf(path, sizeof path, "sys/%s", name) >= sizeof path)
        return -ENAMETOOLONG;
    return proc_tree_open_file(proc_root, path);
}

static bool take_number(const char **at, const char *end, uint64_t *number)
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
    const int fd = open_file(proc_root, name);
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
        if (!take_number(&at, text + length, &taken[i]))
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

struct ranges {
    uint64_t first, last, count; /* the members of the list */
    uint64_t from, number;       /* of the range that is read */
    bool has_from, has_number, ended;
};

static uint64_t count_common(const struct ranges *ranges)
{
    const uint64_t from = ranges->has_from ? ranges->from : ranges->number;
    const uint64_t first = from > ranges->first ? from : ranges->first;
    const uint64_t last = ranges->number < ranges->last ? ranges->number : ranges->last;

    return first <= last ? last - first + 1 : 0;
}

/* What stands behind a number. Returns whether it may stand there. */
static bool end_number(struct ranges *ranges, char byte)
{
    const bool ends_range = ranges->has_from;

    if (byte == '-') {
        ranges->from = ranges->number;
        ranges->number = 0;
        ranges->has_number = false;
        ranges->has_from = true;
        return !ends_range;
    }
    ranges->count += count_common(ranges);
    ranges->number = 0;
    ranges->has_from = ranges->has_number = false;
    ranges->ended = byte == '\n';
    return byte == ',' || byte == '\n';
}

static bool take_byte(struct ranges *ranges, char byte)
{
    if (ranges->ended)
        return false;
    if (byte >= '0' && byte <= '9') {
        ranges->number = ranges->number * 10 + (uint64_t)(byte - '0');
        ranges->has_number = true;
        return ranges->number <= UINT32_MAX;
    }
    if (ranges->has_number)
        return end_number(ranges, byte);
    ranges->ended = byte == '\n' && !ranges->has_from;
    return ranges->ended;
}

static int take_ranges(struct ranges *ranges, int fd)
{
    char text[LINE_MAX_BYTES];
    ssize_t length;

    while ((length = proc_read(fd, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < length; i++)
            if (!take_byte(ranges, text[i]))
                return -EBADMSG;
    return length < 0 ? (int)length : ranges->ended ? 0 : -EBADMSG;
}

int sysctl_count_listed(const char *proc_root, const char *name, uint64_t first, uint64_t last,
                        uint64_t *count)
{
    struct ranges ranges = {.first = first, .last = last};
    const int fd = open_file(proc_root, name);
    int error;

    if (fd < 0)
        return fd;
    error = take_ranges(&ranges, fd);
    close(fd);
    if (!error)
        *count = ranges.count;
    return error;
}
