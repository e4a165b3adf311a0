/* SPDX-License-Identifier: MIT */
/*
 * TCP sockets counted by their states: the numbers must fit together, whatever the counters and the
 * kernel say. The first two bytes are states that are wanted, 0 for all. Then come the files
 * sockstat, sockstat6 and snmp, each with a NUL behind it; an empty one is not there. The rest are
 * datagrams (datagrams.h).
 */
#include <netinet/tcp.h>
#include <string.h>

#include "bytes.h"
#include "datagrams.h"
#include "fastnet/predicate.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fuzz.h"
#include "net_files.h"

enum { STATES = 32 };

struct counted {
    uint64_t rows[STATES];
};

static int take(const struct record *record, void *arg)
{
    struct counted *counted = arg;

    require(record->kind == &kind_socket && record->has == SOCKET_STATE);
    require(!record->identity && record->rows > 0);
    require(record->socket.state < STATES && record->socket.state != TCP_CLOSE);
    require(!counted->rows[record->socket.state]); /* each state once */
    counted->rows[record->socket.state] = record->rows;
    return 0;
}

static void write_file(struct bytes *bytes, const char *name)
{
    const void *end = bytes->left ? memchr(bytes->at, '\0', bytes->left) : NULL;
    const size_t length = end ? (size_t)((const uint8_t *)end - bytes->at) : bytes->left;

    net_files_remove(name);
    if (length)
        net_files_write(name, bytes->at, length);
    bytes->at += length + (end != NULL);
    bytes->left -= length + (end != NULL);
}

struct sockstat {
    uint64_t in_use, time_wait;
};

static int take_counter(const struct record *record, void *arg)
{
    struct sockstat *sockstat = arg;
    const struct counter_record *counter = &record->counter;
    const bool is_tcp = text_is(counter->protocol, "TCP");

    if (text_is(counter->name, "inuse") && (is_tcp || text_is(counter->protocol, "TCP6")))
        sockstat->in_use += counter->magnitude;
    else if (text_is(counter->name, "tw") && is_tcp)
        sockstat->time_wait = counter->magnitude;
    return 0;
}

/* The files do not change, so all sockets in use are in one of these states. */
static void check(const struct counted *counted)
{
    static const uint8_t in_use[] = {TCP_ESTABLISHED, TCP_SYN_SENT,   TCP_FIN_WAIT1,
                                     TCP_FIN_WAIT2,   TCP_CLOSE_WAIT, TCP_LAST_ACK,
                                     TCP_LISTEN,      TCP_CLOSING,    TCP_TIME_WAIT};
    struct report report = {.partial = false};
    const struct query query = {
        .table = &table_sockstat, .proc_root = net_files_root(), .report = &report};
    struct sockstat sockstat = {.in_use = 0};
    uint64_t sum = 0;

    require(backend_proc_snmp.dump(&query, take_counter, &sockstat) == 0);
    require(!report.partial);
    for (size_t i = 0; i < sizeof in_use; i++)
        sum += counted->rows[in_use[i]];
    require(sum <= sockstat.in_use + sockstat.time_wait);
    require(sum + counted->rows[TCP_SYN_RECV] >= sockstat.in_use + sockstat.time_wait);
    require(counted->rows[TCP_TIME_WAIT] <= sockstat.time_wait);
}

static int count(struct datagrams *datagrams, const struct predicate *where,
                 struct counted *counted)
{
    const struct netlink_peer peer = datagrams_peer(datagrams);
    struct report report = {.verbose = true};
    const struct query query = {.table = &table_tcp_states,
                                .needs = SOCKET_STATE,
                                .proc_root = net_files_root(),
                                .netlink = netlink_create(&peer),
                                .where = where,
                                .report = &report};
    int result;

    require(query.netlink != NULL);
    result = backend_socket_states.dump(&query, take, counted);
    netlink_destroy(query.netlink);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size};
    const uint16_t states = bytes_u16(&bytes);
    const struct predicate where = predicate_one_of(field_named(&kind_socket, "state"), states);
    struct counted counted = {.rows = {0}};
    int result;

    write_file(&bytes, "sockstat");
    write_file(&bytes, "sockstat6");
    write_file(&bytes, "snmp");
    struct datagrams datagrams = {.data = bytes.at, .size = bytes.left};
    result = count(&datagrams, states ? &where : NULL, &counted);
    if (result == 0)
        check(&counted);
    for (size_t i = 0; i < STATES; i++)
        require(result == 0 || !counted.rows[i]);
    return 0;
}
