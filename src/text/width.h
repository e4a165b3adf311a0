/* SPDX-License-Identifier: MIT */
/* The width of text on a terminal, in every locale. */
#ifndef TEXT_WIDTH_H
#define TEXT_WIDTH_H

#include <stddef.h>

/* Returns the columns of valid UTF-8, as escape_text() writes it: each character takes 0, 1 or
 * 2. */
size_t text_width(const char *text, size_t length);

#endif
