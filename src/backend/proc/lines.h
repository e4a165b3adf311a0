/*
 * Lines of a file, read in large pieces and handed out in place: no copying, no stdio, and a line
 * may be cut anywhere between two reads.
 */
#ifndef BACKEND_PROC_LINES_H
#define BACKEND_PROC_LINES_H

#include <stdbool.h>
#include <stddef.h>

struct report;

enum { LINES_CAPACITY = 128 * 1024 };

struct lines {
    int fd;
    bool ended;      /* read(2) gave 0 */
    bool overlong;   /* inside a line that did not fit */
    char *buffer;    /* LINES_CAPACITY bytes, owned */
    size_t from, to; /* what was read and not yet handed out */
    size_t number;   /* of the line handed out last, from 1 */
};

/* A line without its newline; borrowed until the next call, and until then free to be changed. */
struct line {
    char *data;
    size_t length;
    bool cut;     /* longer than the buffer: only its beginning */
    bool unended; /* the last one, and no newline behind it */
};

/* Opens PROC_ROOT/net/NAME, a regular file. Returns 0 or -errno. */
int lines_open(struct lines *lines, const char *proc_root, const char *name);

/* The same, but -ENOTDIR where nothing can be there, for there is no PROC_ROOT/net. */
int lines_open_table(struct lines *lines, const char *proc_root, const char *name);

/* The same for PROC_ROOT/PATH: what is not below net. */
int lines_open_path(struct lines *lines, const char *proc_root, const char *path);

/* The same over an open descriptor, which lines_close() closes; also where this fails. */
int lines_init(struct lines *lines, int fd);
void lines_close(struct lines *lines);

/* Returns 1 with a line, 0 at the end, -errno. A last line needs no newline. */
int lines_next(struct lines *lines, struct line *line);

#endif
