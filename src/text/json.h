/* SPDX-License-Identifier: MIT */
/* Reads rows of JSON (RFC 8259): objects one after another (NDJSON), or arrays of objects. Memory
 * is bounded, and no input makes the reader call itself. */
#ifndef TEXT_JSON_H
#define TEXT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/text.h"

enum {
    JSON_ROW_MAX = 1 << 20,  /* bytes of a row; a longer row is broken */
    JSON_MEMBERS_MAX = 1024, /* a row with more members is broken */
    JSON_DEPTH_MAX = 16,     /* arrays and objects inside of each other, in a row */
};

enum json_type {
    JSON_NULL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NESTED, /* an array or an object, as the input writes it */
};

/* A key of a row with its value: offsets and lengths in json_row.text, in bytes. Strings have no
 * quotes, and their escapes are undone: the escapes of JSON, and \xHH and \\, which escape_json()
 * adds for readers. */
struct json_member {
    uint32_t key, key_length;
    uint32_t value, length;
    enum json_type type;
};

/* A row, valid until the next call of json_reader_next(). */
struct json_row {
    const char *text;
    const struct json_member *members;
    size_t count;
    uint64_t line; /* in which it begins, from 1 on */
};

static inline struct text json_key(const struct json_row *row, const struct json_member *member)
{
    return (struct text){row->text + member->key, member->key_length};
}

static inline struct text json_value(const struct json_row *row, const struct json_member *member)
{
    return (struct text){row->text + member->value, member->length};
}

struct json_reader;

/* The reader borrows the descriptor, which may be a pipe. NULL: memory is short. */
struct json_reader *json_reader_create(int fd);
void json_reader_destroy(struct json_reader *reader);

/* Returns 1 with the next row, 0 at the end, or -errno if the descriptor cannot be read. -EBADMSG:
 * a row is broken; json_reader_problem() says why, and the next call goes on after it. A row is
 * passed on as soon as its last byte has come. */
int json_reader_next(struct json_reader *reader, struct json_row *row);

/* The problem of the row that was broken, and its line. Valid until the next call of
 * json_reader_next(). */
const char *json_reader_problem(const struct json_reader *reader, uint64_t *line);

/* True if nothing but white space was read so far. */
bool json_reader_is_empty(const struct json_reader *reader);

/* The elements of a JSON_NESTED value, one after another. *rest: the value at first. Sets *element
 * to the next element, whose strings still have their escapes (json_unescape()), and, in an object,
 * *key to its key, escaped, too. Returns false after the last element. */
struct json_element {
    struct text key, value;
    enum json_type type;
};
bool json_next_element(struct text *rest, struct json_element *element);

/* Writes a string of a json_element without its escapes. dst needs text.length bytes, and may be
 * the text itself. Returns the end; NULL: an escape is no character. */
char *json_unescape(char *dst, struct text text);

/* Sets *value to the number that `count` hexadecimal digits are. False: not all bytes are digits.
 */
bool json_hex(const char *at, size_t count, uint32_t *value);

#endif
