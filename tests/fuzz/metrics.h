/* SPDX-License-Identifier: MIT */
/* Metrics as text: what their readers demand of it. */
#ifndef FUZZ_METRICS_H
#define FUZZ_METRICS_H

#include <stdbool.h>
#include <stddef.h>

/* Ends the program if it is not whole lines of families, each there once; open: OpenMetrics. */
void metrics_check(const char *text, size_t size, bool open);

#endif
