/* SPDX-License-Identifier: MIT */
/* How much of the network's resources is in use, from numbers that the kernel counts anyway, so
 * that the time does not depend on the number of sockets. Only TCP sockets in
 * states other than ESTABLISHED and TIME_WAIT are listed, to count them (socket_states.c).
 *
 * Other backends read the numbers. A value that is missing has no row. A limit that is missing is
 * unknown: most files of limits are in the first network namespace only. A file that exists but
 * cannot be read is reported. */
#include "backend/summary/summary.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/proc/proc_file.h"
#include "backend/proc/scan.h"
#include "backend/socket/socket_pass.h"
#include "fastnet/array.h"
#include "fastnet/field.h"
#include "fastnet/held_sockets.h"
#include "fastnet/kernel_number.h"
#include "fastnet/predicate.h"
#include "fastnet/report.h"
#include "model/socket/view_fields.h"

const struct table table_summary = {.name = "summary", .file = "sockstat", .kind = &kind_summary};

/* The states of TCP are those of linux/tcp_states.h. */
enum { TCP_STATES = TCP_CLOSING + 1 };

/* The rows. netlink counts TCP sockets by state; without it, counters know some of the states. */
static const struct summary_row {
    const char *subject, *name;    /* name NULL: the name of the state */
    enum kernel_number numbers[2]; /* the numbers are added; the first has the limit and the unit */
    uint8_t state;                 /* a state of TCP; 0: sockets of all states */
    bool machine;
    /* BOUND, UNLISTED: sockets of `protocols` that the kernel does not count by protocol. OTHER:
     * the difference of `all sockets` and the sum of the rows before. */
    enum { COUNTED, BOUND, UNLISTED, OTHER } part;
    uint16_t protocols[2]; /* COUNTED: the kernel counts none of their sockets */
} rows[] = {
    {"all", "sockets", .numbers = {SOCKETS_USED}},
    {"tcp", "sockets", .numbers = {TCP_IN_USE, TCP6_IN_USE}},
    {"tcp", NULL, .state = TCP_LISTEN},
    {"tcp", NULL, .numbers = {TCP_CONNECTIONS}, .state = TCP_ESTABLISHED},
    {"tcp", NULL, .state = TCP_SYN_SENT},
    {"tcp", NULL, .state = TCP_SYN_RECV},
    {"tcp", NULL, .state = TCP_FIN_WAIT1},
    {"tcp", NULL, .state = TCP_FIN_WAIT2},
    {"tcp", NULL, .numbers = {TCP_WAITING}, .state = TCP_TIME_WAIT},
    {"tcp", NULL, .state = TCP_CLOSE_WAIT},
    {"tcp", NULL, .state = TCP_LAST_ACK},
    {"tcp", NULL, .state = TCP_CLOSING},
    {"tcp", "bound", .part = BOUND, .protocols = {IPPROTO_TCP}},
    {"tcp", "unlisted", .part = UNLISTED, .protocols = {IPPROTO_TCP}},
    {"tcp", "allocated", .numbers = {TCP_ALLOCATED}, .machine = true},
    {"tcp", "orphans", .numbers = {TCP_ORPHANS}, .machine = true},
    {"tcp", "memory", .numbers = {TCP_PAGES}, .machine = true},
    {"udp", "sockets", .numbers = {UDP_IN_USE, UDP6_IN_USE}},
    {"udp", "unlisted", .part = UNLISTED, .protocols = {IPPROTO_UDP}},
    {"udp", "memory", .numbers = {UDP_PAGES}, .machine = true},
    {"udplite", "sockets", .numbers = {UDPLITE_IN_USE, UDPLITE6_IN_USE}},
    {"udplite", "unlisted", .part = UNLISTED, .protocols = {IPPROTO_UDPLITE}},
    {"raw", "sockets", .numbers = {RAW_IN_USE, RAW6_IN_USE}},
    {"ping", "sockets", .numbers = {PING_SOCKETS, PING6_SOCKETS}},
    {"ping", "unlisted", .part = UNLISTED, .protocols = {IPPROTO_ICMP, IPPROTO_ICMPV6}},
    {"mptcp", "sockets", .numbers = {MPTCP_SOCKETS, MPTCP6_SOCKETS}},
    {"mptcp", "unlisted", .part = UNLISTED, .protocols = {PROTOCOL_MPTCP}},
    {"sctp", "sockets", .numbers = {SCTP_SOCKETS, SCTP6_SOCKETS}},
    {"unix", "sockets", .numbers = {UNIX_SOCKETS, UNIX_STREAMS}},
    {"packet", "sockets", .numbers = {PACKET_SOCKETS}},
    {"netlink", "sockets", .numbers = {NETLINK_SOCKETS}},
    {"vsock", "sockets", .numbers = {VSOCK_SOCKETS}, .protocols = {PROTOCOL_VSOCK}},
    {"xdp", "sockets", .numbers = {XDP_SOCKETS}},
    {"tipc", "sockets", .numbers = {TIPC_SOCKETS}, .protocols = {PROTOCOL_TIPC}},
    {"other", "sockets", .numbers = {SOCKETS_USED}, .part = OTHER},
    {"frag", "datagrams", .numbers = {FRAGMENTS}},
    {"frag", "memory", .numbers = {FRAGMENTS_BYTES}},
    {"frag6", "datagrams", .numbers = {FRAGMENTS6}},
    {"frag6", "memory", .numbers = {FRAGMENTS6_BYTES}},
    {"flows", "tracked", .numbers = {FLOWS_TRACKED}},
    {"files", "open", .numbers = {FILES_OPEN}, .machine = true},
};

