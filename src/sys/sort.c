/* SPDX-License-Identifier: MIT */
#include "fastnet/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sort {
    size_t size;
    int (*compare)(const void *a, const void *b, void *arg);
    void *arg;
    char *buffer; /* room for half of the elements */
};

/* A merge sort. It sorts one half completely before the other, so that elements stay in the cache.
 * Equal elements keep their order. */
static void sort_elements(const struct sort *sort, char *elements, size_t count)
{
    const size_t size = sort->size, half = count / 2 * size;
    const char *left = sort->buffer, *right = elements + half, *end = elements + count * size;

    if (count < 2)
        return;
    sort_elements(sort, elements, count / 2);
    sort_elements(sort, elements + half, count - count / 2);
    if (sort->compare(right - size, right, sort->arg) <= 0) /* the halves are already in order */
        return;
    memcpy(sort->buffer, elements, half);
    for (char *to = elements; left < sort->buffer + half; to += size) {
        if (right == end || sort->compare(left, right, sort->arg) <= 0) {
            memcpy(to, left, size);
            left += size;
        } else {
            memcpy(to, right, size);
            right += size;
        }
    }
}

int sort_stable(void *elements, size_t count, size_t size,
                int (*compare)(const void *a, const void *b, void *arg), void *arg)
{
    struct sort sort = {.size = size, .compare = compare, .arg = arg};

    if (count < 2)
        return 0;
    sort.buffer = malloc(count / 2 * size);
    if (!sort.buffer)
        return -ENOMEM;
    sort_elements(&sort, elements, count);
    free(sort.buffer);
    return 0;
}

enum { ELEMENT = 16, BYTE_VALUES = 256 };

_Static_assert(sizeof(struct ranked) == ELEMENT, "sort_numbers() sorts it");

static uint64_t sort_number_of(const char *elements, size_t i, size_t offset)
{
    uint64_t number;

    memcpy(&number, elements + i * ELEMENT + offset, sizeof number);
    return number;
}

/* A radix sort, least significant byte first. It skips bytes that are the same in all elements. */
int sort_numbers(void *elements, size_t count, size_t offset)
{
    char *from = elements, *to, *buffer;
    uint64_t differing = 0;
    bool ordered = true;

    for (size_t i = 1; i < count; i++) {
        const uint64_t number = sort_number_of(from, i, offset),
                       before = sort_number_of(from, i - 1, offset);
        differing |= number ^ before;
        ordered &= before <= number;
    }
    if (ordered)
        return 0;
    buffer = to = reallocarray(NULL, count, ELEMENT);
    if (!buffer)
        return -ENOMEM;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t starts[1 + BYTE_VALUES] = {0};
        if (!(differing >> shift & 0xff))
            continue;
        for (size_t i = 0; i < count; i++)
            starts[1 + (sort_number_of(from, i, offset) >> shift & 0xff)]++;
        for (size_t value = 1; value < BYTE_VALUES; value++)
            starts[value] += starts[value - 1];
        for (size_t i = 0; i < count; i++)
            memcpy(to + starts[sort_number_of(from, i, offset) >> shift & 0xff]++ * ELEMENT,
                   from + i * ELEMENT, ELEMENT);
        char *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != elements)
        memcpy(elements, from, count * ELEMENT);
    free(buffer);
    return 0;
}
