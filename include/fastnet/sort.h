/* A stable sort: it keeps equal elements in order, which qsort(3) does not promise. */
#ifndef FASTNET_SORT_H
#define FASTNET_SORT_H

#include <stddef.h>

/* compare() is as for qsort_r(3). Returns 0, or -ENOMEM: the elements are unchanged then. */
int sort_stable(void *elements, size_t count, size_t size,
                int (*compare)(const void *a, const void *b, void *arg), void *arg);

#endif
