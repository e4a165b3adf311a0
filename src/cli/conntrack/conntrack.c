/* SPDX-License-Identifier: MIT */
/* The reading side of conntrack-tools' conntrack: what its options list, and its exit statuses.
 * format/flow/layout_conntrack.c writes the layout. */
#include <string.h>
#include <sys/socket.h>

#include "cli/command.h"
#include "cli/conntrack/conntrack_options.h"
#include "cli/personality.h"
#include "cli/stream.h"
#include "fastnet/flow_names.h"
#include "makers/flow_sockets.h"

struct conntrack {
    struct conntrack_options options;
    const struct table *table;
    struct stream stream;        /* used for events */
    struct flow_sockets sockets; /* used for owners of flows */
};

/* Adds a condition to `whole`: the source (or the destination) was translated to the address and
 * the port of `nat`, or, if `nat` has neither, to any address or port. */
static void add_end(struct predicate_tree *tree, struct predicate *whole, bool source,
                    const struct conntrack_nat *nat)
{
    const struct field *address = source ? &field_src_nat_address : &field_dst_nat_address;
    const struct field *port = source ? &field_src_nat_port : &field_dst_nat_port;
    const bool any = !nat->has_address && !nat->has_port;
    const struct predicate both = {.operation = any ? PREDICATE_OR : PREDICATE_AND};
    struct predicate *end = predicate_tree_add(tree, whole, both);

    if (any || nat->has_address)
        predicate_tree_add(
            tree, end, any ? predicate_known(address) : predicate_address(address, &nat->address));
    if (any || nat->has_port)
        predicate_tree_add(tree, end,
                           any ? predicate_known(port) : predicate_number(port, nat->port));
}

const struct predicate *conntrack_filter_where(struct conntrack_filter *filter,
                                               const struct kind *kind)
{
    const struct predicate either = {.operation = PREDICATE_OR};
    const struct field *family = field_find(kind, "family", strlen("family"));
    struct predicate_tree *tree = &filter->where;

    *tree = (struct predicate_tree){.count = 0};
    for (size_t i = 0; i < filter->count && kind == &kind_flow; i++)
        predicate_add(&tree->whole, &filter->parts[i]);
    for (size_t which = 0; which < NAT_OPTIONS && kind == &kind_flow; which++) {
        if (!filter->nat[which].given)
            continue;
        struct predicate *ends = predicate_tree_add(tree, &tree->whole, either);
        if (which != NAT_DESTINATION)
            add_end(tree, ends, true, &filter->nat[which]);
        if (which != NAT_SOURCE)
            add_end(tree, ends, false, &filter->nat[which]);
    }
    if (filter->family != AF_UNSPEC && family)
        predicate_tree_add(tree, &tree->whole, predicate_number(family, filter->family));
    return tree->whole.parts ? &tree->whole : NULL;
}

const struct record *conntrack_filter_key(struct conntrack_filter *filter, const struct kind *kind)
{
    struct record *key = &filter->key;
    struct flow_direction *orig = &key->flow.way[WAY_ORIG], *reply = &key->flow.way[WAY_REPLY];
    struct flow_tuple tuple;

    *key = (struct record){.kind = kind, .flow.family = filter->family};
    /* stores the value of each part in the member of its field */
    for (size_t i = 0; i < filter->count; i++) {
        const struct field *field = filter->parts[i].field;
        const struct value *constant = &filter->parts[i].constant;
        if (field->member == MEMBER_ADDRESS)
            memcpy((char *)key + field->offset, &constant->address, sizeof constant->address);
        else if (field->member != MEMBER_NONE && constant->type == VALUE_NUMBER)
            field_set_number(field, key, constant->number);
        key->has |= field->optional;
    }
    key->has |= orig->tuple.src.family && orig->tuple.dst.family ? FLOW_ORIG : FLOW_REPLY;
    reply->tuple.protocol = orig->tuple.protocol;
    if (flow_is_icmp(orig->tuple.protocol)) {
        reply->tuple.src_port = orig->tuple.src_port;
        reply->tuple.icmp_type = orig->tuple.icmp_type;
        reply->tuple.icmp_code = orig->tuple.icmp_code;
    }
    tuple = orig->tuple;
    if (kind == &kind_expectation)
        *key =
            (struct record){.kind = kind, .expectation = {.family = filter->family, .orig = tuple}};
    return key;
}

/* The layout shows all fields, except owners, and needs some lookups. */
static struct needs conntrack_layout_needs(const struct conntrack *conntrack)
{
    const struct table *table = conntrack->table;
    struct needs needs = {.fields = ~FLOW_SOCKETS};

