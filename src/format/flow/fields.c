/* The columns of flows, as connection tracking knows them. */
#include <netinet/in.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/flow_names.h"
#include "fastnet/lookup.h"
#include "format/fields/columns.h"
#include "format/fields/values.h"

/* --- What kind of flow ------------------------------------------------------------------------ */

static struct value proto(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    const uint8_t protocol = record->flow.orig.protocol;

    if (!is_filled(column, record))
        return unknown;
    return (struct value){.type = VALUE_NAME,
                          .name = {flow_protocol_name(protocol).data, protocol}};
}

static struct value state(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    const struct text name = flow_state_name(record->flow.orig.protocol, record->flow.state);

    if (!is_filled(column, record) || !name.data)
        return unknown;
    return (struct value){.type = VALUE_TEXT, .text = name};
}

static struct value status(const struct column *column, const struct record *record,
                           const struct context *context)
{
    (void)context;
    return flags_of(column, record, &flow_status_names, record->flow.status);
}

/* --- Its ends --------------------------------------------------------------------------------- */

static struct value end_address(const struct column *column, const struct record *record,
                                const struct context *context)
{
    (void)context;
    return member_address(column, record, record->flow.family);
}

static struct value end_port(const struct column *column, const struct record *record,
                             const struct context *context, const struct flow_tuple *tuple)
{
    if (!is_filled(column, record) || !flow_has_ports(tuple->protocol) || !tuple->has_ports)
        return unknown;
    return member_number(column, record, context);
}

static struct value orig_port(const struct column *column, const struct record *record,
                              const struct context *context)
{
    return end_port(column, record, context, &record->flow.orig);
}

static struct value reply_port(const struct column *column, const struct record *record,
                               const struct context *context)
{
    return end_port(column, record, context, &record->flow.reply);
}

static struct value end_key(const struct column *column, const struct record *record,
                            const struct context *context, const struct flow_tuple *tuple)
{
    if (!is_filled(column, record) || tuple->protocol != IPPROTO_GRE || !tuple->has_ports)
        return unknown;
    return member_number(column, record, context);
}

static struct value orig_key(const struct column *column, const struct record *record,
                             const struct context *context)
{
    return end_key(column, record, context, &record->flow.orig);
}

static struct value reply_key(const struct column *column, const struct record *record,
                              const struct context *context)
{
    return end_key(column, record, context, &record->flow.reply);
}

static struct value icmp(const struct column *column, const struct record *record,
                         const struct context *context)
{
    if (!is_filled(column, record) || !flow_is_icmp(record->flow.orig.protocol))
        return unknown;
    return member_number(column, record, context);
}

static struct value role(const struct column *column, const struct record *record,
                         const struct context *context)
{
    (void)context;
    static const char *const names[] = {"client", "server"};

    return is_filled(column, record) && record->flow.role < 2 ? string(names[record->flow.role])
                                                              : unknown;
}

/* --- What it carried, and when ---------------------------------------------------------------- */

/* A clock that was set back makes no age below 0. */
static struct value age(const struct column *column, const struct record *record,
                        const struct context *context)
{
    (void)column;
    (void)context;
    const struct flow_record *flow = &record->flow;

    if (!(record->has & FLOW_START))
        return unknown;
    const uint64_t end = (record->has & FLOW_STOP) ? flow->stop : clock_nanoseconds(CLOCK_REALTIME);
    return decimal(end > flow->start ? milliseconds(end - flow->start) : 0);
}

/* --- What else belongs to it ------------------------------------------------------------------ */

/* A flow is in zone 0 unless the kernel says otherwise: for both directions, or for one of them. */
static struct value zone(const struct column *column, const struct record *record,
                         const struct context *context)
{
    (void)column;
    (void)context;
    if (!(record->has & FLOW_ORIG))
        return unknown;
    return number((record->has & FLOW_ZONE) ? record->flow.zone : 0);
}

static struct value orig_zone(const struct column *column, const struct record *record,
                              const struct context *context)
{
    if (!(record->has & FLOW_ORIG_ZONE))
        return zone(column, record, context);
    return number(record->flow.orig_zone);
}

