/*
 * Connection tracking by ctnetlink (nfnetlink): flows, expectations, their events and counters.
 * Sources: linux/netfilter/nfnetlink_conntrack.h, net/netfilter/nf_conntrack_netlink.c.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <sys/socket.h>

#include "backend/flow/ctnetlink_decode.h"
#include "backend/flow/ctnetlink_filter.h"
#include "backend/flow/flow_usage.h"
#include "backend/netlink/netlink.h"
#include "fastnet/clock.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"

/* What of connection tracking may take rights to read: its messages, its buffers, its files. */
#define RIGHTS (1u << RIGHT_NETFILTER | 1u << RIGHT_BUFFERS | 1u << RIGHT_NETFILTER_FILES)

const struct table table_flows = {
    .name = "flows", .file = "nf_conntrack", .kind = &kind_flow, .rights = RIGHTS, .resizes = true};
const struct table table_flows_zeroed = {.name = "flows", .kind = &kind_flow, .rights = RIGHTS};
const struct table table_flows_dying = {
    .name = "dying flows", .kind = &kind_flow, .rights = RIGHTS};
const struct table table_flows_unconfirmed = {
    .name = "unconfirmed flows", .kind = &kind_flow, .rights = RIGHTS};
const struct table table_flow_one = {
    .name = "flow", .kind = &kind_flow, .rights = RIGHTS, .single = true};
const struct table table_flow_events = {
    .name = "flow events", .kind = &kind_flow, .rights = RIGHTS, .endless = true};
const struct table table_flow_count = {
    .name = "number of flows", .kind = &kind_flow_usage, .rights = RIGHTS};
const struct table table_flow_usage = {
    .name = "use of the flow table", .kind = &kind_flow_usage, .rights = RIGHTS};
const struct table table_flow_statistics = {
    .name = "flow statistics", .kind = &kind_flow_statistics, .rights = RIGHTS};
const struct table table_expectations = {.name = "expectations",
                                         .file = "nf_conntrack_expect",
                                         .kind = &kind_expectation,
                                         .rights = RIGHTS};
const struct table table_expectation_one = {
    .name = "expectation", .kind = &kind_expectation, .rights = RIGHTS, .single = true};
const struct table table_expectation_events = {
    .name = "expectation events", .kind = &kind_expectation, .rights = RIGHTS, .endless = true};
const struct table table_expectation_count = {
    .name = "number of expectations", .kind = &kind_flow_usage, .rights = RIGHTS};
const struct table table_expectation_statistics = {
    .name = "expectation statistics", .kind = &kind_flow_statistics, .rights = RIGHTS};

#define FIELDS_FLOW                                                                                \
    (FLOW_ORIG | FLOW_REPLY | FLOW_STATE | FLOW_TIMEOUT | FLOW_STATUS | FLOW_MARK | FLOW_SECMARK | \
     FLOW_SECCTX | FLOW_ORIG_COUNTERS | FLOW_REPLY_COUNTERS | FLOW_ZONE | FLOW_ORIG_ZONE |         \
     FLOW_REPLY_ZONE | FLOW_START | FLOW_STOP | FLOW_HELPER | FLOW_LABELS | FLOW_USE | FLOW_ID |   \
     FLOW_ORIG_VTAG | FLOW_REPLY_VTAG | FLOW_ROLE)
#define FIELDS_EXPECTATION                                                                         \
    (FLOW_ORIG | FLOW_MASK | FLOW_MASTER | FLOW_TIMEOUT | FLOW_ZONE | FLOW_FLAGS | FLOW_CLASS |    \
     FLOW_HELPER | FLOW_ID)
#define FIELDS_EVENT (FLOW_EVENT | FLOW_SENDER)
#define FIELDS_USAGE                                                                               \
    (USAGE_ENTRIES | USAGE_MAXIMUM | USAGE_BUCKETS | USAGE_DROPS | USAGE_ENTRY_SIZE)

static uint64_t fields(const struct table *table)
{
    uint64_t events = table->endless ? FIELDS_EVENT : 0;

    if (table->kind == &kind_flow)
        return FIELDS_FLOW | events;
    if (table->kind == &kind_expectation)
        return FIELDS_EXPECTATION | events;
    if (table->kind == &kind_flow_statistics)
        return FLOW_COUNTER_BITS;
    if (table->kind == &kind_flow_usage)
        return table == &table_flow_usage ? FIELDS_USAGE : USAGE_ENTRIES;
    return 0;
}

enum { REQUEST_MAX = 1024 }; /* bytes; the filter is most of it */

/* One reading of one table. */
struct reading {
    const struct query *query;
    record_fn fn;
    void *arg;
    struct record record; /* that a message is decoded into */
    uint64_t count;       /* rows handed on, or counted */
    _Alignas(struct nlmsghdr) char request[REQUEST_MAX];
};

