/* SPDX-License-Identifier: MIT */
/* TCP sockets from a file with an answer of sock_diag(7), one message after the other, as `ss -D`
 * saves it (ss(8)). The file may have any size and any author, so it is read in pieces, and each
 * length is checked before it is used. Messages after the first answer are not listed, because ss
 * does not list them. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/socket/decode.h"
#include "backend/socket/sock_diag.h"
#include "fastnet/proc_tree.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"

/* The kernel's datagrams have at most 32 KiB (net/netlink/af_netlink.c), and messages have less. */
enum { CAPACITY = 128 * 1024, MESSAGE_MAX = CAPACITY - NLMSG_ALIGNTO };

/* The state of reading one file. */
struct diag_file_reading {
    const struct query *query;
    record_fn fn;
    void *arg;
    int fd;
    char *buffer;    /* CAPACITY bytes */
    size_t from, to; /* the bytes that were read and not yet taken */
    uint64_t offset; /* position of `from` in the file */
    bool ended;      /* the file has no more bytes, or reading failed */
    int error;       /* -errno of reading, or 0 */
    bool complete;   /* the end of the answer was read */
    bool more;       /* more bytes follow the answer */
    bool lost;       /* the position of the next message is unknown */
    size_t skipped;  /* malformed messages */
    uint64_t first;  /* position of the first malformed message */
};

/* --- The file --------------------------------------------------------------------------------- */

/* Opens the file as the user may: a right that was lent to the program does not count. */
static int diag_file_open_file(const char *path)
{
    int fd, error;

    rights_raise(RIGHT_READ);
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    error = errno;
    rights_lower();
    return fd < 0 ? -error : fd;
}

/* Makes `size` bytes (at most CAPACITY) available, or all that the file has left; returns the
 * number of available bytes. Bytes that are not aligned move to the front of the buffer. */
static size_t diag_file_fill(struct diag_file_reading *reading, size_t size)
{
    if (reading->to - reading->from < size || reading->from % NLMSG_ALIGNTO) {
        memmove(reading->buffer, reading->buffer + reading->from, reading->to - reading->from);
        reading->to -= reading->from;
        reading->from = 0;
        while (!reading->ended && reading->to < size) {
            const ssize_t length =
                proc_read(reading->fd, reading->buffer + reading->to, CAPACITY - reading->to);
            if (length < 0)
                reading->error = (int)length;
            reading->ended = length <= 0;
            reading->to += length > 0 ? (size_t)length : 0;
        }
    }
    return reading->to - reading->from;
}

/* Skips `size` bytes, or all that are left. Returns the number of skipped bytes. */
static uint64_t pass_over(struct diag_file_reading *reading, uint64_t size)
{
    uint64_t passed = 0;

    while (passed < size) {
        const size_t available = diag_file_fill(reading, 1);
        const size_t step = available < size - passed ? available : (size_t)(size - passed);

        if (!step)
            break;
        reading->from += step;
        reading->offset += step;
        passed += step;
    }
    return passed;
}

/* --- Messages --------------------------------------------------------------------------------- */

static int skip_malformed(struct diag_file_reading *reading)
{
    if (!reading->skipped++)
        reading->first = reading->offset;
    return 0;
}

/* Reports a loss of rows if the answer ended with an error, or has nothing but an error. */
static int take_error(struct diag_file_reading *reading, const struct nlmsghdr *message)
{
    int error;

    if (message->nlmsg_len < NLMSG_HDRLEN + sizeof error)
        return skip_malformed(reading);
    memcpy(&error, (const char *)message + NLMSG_HDRLEN, sizeof error);
    if (error)
        report_loss(reading->query->report, "%s: the kernel answered with an error: %s",
                    reading->query->diag_file, strerror(error < 0 && error > -4096 ? -error : EIO));
    return 0;
}

static int diag_file_take_socket(struct diag_file_reading *reading, const struct nlmsghdr *message)
{
    const struct query *query = reading->query;
    const uint8_t family = query->table->family;
    const struct inet_diag_msg *header =
        (const void *)((const char *)message + NLMSG_HDRLEN); /* its size is checked below */
    struct record record;

    if (message->nlmsg_len < NLMSG_HDRLEN + sizeof *header)
        return skip_malformed(reading);
    if ((header->idiag_family == AF_INET || header->idiag_family == AF_INET6) &&
        family != AF_UNSPEC && family != header->idiag_family)
        return 0; /* belongs to another table */
    if (sock_diag_decode_inet(message, query->table, query->needs, &record) < 0)
        return skip_malformed(reading);
    diag_mark_bound(&record.socket);
    sock_diag_bring_message(query, message, &record);
    return reading->fn(&record, reading->arg);
}

