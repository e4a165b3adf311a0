/* SPDX-License-Identifier: MIT */
/* ss of iproute2: its filter, its columns, and its listings. */
#include "cli/ss/ss.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/personality.h"
#include "cli/ss/ss_filter.h"
#include "cli/stream.h"
#include "fastnet/array.h"
#include "fastnet/hosts.h"
#include "fastnet/rights.h"

struct ss {
    struct ss_options options;
    struct ss_tables tables;
    struct ss_words words;
    struct where where;    /* memory of the filter */
    const char *diag_file; /* TCPDIAG_FILE, or NULL */
};

/* --- The filter ------------------------------------------------------------------------------- */

static int read_words(struct ss *ss)
{
    const struct ss_options *options = &ss->options;
    const char *path = options->filter_file;
    int error;

    ss->words = (struct ss_words){.arguments = options->words, .count = options->word_count};
    error = path ? ss_words_read(&ss->words, path) : 0;
    if (error >= 0)
        return 0;
    return common_misuse(&options->common, "-F: '%s': %s", TYPED(path),
                         error == -EILSEQ ? "the file has NUL bytes, so it is not a text file"
                                          : strerror(-error));
}

static int ss_resolve(const char *name, uint8_t family, int netns, unsigned milliseconds,
                      struct address addresses[], size_t most)
{
    return hosts_addresses(name, family, netns, milliseconds, addresses, most, common_waiting());
}

static int parse_filter(struct ss *ss, const struct predicate **predicate)
{
    struct ss_filter filter = {.where = &ss->where,
                               .selection = &ss->options.selection,
                               .words = &ss->words,
                               .foreign =
                                   ss->options.common.all_netns || ss->options.common.proc_root,
                               .own_netns = ss->options.common.own_netns,
                               .saved = ss->diag_file != NULL,
                               .resolve = ss_resolve};
    int status = read_words(ss);

    if (status)
        return status;
    *predicate = ss_filter_parse(&filter);
    if (filter.failed) {
        status = common_misuse(&ss->options.common, "%s", ss->where.message);
        return filter.wrong ? STATUS_FAILURE : status;
    }
    if (filter.mixed) /* users of ss may not expect this */
        fprintf(stderr,
                "%s: as ss does, the filter is read from left to right: 'a or b and c' is "
                "'( a or b ) and c'\n",
                ss->options.common.program);
    return 0;
}

/* --- Columns ---------------------------------------------------------------------------------- */

static bool has_several(uint32_t bits)
{
    return bits & (bits - 1);
}

/* Sets members of the layout that follow from other options. */
static void complete_layout(struct ss_options *options)
{
    struct ss_layout *layout = &options->layout;

    layout->netid = has_several(options->selection.tables);
    layout->state = has_several(options->selection.states);
    layout->queues = !options->no_queues;
    layout->processes |= layout->threads;
    layout->timers |= layout->extended || layout->filters;
    layout->storages |= options->map_count > 0;
    layout->maps = options->values;
    layout->map_count = options->value_count;
    layout->header = !options->common.no_header;
    layout->width = common_width(&options->common);
}

/* The columns of -i for TCP. */
#define TCP_COLUMNS                                                                                \
    "congestion ca_state tcp_options ecn_mode snd_wscale rcv_wscale rto backoff rtt rttvar ato "   \
    "snd_mss rcv_mss advmss pmtu snd_cwnd snd_ssthresh bytes_sent bytes_retrans bytes_acked "      \
    "bytes_received segs_out segs_in data_segs_out data_segs_in send_rate last_data_sent "         \
    "last_data_recv last_ack_recv pacing_rate max_pacing_rate delivery_rate delivered "            \
    "delivered_ce app_limited busy_time rwnd_limited sndbuf_limited unacked retrans "              \
    "total_retrans lost sacked dsack_dups reordering reord_seen rcv_rtt rcv_space rcv_ssthresh "   \
    "notsent_bytes min_rtt rcv_ooopack snd_wnd rcv_wnd rehash ulp md5_peers"
#define MPTCP_COLUMNS                                                                              \
    "mptcp_token mptcp_subflows mptcp_subflows_total mptcp_flags mptcp_write_seq mptcp_snd_una "   \
    "mptcp_rcv_nxt mptcp_retransmits mptcp_bytes_sent mptcp_bytes_retrans mptcp_bytes_received "   \
    "mptcp_bytes_acked"
#define SCTP_COLUMNS                                                                               \
    "sctp_local_addresses sctp_peer_addresses sctp_state sctp_tag sctp_peer_tag sctp_rwnd "        \
    "sctp_peer_rwnd sctp_unackdata sctp_penddata sctp_instrms sctp_outstrms sctp_rtxchunks "       \
    "sctp_overall_error"
#define MEMORY_COLUMNS                                                                             \
    "mem_rmem mem_rcvbuf mem_wmem mem_sndbuf mem_forward mem_queued mem_optmem mem_backlog drops"

