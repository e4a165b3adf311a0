/* SPDX-License-Identifier: MIT */
/* net-tools' netstat: tables of sockets, exit statuses. layout_netstat.c writes the layout. */
#include <unistd.h>

#include "cli/command.h"
#include "cli/netstat/netstat.h"
#include "cli/personality.h"
#include "cli/saved.h"
#include "fastnet/array.h"
#include "fastnet/owners.h"
#include "fastnet/proc_tree.h"

enum { TABLES_MAX = 12 };

struct netstat {
    struct netstat_options options;
    struct listing_table tables[TABLES_MAX];
    struct predicate where[TABLES_MAX][2]; /* filters of the tables */
    size_t table_count;
};

/* Choosing the tables, in netstat's order */

static void netstat_add_table(struct netstat *netstat, const struct table *table, unsigned section,
                              const char *missing)
{
    const struct netstat_options *options = &netstat->options;
    bool named = options->named_protocols > 0 && !options->all_protocols;

    netstat->tables[netstat->table_count++] = (struct listing_table){
        .table = table,
        .section = section,
        .missing =
            missing && !options->all_protocols && (named || options->verbose) ? missing : NULL,
        .if_missing = missing && named ? MISSING_ENDS : MISSING_IS_NOTED,
    };
}

/* Adds the IPv6 table of the protocol that was added last: if the IPv4 table is missing, netstat
 * still lists this table before it ends. */
static void add_second(struct netstat *netstat, const struct table *table, unsigned section)
{
    netstat_add_table(netstat, table, section, NULL);
    netstat->tables[netstat->table_count - 1].if_missing = MISSING_IS_PAIRED;
}

/* Adds the IPv4 table of a protocol, which must exist if the user named it, and its IPv6 table. */
static void add_protocol(struct netstat *netstat, bool wanted, const struct table *ipv4,
                         const struct table *ipv6, const char *missing)
{
    const struct netstat_options *options = &netstat->options;
    bool everything = options->named_protocols == 0;

    if (!wanted && !everything)
        return;
    if (everything || options->inet)
        netstat_add_table(netstat, ipv4, SECTION_INTERNET, missing);
    if (ipv6 && (everything || options->inet6))
        add_second(netstat, ipv6, SECTION_INTERNET);
}

/* True if a filter asks for sockets in BOUND_INACTIVE; only then they are listed. */
static bool wants_inactive(const struct filters *filters)
{
    struct where where = {0};
    const struct predicate *all = NULL;
    const bool wants = filters->count && !filters_resolve(filters, &where, &kind_socket, &all) &&
                       netstat_wants_inactive(all);

    where_finish(&where);
    return wants;
}

#define NO_INET(name) "no support for `AF INET (" name ")' on this system."

static void netstat_choose_tables(struct netstat *netstat)
{
    const struct netstat_options *options = &netstat->options;

    add_protocol(netstat, options->tcp, &table_tcp, &table_tcp6, NO_INET("tcp"));
    add_protocol(netstat, options->sctp, NULL, NULL, NO_INET("sctp"));
    add_protocol(netstat, options->udp, &table_udp, &table_udp6, NO_INET("udp"));
    add_protocol(netstat, options->udplite, &table_udplite, &table_udplite6, NO_INET("udplite"));
    add_protocol(netstat, options->raw, &table_raw, &table_raw6, NO_INET("raw"));
    if (options->kind == &kind_group && options->inet)
        netstat_add_table(netstat, &table_groups, SECTION_GROUPS, NO_INET("igmp"));
    if (options->kind == &kind_group && options->inet6)
        add_second(netstat, &table_groups6, SECTION_GROUPS);
    if (options->unix_sockets || options->named_protocols == 0)
        netstat_add_table(netstat, &table_unix, SECTION_UNIX,
                          "no support for `AF UNIX' on this system.");
}

/* Needs of the layout */

