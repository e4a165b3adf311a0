/* SPDX-License-Identifier: MIT */
/* Connection tracking by ctnetlink (nfnetlink): flows, expectations, their events and counters.
 * Sources: linux/netfilter/nfnetlink_conntrack.h, net/netfilter/nf_conntrack_netlink.c. */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <sys/socket.h>

#include "backend/flow/ctnetlink_filter.h"
#include "backend/flow/decode.h"
#include "backend/flow/flow_usage.h"
#include "backend/netlink/netlink.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"
#include "model/explanation.h"

/* Rights that connection tracking may need: for messages, for buffers, for files. */
#define RIGHTS (1u << RIGHT_NETFILTER | 1u << RIGHT_BUFFERS | 1u << RIGHT_NETFILTER_FILES)

/* clang-format off */
#define TABLE(of, ...) {.kind = &(of), .rights = RIGHTS, .name = __VA_ARGS__}
/* clang-format on */
const struct table table_flows = TABLE(kind_flow, "flows", .file = "nf_conntrack", .resizes = true);
const struct table table_flows_zeroed = TABLE(kind_flow, "flows");
const struct table table_flows_dying = TABLE(kind_flow, "dying flows");
const struct table table_flows_unconfirmed = TABLE(kind_flow, "unconfirmed flows");
const struct table table_flow_one = TABLE(kind_flow, "flow", .single = true);
const struct table table_flow_events = TABLE(kind_flow, "flow events", .endless = true);
const struct table table_flow_count = TABLE(kind_flow_usage, "number of flows");
const struct table table_flow_usage = TABLE(kind_flow_usage, "use of the flow table");
const struct table table_flow_statistics =
    TABLE(kind_flow_statistics, "flow statistics", .file = "stat/nf_conntrack");
const struct table table_expectations =
    TABLE(kind_expectation, "expectations", .file = "nf_conntrack_expect");
const struct table table_expectation_one = TABLE(kind_expectation, "expectation", .single = true);
const struct table table_expectation_events =
    TABLE(kind_expectation, "expectation events", .endless = true);
const struct table table_expectation_count =
    TABLE(kind_flow_usage, "number of expectations", .file = "nf_conntrack_expect");
const struct table table_expectation_statistics =
    TABLE(kind_flow_statistics, "expectation statistics", .file = "stat/nf_conntrack");

#define FIELDS_FLOW                                                                                \
    (FLOW_ORIG | FLOW_REPLY | FLOW_STATE | FLOW_TIMEOUT | FLOW_STATUS | FLOW_MARK | FLOW_SECMARK | \
     FLOW_SECCTX | FLOW_ORIG_COUNTERS | FLOW_REPLY_COUNTERS | FLOW_ZONE | FLOW_ORIG_ZONE |         \
     FLOW_REPLY_ZONE | FLOW_START | FLOW_STOP | FLOW_HELPER | FLOW_LABELS | FLOW_USE | FLOW_ID |   \
     FLOW_ORIG_VTAG | FLOW_REPLY_VTAG | FLOW_ROLE)
#define FIELDS_EXPECTATION                                                                         \
    (FLOW_ORIG | FLOW_MASK | FLOW_MASTER | FLOW_TIMEOUT | FLOW_ZONE | FLOW_FLAGS | FLOW_CLASS |    \
     FLOW_HELPER | FLOW_ID)
#define FIELDS_EVENT (FLOW_EVENT | FLOW_SENDER)

#define CT(type)  (NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_##type)
#define EXP(type) (NFNL_SUBSYS_CTNETLINK_EXP << 8 | IPCTNL_MSG_EXP_##type)

enum { REQUEST_MAX = 1024 }; /* bytes; the filter takes most of them */

struct flow_source;

struct ctnetlink_reading {
    const struct query *query;
    const struct flow_source *source;
    record_fn fn;
    void *arg;
    struct record record; /* the record that messages are decoded into */
    uint64_t count;       /* rows handed on, or counted */
    _Alignas(struct nlmsghdr) char request[REQUEST_MAX];
};

