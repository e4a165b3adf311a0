/* SPDX-License-Identifier: MIT */
/*
 * Answers of a netlink peer: transport and the decoders of all families. The first byte says which
 * table is asked for; then come datagrams, each behind two bytes of length, as in the recorded
 * dumps.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "datagrams.h"
#include "fastnet/array.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fuzz.h"
#include "written.h"

struct input {
    struct datagrams datagrams;
    const struct table *table;
    struct written written;
};

static unsigned sum_of_borrowed(const struct record *record, const struct borrowed *borrowed)
{
    struct text text;
    unsigned sum = 0;

    if (borrowed->fields & ~record->has)
        return 0;
    memcpy(&text, (const char *)record + borrowed->offset, sizeof text);
    for (size_t i = 0; i < text.length; i++)
        sum += (unsigned char)text.data[i];
    return sum;
}

/* What a row says must be within what its table can have, and be there to be read. */
static int check_record(const struct record *record, void *arg)
{
    struct input *input = arg;
    const struct socket_record *sock = &record->socket;
    unsigned sum = 0;

    require(record->kind == &kind_socket);
    require(!(record->has & ~backend_fields(&backend_sock_diag, input->table)));
    require(sock->family == input->table->family && sock->protocol == input->table->protocol);
    if (record->has & SOCKET_ADDRESSES) {
        require_address(&sock->local.address, sock->family);
        require_address(&sock->remote.address, sock->family);
    }
    require(!(record->has & SOCKET_PATH) || sock->path.length <= SOCKET_PATH_MAX);
    for (size_t i = 0; i < record->kind->borrowed_count; i++)
        sum += sum_of_borrowed(record, &record->kind->borrowed[i]);
    written_row(&input->written, record);
    return sum == UINT32_MAX; /* never, but the compiler does not know */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct table *const tables[] = {
        &table_tcp,   &table_unix,   &table_tcp6,    &table_udp,   &table_raw, &table_mptcp,
        &table_sctp6, &table_packet, &table_netlink, &table_vsock, &table_xdp, &table_tipc};
    static const struct context no_names;
    static const struct netstat_layout layout = {
        .timers = true, .numeric_hosts = true, .numeric_ports = true, .numeric_users = true};
    struct input input = {.datagrams = {size ? data + 1 : data, size ? size - 1 : 0, 0, false}};
    const struct netlink_peer peer = datagrams_peer(&input.datagrams);
    struct report report = {.partial = false};
    struct query query = {
        .needs = UINT64_MAX, .proc_root = "/nonexistent", .report = &report, .exclusive = true};

    if (size == 0)
        return 0;
    query.table = input.table = tables[data[0] % COUNT(tables)];
    query.netlink = netlink_create(&peer);
    require(query.netlink != NULL);
    written_begin(&input.written,
                  sink_create(&sink_netstat, &layout, written_writer(&input.written), &no_names),
                  "", true);
    require(backend_sock_diag.dump(&query, check_record, &input) <= 0);
    written_end(&input.written);
    netlink_destroy(query.netlink);
    return 0;
}
