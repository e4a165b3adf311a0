/*
 * How much of the network's resources is used, from numbers that the kernel counts anyway: the time
 * does not depend on how many sockets there are. Only those of TCP that are neither ESTABLISHED nor
 * in TIME_WAIT are listed, to be counted by their states (socket_states.c).
 *
 * What other backends read is asked of them; a value that is not there has no row, and a limit that
 * is not there is unknown: most files of limits are in the first network namespace only. A file
 * that exists but cannot be read is reported.
 */
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
#include "fastnet/predicate.h"
#include "fastnet/report.h"
#include "fastnet/sysctl.h"

const struct table table_summary = {.name = "summary", .file = "sockstat", .kind = &kind_summary};

/* Numbers of states are from linux/tcp_states.h. */
enum { TCP_STATES = TCP_CLOSING + 1 };

enum amount { NUMBER, BYTES, PAGES };

/* One of the numbers in a file below PROC_ROOT/sys. */
struct sysctl {
    const char *file; /* NULL: none */
    uint8_t numbers, index;
};

#define FROM(of_counter, ...) .counter = (of_counter), .protocols = {__VA_ARGS__}
#define LIMIT(of_sysctl, ...) .sysctl = (of_sysctl), .limit = {__VA_ARGS__}

/* TCP sockets in a state are counted by netlink; without it a counter knows some of them. */
static const struct row {
    const char *subject, *name; /* name NULL: that of the state */
    const char *counter;        /* of sockstat or snmp; NULL: the sockets in net/protocols */
    const char *protocols[2];   /* ... whose numbers are added up */
    struct sysctl value;        /* in place of them */
    struct sysctl limit;
    const char *sysctl; /* that sets the limit, as sysctl(8) names it */
    enum amount amount;
    uint8_t state; /* 0: all */
    bool machine;
} rows[] = {
    {"all", "sockets", FROM("used", "sockets")},
    {"tcp", "sockets", FROM("inuse", "TCP", "TCP6")},
    {"tcp", .state = TCP_LISTEN},
    {"tcp", FROM("CurrEstab", "Tcp"), .state = TCP_ESTABLISHED},
    {"tcp", .state = TCP_SYN_SENT},
    {"tcp", .state = TCP_SYN_RECV},
    {"tcp", .state = TCP_FIN_WAIT1},
    {"tcp", .state = TCP_FIN_WAIT2},
    {"tcp", FROM("tw", "TCP"), .state = TCP_TIME_WAIT,
     LIMIT("net.ipv4.tcp_max_tw_buckets", "net/ipv4/tcp_max_tw_buckets", 1, 0)},
    {"tcp", .state = TCP_CLOSE_WAIT},
    {"tcp", .state = TCP_LAST_ACK},
    {"tcp", .state = TCP_CLOSING},
    {"tcp", "allocated", FROM("alloc", "TCP"), .machine = true},
    {"tcp", "orphans", FROM("orphan", "TCP"), .machine = true,
     LIMIT("net.ipv4.tcp_max_orphans", "net/ipv4/tcp_max_orphans", 1, 0)},
    {"tcp", "memory", FROM("mem", "TCP"), .amount = PAGES, .machine = true,
     LIMIT("net.ipv4.tcp_mem", "net/ipv4/tcp_mem", 3, 2)},
    {"udp", "sockets", FROM("inuse", "UDP", "UDP6")},
    {"udp", "memory", FROM("mem", "UDP"), .amount = PAGES, .machine = true,
     LIMIT("net.ipv4.udp_mem", "net/ipv4/udp_mem", 3, 2)},
    {"udplite", "sockets", FROM("inuse", "UDPLITE", "UDPLITE6")},
    {"raw", "sockets", FROM("inuse", "RAW", "RAW6")},
    {"ping", "sockets", FROM(NULL, "PING", "PINGv6")},
    {"mptcp", "sockets", FROM(NULL, "MPTCP", "MPTCPv6")},
    {"sctp", "sockets", FROM(NULL, "SCTP", "SCTPv6")},
    {"unix", "sockets", FROM(NULL, "UNIX", "UNIX-STREAM")},
    {"packet", "sockets", FROM(NULL, "PACKET")},
    {"netlink", "sockets", FROM(NULL, "NETLINK")},
    {"vsock", "sockets", FROM(NULL, "AF_VSOCK")},
    {"xdp", "sockets", FROM(NULL, "XDP")},
    {"tipc", "sockets", FROM(NULL, "TIPC")},
    {"frag", "datagrams", FROM("inuse", "FRAG")},
    {"frag", "memory", FROM("memory", "FRAG"), .amount = BYTES,
     LIMIT("net.ipv4.ipfrag_high_thresh", "net/ipv4/ipfrag_high_thresh", 1, 0)},
    {"frag6", "datagrams", FROM("inuse", "FRAG6")},
    {"frag6", "memory", FROM("memory", "FRAG6"), .amount = BYTES,
     LIMIT("net.ipv6.ip6frag_high_thresh", "net/ipv6/ip6frag_high_thresh", 1, 0)},
    {"flows", "tracked", .value = {"net/netfilter/nf_conntrack_count", 1, 0},
     LIMIT("net.netfilter.nf_conntrack_max", "net/netfilter/nf_conntrack_max", 1, 0)},
    /* files that are open, not used, and allowed (proc(5)) */
    {"files", "open", .value = {"fs/file-nr", 3, 0}, .machine = true,
     LIMIT("fs.file-max", "fs/file-nr", 3, 2)},
};