/* Sockets of one protocol that processes hold, and that the kernel does not count by protocol. */
struct uncounted {
    uint16_t protocol;
    bool bound; /* TCP sockets with a port */
    uint64_t sockets;
};

struct summary_reading {
    const struct query *query;
    struct kernel_counts counts;
    uint64_t states[TCP_STATES];
    bool has_states;
    bool has_uncounted; /* the descriptors of processes were read */
    size_t uncounted_count;
    struct uncounted uncounted[64];
};

/* Reports a file that could not be read. lost: a row is missing, else only a limit. A file that
 * does not exist is not reported, because only other kernels have it. */
static void summary_report_unread(const struct summary_reading *reading, const char *path,
                                  int error, bool lost)
{
    const struct query *query = reading->query;

    if (error < 0 && error != -ENOENT && error != -ENOTDIR)
        report_add(query->report, lost ? REPORT_LOSS : REPORT_NOTE, "%s/%s: %s", query->proc_root,
                   path, error == -EBADMSG ? "malformed" : strerror(-error));
}

/* --- Numbers of sockets ----------------------------------------------------------------------- */

static int summary_take_counter(const struct record *record, void *arg)
{
    struct summary_reading *reading = arg;

    if (!record->counter.negative)
        kernel_counts_take(&reading->counts, &record->counter);
    return 0;
}

int protocols_decode(const struct line *line, struct text *name, uint64_t *sockets)
{
    struct scan scan = {line->data, line->data + line->length};
    uint64_t size;

    if (line->cut || !scan_word(&scan, name) || !scan_number(&scan, &size, UINT32_MAX) ||
        !scan_char(&scan, ' ') || !scan_number(&scan, sockets, UINT32_MAX) ||
        !scan_char(&scan, ' '))
        return -EBADMSG;
    return 0;
}

