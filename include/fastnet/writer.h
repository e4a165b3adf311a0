/* SPDX-License-Identifier: MIT */
/* The buffered writer: all output goes through a writer. */
#ifndef FASTNET_WRITER_H
#define FASTNET_WRITER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { WRITER_CAPACITY = 64 * 1024, WRITER_RESERVE_MAX = 16 * 1024, WRITER_ROOM = 2048 };

/* A descriptor with a buffer in front of it. */
struct writer {
    int fd;
    int error;         /* errno of the first write that failed; nothing is written after it */
    bool line_flushed; /* write each line at once (-c, events) */
    size_t length;
    size_t full;     /* bytes that cause a write: WRITER_CAPACITY, or fewer (writer_hurry()) */
    size_t reserved; /* bytes after `length` that the caller may write */
    char *buffer;    /* WRITER_CAPACITY bytes, owned */
    /* Takes the bytes in place of write(2) to fd. Returns 0 or -errno. NULL: fd gets them. */
    int (*take)(void *arg, const char *data, size_t size);
    void *arg;
};

/* fd: borrowed. Returns 0 or -ENOMEM. */
int writer_init(struct writer *writer, int fd);

/* Writes the first rows soon and later rows in larger pieces, so that people see the first rows at
 * once, and a reader that stops early (head(1)) costs little. */
void writer_hurry(struct writer *writer);

/* Frees the buffer without flushing. Accepts a zeroed writer, and a writer whose writer_init()
 * failed. */
void writer_finish(struct writer *writer);

/* Writes out the buffer; waits if a non-blocking descriptor is full. Returns 0 or -errno. */
int writer_flush(struct writer *writer);

/* Returns room for `size` bytes (at most WRITER_RESERVE_MAX); never NULL. */
static inline char *writer_reserve(struct writer *writer, size_t size)
{
    assert(size <= WRITER_RESERVE_MAX);
    if (writer->length + size > writer->full)
        writer_flush(writer);
    writer->reserved = size;
    return writer->buffer + writer->length;
}

/* Flushes a line that has just ended, if lines are written at once. */
static inline void writer_flush_lines(struct writer *writer)
{
    if (writer->line_flushed && writer->length > 0 && writer->buffer[writer->length - 1] == '\n')
        writer_flush(writer);
}

/* Keeps the bytes that were written to the reserved room, up to `end`. Writing more than was
 * reserved is a bug. */
static inline void writer_commit(struct writer *writer, const char *end)
{
    const size_t length = (size_t)(end - writer->buffer);

    assert(length >= writer->length && length - writer->length <= writer->reserved);
    writer->length = length;
    writer->reserved = 0;
    writer_flush_lines(writer);
}

/* Returns room for `size` more bytes after dst, the end of the bytes in the reserved room: dst
 * itself, or a new room of at least WRITER_ROOM bytes. */
static inline char *writer_more(struct writer *writer, char *dst, size_t size)
{
    if (size <= writer->length + writer->reserved - (size_t)(dst - writer->buffer))
        return dst;
    writer_commit(writer, dst);
    return writer_reserve(writer, size < WRITER_ROOM ? WRITER_ROOM : size);
}

/* Writes more bytes than the buffer has room for. */
void writer_put_through(struct writer *writer, const char *data, size_t size);

/* Writes any number of bytes. */
static inline void writer_put(struct writer *writer, const char *data, size_t size)
{
    if (writer->length + size > writer->full) {
        writer_put_through(writer, data, size);
        return;
    }
    if (size > 0)
        memcpy(writer->buffer + writer->length, data, size);
    writer->length += size;
    writer_flush_lines(writer);
}

/* Writes a string that ends with NUL. */
void writer_puts(struct writer *writer, const char *string);

/* Writes `blanks` spaces, then the data; by one call of writer_put() if they are short, because a
 * row has many cells. */
void writer_put_after(struct writer *writer, size_t blanks, const char *data, size_t size);

#endif
