/* SPDX-License-Identifier: MIT */
/* Escapes in strings of JSON, and elements of arrays and objects. */
#include <string.h>

#include "text/json.h"

/* --- Escapes ---------------------------------------------------------------------------------- */

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit |= 0x20;
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

bool json_hex(const char *at, size_t count, uint32_t *value)
{
    *value = 0;
    for (; count > 0; count--, at++) {
        const int digit = hex_value(*at);
        if (digit < 0)
            return false;
        *value = *value << 4 | (uint32_t)digit;
    }
    return true;
}

static char *json_put_utf8(char *dst, uint32_t code)
{
    if (code < 0x80) {
        *dst++ = (char)code;
        return dst;
    }
    const unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3; /* bytes after the first */
    *dst++ = (char)((0xff00U >> (more + 1) & 0xff) | code >> 6 * more);
    for (unsigned i = more; i-- > 0;)
        *dst++ = (char)(0x80 | (code >> 6 * i & 0x3f));
    return dst;
}

/* Decodes \uHHHH, or two of them that are a surrogate pair. Returns the end of the escape, or NULL
 * if it is no character. */
static const char *unescape_unit(char **dst, const char *at, const char *end)
{
    enum { UNIT = 6 /* \uHHHH */ };
    uint32_t code, low;

    if (end - at < UNIT || !json_hex(at + 2, 4, &code) || (code >= 0xdc00 && code <= 0xdfff))
        return NULL;
    at += UNIT;
    if (code >= 0xd800 && code <= 0xdbff) {
        if (end - at < UNIT || at[0] != '\\' || at[1] != 'u' || !json_hex(at + 2, 4, &low) ||
            low < 0xdc00 || low > 0xdfff)
            return NULL;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        at += UNIT;
    }
    *dst = json_put_utf8(*dst, code);
    return at;
}

/* Decodes a backslash, and what escape_json() writes for readers with a backslash. */
static const char *unescape_backslash(char **dst, const char *at, const char *end)
{
    uint32_t byte = '\\';
    size_t length = 2;

    if (end - at >= 4 && at[2] == '\\' && at[3] == '\\')
        length = 4;
    else if (end - at >= 5 && at[2] == 'x' && json_hex(at + 3, 2, &byte))
        length = 5;
    else
        byte = '\\';
    *(*dst)++ = (char)byte;
    return at + length;
}

char *json_unescape(char *dst, struct text text)
{
    static const char letters[] = "\"/bfnrt", meant[] = "\"/\b\f\n\r\t";
    const char *at = text.data, *const end = text.data + text.length;

    while (at && at < end) {
        const char *stop = memchr(at, '\\', (size_t)(end - at));
        const size_t plain = (size_t)((stop ? stop : end) - at);
        memmove(dst, at, plain);
        dst += plain;
        at += plain;
        if (!stop)
            break;
        if (end - at < 2)
            return NULL;
        const char *letter = memchr(letters, at[1], sizeof letters - 1);
        if (at[1] == 'u') {
            at = unescape_unit(&dst, at, end);
        } else if (at[1] == '\\') {
            at = unescape_backslash(&dst, at, end);
        } else if (letter) {
            *dst++ = meant[letter - letters];
            at += 2;
        } else {
            return NULL;
        }
    }
    return at ? dst : NULL;
}

/* --- Elements of a nested value --------------------------------------------------------------- */

static const char between_elements[] = " \n\r\t,:";

/* Returns the end of the element of a scanned row that begins at `at`; `at`: there is no element.
 */
static const char *element_end(const char *at, const char *end)
{
    size_t depth = 0;
    bool in_string = false;

    for (; at < end; at++) {
        if (*at == '"')
            in_string = !in_string;
        else if (in_string)
            at += *at == '\\';
        else if (*at == '[' || *at == '{')
            depth++;
        else if (*at == ']' || *at == '}'
                     ? !depth--
                     : !depth && memchr(between_elements, *at, sizeof between_elements - 1))
            break;
    }
    return at;
}

static enum json_type element_type(char first)
{
    return first == '"'                   ? JSON_STRING
           : first == '[' || first == '{' ? JSON_NESTED
           : first == 'n'                 ? JSON_NULL
           : first == 't'                 ? JSON_TRUE
           : first == 'f'                 ? JSON_FALSE
                                          : JSON_NUMBER;
}

bool json_next_element(struct text *rest, struct json_element *element)
{
    const char *at = rest->data, *const end = rest->data + rest->length;
    bool is_key = true;

    *element = (struct json_element){.type = JSON_NULL};
    if (at < end && (*at == '[' || *at == '{')) /* only before the first element */
        at++;
    while (is_key) {
        while (at < end && memchr(between_elements, *at, sizeof between_elements - 1))
            at++;
        const char *const stop = element_end(at, end);
        if (stop == at)
            return false;
        const size_t quote = *at == '"', length = (size_t)(stop - at);
        element->key = element->value; /* a value before this value was its key */
        element->value = (struct text){at + quote, length - 2 * quote};
        element->type = element_type(*at);
        for (at = stop; at < end && *at != ':' && *at != ',' && *at != '}' && *at != ']';)
            at++;
        is_key = at < end && *at == ':';
    }
    *rest = (struct text){at, (size_t)(end - at)};
    return true;
}