static struct value reply_zone(const struct column *column, const struct record *record,
                               const struct context *context)
{
    if (!(record->has & FLOW_REPLY_ZONE))
        return zone(column, record, context);
    return number(record->flow.reply_zone);
}

static struct value labels(const struct column *column, const struct record *record,
                           const struct context *context)
{
    const uint32_t *words = record->flow.labels;

    if (!is_filled(column, record))
        return unknown;
    return (struct value){
        .type = VALUE_FLAGS,
        .flags = {labels_names(context->labels),
                  {words[0] | (uint64_t)words[1] << 32, words[2] | (uint64_t)words[3] << 32}}};
}

/* --- What happened to it ---------------------------------------------------------------------- */

static struct value event(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? string(flow_event_name(record->flow.event)) : unknown;
}

static struct value program(const struct column *column, const struct record *record,
                            const struct context *context)
{
    if (!is_filled(column, record) || !context->senders)
        return unknown;
    return string(senders_name(context->senders, record->flow.sender));
}

/* In the order in which --columns=help lists them. Names and meanings stay once released. */
static const struct column columns[] = {
    {.name = "proto",
     .heading = "PROTO",
     .help = "tcp, udp, icmp, ...; the number where it has no name",
     .needs = FLOW_ORIG,
     .type = VALUE_NAME,
     .value = proto},
    {.name = "protonum",
     .heading = "PROTONUM",
     .help = "number of the protocol",
     .needs = FLOW_ORIG,
     .type = VALUE_NUMBER,
     MEMBER(flow.orig.protocol),
     .value = member_number},
    {.name = "family",
     .heading = "FAMILY",
     .help = "inet or inet6",
     .type = VALUE_TEXT,
     MEMBER(flow.family),
     .value = member_family},
    {.name = "state",
     .heading = "STATE",
     .help = "of TCP, SCTP and DCCP: ESTABLISHED, TIME_WAIT, SYN_SENT, ...",
     .needs = FLOW_STATE | FLOW_ORIG,
     .type = VALUE_TEXT,
     .coloured = true,
     .value = state},
    {.name = "timeout",
     .heading = "TIMEOUT",
     .help = "seconds until it is forgotten",
     .needs = FLOW_TIMEOUT,
     .type = VALUE_NUMBER,
     MEMBER(flow.timeout),
     .value = member_number},
    {.name = "orig_src",
     .heading = "ORIG_SRC",
     .help = "who sent the first packet",
     .needs = FLOW_ORIG,
     .type = VALUE_ADDRESS,
     MEMBER(flow.orig.src),
     .value = end_address},
    {.name = "orig_dst",
     .heading = "ORIG_DST",
     .help = "to whom",
     .needs = FLOW_ORIG,
     .type = VALUE_ADDRESS,
     MEMBER(flow.orig.dst),
     .value = end_address},
    {.name = "orig_sport",
     .heading = "ORIG_SPORT",
     .help = "port of the sender",
     .needs = FLOW_ORIG,
     .type = VALUE_NUMBER,
     MEMBER(flow.orig.src_port),
     .value = orig_port},
    {.name = "orig_dport",
     .heading = "ORIG_DPORT",
     .help = "port that it was sent to",
     .needs = FLOW_ORIG,
     .type = VALUE_NUMBER,
     MEMBER(flow.orig.dst_port),
     .value = orig_port},
    {.name = "orig_packets",
     .heading = "ORIG_PACKETS",
     .help = "packets in that direction; only with nf_conntrack_acct",
     .needs = FLOW_ORIG_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(flow.orig_packets),
     .value = member_number},
    {.name = "orig_bytes",
     .heading = "ORIG_BYTES",
     .help = "bytes in that direction; only with nf_conntrack_acct",
     .needs = FLOW_ORIG_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(flow.orig_bytes),
     .value = member_number},
    {.name = "reply_src",
     .heading = "REPLY_SRC",
     .help = "who answers; another than orig_dst where that was translated",
     .needs = FLOW_REPLY,
     .type = VALUE_ADDRESS,
     MEMBER(flow.reply.src),
     .value = end_address},
    {.name = "reply_dst",
     .heading = "REPLY_DST",
     .help = "to whom; another than orig_src where that was translated",
     .needs = FLOW_REPLY,
     .type = VALUE_ADDRESS,
     MEMBER(flow.reply.dst),
     .value = end_address},
    {.name = "reply_sport",
     .heading = "REPLY_SPORT",
     .help = "port that is answered from",
     .needs = FLOW_REPLY,
     .type = VALUE_NUMBER,
     MEMBER(flow.reply.src_port),
     .value = reply_port},
    {.name = "reply_dport",
     .heading = "REPLY_DPORT",
     .help = "port that is answered to",
     .needs = FLOW_REPLY,
     .type = VALUE_NUMBER,
     MEMBER(flow.reply.dst_port),
     .value = reply_port},
    {.name = "reply_packets",
     .heading = "REPLY_PACKETS",
     .help = "packets of the answers; only with nf_conntrack_acct",
     .needs = FLOW_REPLY_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(flow.reply_packets),
     .value = member_number},
    {.name = "reply_bytes",
     .heading = "REPLY_BYTES",
     .help = "bytes of the answers; only with nf_conntrack_acct",
     .needs = FLOW_REPLY_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(flow.reply_bytes),
     .value = member_number},
    {.name = "status",
     .heading = "STATUS",
     .help = "SEEN_REPLY, ASSURED, SRC_NAT ... joined by commas",
     .needs = FLOW_STATUS,
     .type = VALUE_FLAGS,
     .value = status},
    {.name = "mark",
     .heading = "MARK",
     .help = "its mark",
     .needs = FLOW_MARK,
     .type = VALUE_NUMBER,
     MEMBER(flow.mark),
     .value = member_number},
    {.name = "zone",
     .heading = "ZONE",
     .help = "zone of both directions; 0 if each has its own",
     .needs = FLOW_ZONE | FLOW_ORIG,
     .type = VALUE_NUMBER,
     .value = zone},
    {.name = "orig_zone",
     .heading = "ORIG_ZONE",
     .help = "zone of the original direction",
     .needs = FLOW_ORIG_ZONE | FLOW_ZONE | FLOW_ORIG,
     .type = VALUE_NUMBER,
     .value = orig_zone},
    {.name = "reply_zone",
     .heading = "REPLY_ZONE",
     .help = "zone of the answers",
     .needs = FLOW_REPLY_ZONE | FLOW_ZONE | FLOW_ORIG,
     .type = VALUE_NUMBER,
     .value = reply_zone},
    {.name = "secmark",
     .heading = "SECMARK",
     .help = "its security mark",
     .needs = FLOW_SECMARK,
     .type = VALUE_NUMBER,
     MEMBER(flow.secmark),
     .value = member_number},
    {.name = "secctx",
     .heading = "SECCTX",
     .help = "its security context",
     .needs = FLOW_SECCTX,
     .type = VALUE_TEXT,
     MEMBER(flow.secctx),
     .value = member_text},
    {.name = "helper",
     .heading = "HELPER",
     .help = "the helper that looks into it: ftp, sip, ...",
     .needs = FLOW_HELPER,
     .type = VALUE_TEXT,
     MEMBER(flow.helper),
     .value = member_text},
    {.name = "labels",
     .heading = "LABELS",
     .help = "its labels by name, or by number; by commas",
     .needs = FLOW_LABELS | NEED_LABELS,
     .type = VALUE_FLAGS,
     .value = labels},
    {.name = "id",
     .heading = "ID",
     .help = "the kernel's own number for it",
     .needs = FLOW_ID,
     .type = VALUE_NUMBER,
     MEMBER(flow.id),
     .value = member_number},
    {.name = "use",
     .heading = "USE",
     .help = "references to it in the kernel",
     .needs = FLOW_USE,
     .type = VALUE_NUMBER,
     MEMBER(flow.use),
     .value = member_number},
    {.name = "start",
     .heading = "START",
     .help = "when it began, in seconds since 1970, where that is kept",
     .needs = FLOW_START,
     .type = VALUE_DECIMAL,
     MEMBER(flow.start),
     .value = member_nanoseconds},
    {.name = "stop",
     .heading = "STOP",
     .help = "when it ended, in seconds since 1970",
     .needs = FLOW_STOP,
     .type = VALUE_DECIMAL,
     MEMBER(flow.stop),
     .value = member_nanoseconds},
    {.name = "age",
     .heading = "AGE",
     .help = "seconds from its beginning to its end or to now",
     .needs = FLOW_START | FLOW_STOP,
     .type = VALUE_DECIMAL,
     .value = age},
    {.name = "icmp_type",
     .heading = "ICMP_TYPE",
     .help = "of ICMP: type of the request",
     .needs = FLOW_ORIG,
     .type = VALUE_NUMBER,
     MEMBER(flow.orig.icmp_type),
     .value = icmp},
    {.name = "icmp_code",
     .heading = "ICMP_CODE",
     .help = "of ICMP: code of the request",
     .needs = FLOW_ORIG,
     .type = VALUE_NUMBER,
     MEMBER(flow.orig.icmp_code),
     .value = icmp},
    {.name = "icmp_id",
     .heading = "ICMP_ID",
     .help = "of ICMP: its identifier",
     .needs = FLOW_ORIG,
     .type = VALUE_NUMBER,
     MEMBER(flow.orig.src_port),
     .value = icmp},
    {.name = "orig_srckey",
     .heading = "ORIG_SRCKEY",
     .help = "of GRE: source key",
     .needs = FLOW_ORIG,
     .type = VALUE_NUMBER,
     MEMBER(flow.orig.src_port),
     .value = orig_key},
    {.name = "orig_dstkey",
     .heading = "ORIG_DSTKEY",
     .help = "of GRE: destination key",
     .needs = FLOW_ORIG,
     .type = VALUE_NUMBER,
     MEMBER(flow.orig.dst_port),
     .value = orig_key},
    {.name = "reply_srckey",
     .heading = "REPLY_SRCKEY",
     .help = "of GRE: source key of the answers",
     .needs = FLOW_REPLY,
     .type = VALUE_NUMBER,
     MEMBER(flow.reply.src_port),
     .value = reply_key},
    {.name = "reply_dstkey",
     .heading = "REPLY_DSTKEY",
     .help = "of GRE: destination key of the answers",
     .needs = FLOW_REPLY,
     .type = VALUE_NUMBER,
     MEMBER(flow.reply.dst_port),
     .value = reply_key},
    {.name = "orig_vtag",
     .heading = "ORIG_VTAG",
     .help = "of SCTP: verification tag",
     .needs = FLOW_ORIG_VTAG,
     .type = VALUE_NUMBER,
     MEMBER(flow.orig_vtag),
     .value = member_number},
    {.name = "reply_vtag",
     .heading = "REPLY_VTAG",
     .help = "of SCTP: verification tag of the answers",
     .needs = FLOW_REPLY_VTAG,
     .type = VALUE_NUMBER,
     MEMBER(flow.reply_vtag),
     .value = member_number},
    {.name = "role",
     .heading = "ROLE",
     .help = "of DCCP: client or server",
     .needs = FLOW_ROLE,
     .type = VALUE_TEXT,
     .value = role},
    {.name = "event",
     .heading = "EVENT",
     .help = "of an event: NEW, UPDATE or DESTROY",
     .needs = FLOW_EVENT,
     .type = VALUE_TEXT,
     .value = event},
    {.name = "received",
     .heading = "RECEIVED",
     .help = "of an event: when it was read, seconds since 1970",
     .needs = FLOW_EVENT,
     .type = VALUE_DECIMAL,
     MEMBER(flow.received),
     .value = member_nanoseconds},
    {.name = "sender",
     .heading = "SENDER",
     .help = "of an event: netlink port of the process that brought it about",
     .needs = FLOW_SENDER,
     .type = VALUE_NUMBER,
     MEMBER(flow.sender),
     .value = member_number},
    {.name = "program",
     .heading = "PROGRAM",
     .help = "of an event: name of that process",
     .needs = FLOW_SENDER | NEED_SENDERS,
     .type = VALUE_TEXT,
     .value = program},
};

const struct column_table columns_flow = {
    .kind = RECORD_FLOW,
    .columns = columns,
    .count = COUNT(columns),
};
