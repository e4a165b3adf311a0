/* SPDX-License-Identifier: MIT */
/*
 * Half-open connections: the numbers of each must be those of a row with its two ends in the files
 * of /proc/net. The first byte says which table is asked for: that of IPv4, that of IPv6, or both.
 * The rest is what its file holds; of two, the second begins behind a NUL. One that would be empty
 * is not there.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/socket/half_open.h"
#include "fastnet/array.h"
#include "fastnet/report.h"
#include "fuzz.h"
#include "net_files.h"

#define NUMBERS (SOCKET_UID | SOCKET_RETRANSMITS)

/* All rows of the files, in any state. */
struct rows {
    struct record *all;
    size_t count, capacity;
};

static int keep_row(const struct record *record, void *arg)
{
    struct rows *rows = arg;
    struct record *all =
        array_with_room(rows->all, &rows->capacity, rows->count + 1, sizeof *rows->all);

    require(all != NULL);
    rows->all = all;
    all[rows->count++] = *record;
    return 0;
}

static void read_rows(struct query query, const struct table *table, struct rows *rows)
{
    int result;

    query.table = table;
    result = backend_proc_net.dump(&query, keep_row, rows);
    require(result == 0 || result == -ENOENT);
}

static bool has_ends(const struct socket_record *a, const struct socket_record *b)
{
    return a->family == b->family && a->local.port == b->local.port &&
           a->remote.port == b->remote.port &&
           address_equal(&a->local.address, &b->local.address) &&
           address_equal(&a->remote.address, &b->remote.address);
}

static bool has_numbers(const struct socket_record *a, const struct socket_record *b)
{
    return a->uid == b->uid && a->retransmits == b->retransmits && a->probes == b->probes;
}

/* Of several rows with these ends (a file that was captured may hold them) any one will do. */
static void check(struct half_open *half_open, const struct query *query, const struct rows *rows,
                  const struct socket_record *ends)
{
    struct record record = {.kind = &kind_socket, .has = SOCKET_ADDRESSES};
    bool known = false, right = false;

    record.socket.family = ends->family;
    record.socket.local = ends->local;
    record.socket.remote = ends->remote;
    half_open_complete(half_open, query, &record);
    for (size_t i = 0; i < rows->count; i++) {
        const struct socket_record *row = &rows->all[i].socket;
        if (row->state != TCP_SYN_RECV || !has_ends(row, ends))
            continue;
        known = true;
        right |= has_numbers(row, &record.socket);
    }
    require(record.has == (known ? SOCKET_ADDRESSES | NUMBERS : SOCKET_ADDRESSES));
    require(right == known);
    require(has_ends(&record.socket, ends));
}

/* Each connection of the files, and one beside it. */
static void check_rows(struct half_open *half_open, const struct query *query,
                       const struct rows *rows)
{
    enum { ROWS_MAX = 64 }; /* checking takes the square of it */

    for (size_t i = 0; i < rows->count && i < ROWS_MAX; i++) {
        struct socket_record ends = rows->all[i].socket;
        check(half_open, query, rows, &ends);
        ends.remote.port ^= 1;
        check(half_open, query, rows, &ends);
        ends.remote.port ^= 1;
        ends.local.address.bytes[3] ^= 1;
        check(half_open, query, rows, &ends);
    }
}

static size_t write_file(const char *name, const char *text, size_t size)
{
    net_files_remove(name);
    if (size)
        net_files_write(name, text, size);
    return size > 0;
}

/* Returns how many files there are; an empty one is not. */
static size_t write_files(const struct table *table, const char *text, size_t size)
{
    const char *second = table == &table_tcp_both ? memchr(text, '\0', size) : NULL;
    const size_t length = second ? (size_t)(second - text) : size;

    if (table == &table_tcp6)
        return write_file("tcp", NULL, 0) + write_file("tcp6", text, size);
    return write_file("tcp", text, length) +
           write_file("tcp6", second ? second + 1 : NULL, second ? size - length - 1 : 0);
}

/* How many lines say that there is no such file. */
static size_t count_missing(const struct report *report)
{
    size_t count = 0;

    for (size_t i = 0; i < report->count; i++)
        count += strstr(report->lines[i], strerror(ENOENT)) != NULL;
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct table *const tables[] = {&table_tcp, &table_tcp6, &table_tcp_both};
    struct report report = {.partial = false};
    struct query query = {.needs = UINT64_MAX, .proc_root = net_files_root(), .report = &report};
    struct rows rows = {.count = 0};
    struct half_open half_open = {.count = 0};
    struct record no_row4 = {.socket.family = AF_INET}, no_row6 = {.socket.family = AF_INET6};
    size_t files, missing;

    if (size == 0)
        return 0;
    query.table = tables[data[0] % COUNT(tables)];
    files = write_files(query.table, (const char *)data + 1, size - 1);
    missing = (query.table == &table_tcp_both ? 2 : 1) - files;
    half_open_complete(&half_open, &query, &no_row4);
    half_open_complete(&half_open, &query, &no_row6);
    require(!report.partial && report.count <= files + missing);
    require(count_missing(&report) == missing);
    if (query.table != &table_tcp6)
        read_rows(query, &table_tcp, &rows);
    if (query.table != &table_tcp)
        read_rows(query, &table_tcp6, &rows);
    check_rows(&half_open, &query, &rows);
    half_open_finish(&half_open);
    free(rows.all);
    return 0;
}
