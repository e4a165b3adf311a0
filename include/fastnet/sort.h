/* The one sort that keeps equal elements in order. qsort(3) does not promise that. */
#ifndef FASTNET_SORT_H
#define FASTNET_SORT_H

#include <stddef.h>

/*
 * `compare` is given two elements and `arg`, and returns a number below, equal to or above 0, as
 * for qsort_r(3). Returns 0, or -ENOMEM: then the elements are as they were.
 */
int sort_stable(void *elements, size_t count, size_t size,
                int (*compare)(const void *a, const void *b, void *arg), void *arg);

#endif
