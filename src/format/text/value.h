/* Values and texts of any length, through the writer. */
#ifndef FORMAT_TEXT_VALUE_H
#define FORMAT_TEXT_VALUE_H

#include "fastnet/field.h"
#include "fastnet/writer.h"
#include "format/text/escape.h"

/* Bytes of text that are escaped at once: the result fits the writer's reserve. */
enum { TEXT_PIECE = WRITER_RESERVE_MAX / 6 };

/* Writes a value as value_write() does, of any length. */
void value_put(struct writer *writer, const struct value *value, const char *delimiters);

/* Escapes a text of any length. *part is as for escape_part(). */
void text_put(struct writer *writer, struct text text, const char *delimiters,
              enum text_part *part);

/*
 * The text of a VALUE_TEXT, VALUE_SOCKET_NAME or VALUE_NAME. A number without a name is written to
 * digits: TEXT_U64_MAX bytes that must live as long as the result.
 */
struct text value_text(const struct value *value, char *digits);

/* A VALUE_LLADDR, which may be empty; at most TEXT_LLADDR_MAX bytes. Returns the end. */
char *value_lladdr(char *dst, const struct value *value);

/* The first set bit of VALUE_FLAGS from this one on; VALUE_FLAG_BITS when there is none. */
unsigned value_next_flag(const struct value *value, unsigned bit);

/* The name of a bit, or its number in digits (TEXT_U64_MAX bytes). */
struct text value_flag_name(const struct value *value, unsigned bit, char *digits);

#endif