static bool is_of_expectations(const struct table *table)
{
    return table->kind == &kind_expectation || table == &table_expectation_count ||
           table == &table_expectation_statistics;
}

/* Starts the request; flags are NLM_F_DUMP or NLM_F_ACK. */
static struct nlmsghdr *put_request(struct reading *reading, unsigned type, uint16_t flags,
                                    uint8_t family)
{
    const bool expectations = is_of_expectations(reading->query->table);
    const unsigned subsystem = expectations ? NFNL_SUBSYS_CTNETLINK_EXP : NFNL_SUBSYS_CTNETLINK;
    struct nlmsghdr *message = mnl_nlmsg_put_header(reading->request);
    struct nfgenmsg *general = mnl_nlmsg_put_extra_header(message, sizeof *general);

    message->nlmsg_type = (uint16_t)(subsystem << 8 | type);
    message->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
    general->nfgen_family = family;
    general->version = NFNETLINK_V0;
    return message;
}

static int send_request(struct reading *reading, struct nlmsghdr *message, netlink_fn fn)
{
    const struct query *query = reading->query;

    return netlink_dump(query->netlink, NETLINK_NETFILTER, message, fn, reading, query->report);
}

/* What a decoder made of a message is handed on, whether or not all of it could be understood. */
static int hand_on(struct reading *reading, int decoded)
{
    if (decoded < 0)
        report_malformed(reading->query);
    if (decoded < 0 && !reading->record.has)
        return 0;
    reading->count++;
    return reading->fn(&reading->record, reading->arg);
}

static int take_flow(const struct nlmsghdr *message, void *arg)
{
    struct reading *reading = arg;

    return hand_on(reading, ctnetlink_decode_flow(message, &reading->record));
}

static int take_expectation(const struct nlmsghdr *message, void *arg)
{
    struct reading *reading = arg;

    return hand_on(reading, ctnetlink_decode_expectation(message, &reading->record));
}

static int take_statistics(const struct nlmsghdr *message, void *arg)
{
    struct reading *reading = arg;
    const bool expectations = is_of_expectations(reading->query->table);

    return hand_on(reading, ctnetlink_decode_statistics(message, expectations, &reading->record));
}

/* --- Dumps ------------------------------------------------------------------------------------ */

/* Answers to a filter that this kernel does not have, or not for this. */
static bool is_refused_filter(int error)
{
    return error == -EINVAL || error == -EOPNOTSUPP || error == -ERANGE || error == -EAFNOSUPPORT;
}

static int dump_family(struct reading *reading, uint8_t family)
{
    const struct predicate *where = reading->query->where;
    struct report *report = reading->query->report;
    const size_t said = report->count;
    const uint64_t count = reading->count;
    struct nlmsghdr *message = put_request(reading, IPCTNL_MSG_CT_GET, NLM_F_DUMP, family);
    bool filtered = ctnetlink_put_filter(message, where, family);
    int result = send_request(reading, message, take_flow);

    if (filtered && is_refused_filter(result) && reading->count == count) {
        report->count = said; /* its words about a refinement are of no interest */
        message = put_request(reading, IPCTNL_MSG_CT_GET, NLM_F_DUMP, family);
        result = send_request(reading, message, take_flow);
    }
    return result;
}

/* Once over the table: a family after the other where the kernel can leave out more that way. */
static int dump_flows_once(struct reading *reading)
{
    const struct predicate *where = reading->query->where;
    int result;

    if (!ctnetlink_filters_by_family(where))
        return dump_family(reading, ctnetlink_family(where));
    result = dump_family(reading, AF_INET);
    return result < 0 ? result : dump_family(reading, AF_INET6);
}

/* Not told by the kernel: it resumes a dump by the number of a bucket, resized or not. */
static void report_resize(const struct query *query)
{
    report_loss(query->report,
                "%s: the table was resized while it was read: rows may be missing or repeated",
                query->table->name);
}

/*
 * A dump during which the table is resized loses flows and repeats others without a word. Read
 * again it can be while no row was handed on, or where repeats are dropped.
 */
static int dump_flows(struct reading *reading)
{
    enum { AGAIN_MAX = 4 };
    const struct query *query = reading->query;
    uint64_t before = flow_buckets(query->proc_root);
    int result;

    for (int again = 0;; again++) {
        uint64_t after;
        result = dump_flows_once(reading);
        after = flow_buckets(query->proc_root);
        if (result < 0 || !flow_resized(before, after))
            return result;
        if (again == AGAIN_MAX || (reading->count && !query->remembers))
            break;
        before = after;
    }
    report_resize(query);
    return result;
}

static int dump_list(struct reading *reading, unsigned type, netlink_fn fn)
{
    uint8_t family = ctnetlink_family(reading->query->where);

    return send_request(reading, put_request(reading, type, NLM_F_DUMP, family), fn);
}

