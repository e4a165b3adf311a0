/* SPDX-License-Identifier: MIT */
/* The buffer that all output goes through. */
#include "fastnet/writer.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int writer_init(struct writer *writer, int fd)
{
    *writer = (struct writer){.fd = fd, .full = WRITER_CAPACITY};
    writer->buffer = malloc(WRITER_CAPACITY);
    return writer->buffer ? 0 : -ENOMEM;
}

void writer_hurry(struct writer *writer)
{
    enum { FIRST = 4096 };

    writer->full = FIRST;
}

void writer_finish(struct writer *writer)
{
    if (!writer)
        return;
    free(writer->buffer);
    writer->buffer = NULL;
    writer->length = 0;
}

static int write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(fd, data, size);
        if (written > 0) {
            data += written;
            size -= (size_t)written;
        } else if (written == 0) {
            return -EIO; /* write(2) wrote nothing and gave no reason: do not repeat it */
        } else if (errno == EAGAIN) {
            struct pollfd more = {.fd = fd, .events = POLLOUT};
            /* an error also ends the wait; the next write(2) returns it */
            if (poll(&more, 1, -1) < 0 && errno != EINTR)
                return -errno;
        } else if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

int writer_flush(struct writer *writer)
{
    if (writer->error == 0)
        writer->error = -(writer->take ? writer->take(writer->arg, writer->buffer, writer->length)
                                       : write_all(writer->fd, writer->buffer, writer->length));
    writer->length = 0;
    if (writer->full < WRITER_CAPACITY)
        writer->full *= 2;
    return -writer->error;
}

void writer_put_through(struct writer *writer, const char *data, size_t size)
{
    while (writer->length + size > writer->full) {
        const size_t room = WRITER_CAPACITY - writer->length, piece = size < room ? size : room;
        memcpy(writer->buffer + writer->length, data, piece);
        writer->length += piece;
        data += piece;
        size -= piece;
        writer_flush(writer);
    }
    writer_put(writer, data, size);
}

void writer_puts(struct writer *writer, const char *string)
{
    writer_put(writer, string, strlen(string));
}

void writer_put_after(struct writer *writer, size_t blanks, const char *data, size_t size)
{
    while (blanks && blanks + size > WRITER_RESERVE_MAX) {
        const size_t some = blanks < WRITER_RESERVE_MAX ? blanks : WRITER_RESERVE_MAX;

        writer_commit(writer, (char *)memset(writer_reserve(writer, some), ' ', some) + some);
        blanks -= some;
    }
    if (!blanks) {
        writer_put(writer, data, size);
        return;
    }
    char *dst = writer_reserve(writer, blanks + size);
    memset(dst, ' ', blanks);
    memcpy(dst + blanks, data, size);
    writer_commit(writer, dst + blanks + size);
}
