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
#include <unistd.h>

#include "backend/proc/proc_file.h"
#include "backend/proc/scan.h"
#include "fastnet/array.h"
#include "fastnet/field.h"
#include "fastnet/kernel_number.h"
#include "fastnet/predicate.h"
#include "fastnet/report.h"

const struct table table_summary = {.name = "summary", .file = "sockstat", .kind = &kind_summary};

/* The states of TCP are those of linux/tcp_states.h. */
enum { TCP_STATES = TCP_CLOSING + 1 };

/* The rows. netlink counts TCP sockets by state; without it, counters know some of the states. */
static const struct summary_row {
    const char *subject, *name;    /* name NULL: the name of the state */
    enum kernel_number numbers[2]; /* the numbers are added; the first has the limit and the unit */
    uint8_t state;                 /* a state of TCP; 0: sockets of all states */
    bool machine;
} rows[] = {
    {"all", "sockets", {SOCKETS_USED}, 0, false},
    {"tcp", "sockets", {TCP_IN_USE, TCP6_IN_USE}, 0, false},
    {"tcp", NULL, {NO_NUMBER}, TCP_LISTEN, false},
    {"tcp", NULL, {TCP_CONNECTIONS}, TCP_ESTABLISHED, false},
    {"tcp", NULL, {NO_NUMBER}, TCP_SYN_SENT, false},
    {"tcp", NULL, {NO_NUMBER}, TCP_SYN_RECV, false},
    {"tcp", NULL, {NO_NUMBER}, TCP_FIN_WAIT1, false},
    {"tcp", NULL, {NO_NUMBER}, TCP_FIN_WAIT2, false},
    {"tcp", NULL, {TCP_WAITING}, TCP_TIME_WAIT, false},
    {"tcp", NULL, {NO_NUMBER}, TCP_CLOSE_WAIT, false},
    {"tcp", NULL, {NO_NUMBER}, TCP_LAST_ACK, false},
    {"tcp", NULL, {NO_NUMBER}, TCP_CLOSING, false},
    {"tcp", "allocated", {TCP_ALLOCATED}, 0, true},
    {"tcp", "orphans", {TCP_ORPHANS}, 0, true},
    {"tcp", "memory", {TCP_PAGES}, 0, true},
    {"udp", "sockets", {UDP_IN_USE, UDP6_IN_USE}, 0, false},
    {"udp", "memory", {UDP_PAGES}, 0, true},
    {"udplite", "sockets", {UDPLITE_IN_USE, UDPLITE6_IN_USE}, 0, false},
    {"raw", "sockets", {RAW_IN_USE, RAW6_IN_USE}, 0, false},
    {"ping", "sockets", {PING_SOCKETS, PING6_SOCKETS}, 0, false},
    {"mptcp", "sockets", {MPTCP_SOCKETS, MPTCP6_SOCKETS}, 0, false},
    {"sctp", "sockets", {SCTP_SOCKETS, SCTP6_SOCKETS}, 0, false},
    {"unix", "sockets", {UNIX_SOCKETS, UNIX_STREAMS}, 0, false},
    {"packet", "sockets", {PACKET_SOCKETS}, 0, false},
    {"netlink", "sockets", {NETLINK_SOCKETS}, 0, false},
    {"vsock", "sockets", {VSOCK_SOCKETS}, 0, false},
    {"xdp", "sockets", {XDP_SOCKETS}, 0, false},
    {"tipc", "sockets", {TIPC_SOCKETS}, 0, false},
    {"frag", "datagrams", {FRAGMENTS}, 0, false},
    {"frag", "memory", {FRAGMENTS_BYTES}, 0, false},
    {"frag6", "datagrams", {FRAGMENTS6}, 0, false},
    {"frag6", "memory", {FRAGMENTS6_BYTES}, 0, false},
    {"flows", "tracked", {FLOWS_TRACKED}, 0, false},
    {"files", "open", {FILES_OPEN}, 0, true},
};

struct summary_reading {
    const struct query *query;
    struct kernel_counts counts;
    uint64_t states[TCP_STATES];
    bool has_states;
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

    *value = counted ? reading->states[row->state] : 0;
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
    if (number->unit == IN_ROWS)
        summary_set(record, &summary->value, SUMMARY_VALUE, value);
    else
        summary_set(record, &summary->bytes, SUMMARY_BYTES, in_bytes(number, value));
    set_limits(reading, number, record);
}

static int summary_dump_rows(const struct summary_reading *reading, record_fn fn, void *arg)
{
    int result = 0;

    for (size_t i = 0; i < COUNT(rows) && result >= 0; i++) {
        struct record record;
        uint64_t value;
        if (!find_value(reading, &rows[i], &value))
            continue;
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
