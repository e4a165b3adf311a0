/* SPDX-License-Identifier: MIT */
/* Values and texts of any length, through the writer. */
#ifndef MODEL_VALUE_H
#define MODEL_VALUE_H

#include "fastnet/field.h"
#include "fastnet/writer.h"
#include "text/escape.h"

/* Bytes of text that are escaped in one step: the result fits the writer's reserve. */
enum { TEXT_PIECE = WRITER_RESERVE_MAX / 6 };

/* By type: the largest number of bytes that value_write() writes; 0: no bound. */
extern const uint16_t value_most[];

/* Writes a value of any length as value_write() does. */
void value_put(struct writer *writer, const struct value *value, const char *delimiters);

/* Returns the text of a view. Names in the text are not escaped yet. */
struct text value_view_text(char text[VALUE_VIEW_MAX], const struct value *view);

/* Writes a number of bytes; human: in a short form. */
char *put_amount(char *dst, uint64_t bytes, bool human);

/* The first part of a VALUE_TEXT, VALUE_SOCKET_NAME or VALUE_NAME, for text_put(). */
static inline enum text_part value_part(const struct value *value)
{
    return value->type == VALUE_SOCKET_NAME ? PART_SOCKET_NAME : PART_TEXT;
}

/* Writes a text of any length, escaped. A text may come in pieces: pass the returned part with the
 * next piece. */
enum text_part text_put(struct writer *writer, struct text text, const char *delimiters,
                        enum text_part part);

/* Returns the text of a VALUE_TEXT, VALUE_SOCKET_NAME or VALUE_NAME. A number without a name is
 * written to `digits`: TEXT_U64_MAX bytes that must live as long as the result. */
struct text value_text(const struct value *value, char *digits);

/* Turns a VALUE_NAME into a VALUE_TEXT, so that its length is computed once. digits: as for
 * value_text(). */
static inline void value_name_to_text(struct value *value, char *digits)
{
    if (value->type != VALUE_NAME)
        return;
    value->text = value_text(value, digits);
    value->type = VALUE_TEXT;
}

#endif
