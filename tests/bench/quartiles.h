/* SPDX-License-Identifier: MIT */
/* Figures of several runs, as row.awk reads them. */
#ifndef BENCH_QUARTILES_H
#define BENCH_QUARTILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 1001 };

static inline int compare_figures(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static inline void sort_figures(double *sorted, const double *values, int count)
{
    memcpy(sorted, values, (size_t)count * sizeof *values);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_figures);
}

static inline double median_of(const double *values, int count)
{
    double sorted[RUNS_MAX];

    sort_figures(sorted, values, count);
    return sorted[count / 2];
}

/* Prints quartile, median, quartile, and a blank behind each. */
static inline void print_quartiles(const double *values, int count)
{
    double sorted[RUNS_MAX];

    sort_figures(sorted, values, count);
    printf("%.5f %.5f %.5f ", sorted[count / 4], sorted[count / 2], sorted[count - 1 - count / 4]);
}

#endif
