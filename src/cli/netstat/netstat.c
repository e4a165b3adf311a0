/*
 * net-tools netstat: its options, what they list, its exit statuses. What its tables look like is
 * format/layout_netstat.c's matter.
 */
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/netstat/netstat_options.h"
#include "cli/personality.h"
#include "cli/run.h"
#include "fastnet/array.h"

enum { TABLES_MAX = 12 };

struct netstat {
    const char *program;
    struct netstat_options options;
    struct listing_table tables[TABLES_MAX];
    size_t table_count;
    struct listing listing;
    struct netstat_layout layout;
    const struct field *defaults[LISTING_COLUMNS_MAX];
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

static void choose_groups(struct netstat *netstat)
{
    const struct netstat_options *options = &netstat->options;

    if (options->table != NETSTAT_GROUPS)
        return;
    if (options->inet)
        add_table(netstat, &table_groups, SECTION_GROUPS, STATES_ALL,
                  "no support for `AF INET (igmp)' on this system.");
    if (options->inet6)
        add_table(netstat, &table_groups6, SECTION_GROUPS, STATES_ALL, NULL);
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
    choose_groups(netstat);
    if (options->unix_sockets || options->named_protocols == 0)
        add_table(netstat, &table_unix, SECTION_UNIX, listening ? 1u << TCP_LISTEN : STATES_ALL,
                  "no support for `AF UNIX' on this system.");
}

/* Which rows: netstat goes by the remote end, not by the state */

static bool is_listening(const struct socket_record *sock)
{
    if (sock->family == AF_UNIX)
        return sock->state == TCP_LISTEN && (sock->flags & UNIX_ACCEPTCON);
    if (sock->protocol == IPPROTO_TCP)
        return sock->remote.port == 0;
    return address_is_unspecified(&sock->remote.address);
}

static bool keep(const struct record *record, const void *arg)
{
    const enum show *show = arg;

    if (record->kind != &kind_socket)
        return true;
    return is_listening(&record->socket) == (*show == SHOW_LISTENING);
}

/* What has to be known of each row */

static bool lists(const struct netstat *netstat, unsigned section)
{
    for (size_t i = 0; i < netstat->table_count; i++)
        if (netstat->tables[i].section == section)
            return true;
    return false;
}

static struct needs layout_needs(const struct netstat *netstat)
{
    const struct netstat_layout *layout = &netstat->layout;
    const struct netstat_options *options = &netstat->options;
    struct needs needs = {.fields = SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE |
                                    SOCKET_REFCOUNT | SOCKET_PATH | SOCKET_UNIX_FLAGS};

    if (layout->programs)
        needs.lookups |= NEED_OWNERS | NEED_COMMANDS;
    needs.lookups |= lists(netstat, SECTION_GROUPS) && !layout->numeric_hosts ? NEED_HOSTS : 0;
    if (!lists(netstat, SECTION_INTERNET))
        return needs;
    needs.fields |= options->timers ? SOCKET_TIMER | SOCKET_RETRANSMITS | SOCKET_PROBES : 0;
    needs.fields |= layout->extended ? SOCKET_UID : 0;
    needs.lookups |= layout->extended && !layout->numeric_users ? NEED_USERS : 0;
    needs.lookups |= layout->numeric_ports ? 0 : NEED_SERVICES;
    needs.lookups |= layout->numeric_hosts ? 0 : NEED_HOSTS;
    return needs;
}

static void add_defaults(struct netstat *netstat, bool wanted, const char *names)
{
    if (wanted)
        common_add_columns(&kind_socket, names, netstat->defaults, &netstat->default_count);
}

/* Without --columns: what the layout would show, under the names that are a promise. */
static void choose_defaults(struct netstat *netstat)
{
    const struct netstat_layout *layout = &netstat->layout;
    bool internet = lists(netstat, SECTION_INTERNET);

    add_defaults(netstat, true, "proto family state");
    add_defaults(netstat, internet,
                 "recv_q send_q local_address local_port remote_address remote_port");
    add_defaults(netstat, internet && layout->extended, "user");
    add_defaults(netstat, internet, "uid");
    add_defaults(netstat, true, "inode");
    add_defaults(netstat, internet && layout->timers, "timer expires retransmits probes");
    add_defaults(netstat, lists(netstat, SECTION_UNIX), "type refcount flags path");
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
        .one_word_names = options->is_fastnet,
        .header = !options->common.no_header,
        .colour = common_colour(),
    };
}