/*
 * Once and no more: a second reading would show the zeroes that the first one left. It is all that
 * is changed in the kernel, and not for who was lent the right to list.
 */
static int dump_and_zero(struct reading *reading)
{
    const struct query *query = reading->query;
    const uint64_t before = flow_buckets(query->proc_root);
    int result;

    if (rights_elevated())
        return -EPERM;
    result = dump_list(reading, IPCTNL_MSG_CT_GET_CTRZERO, take_flow);
    if (result == 0 && flow_resized(before, flow_buckets(query->proc_root)))
        report_resize(query);
    return result;
}

static int get_one_flow(struct reading *reading)
{
    const struct record *key = reading->query->key;
    struct nlmsghdr *message =
        put_request(reading, IPCTNL_MSG_CT_GET, NLM_F_ACK, key ? key->flow.family : AF_UNSPEC);

    if (key)
        ctnetlink_put_tuple(message, key);
    return send_request(reading, message, take_flow);
}

static int get_one_expectation(struct reading *reading)
{
    const struct record *key = reading->query->key;
    struct nlmsghdr *message = put_request(reading, IPCTNL_MSG_EXP_GET, NLM_F_ACK,
                                           key ? key->expectation.family : AF_UNSPEC);

    if (key)
        ctnetlink_put_expectation(message, key);
    return send_request(reading, message, take_expectation);
}

/* --- How full --------------------------------------------------------------------------------- */

static int take_usage(const struct nlmsghdr *message, void *arg)
{
    struct reading *reading = arg;

    return ctnetlink_decode_usage(message, &reading->record);
}

static int get_usage(struct reading *reading)
{
    return send_request(
        reading, put_request(reading, IPCTNL_MSG_CT_GET_STATS, NLM_F_ACK, AF_UNSPEC), take_usage);
}

static int get_count(struct reading *reading)
{
    int result = get_usage(reading);

    reading->record.has &= USAGE_ENTRIES;
    if (result == 0 && !reading->record.has)
        result = -ENOENT;
    return result < 0 ? result : hand_on(reading, 0);
}

/* The sum over all processors; the record of usage is made from what each message says. */
struct drops {
    struct flow_usage_record *usage;
    bool any;
};

static int take_drops(const struct nlmsghdr *message, void *arg)
{
    struct drops *drops = arg;
    const uint64_t both = UINT64_C(1) << CTA_STATS_DROP | UINT64_C(1) << CTA_STATS_EARLY_DROP;
    struct record record;

    if (ctnetlink_decode_statistics(message, false, &record) < 0 || (record.has & both) != both)
        return 0;
    drops->usage->drop += record.statistics.counters[CTA_STATS_DROP];
    drops->usage->early_drop += record.statistics.counters[CTA_STATS_EARLY_DROP];
    drops->any = true;
    return 0;
}

static int dump_usage(struct reading *reading)
{
    const struct query *query = reading->query;
    struct drops drops = {.usage = &reading->record.usage};
    struct nlmsghdr *message;
    int result = get_usage(reading);

    if (result == 0 && !reading->record.has)
        result = -ENOENT;
    if (result < 0)
        return result;
    message = put_request(reading, IPCTNL_MSG_CT_GET_STATS_CPU, NLM_F_DUMP, AF_UNSPEC);
    result =
        netlink_dump(query->netlink, NETLINK_NETFILTER, message, take_drops, &drops, query->report);
    if (result < 0)
        report_note(query->report, "%s: no numbers of dropped flows: %s", query->table->name,
                    strerror(-result));
    else if (drops.any)
        reading->record.has |= USAGE_DROPS;
    if (!query->exclusive)
        flow_usage_complete(query, &reading->record);
    return hand_on(reading, 0);
}

static int count_expectation(const struct nlmsghdr *message, void *arg)
{
    struct reading *reading = arg;

    (void)message;
    reading->count++;
    return 0;
}

static int count_expectations(struct reading *reading)
{
    int result = dump_list(reading, IPCTNL_MSG_EXP_GET, count_expectation);

    if (result < 0)
        return result;
    reading->record = (struct record){
        .kind = &kind_flow_usage, .has = USAGE_ENTRIES, .usage = {.entries = reading->count}};
    return hand_on(reading, 0);
}

/* --- Events ----------------------------------------------------------------------------------- */

/* IPCTNL_MSG_EXP_NEW and _DELETE have the numbers of those of flows. */
static enum flow_event event_of(const struct nlmsghdr *message)
{
    if ((message->nlmsg_type & 0xff) == IPCTNL_MSG_CT_DELETE)
        return FLOW_DESTROY;
    return (message->nlmsg_flags & NLM_F_CREATE) ? FLOW_NEW : FLOW_UPDATE;
}