/* Chooses columns with the content of the layout, for the selected tables. */
static void choose_columns(struct listing_command *command, const struct ss *ss)
{
    const struct ss_layout *layout = &ss->options.layout;
    const struct {
        bool shown;
        uint32_t tables;
        const char *names;
    } columns[] = {
        {ss->options.events, UINT32_MAX, "time"},
        {true, UINT32_MAX, "protocol family state"},
        {layout->queues, UINT32_MAX, "recv_q send_q"},
        {true, SS_TABLES_INET, "local_address local_port remote_address remote_port"},
        {true, SS_TABLES_UNIX, "type path inode peer_inode"},
        {true, SS_TABLES_PACKET, "type ether_protocol interface"},
        {true, 1 << SS_NETLINK, "netlink_protocol portid dst_portid dst_group"},
        {true, SS_TABLES_VSOCK, "type cid vsock_port peer_cid peer_port"},
        {true, 1 << SS_TIPC, "type tipc_node tipc_port tipc_peer_node tipc_peer_port"},
        {true, 1 << SS_XDP, "interface queue_id"},
        {layout->timers, SS_TABLES_INET, "timer expires retransmits probes"},
        {layout->processes, UINT32_MAX, "pid process processes"},
        {layout->extended, UINT32_MAX, "uid inode cookie interface shutdown"},
        {layout->extended, SS_TABLES_INET, "mark cgroup v6only"},
        {layout->extended, SS_TABLES_UNIX, "pending file_inode file_device"},
        {layout->extended, SS_TABLES_PACKET,
         "packet_version copy_threshold packet_flags rx_ring tx_ring fanout fanout_type"},
        {layout->extended, 1 << SS_NETLINK, "groups"},
        {layout->extended, 1 << SS_XDP,
         "rx_ring tx_ring umem_id umem_size fill_ring completion_ring xdp_rx_dropped "
         "xdp_rx_invalid xdp_rx_full xdp_fill_ring_empty xdp_tx_invalid xdp_tx_ring_empty"},
        {layout->tos, SS_TABLES_INET, "tos tclass class_id"},
        {layout->cgroup, SS_TABLES_INET, "cgroup"},
        {layout->options, SS_TABLES_INET, "sockopts"},
        {layout->memory, UINT32_MAX, MEMORY_COLUMNS},
        {layout->info, 1 << SS_TCP, TCP_COLUMNS},
        {layout->info, 1 << SS_MPTCP, MPTCP_COLUMNS},
        {layout->info, 1 << SS_SCTP, SCTP_COLUMNS},
        {layout->filters, SS_TABLES_PACKET, "bpf_filter"},
        {layout->tipc, 1 << SS_TIPC,
         "tipc_service_type tipc_service_instance tipc_congestion tipc_drops tipc_published"},
    };

    for (size_t i = 0; i < COUNT(columns); i++)
        if (columns[i].shown && ss_selects(&ss->options.selection, columns[i].tables))
            command->columns[i] = columns[i].names;
    _Static_assert(COUNT(columns) <= COUNT(command->columns), "there is room");
}

/* --- -E: sockets as they are closed ----------------------------------------------------------- */

/* Checks -E. With -p ports stay numbers: looking up names gives up rights that finding owners
 * needs. */
static int choose_events(struct ss *ss)
{
    struct ss_options *options = &ss->options;
    const struct common *common = &options->common;
    const bool any = stream_kinds(ss->tables.tables, ss->tables.count);
    const char *conflict = !any ? "only TCP and UDP sockets have events"
                           : common->at || common->between
                               ? "cannot list a recording (try fastnet closed --between)"
                           : common->backend == BACKEND_PROC || common->proc_root
                               ? "events come only from netlink, not from /proc"
                           : common->from ? "cannot be combined with --from"
                           : options->dump || common->interval_ms || common->exact
                               ? "cannot be combined with -D, -c or --exact"
                               : NULL;

    if (conflict)
        return common_misuse(common, "-E: %s", conflict);
    options->layout.numeric |= options->layout.processes;
    options->layout.resolve = false;
    return 0;
}

/* Lists sockets when they are closed. The selection of states has no effect. */
static int list_events(const struct listing_command *listed)
{
    const struct listing_table table = {.table = &table_socket_events};
    struct listing_command command = *listed;
    struct listing *listing = &command.listing;
    struct stream stream;
    int status = stream_begin(&stream, command.common, listing, 0,
                              stream_kinds(listing->tables, listing->table_count));

    listing->tables = &table;
    listing->table_count = 1;
    command.unknown = ~backends_fields(&table_socket_events);
    command.after_each_run = stream_sum_up;
    command.arg = &stream;
    if (!status)
        status = command_run(&command);
    stream_finish(&stream);
    return status;
}

/* --- -s: number of sockets -------------------------------------------------------------------- */

