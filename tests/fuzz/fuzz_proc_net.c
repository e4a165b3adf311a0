/* SPDX-License-Identifier: MIT */
/*
 * Files of /proc/net: the lines, however the reads cut them, and both decoders. The first byte says
 * which table it is; one in two is read through a pipe, in pieces of a size that it says, too.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/proc/lines.h"
#include "backend/socket/decode.h"
#include "fuzz.h"
#include "written.h"

/* The lines that memchr() finds in the whole, to compare with. */
struct expected {
    const char *at, *end;
    size_t number;
};

static void expect_line(struct expected *expected, const struct line *line)
{
    size_t left = (size_t)(expected->end - expected->at);
    const char *newline = memchr(expected->at, '\n', left);
    size_t length = newline ? (size_t)(newline - expected->at) : left;

    require(line->cut == (length >= LINES_CAPACITY));
    require(line->unended == (!newline && !line->cut));
    require(line->length == (line->cut ? LINES_CAPACITY : length));
    require(memcmp(line->data, expected->at, line->length) == 0);
    expected->at += length + (newline != NULL);
    expected->number++;
}

/* What a row says must be within what its table can have, and have been in the line. */
static void check_record(const struct record *record, const struct table *table,
                         const struct line *line)
{
    const struct socket_record *sock = &record->socket;

    require(record->kind == &kind_socket);
    require(!(record->has & ~backend_fields(&backend_proc_net, table)));
    require(sock->family == table->family && sock->protocol == table->protocol);
    if (record->has & SOCKET_ADDRESSES) {
        require_address(&sock->local.address, sock->family);
        require_address(&sock->remote.address, sock->family);
    }
    if (!(record->has & SOCKET_PATH))
        return;
    require(sock->path.length <= SOCKET_PATH_MAX);
    require(!sock->path.length ||
            (sock->path.data >= line->data &&
             sock->path.data + sock->path.length <= line->data + line->length));
}

/* A row has what stands behind the pointer, or not; it is lent by the rest. */
static void check_rest(struct record *record, const struct line *line)
{
    static struct inet_rest rest;
    const uint64_t has = record->has;

    memset(&rest, 0, sizeof rest);
    proc_net_decode_rest(line, &rest, record);
    if (record->has & SOCKET_TCP_BASICS)
        require(record->socket.info.data == (const char *)&rest.info);
    if (record->has & SOCKET_DROPS)
        require(socket_drops(record) == rest.memory[SK_MEMINFO_DROPS]);
    require((record->has & ~(SOCKET_TCP_BASICS | SOCKET_DROPS)) == has);
    require(!line->unended || record->has == has);
}

/* Read by columns, a line is the same record as read word by word. */
static void compare_ways(const struct line *line, const struct table *table)
{
    struct record fast, slow;

    memset(&fast, 0xa5, sizeof fast);
    memset(&slow, 0xa5, sizeof slow);
    if (!proc_net_decode_columns(line, table, &fast))
        return;
    require(proc_net_decode_words(line, table, &slow) == 0);
    require(memcmp((const char *)&fast, (const char *)&slow, sizeof fast) == 0);
}

/* Without the first 0 of its address a row of unix sockets is read word by word. */
static void compare_unix(const struct line *shorter, const struct record *record)
{
    const struct text *path = &record->socket.path;
    struct record other;

    memset(&other, 0xa5, sizeof other);
    require(proc_net_decode_unix(shorter, &other) == 0);
    require(other.socket.path.length == path->length);
    require(memcmp(other.socket.path.data, path->data, path->length) == 0);
    other.socket.path = *path;
    require(memcmp((const char *)&other, (const char *)record, sizeof other) == 0);
}

static void decode(const struct line *line, const struct table *table, struct written *written)
{
    const bool unix_zero = table->family == AF_UNIX && line->length > 1 && line->data[0] == '0' &&
                           isxdigit((unsigned char)line->data[1]);
    struct line shorter = {.length = line->length - 1};
    struct record record;
    int result;

    memset(&record, 0xa5, sizeof record);
    if (unix_zero && (shorter.data = malloc(shorter.length))) /* decoding changes the line */
        memcpy(shorter.data, line->data + 1, shorter.length);
    if (table->family != AF_UNIX)
        compare_ways(line, table);
    if (table->family == AF_UNIX)
        result = proc_net_decode_unix(line, &record);
    else
        result = proc_net_decode_inet(line, table, &record);
    require(result == 0 || result == -EBADMSG);
    require(result < 0 || !line->cut);
    if (result == 0 && shorter.data)
        compare_unix(&shorter, &record);
    free(shorter.data);
    if (result < 0)
        return;
    if (table->family != AF_UNIX)
        check_rest(&record, line);
    check_record(&record, table, line);
    written_row(written, &record);
}

/* Into a pipe, so that each read gets what one write was. */
static void write_in_pieces(int fd, const char *data, size_t size, size_t piece)
{
    for (size_t at = 0; at < size; at += piece) {
        size_t now = size - at < piece ? size - at : piece;
        require(write(fd, data + at, now) == (ssize_t)now);
    }
}

static int open_pipe(const char *data, size_t size, size_t piece)
{
    int ends[2];

    require(pipe2(ends, O_DIRECT) == 0);
    write_in_pieces(ends[1], data, size, piece);
    close(ends[1]);
    return ends[0];
}

static int open_memory(const char *data, size_t size)
{
    int fd = memfd_create("file", 0);

    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    require(lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct table *const tables[] = {&table_tcp, &table_tcp6, &table_unix, &table_udp};
    enum { PIPE_PIECES = 12 }; /* a pipe has 16 buffers */
    static const struct context no_names;
    static const struct netstat_layout layout = {
        .timers = true, .numeric_hosts = true, .numeric_ports = true, .numeric_users = true};
    struct written written;
    struct lines lines = {.fd = -1};
    struct line line;
    size_t piece = 0;
    int result;

    if (size == 0)
        return 0;
    const char *text = (const char *)data + 1;
    struct expected expected = {text, text + size - 1, 0};
    if (data[0] & 0x80) {
        piece = 1 + (data[0] >> 2 & 31);
        piece = size / piece < PIPE_PIECES ? piece : size / PIPE_PIECES + 1;
        piece = piece < 4096 ? piece : 0;
    }
    lines.fd = piece ? open_pipe(text, size - 1, piece) : open_memory(text, size - 1);
    lines.buffer = malloc(LINES_CAPACITY);
    lines.capacity = LINES_CAPACITY;
    require(lines.buffer != NULL);
    written_begin(&written,
                  sink_create(&sink_netstat, &layout, written_writer(&written), &no_names), "",
                  true);
    while ((result = lines_next(&lines, &line)) > 0) {
        expect_line(&expected, &line);
        require(lines.number == expected.number);
        decode(&line, tables[data[0] & 3], &written);
    }
    require(result == 0 && expected.at == expected.end);
    written_end(&written);
    lines_close(&lines);
    return 0;
}
