/*
 * net-tools netstat: its options, what they list, its exit statuses. What its tables look like is
 * format/layout_netstat.c's matter.
 */
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/netstat_options.h"
#include "cli/personality.h"
#include "fastnet/rights.h"
#include "fastnet/text.h"

enum { TABLES_MAX = 12, DEFAULT_COLUMNS_MAX = 32 };

struct netstat {
    const char *program;
    struct netstat_options options;
    struct listing_table tables[TABLES_MAX];
    size_t table_count;
    struct listing listing;
    struct netstat_layout layout;
    const struct column *defaults[DEFAULT_COLUMNS_MAX];
    size_t default_count;
};

/* Which tables, in netstat's order */

static void add_table(struct netstat *netstat, const struct table *table, unsigned section,
                      uint32_t states, const char *missing)
{
    const struct netstat_options *options = &netstat->options;
    bool named = options->named_protocols > 0 && !options->all_protocols;

    netstat->tables[netstat->table_count++] = (struct listing_table){
        .table = table,
        .section = section,
        .states = states,
        .missing =
            missing && !options->all_protocols && (named || options->verbose) ? missing : NULL,
        .required = missing && named,
    };
}

/* A protocol's IPv4 table, which must be there when it was named, and its IPv6 table. */
static void add_protocol(struct netstat *netstat, bool wanted, const struct table *ipv4,
                         const struct table *ipv6, uint32_t states, const char *missing)
{
    const struct netstat_options *options = &netstat->options;
    bool everything = options->named_protocols == 0;

    if (!wanted && !everything)
        return;
    if (everything || options->inet)
        add_table(netstat, ipv4, SECTION_INTERNET, states, missing);
    if (ipv6 && (everything || options->inet6))
        add_table(netstat, ipv6, SECTION_INTERNET, states, NULL);
}

/* The states in which a row of a table can be shown at all; what is asked for is no more. */
static uint32_t states_of(enum show show, uint32_t listening)
{
    switch (show) {
    case SHOW_LISTENING:
        return listening;
    case SHOW_CONNECTED:
        return ~listening;
    default:
        return STATES_ALL;
    }
}

static void choose_tables(struct netstat *netstat)
{
    const struct netstat_options *options = &netstat->options;
    uint32_t tcp = states_of(netstat->layout.show, 1u << TCP_LISTEN);
    uint32_t udp = states_of(netstat->layout.show, 1u << TCP_CLOSE);
    bool listening = netstat->layout.show == SHOW_LISTENING;

    add_protocol(netstat, options->tcp, &table_tcp, &table_tcp6, tcp,
                 "no support for `AF INET (tcp)' on this system.");
    add_protocol(netstat, options->sctp, NULL, NULL, STATES_ALL,
                 "no support for `AF INET (sctp)' on this system.");
    add_protocol(netstat, options->udp, &table_udp, &table_udp6, udp,
                 "no support for `AF INET (udp)' on this system.");
    add_protocol(netstat, options->udplite, &table_udplite, &table_udplite6, udp,
                 "no support for `AF INET (udplite)' on this system.");
    add_protocol(netstat, options->raw, &table_raw, &table_raw6, STATES_ALL,
                 "no support for `AF INET (raw)' on this system.");
    if (options->unix_sockets || options->named_protocols == 0)
        add_table(netstat, &table_unix, SECTION_UNIX, listening ? 1u << TCP_LISTEN : STATES_ALL,
                  "no support for `AF UNIX' on this system.");
}

/* Which rows: netstat goes by the remote end, not by the state */

enum { FLAG_ACCEPTCON = 1 << 16 }; /* __SO_ACCEPTCON of linux/net.h */

static bool is_listening(const struct socket_record *sock)
{
    static const uint8_t wildcard[16];

    if (sock->family == AF_UNIX)
        return sock->state == TCP_LISTEN && (sock->flags & FLAG_ACCEPTCON);
    if (sock->protocol == IPPROTO_TCP)
        return sock->remote.port == 0;
    return memcmp(sock->remote.address, wildcard, sock->family == AF_INET ? 4 : 16) == 0;
}

static bool keep(const struct record *record, const void *arg)
{
    const enum show *show = arg;

    return is_listening(&record->socket) == (*show == SHOW_LISTENING);
}

/* What has to be known of each row */

