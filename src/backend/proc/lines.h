/* SPDX-License-Identifier: MIT */
/*
 * Lines of a file, read in large pieces and handed out where they are in the buffer, without
 * copying. One read(2) may end in the middle of a line: the next goes on there.
 */
#ifndef BACKEND_PROC_LINES_H
#define BACKEND_PROC_LINES_H

#include <stdbool.h>
#include <stddef.h>

enum { LINES_CAPACITY = 128 * 1024 };

struct lines {
    int fd;
    bool ended;      /* read(2) gave 0 */
    bool overlong;   /* inside a line that did not fit */
    char *buffer;    /* owned */
    size_t capacity; /* of the buffer, bytes: LINES_CAPACITY, unless lines_read() made it larger */
    size_t from, to; /* the bytes that were read and not yet handed out */
    size_t number;   /* that of the line handed out last; the first is 1 */
};

/* A line without its newline. It is valid until the next call, and may be changed until then. */
struct line {
    char *data;
    size_t length;
    bool cut;     /* LINES_CAPACITY or longer: only its beginning */
    bool unended; /* the last one, without a newline behind it */
};

/*
 * Opens the regular file PROC_ROOT/PATH. Returns 0 or -errno: -ENOENT if there is no such file, but
 * -ENOTDIR if there is not even PROC_ROOT/net.
 */
int lines_open(struct lines *lines, const char *proc_root, const char *path);

/* Takes over an open descriptor: lines_close() closes it, and so does lines_init() if it fails. */
int lines_init(struct lines *lines, int fd);
void lines_close(struct lines *lines);

/*
 * Reads until the buffer, which grows, has this many bytes that were not handed out, or the file
 * ends. Until it returns, the lines may be used by this thread only. Returns 0 or -errno.
 */
int lines_read(struct lines *lines, size_t size);

/* Returns 1 with a line, 0 at the end of the file, or -errno. The last line needs no newline. */
int lines_next(struct lines *lines, struct line *line);

#endif
