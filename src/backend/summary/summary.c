/*
 * How much of the network's resources is used, from numbers that the kernel counts anyway: the time
 * does not depend on how many sockets there are. Only those of TCP that are neither ESTABLISHED nor
 * in TIME_WAIT are listed, to be counted by their states (socket_states.c).
 *
 * What other backends read is asked of them; a value that is not there has no row, and a limit that
 * is not there is unknown: most files of limits are in the first network namespace only. What is
 * there and cannot be read is reported.
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

/* In the order of their rows. */
enum quantity {
    ALL_SOCKETS,
    TCP_SOCKETS,
    TCP_LISTENING,
    TCP_IN_STATE, /* plus the number of any other state but CLOSE, which is in no table */
    TCP_ALLOCATED = TCP_IN_STATE + TCP_STATES,
    TCP_ORPHANS,
    TCP_MEMORY,
    UDP_SOCKETS,
    UDP_MEMORY,
    UDPLITE_SOCKETS,
    RAW_SOCKETS,
    PING_SOCKETS,
    MPTCP_SOCKETS,
    SCTP_SOCKETS,
    UNIX_SOCKETS,
    PACKET_SOCKETS,
    NETLINK_SOCKETS,
    VSOCK_SOCKETS,
    XDP_SOCKETS,
    TIPC_SOCKETS,
    FRAG_DATAGRAMS,
    FRAG_MEMORY,
    FRAG6_DATAGRAMS,
    FRAG6_MEMORY,
    FLOWS,
    FILES_OPEN,
    QUANTITIES,
};

/* One reading. */
struct reading {
    const struct query *query;
    uint64_t values[QUANTITIES];
    bool known[QUANTITIES];
};

static void add(struct reading *reading, enum quantity quantity, uint64_t value)
{
    uint64_t *sum = &reading->values[quantity];

    *sum = value > UINT64_MAX - *sum ? UINT64_MAX : *sum + value;
    reading->known[quantity] = true;
}

/* Rows are lost, or a limit is unknown. A file that is not there belongs to another kernel. */
static void report_unread(const struct reading *reading, const char *path, int error, bool rows)
{
    const struct query *query = reading->query;

    if (error < 0 && error != -ENOENT && error != -ENOTDIR)
        report_add(query->report, rows ? REPORT_LOSS : REPORT_NOTE, "%s/%s: %s", query->proc_root,
                   path, error == -EBADMSG ? "malformed" : strerror(-error));
}

/* --- Counters of sockets ---------------------------------------------------------------------- */

/* Those of IPv4 and IPv6 are added up. */
static const struct counted {
    const char *protocol, *name;
    enum quantity quantity;
} counters[] = {
    {"sockets", "used", ALL_SOCKETS},
    {"TCP", "inuse", TCP_SOCKETS},
    {"TCP6", "inuse", TCP_SOCKETS},
    {"Tcp", "CurrEstab", TCP_IN_STATE + TCP_ESTABLISHED},
    {"TCP", "tw", TCP_IN_STATE + TCP_TIME_WAIT},
    {"TCP", "alloc", TCP_ALLOCATED},
    {"TCP", "orphan", TCP_ORPHANS},
    {"TCP", "mem", TCP_MEMORY},
    {"UDP", "inuse", UDP_SOCKETS},
    {"UDP6", "inuse", UDP_SOCKETS},
    {"UDP", "mem", UDP_MEMORY},
    {"UDPLITE", "inuse", UDPLITE_SOCKETS},
    {"UDPLITE6", "inuse", UDPLITE_SOCKETS},
    {"RAW", "inuse", RAW_SOCKETS},
    {"RAW6", "inuse", RAW_SOCKETS},
    {"FRAG", "inuse", FRAG_DATAGRAMS},
    {"FRAG", "memory", FRAG_MEMORY},
    {"FRAG6", "inuse", FRAG6_DATAGRAMS},
    {"FRAG6", "memory", FRAG6_MEMORY},
};

static int take_counter(const struct record *record, void *arg)
{
    const struct counter_record *counter = &record->counter;

    for (size_t i = 0; i < COUNT(counters); i++)
        if (text_is(counter->protocol, counters[i].protocol) &&
            text_is(counter->name, counters[i].name) && !counter->negative)
            add(arg, counters[i].quantity, counter->magnitude);
    return 0;
}

/* --- Sockets of the other families ------------------------------------------------------------ */