/* How a table is read. */
struct flow_source {
    const struct table *table;
    uint16_t type; /* message type of the request; for events the first multicast group */
    int (*decode)(const struct nlmsghdr *message, struct record *record);
    int (*dump)(struct ctnetlink_reading *reading);
};

/* Starts a request; flags are NLM_F_DUMP or NLM_F_ACK. */
static struct nlmsghdr *ctnetlink_put_request(struct ctnetlink_reading *reading, uint16_t type,
                                              uint16_t flags, uint8_t family)
{
    struct nlmsghdr *message = mnl_nlmsg_put_header(reading->request);
    struct nfgenmsg *general = mnl_nlmsg_put_extra_header(message, sizeof *general);

    message->nlmsg_type = type;
    message->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
    general->nfgen_family = family;
    general->version = NFNETLINK_V0;
    return message;
}

static int ctnetlink_send_request(struct ctnetlink_reading *reading, struct nlmsghdr *message,
                                  netlink_fn fn)
{
    const struct query *query = reading->query;

    return netlink_dump(query->netlink, NETLINK_NETFILTER, message, fn, reading, query->report);
}

/* Hands on the record of a message, even if the decoder did not understand all of it. */
static int ctnetlink_hand_on(struct ctnetlink_reading *reading, int decoded)
{
    if (decoded < 0)
        report_malformed(reading->query);
    if (decoded < 0 && !reading->record.has)
        return 0;
    reading->count++;
    return reading->fn(&reading->record, reading->arg);
}

static int ctnetlink_take_row(const struct nlmsghdr *message, void *arg)
{
    struct ctnetlink_reading *reading = arg;

    return ctnetlink_hand_on(reading, reading->source->decode(message, &reading->record));
}

/* --- Dumps ------------------------------------------------------------------------------------ */

/* Makes a request for a dump of this family. *filtered: whether the request has a filter. */
static struct nlmsghdr *put_dump(struct ctnetlink_reading *reading, uint8_t family, bool *filtered)
{
    struct nlmsghdr *message =
        ctnetlink_put_request(reading, reading->source->type, NLM_F_DUMP, family);

    *filtered = ctnetlink_put_filter(message, reading->query->where, family);
    return message;
}

static int ctnetlink_dump_family(struct ctnetlink_reading *reading, uint8_t family)
{
    struct report *report = reading->query->report;
    const size_t reported = report->count;
    const uint64_t count = reading->count;
    bool filtered;
    struct nlmsghdr *message = put_dump(reading, family, &filtered);
    int result = ctnetlink_send_request(reading, message, ctnetlink_take_row);

    /* this kernel cannot filter at all, or not in this way */
    if (filtered && reading->count == count &&
        (result == -EINVAL || result == -EOPNOTSUPP || result == -ERANGE ||
         result == -EAFNOSUPPORT)) {
        report->count = reported; /* the kernel's words about the filter do not matter */
        message = ctnetlink_put_request(reading, reading->source->type, NLM_F_DUMP, family);
        result = ctnetlink_send_request(reading, message, ctnetlink_take_row);
    }
    return result;
}

/* Dumps flows. If the table is resized meanwhile, the dump loses and repeats flows without a flag.
 * The table can be read again if no row was handed on, or if the engine drops repeats. */
static int ctnetlink_dump_flows(struct ctnetlink_reading *reading)
{
    enum { AGAIN_MAX = 4 };
    const struct query *query = reading->query;
    /* ask for one family after the other, if then the kernel can filter more */
    const bool each = ctnetlink_filters_by_family(query->where);
    uint64_t buckets = flow_buckets(query->proc_root);

    for (int again = 0;; again++) {
        int result =
            ctnetlink_dump_family(reading, each ? AF_INET : ctnetlink_family(query->where));
        if (each && result >= 0)
            result = ctnetlink_dump_family(reading, AF_INET6);
        if (result < 0 || !flow_resized(query, &buckets))
            return result;
        if (again == AGAIN_MAX || (reading->count && !query->repeatable)) {
            flow_report_resize(query);
            return result;
        }
    }
}