static bool lists(const struct netstat *netstat, unsigned section)
{
    for (size_t i = 0; i < netstat->table_count; i++)
        if (netstat->tables[i].section == section)
            return true;
    return false;
}

static struct needs netstat_layout_needs(const struct netstat *netstat)
{
    const struct netstat_layout *layout = &netstat->options.layout;
    struct needs needs = {.fields = SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE |
                                    SOCKET_REFCOUNT | SOCKET_PATH | SOCKET_UNIX_FLAGS};

    if (layout->programs)
        needs.lookups |= NEED_OWNERS | NEED_COMMANDS;
    needs.lookups |= lists(netstat, SECTION_GROUPS) && !layout->numeric_hosts ? NEED_HOSTS : 0;
    if (!lists(netstat, SECTION_INTERNET))
        return needs;
    needs.fields |= layout->timers ? SOCKET_TIMER | SOCKET_RETRANSMITS : 0;
    needs.fields |= layout->extended ? SOCKET_UID : 0;
    needs.lookups |= layout->extended && !layout->numeric_users ? NEED_USERS : 0;
    needs.lookups |= layout->numeric_ports ? 0 : NEED_SERVICES;
    needs.lookups |= layout->numeric_hosts ? 0 : NEED_HOSTS;
    return needs;
}

/* Families that hardly any kernel has today, or that Debian's netstat was built without */

static const char *root_of(const struct netstat_options *options)
{
    return options->common.proc_root ? options->common.proc_root : "/proc";
}

/* Reports a family that fastnet cannot list. Returns true if netstat would end with status 1. */
static bool check_old_family(const struct netstat_options *options,
                             const struct netstat_family *family, struct report *report)
{
    const char *root = root_of(options);
    const bool named = family->file && *((const bool *)options + family->member);

    if (!family->file || (!named && options->named_protocols))
        return false;
    if (proc_tree_has(root, family->file))
        report_loss(report, "sockets of `%s' are not listed: see %s/%s", family->sockets, root,
                    family->file);
    else if (named || options->verbose)
        report_note(report, "no support for `%s' on this system.", family->sockets);
    return named;
}

/* Reports tables that netstat has and fastnet has not: SCTP sockets in files, and old families. */
static void check_other_tables(const void *arg, struct report *report)
{
    const struct netstat_options *options = arg;
    const char *root = root_of(options);

    if ((options->sctp || !options->named_protocols) && proc_tree_has(root, "net/sctp/eps"))
        report_loss(report, "SCTP sockets are not listed: see %s/net/sctp/eps", root);
    if (report->ended)
        return;
    for (size_t i = 0; i < NETSTAT_FAMILIES && !report->ended; i++)
        report->ended |= check_old_family(options, &netstat_families[i], report);
    if (!report->ended && options->bluetooth) {
        report_note(report, "feature `AF BLUETOOTH' not supported.");
        report_verbatim(report, "Please recompile `net-tools' with newer kernel source or full "
                                "configuration.");
        report->ended = true;
    }
    report->partial |= report->ended;
}

/* Reports missing owners in netstat's words, because scripts search for them. */
static void report_shut_out(struct report *report, const struct owners_summary *summary)
{
    if (summary->any)
        report_verbatim(report, "(Not all processes could be identified, non-owned process info\n"
                                " will not be shown, you would have to be root to see it all.)");
    else
        report_verbatim(report,
                        "(No info could be read for \"-p\": geteuid()=%u but you should be root.)",
                        (unsigned)geteuid());
}

