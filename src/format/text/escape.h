/* Escaping in pieces, for text that is longer than what the writer reserves. */
#ifndef FORMAT_TEXT_ESCAPE_H
#define FORMAT_TEXT_ESCAPE_H

#include <stddef.h>

/* What a piece belongs to: it decides what a NUL and an '@' become. */
enum text_part {
    PART_TEXT,          /* any text, or the rest of a path */
    PART_SOCKET_NAME,   /* the first piece of a unix socket's name */
    PART_ABSTRACT_NAME, /* the rest of an abstract name */
};

/*
 * Escapes a piece as escape_text() or escape_socket_name() would and sets *part for the piece that
 * follows. dst takes ESCAPE_FACTOR * size.
 */
char *escape_part(char *dst, const char *data, size_t size, const char *delimiters,
                  enum text_part *part);

/*
 * How many of the first bytes, at most `most` (above 3), can be escaped on their own without
 * cutting a character in two.
 */
size_t escape_piece(const char *data, size_t size, size_t most);

#endif