static int prepare(struct netstat *netstat, bool *done)
{
    struct common *common = &netstat->options.common;
    struct listing *listing = &netstat->listing;
    int status;

    set_layout(netstat);
    choose_tables(netstat);
    choose_defaults(netstat);
    listing->tables = netstat->tables;
    listing->table_count = netstat->table_count;
    if (netstat->layout.show != SHOW_ALL) {
        listing->keep = keep;
        listing->keep_arg = &netstat->layout.show;
        listing->needs.fields = SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_UNIX_FLAGS;
    }
    if (netstat->layout.show != SHOW_LISTENING)
        listing->needs.fields |= SOCKET_PENDING;
    if (!common_uses_columns(common))
        needs_add(&listing->needs, layout_needs(netstat));
    status = common_resolve(common, &kind_socket, netstat->defaults, netstat->default_count,
                            listing, netstat->program, done);
    /* -n: only a column asked for by its own name shows names then. */
    if (netstat->options.numeric_users && !common->columns && !common->count_by &&
        !(listing->sort && listing->sort->needs.lookups & NEED_USERS))
        listing->needs.lookups &= ~NEED_USERS;
    return status;
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
    for (size_t i = 0; i < COUNT(old_families) && !report->ended; i++)
        report->ended |= check_old_family(netstat, &old_families[i], report);
    if (!report->ended && netstat->options.bluetooth) {
        report_note(report, "feature `AF BLUETOOTH' not supported.");
        report_verbatim(report, "Please recompile `net-tools' with newer kernel source or full "
                                "configuration.");
        report->ended = true;
    }
    report->partial |= report->ended;
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

static struct sink *make_sink(const void *arg, struct writer *writer, const struct context *context)
{
    const struct netstat *netstat = arg;

    if (common_uses_columns(&netstat->options.common))
        return common_sink(&netstat->options.common, writer, context);
    return sink_netstat_create(&netstat->layout, writer, context);
}

/* What netstat looks for besides its tables. */
static void check_other_tables(const void *arg, struct report *report)
{
    const struct netstat *netstat = arg;

    check_sctp(netstat, report);
    if (!report->ended)
        check_old_families(netstat, report);
}

static const netstat_table_fn other_tables[] = {
    [NETSTAT_ROUTES] = netstat_routes,         [NETSTAT_INTERFACES] = netstat_interfaces,
    [NETSTAT_GROUPS] = netstat_groups,         [NETSTAT_STATISTICS] = netstat_statistics,
    [NETSTAT_MASQUERADE] = netstat_masquerade,
};

/* Groups beside sockets are a section among theirs, but only columns of one kind can be shown. */
static bool lists_sockets(const struct netstat_options *options)
{
    return options->table == NETSTAT_GROUPS && options->named_protocols > 1 &&
           !common_uses_columns(&options->common) && !options->common.sort;
}

static int run(int argc, char *const argv[], bool is_fastnet)
{
    struct netstat netstat = {.program = argv[0], .options = {.is_fastnet = is_fastnet}};
    const struct netstat_options *options = &netstat.options;
    bool done = false;
    int status = netstat_parse(&netstat.options, argc, argv, &done);

    if (!status && !done && options->table != NETSTAT_SOCKETS && !lists_sockets(options))
        return other_tables[options->table](&netstat.options, netstat.program);
    if (!status && !done)
        status = prepare(&netstat, &done);
    if (status || done)
        return cli_finish_stdout(netstat.program, status);
    return cli_run_listing(&(struct cli_listing){.program = netstat.program,
                                                 .listing = &netstat.listing,
                                                 .make_sink = make_sink,
                                                 .amend = check_other_tables,
                                                 .arg = &netstat,
                                                 .continuous = options->continuous,
                                                 .interval_ms = options->interval_ms});
}

int netstat_run(int argc, char *const argv[])
{
    return run(argc, argv, false);
}

int fastnet_run(int argc, char *const argv[])
{
    return run(argc, argv, true);
}
