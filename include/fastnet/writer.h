/* The buffered writer: all output goes through one of these. */
#ifndef FASTNET_WRITER_H
#define FASTNET_WRITER_H

#include <stdbool.h>
#include <stddef.h>

enum { WRITER_CAPACITY = 64 * 1024, WRITER_RESERVE_MAX = 16 * 1024 };

struct writer {
    int fd;
    int error;         /* errno of the first write that failed; nothing is written after it */
    bool line_flushed; /* hand on at once what ends a line (-c, events) */
    size_t length;
    size_t reserved; /* bytes behind them that may be written */
    char *buffer;    /* WRITER_CAPACITY bytes, owned */
};

/* Returns 0 or -ENOMEM. fd is borrowed. */
int writer_init(struct writer *writer, int fd);

/* Flushes nothing; accepts a writer that was zeroed or never initialised with success. */
void writer_finish(struct writer *writer);

/* Room for size bytes (at most WRITER_RESERVE_MAX) at the returned place; never NULL. */
char *writer_reserve(struct writer *writer, size_t size);

/* Keeps what was written from the reserved place up to end; more than was reserved is a bug. */
void writer_commit(struct writer *writer, const char *end);

/* Any number of bytes. */
void writer_put(struct writer *writer, const char *data, size_t size);
void writer_puts(struct writer *writer, const char *string);

/* Writes everything out; waits where a descriptor does not block. Returns 0 or -errno. */
int writer_flush(struct writer *writer);

#endif