/* Without the file, or without its line, the number of a protocol's sockets is unknown. */
static void read_protocols(struct summary_reading *reading)
{
    struct proc_file file = {.query = reading->query, .name = "protocols"};
    struct record record = {.counter.name = TEXT_LITERAL("sockets")};
    struct line line;
    int error;

    error = proc_file_open(&file);
    if (error < 0) {
        summary_report_unread(reading, "net/protocols", error, true);
        return;
    }
    while ((error = proc_file_next(&file, &line)) > 0)
        if (protocols_decode(&line, &record.counter.protocol, &record.counter.magnitude) == 0)
            summary_take_counter(&record, reading);
    proc_file_close(&file);
    summary_report_unread(reading, "net/protocols", error, true);
}

/* --- TCP by state ----------------------------------------------------------------------------- */

static int summary_take_state(const struct record *record, void *arg)
{
    struct summary_reading *reading = arg;
    const uint8_t state = record->socket.state;

    if (state < TCP_STATES)
        reading->states[state] += record_rows(record);
    return 0;
}

/* Counts TCP sockets by state. If this fails, only counters for ESTABLISHED and TIME_WAIT are left:
 * the first includes CLOSE_WAIT, the second a part of FIN_WAIT2. */
static void read_states(struct summary_reading *reading)
{
    /* not CLOSE: to find sockets that are only bound to a port, the kernel walks all ports */
    const uint32_t wanted = (UINT32_C(1) << TCP_STATES) - 1 - (1u << TCP_CLOSE);
    const struct predicate where = predicate_one_of(field_named(&kind_socket, "state"), wanted);
    struct query query = *reading->query;
    int error;

    query.table = &table_tcp_states;
    query.needs = SOCKET_STATE;
    query.where = &where;
    error = backend_socket_states.dump(&query, summary_take_state, reading);
    reading->has_states = error >= 0;
    if (error < 0)
        report_loss(query.report, "cannot count TCP sockets by state: sock_diag: %s",
                    strerror(-error));
}

/* --- Sockets that the kernel does not count by protocol -------------------------------------- */

/* True if a socket is in the counts of its protocol (sock_prot_inuse_add() of the kernel). TCP, UDP
 * and ping sockets count while they are in a hash table, sockets of some families always. */
static bool is_counted(const struct socket_record *sock)
{
    if (sock->family == AF_UNIX || sock->type == SOCK_RAW)
        return sock->family != AF_CAN && sock->family != AF_BLUETOOTH && sock->family != AF_KEY;
    switch (sock->protocol) {
    case IPPROTO_TCP:
    case PROTOCOL_MPTCP:
        return sock->state != TCP_CLOSE && sock->state != STATE_BOUND_INACTIVE;
    case IPPROTO_UDP:
    case IPPROTO_UDPLITE:
    case IPPROTO_ICMP:
    case IPPROTO_ICMPV6:
        return sock->local.port;
    case IPPROTO_SCTP:
    case PROTOCOL_PACKET:
    case PROTOCOL_NETLINK:
    case PROTOCOL_XDP:
        return true;
    default:
        return false;
    }
}

static void add_uncounted(struct summary_reading *reading, const struct socket_record *sock)
{
    const bool bound = sock->protocol == IPPROTO_TCP && sock->local.port;
    size_t i = 0;

    while (i < reading->uncounted_count && (reading->uncounted[i].protocol != sock->protocol ||
                                            reading->uncounted[i].bound != bound))
        i++;
    if (i == COUNT(reading->uncounted))
        return; /* part of "other" */
    if (i == reading->uncounted_count)
        reading->uncounted[reading->uncounted_count++] =
            (struct uncounted){sock->protocol, bound, 0};
    reading->uncounted[i].sockets++;
}

/* Reads the descriptors of all processes if BPF can do that. */
static void read_uncounted(struct summary_reading *reading)
{
    const struct query *query = reading->query;
    const struct held_socket *held;
    size_t count;

    if (!query->held || held_sockets_read(query->held, query->proc_root) < 0)
        return;
    reading->has_uncounted = true;
    held = held_sockets_all(query->held->sockets, &count);
    for (size_t i = 0; i < count; i++) {
        struct record record;
        if (held[i].socket.netns != (uint32_t)query->netns)
            continue;
        held_socket_row(&held[i], &record);
        if (!is_counted(&record.socket))
            add_uncounted(reading, &record.socket);
    }
}