static uint64_t layout_needs(const struct netstat *netstat)
{
    const struct netstat_layout *layout = &netstat->layout;
    const struct netstat_options *options = &netstat->options;
    bool internet = netstat->tables[0].section == SECTION_INTERNET && netstat->table_count;
    uint64_t needs = SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE |
                     SOCKET_REFCOUNT | SOCKET_PATH | SOCKET_UNIX_FLAGS;

    if (layout->programs)
        needs |= NEED_OWNERS | NEED_COMMANDS;
    if (!internet)
        return needs;
    needs |= options->timers ? SOCKET_TIMER | SOCKET_RETRANSMITS | SOCKET_PROBES : 0;
    needs |= layout->extended ? SOCKET_UID : 0;
    needs |= layout->extended && !layout->numeric_users ? NEED_USERS : 0;
    needs |= layout->numeric_ports ? 0 : NEED_SERVICES;
    needs |= layout->numeric_hosts ? 0 : NEED_HOSTS;
    return needs;
}

static void add_defaults(struct netstat *netstat, bool wanted, const char *names)
{
    while (wanted && *names) {
        size_t length = strcspn(names, " ");
        const struct column *column = column_find(RECORD_SOCKET, names, length);
        if (column)
            netstat->defaults[netstat->default_count++] = column;
        names += length + (names[length] == ' ');
    }
}

/* Without --columns: what the layout would show, under the names that are a promise. */
static void choose_defaults(struct netstat *netstat)
{
    const struct netstat_layout *layout = &netstat->layout;
    bool internet = false, unix_sockets = false;

    for (size_t i = 0; i < netstat->table_count; i++)
        if (netstat->tables[i].section == SECTION_UNIX)
            unix_sockets = true;
        else
            internet = true;
    add_defaults(netstat, true, "proto family state");
    add_defaults(netstat, internet,
                 "recv_q send_q local_address local_port remote_address remote_port");
    add_defaults(netstat, internet && layout->extended, "user");
    add_defaults(netstat, internet, "uid");
    add_defaults(netstat, true, "inode");
    add_defaults(netstat, internet && layout->timers, "timer expires retransmits probes");
    add_defaults(netstat, unix_sockets, "type refcount flags path");
    add_defaults(netstat, layout->programs, "pid process processes");
}

static void set_layout(struct netstat *netstat)
{
    const struct netstat_options *options = &netstat->options;

    netstat->layout = (struct netstat_layout){
        .show = options->all         ? SHOW_ALL
                : options->listening ? SHOW_LISTENING
                                     : SHOW_CONNECTED,
        .extended = options->extended,
        .programs = options->programs,
        .timers = options->timers,
        .numeric_hosts = options->numeric_hosts,
        .numeric_ports = options->numeric_ports,
        .numeric_users = options->numeric_users,
        .header = !options->common.no_header,
        .colour = common_colour(),
    };
}

static int prepare(struct netstat *netstat, bool *done)
{
    struct common *common = &netstat->options.common;
    struct listing *listing = &netstat->listing;

    set_layout(netstat);
    choose_tables(netstat);
    choose_defaults(netstat);
    listing->tables = netstat->tables;
    listing->table_count = netstat->table_count;
    if (netstat->layout.show != SHOW_ALL) {
        listing->keep = keep;
        listing->keep_arg = &netstat->layout.show;
        listing->needs = SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_UNIX_FLAGS;
    }
    if (netstat->layout.show != SHOW_LISTENING)
        listing->needs |= SOCKET_PENDING;
    if (!common_uses_columns(common))
        listing->needs |= layout_needs(netstat);
    return common_resolve(common, RECORD_SOCKET, netstat->defaults, netstat->default_count, listing,
                          netstat->program, done);
}

/* Families that no kernel of today has, or few, or that Debian's netstat was built without */

struct old_family {
    enum netstat_family family;
    const char *file; /* below the proc root, while the kernel has it */
    const char *name;
};

static const struct old_family old_families[] = {
    {FAMILY_IPX, "net/ipx", "AF IPX"},    {FAMILY_AX25, "net/ax25", "AF AX25"},
    {FAMILY_X25, "net/x25", "AF X25"},    {FAMILY_NETROM, "net/nr", "AF NETROM"},
    {FAMILY_ROSE, "net/rose", "AF ROSE"},
};

/* Returns whether netstat would end here with status 1. */
static bool check_old_family(const struct netstat *netstat, const struct old_family *old,
                             struct report *report)
{
    const struct netstat_options *options = &netstat->options;
    bool named = options->families & 1u << old->family;
    char path[PATH_MAX];

    if (!named && options->named_protocols)
        return false;
    snprintf(path, sizeof path, "%s/%s", netstat->listing.proc_root, old->file);
    if (access(path, F_OK) == 0)
        report_loss(report, "sockets of `%s' are not listed: see %s", old->name, path);
    else if (named || options->verbose)
        report_note(report, "no support for `%s' on this system.", old->name);
    return named;
}

