/* SPDX-License-Identifier: MIT */
/* Arrays: counting elements, growing, sorting. */
#ifndef FASTNET_ARRAY_H
#define FASTNET_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The pointer at this index of an array of pointers; NULL past its end. */
#define POINTER_AT(array, index) ((index) < COUNT(array) ? (array)[index] : NULL)

/*
 * The string at this index of an array of arrays of char; NULL past its end, and where it is empty.
 * For sparse tables: pointers in its place would have to be relocated at each start.
 */
#define STRING_AT(array, index) ((index) < COUNT(array) && *(array)[index] ? (array)[index] : NULL)

/* Defines a function: the words for the numbers from 0 on. NULL: an empty one, or it has none. */
#define WORDS(function, ...)                                                                       \
    const char *function(uint64_t number)                                                          \
    {                                                                                              \
        static const char words[][24] = {__VA_ARGS__};                                             \
                                                                                                   \
        return STRING_AT(words, number);                                                           \
    }

/* Makes room for `needed` elements. Returns the array, which may have moved; NULL when memory is
 * short: it is unchanged then. */
static inline void *array_with_room(void *array, size_t *capacity, size_t needed, size_t size)
{
    size_t larger = *capacity ? *capacity * 2 : 64;
    void *moved;

    if (needed <= *capacity)
        return array;
    if (larger < needed)
        larger = needed;
    moved = reallocarray(array, larger, size);
    if (moved)
        *capacity = larger;
    return moved;
}

/* Adds an element of zeroes, and returns it; the array may move. NULL when memory is short. */
#define ARRAY_ADD(array, count, capacity)                                                          \
    array_add(&(array), &(count), &(capacity), sizeof *(array))
static inline void *array_add(void *array, size_t *count, size_t *capacity, size_t size)
{
    char *moved;

    memcpy(&moved, array, sizeof moved);
    moved = array_with_room(moved, capacity, *count + 1, size);
    if (!moved)
        return NULL;
    memcpy(array, &moved, sizeof moved);
    return memset(moved + (*count)++ * size, 0, size);
}

/* Numbers from first to last. In an array they are in order, and none meets another. */
struct number_range {
    uint64_t first, last;
};

static inline bool ranges_have(const struct number_range *ranges, size_t count, uint64_t number)
{
    size_t from = 0, to = count;

    while (from < to) {
        const size_t between = from + (to - from) / 2;
        if (number > ranges[between].last)
            from = between + 1;
        else
            to = between;
    }
    return from < count && number >= ranges[from].first;
}

/*
 * A stable sort: it keeps equal elements in order, which qsort(3) does not promise. compare() is
 * that of qsort_r(3). Returns 0, or -ENOMEM: the elements are unchanged then.
 */
int sort_stable(void *elements, size_t count, size_t size,
                int (*compare)(const void *a, const void *b, void *arg), void *arg);

/*
 * The same without comparisons, for many elements of 16 bytes: by the number of 64 bits that is at
 * this offset in each of them.
 */
int sort_numbers(void *elements, size_t count, size_t offset);

struct ranked {
    _Alignas(8) uint64_t rank; /* it has 16 bytes on machines of 32 bits, too */
    const void *item;
};

static inline int sort_ranked(struct ranked *elements, size_t count)
{
    return sort_numbers(elements, count, offsetof(struct ranked, rank));
}

#endif