static bool has_protocol(const struct summary_row *row, uint16_t protocol)
{
    return protocol == row->protocols[0] || protocol == row->protocols[1];
}

/* Returns how many sockets of the row's protocols the kernel does not count. */
static uint64_t uncounted_of(const struct summary_reading *reading, const struct summary_row *row)
{
    uint64_t sockets = 0;

    for (size_t i = 0; i < reading->uncounted_count; i++) {
        const struct uncounted *one = &reading->uncounted[i];
        if (has_protocol(row, one->protocol) && one->bound == (row->part == BOUND))
            sockets += one->sockets;
    }
    return sockets;
}

/* --- Flows, and files ------------------------------------------------------------------------ */

/* row: without the file a row is missing, and not only a limit. */
static bool read_sysctl(const struct summary_reading *reading, enum kernel_number number, bool row,
                        uint64_t *value)
{
    const int error = kernel_number_read(reading->query->proc_root, number, value);
    char path[64];

    snprintf(path, sizeof path, "sys/%s", kernel_numbers[number].file);
    summary_report_unread(reading, path, error, row);
    return error == 0;
}

/* --- Rows ------------------------------------------------------------------------------------- */

static void summary_set(struct record *record, uint64_t *member, uint64_t field, uint64_t number)
{
    *member = number;
    record->has |= field;
}

/* Multiplies pages by this machine's page size, also for a captured tree. */
static uint64_t in_bytes(const struct kernel_number_row *row, uint64_t number)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    if (row->unit != IN_PAGES)
        return number;
    return number > UINT64_MAX / page ? UINT64_MAX : number * page;
}

/* In kernel_numbers[], the row before the row of a limit is the number at which memory pressure
 * begins. Connection tracking with the limit 0 has no limit. */
static void set_limits(const struct summary_reading *reading, const struct kernel_number_row *row,
                       struct record *record)
{
    struct summary_record *summary = &record->summary;
    uint64_t limit, pressure;

    if (!row->limit)
        return;
    summary->sysctl = as_text(kernel_numbers[row->limit].name);
    record->has |= SUMMARY_SYSCTL;
    if (!read_sysctl(reading, row->limit, false, &limit))
        return;
    if (row->unit == IN_ROWS && limit)
        summary_set(record, &summary->limit, SUMMARY_LIMIT, limit);
    else if (limit)
        summary_set(record, &summary->limit_bytes, SUMMARY_LIMIT_BYTES, in_bytes(row, limit));
    if (row->unit == IN_PAGES && read_sysctl(reading, row->limit - 1, false, &pressure))
        summary_set(record, &summary->pressure_bytes, SUMMARY_PRESSURE, in_bytes(row, pressure));
}

/* Returns false if the value is unknown. In a sum, only the second number (IPv6) may be missing. */
static bool find_value(const struct summary_reading *reading, const struct summary_row *row,
                       uint64_t *value)
{
    const bool counted = row->state && reading->has_states;

    *value = counted ? reading->states[row->state] : uncounted_of(reading, row);
    if (row->part == BOUND || row->part == UNLISTED)
        return reading->has_uncounted;
    for (size_t i = 0; i < COUNT(row->numbers) && !counted; i++)
        if (__builtin_add_overflow(*value, reading->counts.numbers[row->numbers[i]], value))
            *value = UINT64_MAX;
    return counted || reading->counts.known[row->numbers[0]];
}

