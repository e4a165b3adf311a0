/* SPDX-License-Identifier: MIT */
/* Reads a file in large pieces and hands out its lines inside the buffer, without copying them. If
 * a read(2) ends within a line, the next read(2) continues the line. */
#ifndef BACKEND_PROC_LINES_H
#define BACKEND_PROC_LINES_H

#include <stdbool.h>
#include <stddef.h>

enum { LINES_CAPACITY = 128 * 1024 };

struct lines {
    int fd;
    bool ended;      /* read(2) has returned 0 */
    bool overlong;   /* the next bytes are the rest of a line that was cut */
    char *buffer;    /* owned */
    size_t capacity; /* bytes of the buffer: LINES_CAPACITY, or more after lines_read() */
    size_t from, to; /* the bytes that were read but not handed out */
    size_t number;   /* number of the last line that was handed out; the first is 1 */
};

/* A line without its newline. It is valid until the next call; the caller may change its bytes. */
struct line {
    char *data;
    size_t length;
    bool cut;     /* `data` has only the first LINES_CAPACITY bytes of the line */
    bool unended; /* the last line of the file, without a newline */
};

/* Opens the regular file PROC_ROOT/PATH. Returns 0 or -errno: -ENOENT if the file does not exist,
 * but -ENOTDIR if PROC_ROOT/net does not exist, either. */
int lines_open(struct lines *lines, const char *proc_root, const char *path);

/* Takes over a descriptor: closes it if lines_init() fails, otherwise lines_close() closes it. */
int lines_init(struct lines *lines, int fd);
void lines_close(struct lines *lines);

/* Reads until the buffer, which grows, has `size` bytes that were not handed out, or the file ends.
 * Until it returns, no other thread may use `lines`. Returns 0 or -errno. */
int lines_read(struct lines *lines, size_t size);

/* Returns 1 with a line, 0 at the end of the file, or -errno. The last line needs no newline. */
int lines_next(struct lines *lines, struct line *line);

#endif