static const struct {
    const char *name;
    enum quantity quantity;
} protocols[] = {
    {"PING", PING_SOCKETS},       {"PINGv6", PING_SOCKETS},    {"MPTCP", MPTCP_SOCKETS},
    {"MPTCPv6", MPTCP_SOCKETS},   {"SCTP", SCTP_SOCKETS},      {"SCTPv6", SCTP_SOCKETS},
    {"UNIX", UNIX_SOCKETS},       {"PACKET", PACKET_SOCKETS},  {"UNIX-STREAM", UNIX_SOCKETS},
    {"NETLINK", NETLINK_SOCKETS}, {"AF_VSOCK", VSOCK_SOCKETS}, {"XDP", XDP_SOCKETS},
    {"TIPC", TIPC_SOCKETS},
};

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
        for (size_t i = 0; i < COUNT(protocols); i++)
            if (protocols_decode(&line, &name, &sockets) == 0 && text_is(name, protocols[i].name))
                add(reading, protocols[i].quantity, sockets);
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
    for (unsigned state = TCP_ESTABLISHED; state < TCP_STATES; state++) {
        const unsigned quantity = state == TCP_LISTEN ? TCP_LISTENING : TCP_IN_STATE + state;
        reading->values[quantity] = states[state];
        reading->known[quantity] = state != TCP_CLOSE;
    }
}

/* --- Flows, and files ------------------------------------------------------------------------ */

/* row: if the file is missing, the row is missing, too. */
static bool read_sysctl(const struct reading *reading, const char *name, bool row,
                        uint64_t *numbers, size_t count)
{
    const int error = sysctl_numbers(reading->query->proc_root, name, numbers, count);
    char path[64];

    snprintf(path, sizeof path, "sys/%s", name);
    report_unread(reading, path, error, row);
    return error == 0;
}

static void read_sysctls(struct reading *reading)
{
    uint64_t flows, files[3]; /* that are open, not used, and allowed (proc(5)) */

    if (read_sysctl(reading, "net/netfilter/nf_conntrack_count", true, &flows, 1))
        add(reading, FLOWS, flows);
    if (read_sysctl(reading, "fs/file-nr", true, files, COUNT(files)))
        add(reading, FILES_OPEN, files[0]);
}

/* --- Rows ------------------------------------------------------------------------------------- */

enum amount { NUMBER, BYTES, PAGES };