static void make_row(const struct summary_reading *reading, const struct summary_row *row,
                     uint64_t value, struct record *record)
{
    const struct kernel_number_row *number = &kernel_numbers[*row->numbers];
    struct summary_record *summary = &record->summary;

    record_begin(record, &kind_summary, sizeof *summary);
    summary->subject = as_text(row->subject);
    summary->name = as_text(row->name ? row->name : socket_state_name(row->state));
    summary->machine = row->machine;
    summary->unnamed = row->part == OTHER && !reading->has_uncounted;
    if (number->unit == IN_ROWS)
        summary_set(record, &summary->value, SUMMARY_VALUE, value);
    else
        summary_set(record, &summary->bytes, SUMMARY_BYTES, in_bytes(number, value));
    set_limits(reading, number, record);
}

/* Makes a row for each protocol that has no row in `rows`. */
static int dump_unnamed_protocols(const struct summary_reading *reading, uint64_t *named,
                                  record_fn fn, void *arg)
{
    int result = 0;

    for (size_t i = 0; i < reading->uncounted_count && result >= 0; i++) {
        const struct uncounted *one = &reading->uncounted[i];
        const struct summary_row row = {.subject = socket_protocol_name(one->protocol),
                                        .name = "sockets",
                                        .numbers = {SOCKETS_USED}};
        struct record record;
        size_t j = 0;
        while (j < COUNT(rows) && !has_protocol(&rows[j], one->protocol))
            j++;
        if (j < COUNT(rows) || !row.subject)
            continue;
        *named += one->sockets;
        make_row(reading, &row, one->sockets, &record);
        result = fn(&record, arg);
    }
    return result;
}

/* True if the row is a part of `all sockets`. */
static bool is_part_of_all(const struct summary_row *row)
{
    return row->part ||
           (row->name && strcmp(row->name, "sockets") == 0 && strcmp(row->subject, "all") != 0);
}

static int summary_dump_rows(const struct summary_reading *reading, record_fn fn, void *arg)
{
    uint64_t named = 0; /* sum of the parts of `all sockets` */
    int result = 0;

    for (size_t i = 0; i < COUNT(rows) && result >= 0; i++) {
        struct record record;
        uint64_t value;
        if (rows[i].part == OTHER)
            result = dump_unnamed_protocols(reading, &named, fn, arg);
        if (result < 0 || !find_value(reading, &rows[i], &value))
            continue;
        if (rows[i].part == OTHER)
            value = value > named ? value - named : 0;
        else if (is_part_of_all(&rows[i]))
            named += value;
        make_row(reading, &rows[i], value, &record);
        result = fn(&record, arg);
    }
    return result;
}

static int summary_dump_by(const struct query *query, bool by_netlink, record_fn fn, void *arg)
{
    struct summary_reading reading = {.query = query};
    struct query sockstat = *query;
    int result;

    sockstat.table = &table_sockstat;
    sockstat.where = NULL;
    result = backend_proc_snmp.dump(&sockstat, summary_take_counter, &reading);
    if (result == -ENOENT || result == -ENOTDIR)
        return result;
    summary_report_unread(&reading, "net/sockstat", result, true); /* one of several sources */
    read_protocols(&reading); /* first, because a netlink socket of our own would be counted */
    if (by_netlink)
        read_states(&reading);
    read_uncounted(&reading);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const enum kernel_number number = *rows[i].numbers;
        if (kernel_numbers[number].file)
            reading.counts.known[number] =
                read_sysctl(&reading, number, true, &reading.counts.numbers[number]);
    }
    return summary_dump_rows(&reading, fn, arg);
}

static int summary_dump(const struct query *query, record_fn fn, void *arg)
{
    return summary_dump_by(query, true, fn, arg);
}

static int dump_files(const struct query *query, record_fn fn, void *arg)
{
    return summary_dump_by(query, false, fn, arg);
}

const struct backend backend_summary = {
    .name = "netlink and counters",
    .source = BACKEND_AUTO,
    .provides = PROVIDES({&table_summary, UINT64_MAX}),
    .dump = summary_dump,
};

const struct backend backend_proc_summary = {
    .name = "proc",
    .source = BACKEND_PROC,
    .provides = PROVIDES({&table_summary, UINT64_MAX}),
    .dump = dump_files,
};
