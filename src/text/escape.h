/* SPDX-License-Identifier: MIT */
/* Escapes text in pieces, if it is longer than the writer's reserve. */
#ifndef TEXT_ESCAPE_H
#define TEXT_ESCAPE_H

#include <stddef.h>

/* Where a piece begins in its text. This decides how a NUL and an '@' are written. */
enum text_part {
    PART_TEXT,          /* any text, or the rest of a path */
    PART_SOCKET_NAME,   /* the first piece of a unix socket's name */
    PART_ABSTRACT_NAME, /* the rest of an abstract name */
};

/* Escapes a piece as escape_text() or escape_socket_name() would escape the whole, and sets *part
 * for the next piece. dst needs ESCAPE_FACTOR * size bytes. */
char *escape_part(char *dst, const char *data, size_t size, const char *delimiters,
                  enum text_part *part);

/* Undoes in place what escape_text() did, for any delimiters. Returns the new end. The '@' of an
 * abstract name stays. */
char *escape_undo(char *text, const char *end);

/* Returns the length of the first piece: at most `most` bytes (more than 3), without cutting a
 * character. */
size_t escape_piece(const char *data, size_t size, size_t most);

#endif