static int diag_file_take_message(struct diag_file_reading *reading, const struct nlmsghdr *message)
{
    switch (message->nlmsg_type) {
    case NLMSG_NOOP:
        return 0;
    case NLMSG_DONE:
        reading->complete = true;
        return take_error(reading, message);
    case NLMSG_ERROR:
        return take_error(reading, message);
    case SOCK_DIAG_BY_FAMILY:
    case TCPDIAG_GETSOCK:
        return diag_file_take_socket(reading, message);
    default:
        return skip_malformed(reading);
    }
}

/* Takes the messages of the answer. Returns what the callback returned. */
static int read_messages(struct diag_file_reading *reading)
{
    struct nlmsghdr header;
    int result = 0;

    while (result == 0 && !reading->complete &&
           diag_file_fill(reading, sizeof header) >= sizeof header) {
        memcpy(&header, reading->buffer + reading->from, sizeof header);
        /* NLMSG_ALIGN() has 32 bits: the size could become 0 */
        const uint64_t size = (uint64_t)header.nlmsg_len + -header.nlmsg_len % NLMSG_ALIGNTO;
        reading->lost = header.nlmsg_len < sizeof header;
        if (reading->lost)
            break;
        if (header.nlmsg_len > MESSAGE_MAX)
            skip_malformed(reading);
        else if (diag_file_fill(reading, (size_t)size) >= header.nlmsg_len) /* message is whole */
            result =
                diag_file_take_message(reading, (const void *)(reading->buffer + reading->from));
        pass_over(reading, size);
    }
    reading->more = reading->complete && diag_file_fill(reading, 1) > 0;
    return result;
}

/* --- The backend ------------------------------------------------------------------------------ */

/* Reports the problems of a file after it was read as far as possible. */
static void report_file(const struct diag_file_reading *reading)
{
    struct report *report = reading->query->report;
    const char *path = reading->query->diag_file;

    if (reading->skipped)
        report_loss(report, "%s: skipped %zu malformed message%s, the first at byte %" PRIu64, path,
                    reading->skipped, reading->skipped == 1 ? "" : "s", reading->first);
    if (reading->error)
        report_loss(report, "%s: %s", path, strerror(-reading->error));
    else if (reading->lost)
        report_loss(report,
                    "%s: no netlink message begins at byte %" PRIu64 ": the rest was not "
                    "read",
                    path, reading->offset);
    else if (!reading->offset)
        report_loss(report, "%s is empty: save the kernel's answers again (ss -D FILE)", path);
    else if (!reading->complete)
        report_loss(report,
                    "%s is truncated: the kernel's answer is incomplete, so rows may be missing",
                    path);
    else if (reading->more)
        report_detail(report, "%s has several netlink dumps: as in ss, only the first is listed",
                      path);
}

/* Reports a file that cannot be read. The caller cannot report that, because it does not know the
 * name of the file. */
static int diag_file_dump(const struct query *query, record_fn fn, void *arg)
{
    struct diag_file_reading reading = {
        .query = query, .fn = fn, .arg = arg, .fd = diag_file_open_file(query->diag_file)};
    int result = -ENOMEM;

    if (reading.fd < 0) {
        report_loss(query->report, "%s: %s", query->diag_file, strerror(-reading.fd));
        return 0;
    }
    reading.buffer = malloc(CAPACITY);
    if (reading.buffer)
        result = read_messages(&reading);
    if (result == 0)
        report_file(&reading);
    free(reading.buffer);
    close(reading.fd);
    return result;
}

const struct backend backend_diag_file = {
    .name = "TCPDIAG_FILE",
    .source = BACKEND_FILE,
    .provides = PROVIDES({&table_tcp, FIELDS_TCP}, {&table_tcp6, FIELDS_TCP},
                         {&table_tcp_both, FIELDS_TCP}),
    .dump = diag_file_dump,
};
