/* SPDX-License-Identifier: MIT */
/* How a backend describes its requests (struct explanation of query.h). */
#ifndef MODEL_EXPLANATION_H
#define MODEL_EXPLANATION_H

#include "fastnet/query.h"

/* Notes that the kernel compares this member of struct record; member: its offset in bytes. */
void explanation_add(struct explanation *explanation, size_t member);

/* Appends details to the text. A text that is too long is cut. */
void explanation_describe(struct explanation *explanation, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