    if (conntrack->options.layout.labels && table->kind == &kind_flow)
        needs.lookups |= NEED_LABELS;
    if (table->endless && table->kind == &kind_flow)
        needs.lookups |= NEED_SENDERS;
    return needs;
}

/* The message if the flow of -G, or the table, is missing. */
static const char *missing_words(const struct conntrack_options *options)
{
    if (options->command == COMMAND_GET)
        return options->table == TABLE_EXPECT ? "Operation failed: such expectation doesn't exist"
                                              : "Operation failed: such conntrack doesn't exist";
    if (options->common.proc_root)
        return "the captured tree has neither sys/net/netfilter/nf_conntrack_count nor "
               "net/stat/nf_conntrack";
    return "the kernel has no connection tracking (modules nf_conntrack, nf_conntrack_netlink)";
}

/* Writes the last line of conntrack. The flow that -G asks for may exist without matching the other
 * options: then no row is shown, and the user must learn why. */
static void conntrack_sum_up(const void *arg, struct report *report)
{
    const struct conntrack *conntrack = arg;
    const struct conntrack_options *options = &conntrack->options;
    const char *what = common_uses_columns(&options->common) ? NULL : options->task->counted;
    const bool complete = report->listed || !report->partial;

    stream_sum_up(&conntrack->stream, report);
    if (report->ended || !complete)
        return;
    if (what)
        report_verbatim(report, "conntrack v1.4.7 (conntrack-tools): %llu %s have been shown.",
                        (unsigned long long)report->listed, what);
    if (options->command != COMMAND_GET || report->listed)
        return;
    if (!what)
        report_note(report, "%s", missing_words(options));
    report->partial = true;
}

/* Not inlined, because both frames together would be too large. */
static __attribute__((noinline)) int conntrack_list(struct conntrack *conntrack)
{
    struct conntrack_options *options = &conntrack->options;
    const struct conntrack_layout *layout = &options->layout;
    const struct kind *kind = conntrack->table->kind;
    const bool flows = kind == &kind_flow, events = conntrack->table->endless;
    const struct listing_table table = {
        .table = conntrack->table, .missing = missing_words(options), .if_missing = MISSING_ENDS};
    const struct listing_sockets sockets = {FLOW_SOCKETS, flow_sockets_read, flow_sockets_complete,
                                            &conntrack->sockets};
    struct listing_command command = {
        .common = &options->common,
        .kind = kind,
        .columns = {events ? "time event" : NULL,
                    flows && options->common.table && options->common.format == FORMAT_PLAIN
                        ? "protocol state from to nat details traffic timeout"
                        : options->task->columns,
                    flows && layout->labels ? "labels" : NULL,
                    flows && layout->ktimestamp ? "start stop" : NULL,
                    flows && events ? "sender process" : NULL},
        .table = {flows ? "protocol state from to nat details traffic timeout" : NULL},
        .drop =
            flows && options->common.table ? "timeout traffic details nat state protocol" : NULL,
        .shorten = "state nat",
        .whole = "from to",
        .listing = {.tables = &table,
                    .table_count = 1,
                    .sockets = flows && !events ? &sockets : NULL,
                    .where = conntrack_filter_where(&options->filter, kind),
                    .key = options->command == COMMAND_GET
                               ? conntrack_filter_key(&options->filter, kind)
                               : NULL},
        .layout_ops = &sink_conntrack,
        .layout = layout,
        .layout_needs = conntrack_layout_needs(conntrack),
        .clock = true,
        .after_each_run = conntrack_sum_up,
        .arg = conntrack,
    };
    const unsigned all = 1u << FLOW_NEW | 1u << FLOW_UPDATE | 1u << FLOW_DESTROY;
    const int status =
        events ? stream_begin(&conntrack->stream, &options->common, &command.listing,
                              options->buffer_size, options->events ? options->events : all)
               : 0;

    return status ? status : command_run(&command);
}

int conntrack_run(int argc, char *const argv[])
{
    struct conntrack conntrack = {.table = NULL};
    const struct conntrack_options *options = &conntrack.options;
    int status = conntrack_parse(&conntrack.options, argc, argv);

    if (status != PARSED)
        return status;
    if (options->common.from && (options->task->table->endless || options->zero))
        return common_misuse(&options->common, "--from lists saved rows, so it cannot be combined "
                                               "with -E or -z");
    conntrack.table = options->table == TABLE_DYING         ? &table_flows_dying
                      : options->table == TABLE_UNCONFIRMED ? &table_flows_unconfirmed
                      : options->zero                       ? &table_flows_zeroed
                                                            : options->task->table;
    status = conntrack_list(&conntrack);
    stream_finish(&conntrack.stream);
    flow_sockets_finish(&conntrack.sockets);
    return status;
}
