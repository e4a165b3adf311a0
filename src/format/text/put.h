/* What layouts share: strings, numbers and padding into reserved space. Each returns the end. */
#ifndef FORMAT_TEXT_PUT_H
#define FORMAT_TEXT_PUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fastnet/text.h"

static inline char *put_string(char *dst, const char *string)
{
    const size_t length = strlen(string);

    return (char *)memcpy(dst, string, length) + length;
}

static inline char *put_padded(char *dst, const char *string, size_t width)
{
    return text_pad(put_string(dst, string), dst, width);
}

/* A number as printf(3) has it with %d: what is past INT32_MAX is negative. */
static inline char *put_signed(char *dst, uint32_t number)
{
    if (number <= INT32_MAX)
        return text_u64(dst, number);
    *dst++ = '-';
    return text_u64(dst, UINT64_C(0x100000000) - number);
}

/* Moves what was written from start to the right edge of the width. */
static inline char *put_right(char *end, char *start, size_t width)
{
    const size_t length = (size_t)(end - start);

    if (length >= width)
        return end;
    memmove(start + width - length, start, length);
    memset(start, ' ', width - length);
    return start + width;
}

#endif