/* One reading. */
struct reading {
    const struct query *query;
    uint64_t values[COUNT(rows)];
    bool known[COUNT(rows)];
};

static void add(struct reading *reading, size_t row, uint64_t value)
{
    uint64_t *sum = &reading->values[row];

    *sum = value > UINT64_MAX - *sum ? UINT64_MAX : *sum + value;
    reading->known[row] = true;
}

/* lost: rows are, else a limit is unknown. A file that is not there belongs to another kernel. */
static void report_unread(const struct reading *reading, const char *path, int error, bool lost)
{
    const struct query *query = reading->query;

    if (error < 0 && error != -ENOENT && error != -ENOTDIR)
        report_add(query->report, lost ? REPORT_LOSS : REPORT_NOTE, "%s/%s: %s", query->proc_root,
                   path, error == -EBADMSG ? "malformed" : strerror(-error));
}

/* --- Numbers of sockets ----------------------------------------------------------------------- */

/* counter: NULL in net/protocols. */
static void add_counter(struct reading *reading, struct text protocol, const struct text *counter,
                        uint64_t value)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t j = 0; j < COUNT(rows->protocols) && rows[i].protocols[j]; j++)
            if (text_is(protocol, rows[i].protocols[j]) &&
                (rows[i].counter ? counter && text_is(*counter, rows[i].counter) : !counter))
                add(reading, i, value);
}

static int take_counter(const struct record *record, void *arg)
{
    const struct counter_record *counter = &record->counter;

    if (!counter->negative)
        add_counter(arg, counter->protocol, &counter->name, counter->magnitude);
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

/* Without the file, or a protocol, nothing is known of it. */
static void read_protocols(struct reading *reading)
{
    struct proc_file file = {.query = reading->query, .name = "protocols"};
    struct text name;
    uint64_t sockets;
    struct line line;
    int error;

    error = proc_file_open(&file);
    if (error < 0) {
        report_unread(reading, "net/protocols", error, true);
        return;
    }
    while ((error = proc_file_next(&file, &line)) > 0)
        if (protocols_decode(&line, &name, &sockets) == 0)
            add_counter(reading, name, NULL, sockets);
    proc_file_close(&file);
    report_unread(reading, "net/protocols", error, true);
}

/* --- TCP by state ----------------------------------------------------------------------------- */

static int take_state(const struct record *record, void *arg)
{
    uint64_t *states = arg;
    const uint8_t state = record->socket.state;

    if (state < TCP_STATES)
        states[state] += record_rows(record);
    return 0;
}

/*
 * If this fails, what the counters say of ESTABLISHED and TIME_WAIT is left: the first includes
 * CLOSE_WAIT, the second part of FIN_WAIT2.
 */
static void read_states(struct reading *reading)
{
    /* without those that have a port and no more: for them the kernel walks over all ports */
    const uint32_t wanted = (UINT32_C(1) << TCP_STATES) - 1 - (1u << TCP_CLOSE);
    const struct predicate where = predicate_one_of(field_named(&kind_socket, "state"), wanted);
    uint64_t states[TCP_STATES] = {0};
    struct query query = *reading->query;
    int error;

    query.table = &table_tcp_states;
    query.needs = SOCKET_STATE;
    query.where = &where;
    error = backend_socket_states.dump(&query, take_state, states);
    if (error < 0) {
        report_loss(query.report, "TCP sockets are not counted by state: sock_diag: %s",
                    strerror(-error));
        return;
    }
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].state) {
            reading->values[i] = states[rows[i].state];
            reading->known[i] = true;
        }
}

/* --- Flows, and files ------------------------------------------------------------------------ */

