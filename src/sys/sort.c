/* SPDX-License-Identifier: MIT */
#include "fastnet/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sort {
    size_t size;
    int (*compare)(const void *a, const void *b, void *arg);
    void *arg;
    char *spare; /* room for half of the elements */
};

/*
 * A merge sort. It finishes one half before it starts the other: elements stay in the cache. Of
 * equal elements those of the left half go first.
 */
static void sort_elements(const struct sort *sort, char *elements, size_t count)
{
    const size_t size = sort->size, half = count / 2 * size;
    const char *left = sort->spare, *right = elements + half, *end = elements + count * size;

    if (count < 2)
        return;
    sort_elements(sort, elements, count / 2);
    sort_elements(sort, elements + half, count - count / 2);
    if (sort->compare(right - size, right, sort->arg) <= 0) /* in order already */
        return;
    memcpy(sort->spare, elements, half);
    for (char *to = elements; left < sort->spare + half; to += size) {
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
    sort.spare = malloc(count / 2 * size);
    if (!sort.spare)
        return -ENOMEM;
    sort_elements(&sort, elements, count);
    free(sort.spare);
    return 0;
}

enum { RANK_BYTES = sizeof(uint64_t), BYTE_VALUES = 256 };

static unsigned byte_of(const struct ranked *element, unsigned byte)
{
    return element->rank >> 8 * byte & 0xff;
}

/* Counts become the places where elements with this byte start. */
static void counts_to_places(size_t places[BYTE_VALUES])
{
    size_t place = 0;

    for (unsigned value = 0; value < BYTE_VALUES; value++) {
        const size_t count = places[value];
        places[value] = place;
        place += count;
    }
}

/* A radix sort: by each byte, the least significant first, unless it is the same in all. */
int sort_ranked(struct ranked *elements, size_t count)
{
    size_t(*places)[BYTE_VALUES];
    struct ranked *from = elements, *to, *spare;

    if (count < 2)
        return 0;
    places = calloc(RANK_BYTES, sizeof *places);
    spare = to = reallocarray(NULL, count, sizeof *spare);
    if (!spare || !places) {
        free(places);
        free(spare);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++)
        for (unsigned byte = 0; byte < RANK_BYTES; byte++)
            places[byte][byte_of(&elements[i], byte)]++;
    for (unsigned byte = 0; byte < RANK_BYTES; byte++) {
        if (places[byte][byte_of(from, byte)] == count)
            continue;
        counts_to_places(places[byte]);
        for (size_t i = 0; i < count; i++)
            to[places[byte][byte_of(&from[i], byte)]++] = from[i];
        struct ranked *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != elements)
        memcpy(elements, from, count * sizeof *elements);
    free(places);
    free(spare);
    return 0;
}