static void check_old_families(const struct netstat *netstat, struct report *report)
{
    for (size_t i = 0; i < sizeof old_families / sizeof *old_families && !report->partial; i++)
        report->partial |= check_old_family(netstat, &old_families[i], report);
    if (!report->partial && netstat->options.bluetooth) {
        report_note(report, "feature `AF BLUETOOTH' not supported.");
        report_verbatim(report, "Please recompile `net-tools' with newer kernel source or full "
                                "configuration.");
        report->partial = true;
    }
}

/* SCTP is told apart only by its files, which fastnet does not read yet. */
static void check_sctp(const struct netstat *netstat, struct report *report)
{
    const struct netstat_options *options = &netstat->options;
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/net/sctp/eps", netstat->listing.proc_root);
    if ((options->sctp || !options->named_protocols) && access(path, F_OK) == 0)
        report_loss(report, "SCTP sockets are not listed: see %s", path);
}

/* Listing */

/* Says what a write to stdout met; a reader that has gone is not an error. */
static int check_output(const struct netstat *netstat, int error)
{
    if (error == 0 || error == -EPIPE)
        return STATUS_OK;
    fprintf(stderr, "%s: write error: %s\n", netstat->program, strerror(-error));
    return STATUS_FAILURE;
}

static int finish_pass(const struct netstat *netstat, struct writer *writer, int result,
                       struct report *report)
{
    int error = writer_flush(writer);

    if (result < 0 && !error)
        report_loss(report, "%s", strerror(-result));
    report_print(report, stderr, netstat->program);
    if (error)
        return check_output(netstat, error);
    return report->partial ? STATUS_FAILURE : STATUS_OK;
}

static int list_once(const struct netstat *netstat, struct engine *engine, struct sink *sink)
{
    struct report report = {0};
    int result = engine_run(engine, &netstat->listing, sink, &report);

    check_sctp(netstat, &report);
    if (!report.partial)
        check_old_families(netstat, &report);
    return finish_pass(netstat, sink->writer, result, &report);
}

/*
 * Names are looked up with no rights left, but the owners of the next pass need them: then each
 * pass is a child's.
 */
static int list_in_child(const struct netstat *netstat, struct engine *engine, struct sink *sink)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0)
        _exit(list_once(netstat, engine, sink));
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (child < 0 || !WIFEXITED(status)) {
        fprintf(stderr, "%s: a pass of the listing failed\n", netstat->program);
        return STATUS_FAILURE;
    }
    return WEXITSTATUS(status);
}

static void wait_interval(unsigned milliseconds)
{
    struct timespec left = {.tv_sec = milliseconds / 1000,
                            .tv_nsec = (long)(milliseconds % 1000) * 1000000};

    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}

static int list(const struct netstat *netstat, struct engine *engine, struct sink *sink)
{
    const struct netstat_options *options = &netstat->options;
    uint64_t names = NEED_USERS | NEED_SERVICES | NEED_HOSTS;
    bool in_child = options->continuous && (netstat->listing.needs & names) &&
                    (netstat->listing.needs & NEED_OWNERS) && rights_any();
    int status;

    for (;;) {
        status = in_child ? list_in_child(netstat, engine, sink) : list_once(netstat, engine, sink);
        if (!options->continuous || sink->writer->error || status)
            return status;
        wait_interval(options->interval_ms);
    }
}

static int run_listing(const struct netstat *netstat)
{
    const struct common *common = &netstat->options.common;
    struct engine *engine = NULL;
    struct writer writer = {0};
    struct sink *sink = NULL;
    int status = STATUS_FAILURE;

    if (engine_create(&engine) == 0 && writer_init(&writer, STDOUT_FILENO) == 0)
        sink = common_uses_columns(common)
                   ? common_sink(common, &writer, engine_context(engine))
                   : sink_netstat_create(&netstat->layout, &writer, engine_context(engine));
    if (sink)
        status = list(netstat, engine, sink);
    else
        fprintf(stderr, "%s: out of memory\n", netstat->program);
    sink_destroy(sink);
    writer_finish(&writer);
    engine_destroy(engine);
    return status;
}

int netstat_run(int argc, char *const argv[])
{
    struct netstat netstat = {.program = argv[0]};
    bool done = false;
    int status = netstat_parse(&netstat.options, argc, argv, &done);

    if (!status && !done)
        status = prepare(&netstat, &done);
    if (!status && !done)
        return run_listing(&netstat);
    if (fflush(stdout) != 0 || ferror(stdout))
        return check_output(&netstat, -errno);
    return status;
}
