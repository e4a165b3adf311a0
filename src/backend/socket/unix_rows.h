/*
 * /proc/net/unix in memory, line by line: what it says is believed only after netlink was asked,
 * and netlink is asked only when the whole file was read.
 */
#ifndef BACKEND_SOCKET_UNIX_ROWS_H
#define BACKEND_SOCKET_UNIX_ROWS_H

#include <stdbool.h>
#include <stddef.h>

struct line;

/* All zero: none. */
struct unix_rows {
    char *text; /* every line ends with a newline */
    size_t length, capacity;
    size_t from; /* where the next line begins */
};

/* Keeps a line; of an overlong one no more than shows that it is none of the kernel's. */
int unix_rows_add(struct unix_rows *rows, const struct line *line);
void unix_rows_finish(struct unix_rows *rows);

/* Hands out the next line, free to be changed; false when there is none. */
bool unix_rows_next(struct unix_rows *rows, struct line *line);

/* The end of the text, and going on behind the line that ends at `end`, which is in the text. */
const char *unix_rows_end(const struct unix_rows *rows);
void unix_rows_go_on(struct unix_rows *rows, const char *end);

#endif
