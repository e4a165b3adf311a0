/* SPDX-License-Identifier: MIT */
/* Values and texts of any length, through the writer. */
#ifndef MODEL_VALUE_H
#define MODEL_VALUE_H

#include "fastnet/field.h"
#include "fastnet/writer.h"
#include "text/escape.h"

/* Bytes of text that are escaped at once: the result fits the writer's reserve. */
enum { TEXT_PIECE = WRITER_RESERVE_MAX / 6 };

/* The most bytes that value_write() writes for any value of a type; 0: there is no such number. */
extern const uint16_t value_most[];

/* Writes a value as value_write() does, of any length. */
void value_put(struct writer *writer, const struct value *value, const char *delimiters);

/* The text of a view, with the names in it as they are: it is still to be escaped. */
struct text value_view_text(char text[VALUE_VIEW_MAX], const struct value *view);

/* A number of bytes; short for people (human). */
char *put_amount(char *dst, uint64_t bytes, bool human);

/* How a VALUE_TEXT, VALUE_SOCKET_NAME or VALUE_NAME begins, for text_put(). */
static inline enum text_part value_part(const struct value *value)
{
    return value->type == VALUE_SOCKET_NAME ? PART_SOCKET_NAME : PART_TEXT;
}

/* Escapes a text of any length; returns the part that goes on behind it. */
enum text_part text_put(struct writer *writer, struct text text, const char *delimiters,
                        enum text_part part);

/*
 * The text of a VALUE_TEXT, VALUE_SOCKET_NAME or VALUE_NAME. A number without a name is written to
 * digits: TEXT_U64_MAX bytes that must live as long as the result.
 */
struct text value_text(const struct value *value, char *digits);

/* Makes a VALUE_NAME a VALUE_TEXT, so that its length is found once. digits as in value_text(). */
static inline void value_name_to_text(struct value *value, char *digits)
{
    if (value->type != VALUE_NAME)
        return;
    value->text = value_text(value, digits);
    value->type = VALUE_TEXT;
}

#endif