static int list_sockets(struct netstat *netstat)
{
    const struct netstat_options *options = &netstat->options;
    const struct netstat_layout *layout = &netstat->options.layout;
    bool internet;

    netstat_choose_tables(netstat);
    netstat_choose_rows(netstat->tables, netstat->table_count, netstat->where, layout->show,
                        layout->show == SHOW_ALL && wants_inactive(&options->common.filters));
    internet = lists(netstat, SECTION_INTERNET);
    struct listing_command command = {
        .common = &options->common,
        .kind = &kind_socket,
        /* columns with the content of the layout */
        .columns = {"protocol family state",
                    internet ? "recv_q send_q local_address local_port remote_address remote_port"
                             : NULL,
                    internet && layout->extended ? "user" : NULL, internet ? "uid" : NULL, "inode",
                    internet && layout->timers ? "timer expires retransmits probes" : NULL,
                    lists(netstat, SECTION_UNIX) ? "type references flags path" : NULL,
                    layout->programs ? "pid process processes" : NULL},
        .without = layout->numeric_users ? NEED_USERS : 0,
        .listing = {.tables = netstat->tables,
                    .table_count = netstat->table_count,
                    .report_shut_out = report_shut_out},
        .layout_ops = &sink_netstat,
        .layout = layout,
        .layout_needs = netstat_layout_needs(netstat),
        .verbose = options->verbose,
        .after_each_run = check_other_tables,
        .arg = options,
    };
    if (layout->show != SHOW_LISTENING)
        command.listing.needs.fields |= SOCKET_PENDING;
    return command_run(&command);
}

static int list_groups(const struct netstat_options *options)
{
    const bool may_be_missing = options->all_protocols;
    const struct listing_table tables[] = {
        {.table = &table_groups,
         .section = SECTION_GROUPS,
         .missing = may_be_missing ? NULL : NO_INET("igmp"),
         .if_missing = may_be_missing ? MISSING_IS_NOTED : MISSING_COSTS_STATUS},
        {.table = &table_groups6, .section = SECTION_GROUPS},
    };
    struct listing_command command = {
        .common = &options->common,
        .kind = &kind_group,
        .columns = {"interface family group users"},
        .listing = {.tables = &tables[!options->inet],
                    .table_count = (size_t)options->inet + options->inet6},
        .layout_ops = &sink_netstat,
        .layout = &options->layout,
        .layout_needs = {.fields = GROUP_INTERFACE | GROUP_ADDRESS | GROUP_USERS,
                         .lookups = options->layout.numeric_hosts ? 0 : NEED_HOSTS},
    };

    if (options->named_protocols > 1 && !options->all_protocols)
        return common_misuse(
            &options->common,
            "--groups: groups and sockets have different columns (list them separately)");
    return command_run(&command);
}

/* If `alone` (only "fastnet" was typed), names the commands for people on a terminal. */
static int netstat_lead(bool alone, int status)
{
    if (alone && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO))
        fprintf(stderr, "for people: fastnet s, doctor, top\n");
    return status;
}

int fastnet_run(int argc, char *const argv[], const struct grammar *const *words,
                const char *commit, fastnet_run_fn *run)
{
    struct netstat netstat = {.options.common = {.words = words, .commit = commit, .run = run}};
    struct netstat_options *options = &netstat.options;
    const int status = netstat_parse(options, argc, argv);
    const bool chosen = options->named_protocols || options->listening || options->all;

    if (status != PARSED)
        return status;
    if (options->common.from && run && options->kind == &kind_socket && !chosen)
        return saved_run(&options->common, argc, argv);
    /* The layout can show groups below sockets, but columns are of one kind only. */
    if (options->kind == &kind_group && (options->named_protocols <= 1 || options->common.sort ||
                                         common_uses_columns(&options->common)))
        return list_groups(options);
    return options->kind == &kind_route       ? netstat_routes(options)
           : options->kind == &kind_interface ? netstat_interfaces(options)
           : options->kind == &kind_queue     ? netstat_queues(options)
           : options->kind == &kind_qdisc     ? netstat_queues(options)
           : options->kind == &kind_counter   ? netstat_statistics(options)
           : options->kind == &kind_flow      ? netstat_masquerade(options)
           : options->kind == &kind_summary
               ? summary_list(&options->common, chosen)
               : netstat_lead(argc == 1 && words, list_sockets(&netstat));
}

int netstat_run(int argc, char *const argv[])
{
    return fastnet_run(argc, argv, NULL, NULL, NULL);
}