static const struct row {
    const char *subject, *name; /* NULL: TCP sockets in a state */
    enum amount amount;
    bool machine;
    struct {
        const char *file; /* below PROC_ROOT/sys; NULL: there is no limit */
        uint8_t numbers, index;
    } limit;
    const char *sysctl; /* that sets the limit, as sysctl(8) names it */
} rows[QUANTITIES] = {
    [ALL_SOCKETS] = {.subject = "all", .name = "sockets"},
    [TCP_SOCKETS] = {.subject = "tcp", .name = "sockets"},
    [TCP_LISTENING] = {.subject = "tcp", .name = "LISTEN"},
    [TCP_IN_STATE + TCP_TIME_WAIT] = {.limit = {"net/ipv4/tcp_max_tw_buckets", 1, 0},
                                      .sysctl = "net.ipv4.tcp_max_tw_buckets"},
    [TCP_ALLOCATED] = {.subject = "tcp", .name = "allocated", .machine = true},
    [TCP_ORPHANS] = {.subject = "tcp",
                     .name = "orphans",
                     .machine = true,
                     .limit = {"net/ipv4/tcp_max_orphans", 1, 0},
                     .sysctl = "net.ipv4.tcp_max_orphans"},
    [TCP_MEMORY] = {.subject = "tcp",
                    .name = "memory",
                    .amount = PAGES,
                    .machine = true,
                    .limit = {"net/ipv4/tcp_mem", 3, 2},
                    .sysctl = "net.ipv4.tcp_mem"},
    [UDP_SOCKETS] = {.subject = "udp", .name = "sockets"},
    [UDP_MEMORY] = {.subject = "udp",
                    .name = "memory",
                    .amount = PAGES,
                    .machine = true,
                    .limit = {"net/ipv4/udp_mem", 3, 2},
                    .sysctl = "net.ipv4.udp_mem"},
    [UDPLITE_SOCKETS] = {.subject = "udplite", .name = "sockets"},
    [RAW_SOCKETS] = {.subject = "raw", .name = "sockets"},
    [PING_SOCKETS] = {.subject = "ping", .name = "sockets"},
    [MPTCP_SOCKETS] = {.subject = "mptcp", .name = "sockets"},
    [SCTP_SOCKETS] = {.subject = "sctp", .name = "sockets"},
    [UNIX_SOCKETS] = {.subject = "unix", .name = "sockets"},
    [PACKET_SOCKETS] = {.subject = "packet", .name = "sockets"},
    [NETLINK_SOCKETS] = {.subject = "netlink", .name = "sockets"},
    [VSOCK_SOCKETS] = {.subject = "vsock", .name = "sockets"},
    [XDP_SOCKETS] = {.subject = "xdp", .name = "sockets"},
    [TIPC_SOCKETS] = {.subject = "tipc", .name = "sockets"},
    [FRAG_DATAGRAMS] = {.subject = "frag", .name = "datagrams"},
    [FRAG_MEMORY] = {.subject = "frag",
                     .name = "memory",
                     .amount = BYTES,
                     .limit = {"net/ipv4/ipfrag_high_thresh", 1, 0},
                     .sysctl = "net.ipv4.ipfrag_high_thresh"},
    [FRAG6_DATAGRAMS] = {.subject = "frag6", .name = "datagrams"},
    [FRAG6_MEMORY] = {.subject = "frag6",
                      .name = "memory",
                      .amount = BYTES,
                      .limit = {"net/ipv6/ip6frag_high_thresh", 1, 0},
                      .sysctl = "net.ipv6.ip6frag_high_thresh"},
    [FLOWS] = {.subject = "flows",
               .name = "tracked",
               .limit = {"net/netfilter/nf_conntrack_max", 1, 0},
               .sysctl = "net.netfilter.nf_conntrack_max"},
    [FILES_OPEN] = {.subject = "files",
                    .name = "open",
                    .machine = true,
                    .limit = {"fs/file-nr", 3, 2},
                    .sysctl = "fs.file-max"},
};

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
static void set_limits(const struct reading *reading, enum quantity quantity, struct record *record)
{
    const struct row *row = &rows[quantity];
    struct summary_record *summary = &record->summary;
    uint64_t numbers[SYSCTL_NUMBERS_MAX];

    if (!row->limit.file ||
        !read_sysctl(reading, row->limit.file, false, numbers, row->limit.numbers))
        return;
    const uint64_t limit = numbers[row->limit.index];
    if (row->amount == NUMBER && limit)
        set(record, &summary->limit, SUMMARY_LIMIT, limit);
    else if (limit)
        set(record, &summary->limit_bytes, SUMMARY_LIMIT_BYTES, in_bytes(row->amount, limit));
    if (row->amount == PAGES)
        set(record, &summary->pressure_bytes, SUMMARY_PRESSURE, in_bytes(PAGES, numbers[1]));
}

static void make_row(const struct reading *reading, enum quantity quantity, struct record *record)
{
    const struct row *row = &rows[quantity];
    struct summary_record *summary = &record->summary;
    const uint64_t value = reading->values[quantity];

    record_begin(record, &kind_summary, sizeof *summary);
    summary->subject = as_text(row->subject ? row->subject : "tcp");
    summary->name = as_text(row->name ? row->name : socket_state_name(quantity - TCP_IN_STATE));
    summary->machine = row->machine;
    if (row->amount == NUMBER)
        set(record, &summary->value, SUMMARY_VALUE, value);
    else
        set(record, &summary->bytes, SUMMARY_BYTES, in_bytes(row->amount, value));
    if (row->sysctl) {
        summary->sysctl = as_text(row->sysctl);
        record->has |= SUMMARY_SYSCTL;
    }
    set_limits(reading, quantity, record);
}

static int dump_read(const struct reading *reading, record_fn fn, void *arg)
{
    int result = 0;

    for (enum quantity i = 0; i < QUANTITIES && result >= 0; i++) {
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

static uint64_t fields(const struct table *table)
{
    return table == &table_summary ? UINT64_MAX : 0;
}

const struct backend backend_summary = {
    .name = "netlink and counters",
    .source = BACKEND_AUTO,
    .fields = fields,
    .dump = dump,
};

const struct backend backend_proc_summary = {
    .name = "proc",
    .source = BACKEND_PROC,
    .fields = fields,
    .dump = dump_files,
};
