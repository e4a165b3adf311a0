/* SPDX-License-Identifier: MIT */
/* Text that is mutated: a file of /proc, its bytes, fields and lines. */
#ifndef MUTATE_TEXT_H
#define MUTATE_TEXT_H

#include "chance.h"

struct text {
    char *data; /* allocated */
    size_t length, capacity;
};

/* Puts bytes in the place of others; text that grows too long stays as it is. */
void text_replace(struct text *text, size_t at, size_t remove, const char *insert, size_t length);

void text_mutate(struct text *text, struct chance *chance);

#endif