static int ctnetlink_dump_by(struct ctnetlink_reading *reading, netlink_fn fn)
{
    const uint8_t family = ctnetlink_family(reading->query->where);

    return ctnetlink_send_request(
        reading, ctnetlink_put_request(reading, reading->source->type, NLM_F_DUMP, family), fn);
}

static int dump_list(struct ctnetlink_reading *reading)
{
    return ctnetlink_dump_by(reading, ctnetlink_take_row);
}

/* Reads the table only once: a second dump would show the zeroes that the first dump left. This is
 * the only request that changes something in the kernel, so users whose rights come from the
 * program's file may not make it. */
static int dump_and_zero(struct ctnetlink_reading *reading)
{
    uint64_t buckets = flow_buckets(reading->query->proc_root);

    if (rights_elevated())
        return -EPERM;
    const int result = dump_list(reading);
    if (result == 0 && flow_resized(reading->query, &buckets))
        flow_report_resize(reading->query);
    return result;
}

static int get_one(struct ctnetlink_reading *reading)
{
    const struct record *key = reading->query->key;
    const uint8_t family = key ? key->flow.family : AF_UNSPEC;
    struct nlmsghdr *message =
        ctnetlink_put_request(reading, reading->source->type, NLM_F_ACK, family);

    if (key)
        ctnetlink_put_key(message, key);
    return ctnetlink_send_request(reading, message, ctnetlink_take_row);
}

/* --- Usage ------------------------------------------------------------------------------------ */

static int take_usage(const struct nlmsghdr *message, void *arg)
{
    struct ctnetlink_reading *reading = arg;

    return ctnetlink_decode_usage(message, &reading->record);
}

static int get_usage(struct ctnetlink_reading *reading)
{
    const int result = ctnetlink_send_request(
        reading, ctnetlink_put_request(reading, reading->source->type, NLM_F_ACK, AF_UNSPEC),
        take_usage);

    return result == 0 && !reading->record.has ? -ENOENT : result;
}

static int get_count(struct ctnetlink_reading *reading)
{
    const int result = get_usage(reading);

    if (result < 0)
        return result;
    reading->record.has &= USAGE_ENTRIES;
    return reading->record.has ? ctnetlink_hand_on(reading, 0) : -ENOENT;
}

/* Adds the counters of a CPU to the record. */
static int ctnetlink_take_drops(const struct nlmsghdr *message, void *arg)
{
    struct record *usage = &((struct ctnetlink_reading *)arg)->record, record;

    if (ctnetlink_decode_flow_statistics(message, &record) < 0 ||
        (record.has & DROP_BITS) != DROP_BITS)
        return 0;
    usage->usage.drop += record.statistics.counters[CTA_STATS_DROP];
    usage->usage.early_drop += record.statistics.counters[CTA_STATS_EARLY_DROP];
    usage->has |= USAGE_DROPS;
    return 0;
}

static int dump_usage(struct ctnetlink_reading *reading)
{
    const struct query *query = reading->query;
    int result = get_usage(reading);

    if (result < 0)
        return result;
    result = ctnetlink_send_request(
        reading, ctnetlink_put_request(reading, CT(GET_STATS_CPU), NLM_F_DUMP, AF_UNSPEC),
        ctnetlink_take_drops);
    if (result < 0) {
        reading->record.has &= ~USAGE_DROPS;
        report_note(query->report, "%s: cannot read the drop counters: %s", query->table->name,
                    strerror(-result));
    }
    if (!query->exclusive)
        flow_usage_complete(query, &reading->record);
    return ctnetlink_hand_on(reading, 0);
}

static int ctnetlink_count_row(const struct nlmsghdr *message, void *arg)
{
    (void)message;
    ((struct ctnetlink_reading *)arg)->count++;
    return 0;
}