/* row: if the file is missing, the row is missing, too. */
static bool read_sysctl(const struct reading *reading, const struct sysctl *sysctl, bool row,
                        uint64_t numbers[SYSCTL_NUMBERS_MAX])
{
    const int error =
        sysctl_numbers(reading->query->proc_root, sysctl->file, numbers, sysctl->numbers);
    char path[64];

    snprintf(path, sizeof path, "sys/%s", sysctl->file);
    report_unread(reading, path, error, row);
    return error == 0;
}

static void read_sysctls(struct reading *reading)
{
    uint64_t numbers[SYSCTL_NUMBERS_MAX];

    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].value.file && read_sysctl(reading, &rows[i].value, true, numbers))
            add(reading, i, numbers[rows[i].value.index]);
}

/* --- Rows ------------------------------------------------------------------------------------- */

static void set(struct record *record, uint64_t *member, uint64_t field, uint64_t number)
{
    *member = number;
    record->has |= field;
}

/* Pages are those of this machine, also for a captured tree. */
static uint64_t in_bytes(enum amount amount, uint64_t number)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    if (amount != PAGES)
        return number;
    return number > UINT64_MAX / page ? UINT64_MAX : number * page;
}

/*
 * Where connection tracking has no limit, it is 0. Of the three numbers of tcp_mem and udp_mem the
 * second is where pressure begins.
 */
static void set_limits(const struct reading *reading, const struct row *row, struct record *record)
{
    struct summary_record *summary = &record->summary;
    uint64_t numbers[SYSCTL_NUMBERS_MAX];

    if (!row->limit.file || !read_sysctl(reading, &row->limit, false, numbers))
        return;
    const uint64_t limit = numbers[row->limit.index];
    if (row->amount == NUMBER && limit)
        set(record, &summary->limit, SUMMARY_LIMIT, limit);
    else if (limit)
        set(record, &summary->limit_bytes, SUMMARY_LIMIT_BYTES, in_bytes(row->amount, limit));
    if (row->amount == PAGES)
        set(record, &summary->pressure_bytes, SUMMARY_PRESSURE, in_bytes(PAGES, numbers[1]));
}

static void make_row(const struct reading *reading, size_t i, struct record *record)
{
    const struct row *row = &rows[i];
    struct summary_record *summary = &record->summary;
    const uint64_t value = reading->values[i];

    record_begin(record, &kind_summary, sizeof *summary);
    summary->subject = as_text(row->subject);
    summary->name = as_text(row->name ? row->name : socket_state_name(row->state));
    summary->machine = row->machine;
    if (row->amount == NUMBER)
        set(record, &summary->value, SUMMARY_VALUE, value);
    else
        set(record, &summary->bytes, SUMMARY_BYTES, in_bytes(row->amount, value));
    if (row->sysctl) {
        summary->sysctl = as_text(row->sysctl);
        record->has |= SUMMARY_SYSCTL;
    }
    set_limits(reading, row, record);
}

static int dump_read(const struct reading *reading, record_fn fn, void *arg)
{
    int result = 0;

    for (size_t i = 0; i < COUNT(rows) && result >= 0; i++) {
        struct record record;
        if (!reading->known[i])
            continue;
        make_row(reading, i, &record);
        result = fn(&record, arg);
    }
    return result;
}

static int dump_by(const struct query *query, bool by_netlink, record_fn fn, void *arg)
{
    struct reading reading = {.query = query};
    struct query sockstat = *query;
    int result;

    sockstat.table = &table_sockstat;
    sockstat.where = NULL;
    result = backend_proc_snmp.dump(&sockstat, take_counter, &reading);
    if (result == -ENOENT || result == -ENOTDIR)
        return result;
    report_unread(&reading, "net/sockstat", result, true); /* the rest is there all the same */
    read_protocols(&reading); /* before there is a netlink socket of our own */
    if (by_netlink)
        read_states(&reading);
    read_sysctls(&reading);
    return dump_read(&reading, fn, arg);
}

static int dump(const struct query *query, record_fn fn, void *arg)
{
    return dump_by(query, true, fn, arg);
}

static int dump_files(const struct query *query, record_fn fn, void *arg)
{
    return dump_by(query, false, fn, arg);
}

const struct backend backend_summary = {
    .name = "netlink and counters",
    .source = BACKEND_AUTO,
    .tells = TELLS({&table_summary, UINT64_MAX}),
    .dump = dump,
};

const struct backend backend_proc_summary = {
    .name = "proc",
    .source = BACKEND_PROC,
    .tells = TELLS({&table_summary, UINT64_MAX}),
    .dump = dump_files,
};