static int take_flow_event(const struct nlmsghdr *message, void *arg)
{
    struct reading *reading = arg;
    struct record *record = &reading->record;
    int decoded = ctnetlink_decode_flow(message, record);

    record->identity = 0; /* the next event of the same flow is no repeat */
    if (!record->has)
        return hand_on(reading, decoded);
    record->has |= FLOW_EVENT;
    record->flow.event = (uint8_t)event_of(message);
    record->flow.received = clock_nanoseconds(CLOCK_REALTIME);
    if (message->nlmsg_pid) {
        record->has |= FLOW_SENDER;
        record->flow.sender = message->nlmsg_pid;
    }
    return hand_on(reading, decoded);
}

static int take_expectation_event(const struct nlmsghdr *message, void *arg)
{
    struct reading *reading = arg;
    struct record *record = &reading->record;
    int decoded = ctnetlink_decode_expectation(message, record);

    record->identity = 0;
    if (!record->has)
        return hand_on(reading, decoded);
    record->has |= FLOW_EVENT;
    record->expectation.event = (uint8_t)event_of(message);
    record->expectation.received = clock_nanoseconds(CLOCK_REALTIME);
    return hand_on(reading, decoded);
}

static int idle(void *arg)
{
    const struct query_events *events = ((const struct reading *)arg)->query->events;

    return events->idle ? events->idle(events->idle_arg) : 0;
}

/* The groups of an event's kinds, whose numbers follow each other (enum nfnetlink_groups). */
static uint32_t groups_of(unsigned kinds, unsigned first)
{
    return (kinds & (1u << FLOW_NEW | 1u << FLOW_UPDATE | 1u << FLOW_DESTROY)) << (first - 1);
}

static int listen_to(struct reading *reading)
{
    const struct query *query = reading->query;
    const bool expectations = is_of_expectations(query->table);
    const unsigned first = expectations ? NFNLGRP_CONNTRACK_EXP_NEW : NFNLGRP_CONNTRACK_NEW;
    const struct netlink_listening listening = {
        .protocol = NETLINK_NETFILTER,
        .groups = groups_of(query->events->kinds, first),
        .buffer_size = query->events->buffer_size,
        .stop = query->events->stop,
        .fn = expectations ? take_expectation_event : take_flow_event,
        .idle = idle,
        .arg = reading,
    };

    return netlink_listen(query->netlink, &listening, query->report);
}

/* --- All of them ------------------------------------------------------------------------------ */

static int dump_flow_table(struct reading *reading)
{
    const struct table *table = reading->query->table;

    if (table == &table_flows_zeroed)
        return dump_and_zero(reading);
    if (table == &table_flows_dying)
        return dump_list(reading, IPCTNL_MSG_CT_GET_DYING, take_flow);
    if (table == &table_flows_unconfirmed)
        return dump_list(reading, IPCTNL_MSG_CT_GET_UNCONFIRMED, take_flow);
    if (table == &table_flow_one)
        return get_one_flow(reading);
    return dump_flows(reading);
}

static int dump_usage_table(struct reading *reading)
{
    if (reading->query->table == &table_flow_count)
        return get_count(reading);
    if (reading->query->table == &table_expectation_count)
        return count_expectations(reading);
    return dump_usage(reading);
}

static int dump(const struct query *query, record_fn fn, void *arg)
{
    struct reading reading = {.query = query, .fn = fn, .arg = arg};

    if (query->table->endless)
        return listen_to(&reading);
    if (query->table->kind == &kind_flow)
        return dump_flow_table(&reading);
    if (query->table->kind == &kind_expectation)
        return query->table == &table_expectation_one
                   ? get_one_expectation(&reading)
                   : dump_list(&reading, IPCTNL_MSG_EXP_GET, take_expectation);
    if (query->table->kind == &kind_flow_statistics)
        return dump_list(&reading,
                         is_of_expectations(query->table) ? IPCTNL_MSG_EXP_GET_STATS_CPU
                                                          : IPCTNL_MSG_CT_GET_STATS_CPU,
                         take_statistics);
    return dump_usage_table(&reading);
}

static const char *remedy(const struct table *table, int error)
{
    switch (error) {
    case -EPERM:
        if (table == &table_flows_zeroed && rights_elevated())
            return "setting counters to 0 needs CAP_NET_ADMIN of the user's own, not one lent by "
                   "the program's file";
        return "ctnetlink needs CAP_NET_ADMIN";
    case -EINVAL: /* nfnetlink: no such subsystem */
    case -EPROTONOSUPPORT:
        return "the kernel has no ctnetlink (module nf_conntrack_netlink)";
    default:
        return NULL;
    }
}

const struct backend backend_ctnetlink = {
    .name = "netlink",
    .source = BACKEND_NETLINK,
    .fields = fields,
    .dump = dump,
    .remedy = remedy,
};