static int count_expectations(struct ctnetlink_reading *reading)
{
    const int result = ctnetlink_dump_by(reading, ctnetlink_count_row);

    if (result < 0)
        return result;
    reading->record = (struct record){
        .kind = &kind_flow_usage, .has = USAGE_ENTRIES, .usage = {.entries = reading->count}};
    return ctnetlink_hand_on(reading, 0);
}

/* --- Events ----------------------------------------------------------------------------------- */

static int ctnetlink_take_event(const struct nlmsghdr *message, void *arg)
{
    struct ctnetlink_reading *reading = arg;
    struct record *record = &reading->record;
    const int decoded = reading->source->decode(message, record);
    const bool is_flow = record->kind == &kind_flow;
    /* IPCTNL_MSG_EXP_NEW and _DELETE have the same numbers as IPCTNL_MSG_CT_NEW and _DELETE */
    const enum flow_event event = (message->nlmsg_type & 0xff) == IPCTNL_MSG_CT_DELETE
                                      ? FLOW_DESTROY
                                  : (message->nlmsg_flags & NLM_F_CREATE) ? FLOW_NEW
                                                                          : FLOW_UPDATE;

    record->identity = 0; /* events have no identity: no event is a repeat of another event */
    if (!record->has)
        return ctnetlink_hand_on(reading, decoded);
    record->has |= FLOW_EVENT;
    *(is_flow ? &record->flow.event : &record->expectation.event) = (uint8_t)event;
    *(is_flow ? &record->flow.received : &record->expectation.received) =
        clock_nanoseconds(CLOCK_REALTIME);
    if (is_flow && message->nlmsg_pid) {
        record->has |= FLOW_SENDER;
        record->flow.sender = message->nlmsg_pid;
    }
    return ctnetlink_hand_on(reading, decoded);
}

static int ctnetlink_idle(void *arg)
{
    const struct query_events *events = ((const struct ctnetlink_reading *)arg)->query->events;

    return events->idle ? events->idle(events->idle_arg) : 0;
}

static int listen_to(struct ctnetlink_reading *reading)
{
    const struct query *query = reading->query;
    const unsigned all = 1u << FLOW_NEW | 1u << FLOW_UPDATE | 1u << FLOW_DESTROY;
    const struct netlink_listening listening = {
        .protocol = NETLINK_NETFILTER,
        /* The groups for new, updated and destroyed flows have successive numbers (enum
         * nfnetlink_groups). */
        .groups = (query->events->kinds & all) << (reading->source->type - 1),
        .buffer_size = query->events->buffer_size,
        .remedy = " (try a larger --buffer-size)",
        .stop = query->events->stop,
        .fn = ctnetlink_take_event,
        .idle = ctnetlink_idle,
        .arg = reading,
    };

    return netlink_listen(query->netlink, &listening, query->report);
}

/* --- Tables ----------------------------------------------------------------------------------- */

static const struct flow_source sources[] = {
    {&table_flows, CT(GET), ctnetlink_decode_flow, ctnetlink_dump_flows},
    {&table_flows_zeroed, CT(GET_CTRZERO), ctnetlink_decode_flow, dump_and_zero},
    {&table_flows_dying, CT(GET_DYING), ctnetlink_decode_flow, dump_list},
    {&table_flows_unconfirmed, CT(GET_UNCONFIRMED), ctnetlink_decode_flow, dump_list},
    {&table_flow_one, CT(GET), ctnetlink_decode_flow, get_one},
    {&table_flow_events, NFNLGRP_CONNTRACK_NEW, ctnetlink_decode_flow, listen_to},
    {&table_flow_count, CT(GET_STATS), NULL, get_count},
    {&table_flow_usage, CT(GET_STATS), NULL, dump_usage},
    {&table_flow_statistics, CT(GET_STATS_CPU), ctnetlink_decode_flow_statistics, dump_list},
    {&table_expectations, EXP(GET), ctnetlink_decode_expectation, dump_list},
    {&table_expectation_one, EXP(GET), ctnetlink_decode_expectation, get_one},
    {&table_expectation_events, NFNLGRP_CONNTRACK_EXP_NEW, ctnetlink_decode_expectation, listen_to},
    {&table_expectation_count, EXP(GET), NULL, count_expectations},
    {&table_expectation_statistics, EXP(GET_STATS_CPU), ctnetlink_decode_expectation_statistics,
     dump_list},
};

