/* SPDX-License-Identifier: MIT */
/* Arrays: count, grow, search and sort elements. */
#ifndef FASTNET_ARRAY_H
#define FASTNET_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Returns the pointer at `index` of an array of pointers; NULL if `index` is past the end. */
#define POINTER_AT(array, index) ((index) < COUNT(array) ? (array)[index] : NULL)

/* Returns the string at `index` of an array of arrays of char; NULL if `index` is past the end, or
 * the string is empty. For sparse tables: an array of pointers would have to be relocated at each
 * start. */
#define STRING_AT(array, index) ((index) < COUNT(array) && *(array)[index] ? (array)[index] : NULL)

/* Defines a function that returns the word for a number: 0 is the first word. It returns NULL if
 * the word is empty or missing. */
#define WORDS(function, ...)                                                                       \
    const char *function(uint64_t number)                                                          \
    {                                                                                              \
        static const char words[][24] = {__VA_ARGS__};                                             \
                                                                                                   \
        return STRING_AT(words, number);                                                           \
    }

/* Makes room for `needed` elements of `size` bytes. Returns the array, which may have moved; NULL
 * if memory is short: then the array is unchanged. */
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

/* Adds an element of zeroes and returns it. The array may move. Returns NULL if memory is short. */
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

/* The numbers from first to last. In an array of ranges they ascend and do not overlap. */
struct number_range {
    uint64_t first, last;
};

/* True if `number` is in one of the `count` ranges. */
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

/* Sets of numbers: bit n % 64 of word n / 64 says whether n is in the set. */
static inline void bits_add(uint64_t *bits, size_t number)
{
    bits[number / 64] |= UINT64_C(1) << number % 64;
}

static inline bool bits_have(const uint64_t *bits, size_t number)
{
    return bits[number / 64] >> number % 64 & 1;
}

/* Returns how many numbers are in the set of `words` words. */
static inline unsigned bits_count(const uint64_t *bits, size_t words)
{
    unsigned bits_set = 0;

    for (size_t i = 0; i < words; i++)
        bits_set += (unsigned)__builtin_popcountll(bits[i]);
    return bits_set;
}

/* Sorts, and keeps equal elements in order, which qsort(3) does not promise. compare() is as for
 * qsort_r(3). Returns 0, or -ENOMEM: then the elements are unchanged. */
int sort_stable(void *elements, size_t count, size_t size,
                int (*compare)(const void *a, const void *b, void *arg), void *arg);

/* Sorts as sort_stable(), but without comparisons, for many elements of 16 bytes. The key is the
 * uint64_t that is `offset` bytes into each element. */
int sort_numbers(void *elements, size_t count, size_t offset);

/* An item with its key for sort_ranked(). */
struct ranked {
    _Alignas(8) uint64_t rank; /* aligned, so that the struct has 16 bytes on 32-bit machines */
    const void *item;
};

/* Sorts by rank, as sort_numbers() does. */
static inline int sort_ranked(struct ranked *elements, size_t count)
{
    return sort_numbers(elements, count, offsetof(struct ranked, rank));
}

#endif
