/* SPDX-License-Identifier: MIT */
/* The way back from escape_text(), to prove that nothing is lost. */
#ifndef UNIT_UNESCAPE_H
#define UNIT_UNESCAPE_H

#include <stddef.h>
#include <string.h>

/* The value of a digit as escape_text() writes it, or -1. */
static inline int hex_value(char digit)
{
    static const char hex[] = "0123456789abcdef";
    const char *at = digit != '\0' ? strchr(hex, digit) : NULL;

    return at ? (int)(at - hex) : -1;
}

/* Decodes the escape at data, backslash included. Returns its length, or 0 if it is none. */
static inline size_t unescape_one(char *byte, const char *data, size_t size)
{
    if (size >= 2 && data[1] == '\\') {
        *byte = '\\';
        return 2;
    }
    if (size < 4 || data[1] != 'x')
        return 0;
    const int high = hex_value(data[2]);
    const int low = hex_value(data[3]);
    if (high < 0 || low < 0)
        return 0;
    *byte = (char)(high << 4 | low);
    return 4;
}

/* Undoes escape_text(). Returns the end, or NULL if escape_text() cannot have written the text. */
static inline char *unescape_text(char *dst, const char *data, size_t size)
{
    while (size > 0) {
        size_t length = 1;
        *dst = *data;
        if (*data == '\\')
            length = unescape_one(dst, data, size);
        if (length == 0)
            return NULL;
        dst++;
        data += length;
        size -= length;
    }
    return dst;
}

#endif
