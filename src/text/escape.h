/* SPDX-License-Identifier: MIT */
/* Escaping in pieces, for text that is longer than the writer's reserve. */
#ifndef TEXT_ESCAPE_H
#define TEXT_ESCAPE_H

#include <stddef.h>

/* The text to which a piece belongs decides how a NUL and an '@' are written. */
enum text_part {
    PART_TEXT,          /* any text, or the rest of a path */
    PART_SOCKET_NAME,   /* the first piece of a unix socket's name */
    PART_ABSTRACT_NAME, /* the rest of an abstract name */
};

/*
 * Escapes a piece as escape_text() or escape_socket_name() would and sets *part for the next piece.
 * dst needs ESCAPE_FACTOR * size bytes.
 */
char *escape_part(char *dst, const char *data, size_t size, const char *delimiters,
                  enum text_part *part);

/*
 * Undoes in place what escape_text() has done, with any delimiters; returns the new end. Of an
 * abstract name '@' stays.
 */
char *escape_undo(char *text, const char *end);

/* The length of the first piece: at most `most` bytes (above 3), without a cut character. */
size_t escape_piece(const char *data, size_t size, size_t most);

#endif
