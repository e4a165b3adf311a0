/* The buffered writer: all output goes through one of these. */
#ifndef FASTNET_WRITER_H
#define FASTNET_WRITER_H

#include <stdbool.h>
#include <stddef.h>

enum { WRITER_CAPACITY = 64 * 1024, WRITER_RESERVE_MAX = 16 * 1024 };

struct writer {
    int fd;
    int error;         /* errno of the first write that failed; nothing is written after it */
    bool line_flushed; /* write each line at once (-c, events) */
    size_t length;
    size_t reserved; /* bytes behind these that the caller may write */
    char *buffer;    /* WRITER_CAPACITY bytes, owned */
};

/* Returns 0 or -ENOMEM. fd is borrowed. */
int writer_init(struct writer *writer, int fd);

/* Does not flush. Accepts a zeroed writer, and one whose writer_init() failed. */
void writer_finish(struct writer *writer);

/* Returns room for size bytes (at most WRITER_RESERVE_MAX); never NULL. */
char *writer_reserve(struct writer *writer, size_t size);

/* Keeps the bytes written to the reserved room up to end. More than was reserved is a bug. */
void writer_commit(struct writer *writer, const char *end);

/* Writes any number of bytes. */
void writer_put(struct writer *writer, const char *data, size_t size);
void writer_puts(struct writer *writer, const char *string);

/* Writes everything out; waits if a non-blocking descriptor is full. Returns 0 or -errno. */
int writer_flush(struct writer *writer);

#endif
