/* SPDX-License-Identifier: MIT */
/* The kernel's own messages about sockets, one after another: the form of a file for TCPDIAG_FILE
 * (ss(8)). The file has only one NLMSG_DONE, at its end, because ss stops reading at the first. */
#include <linux/netlink.h>

#include "fastnet/layouts.h"

static void put_aligned(struct writer *writer, const void *message, size_t size)
{
    static const char padding[NLMSG_ALIGNTO];

    writer_put(writer, message, size);
    writer_put(writer, padding, NLMSG_ALIGN(size) - size);
}

static void layout_diag_put_row(struct sink *sink, const struct record *record)
{
    const struct text message = record->socket.message;

    if (record->has & SOCKET_MESSAGE)
        put_aligned(sink->writer, message.data, message.length);
}

static void layout_diag_put_end(struct sink *sink)
{
    static const int no_error = 0;
    const struct nlmsghdr done = {.nlmsg_len = NLMSG_LENGTH(sizeof no_error),
                                  .nlmsg_type = NLMSG_DONE};

    put_aligned(sink->writer, &done, sizeof done);
    put_aligned(sink->writer, &no_error, sizeof no_error);
}

const struct sink_ops sink_diag = {
    .size = sizeof(struct sink),
    .row = layout_diag_put_row,
    .end = layout_diag_put_end,
    .clone = sink_clone,
};