static const struct flow_source *ctnetlink_source_of(const struct table *table)
{
    for (size_t i = 0; i < COUNT(sources); i++)
        if (sources[i].table == table)
            return &sources[i];
    return NULL;
}

static int ctnetlink_dump(const struct query *query, record_fn fn, void *arg)
{
    struct ctnetlink_reading reading = {
        .query = query, .source = ctnetlink_source_of(query->table), .fn = fn, .arg = arg};

    return reading.source ? reading.source->dump(&reading) : -ENOENT;
}

static void ctnetlink_explain(const struct query *query, struct explanation *explanation)
{
    const uint8_t family = ctnetlink_family(query->where);
    const bool each = ctnetlink_filters_by_family(query->where);
    struct ctnetlink_reading reading = {.query = query,
                                        .source = ctnetlink_source_of(query->table)};
    bool filtered;

    if (!reading.source)
        return;
    if (family != AF_UNSPEC &&
        (reading.source->dump == dump_list || reading.source->dump == ctnetlink_dump_flows)) {
        explanation_add(explanation, query->table->kind == &kind_flow
                                         ? offsetof(struct record, flow.family)
                                         : offsetof(struct record, expectation.family));
        explanation_describe(explanation, "%s", family == AF_INET ? "IPv4" : "IPv6");
    }
    if (reading.source->dump != ctnetlink_dump_flows)
        return;
    ctnetlink_explain_filter(put_dump(&reading, each ? AF_INET : family, &filtered), explanation);
    if (each)
        explanation_describe(explanation, "one request for each family");
}

static const char *ctnetlink_remedy(const struct table *table, int error)
{
    switch (error) {
    case -EPERM:
        if (table == &table_flows_zeroed && rights_elevated())
            return "to set counters to 0, the user needs CAP_NET_ADMIN; file capabilities do not "
                   "count (try sudo)";
        return rights_have(1u << RIGHT_NETFILTER) ? REFUSED_IN_SPITE_OF("CAP_NET_ADMIN")
                                                  : RIGHTS_MISSING("CAP_NET_ADMIN");
    case -EINVAL: /* nfnetlink does not know ctnetlink */
    case -EPROTONOSUPPORT:
        return "the kernel has no ctnetlink (try modprobe nf_conntrack_netlink)";
    default:
        return NULL;
    }
}

const struct backend backend_ctnetlink = {
    .name = "netlink",
    .source = BACKEND_NETLINK,
    .provides = PROVIDES(
        {&table_flows, FIELDS_FLOW}, {&table_flows_zeroed, FIELDS_FLOW},
        {&table_flows_dying, FIELDS_FLOW}, {&table_flows_unconfirmed, FIELDS_FLOW},
        {&table_flow_one, FIELDS_FLOW}, {&table_flow_events, FIELDS_FLOW | FIELDS_EVENT},
        {&table_flow_count, USAGE_ENTRIES}, {&table_flow_usage, FIELDS_USAGE},
        {&table_flow_statistics, FLOW_COUNTER_BITS}, {&table_expectations, FIELDS_EXPECTATION},
        {&table_expectation_one, FIELDS_EXPECTATION},
        {&table_expectation_events, FIELDS_EXPECTATION | FIELDS_EVENT},
        {&table_expectation_count, USAGE_ENTRIES},
        {&table_expectation_statistics, FLOW_COUNTER_BITS}),
    .dump = ctnetlink_dump,
    .explain = ctnetlink_explain,
    .remedy = ctnetlink_remedy,
};