/* Notes that, as in ss, the summary mixes numbers of one network namespace with numbers of all. */
static void note_mixture(const void *arg, struct report *report)
{
    if (*(const bool *)arg && isatty(STDERR_FILENO))
        report_note(report, "the TCP numbers total, closed and orphaned are for all network "
                            "namespaces of this machine");
}

static int summarise(const struct ss_options *options)
{
    const struct listing_table table = {
        .table = &table_sockstat,
        .missing = "cannot count sockets: the kernel has no /proc/net/sockstat",
        .if_missing = MISSING_ENDS};
    struct common common = options->common;
    bool mixed = false;
    const struct ss_summary_layout layout = {&mixed};

    if (options->listed) /* the filters choose sockets, not counters */
        common.filters.count = 0;
    struct listing_command command = {
        .common = &common,
        .kind = &kind_counter,
        .columns = {"protocol name value scope"},
        .listing = {.tables = &table,
                    .table_count = 1,
                    .needs.fields = COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE},
        /* The layout needs all counters, so a sort, a limit or a filter shows columns instead. */
        .layout_ops = common.sort || common.limit || common.filters.count ? NULL : &sink_ss_summary,
        .layout = &layout,
        .another_follows = options->listed,
        .after_each_run = note_mixture,
        .arg = &mixed,
    };

    return command_run(&command);
}

/* --- Listing ---------------------------------------------------------------------------------- */

/* Chooses tables and rows. The filter may limit the families, -E and -D limit the tables. Sets
 * *done if nothing is left to list. */
static int ss_choose_rows(struct ss *ss, struct listing_command *command, bool *done)
{
    int status;

    if (!ss->options.dump)
        ss->diag_file = ss_diag_file(&ss->options);
    status = parse_filter(ss, &command->listing.where);
    if (!status && ss->options.dump && !ss->options.events)
        status = ss_dump_choose(&ss->options, done);
    if (status || *done)
        return status;
    ss_choose_tables(&ss->tables, &ss->options);
    command->listing.tables = ss->tables.tables;
    command->listing.table_count = ss->tables.count;
    return ss->options.events ? choose_events(ss) : 0;
}

/* Opens the file of -F, and says that the listing does not use it. ss opens it, too. */
static int note_unused_filter(struct ss *ss)
{
    const int status = ss->options.filter_file ? read_words(ss) : 0;

    if (ss->options.filter_file && !status)
        fprintf(stderr,
                "%s: -F is ignored, because -s counts all sockets (to list sockets too, add a "
                "table or a state)\n",
                ss->options.common.program);
    return status;
}

static int ss_list(struct ss *ss)
{
    struct listing_command command = {.common = &ss->options.common,
                                      .kind = &kind_socket,
                                      .layout_ops = &sink_ss,
                                      .layout = &ss->options.layout};
    bool done = false;
    int status, summarised = 0;

    status = ss->options.listed ? ss_choose_rows(ss, &command, &done) : note_unused_filter(ss);
    if (!status && ss->options.summary)
        summarised = summarise(&ss->options);
    if (status || done || !ss->options.listed)
        return status ? status : summarised;
    complete_layout(&ss->options);
    choose_columns(&command, ss);
    if (ss->diag_file) /* as in ss, each of -i and -m shows everything that the file has */
        ss->options.layout.info = ss->options.layout.memory |= ss->options.layout.info;
    command.layout_needs = ss_layout_needs(&ss->options.layout);
    command.listing.maps = ss->options.maps;
    command.listing.map_count = ss->options.map_count;
    if (ss->options.layout.threads)
        command.listing.needs.lookups |= NEED_THREADS;
    /* rows wait for names, so names are not looked up if no row has a name */
    if (!ss_selects(&ss->options.selection, SS_TABLES_INET))
        command.layout_needs.lookups &=
            ~(NEED_SERVICES | NEED_EPHEMERAL | NEED_HOSTS | NEED_RPC_PROGRAMS);
    if (ss->options.dump)
        return ss_dump(&ss->options, &command);
    command.listing.diag_file = ss->diag_file;
    command.verbose = ss->diag_file && isatty(STDERR_FILENO);
    if (ss->options.events)
        return list_events(&command);
    status = command_run(&command);
    return status ? status : summarised;
}

int ss_run(int argc, char *const argv[])
{
    struct ss *ss = calloc(1, sizeof *ss);
    int status, refused = 0;

    if (!ss)
        return no_memory_status("ss");
    status = ss_parse(&ss->options, argc, argv);
    if (status == PARSED)
        refused = ss_open_maps(&ss->options);
    rights_limit(RIGHTS_ALL & ~(1u << RIGHT_MAPS));
    if (status == PARSED)
        status = refused ? refused : ss_list(ss);
    where_finish(&ss->where);
    ss_words_finish(&ss->words);
    ss_options_finish(&ss->options);
    free(ss);
    return status;
}
