/* The columns of flows, as connection tracking knows them. */
#include <netinet/in.h>
#include <time.h>

#include "fastnet/flow_names.h"
#include "fastnet/lookup.h"
#include "format/column_values.h"
#include "format/columns.h"

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

static struct value protonum(const struct column *column, const struct record *record,
                             const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? number(record->flow.orig.protocol) : unknown;
}

static struct value family(const struct column *column, const struct record *record,
                           const struct context *context)
{
    (void)column;
    (void)context;
    return family_name(record->flow.family);
}

static struct value state(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    const struct text name = flow_state_name(record->flow.orig.protocol, record->flow.state);

    if (!is_filled(column, record) || name.data == NULL)
        return unknown;
    return (struct value){.type = VALUE_TEXT, .text = name};
}

static struct value status(const struct column *column, const struct record *record,
                           const struct context *context)
{
    (void)context;
    if (!is_filled(column, record))
        return unknown;
    return (struct value){.type = VALUE_FLAGS,
                          .flags = {&flow_status_names, {record->flow.status, 0}}};
}

/* --- Its ends --------------------------------------------------------------------------------- */

static struct value end_address(const struct column *column, const struct record *record,
                                const uint8_t *bytes)
{
    return is_filled(column, record) ? address(record->flow.family, bytes) : unknown;
}

/* Flows without any port are of protocols that the kernel does not track by ports (any more). */
static struct value end_port(const struct column *column, const struct record *record,
                             const struct flow_tuple *tuple, uint16_t port)
{
    if (!is_filled(column, record) || !flow_has_ports(tuple->protocol) ||
        (tuple->src_port == 0 && tuple->dst_port == 0))
        return unknown;
    return number(port);
}

static struct value key(const struct column *column, const struct record *record,
                        const struct flow_tuple *tuple, uint16_t number_of_it)
{
    if (!is_filled(column, record) || tuple->protocol != IPPROTO_GRE)
        return unknown;
    return number(number_of_it);
}

static struct value icmp(const struct column *column, const struct record *record, uint16_t field)
{
    if (!is_filled(column, record) || !flow_is_icmp(record->flow.orig.protocol))
        return unknown;
    return number(field);
}

static struct value orig_src(const struct column *column, const struct record *record,
                             const struct context *context)
{
    (void)context;
    return end_address(column, record, record->flow.orig.src);
}

static struct value orig_dst(const struct column *column, const struct record *record,
                             const struct context *context)
{
    (void)context;
    return end_address(column, record, record->flow.orig.dst);
}

static struct value reply_src(const struct column *column, const struct record *record,
                              const struct context *context)
{
    (void)context;
    return end_address(column, record, record->flow.reply.src);
}

static struct value reply_dst(const struct column *column, const struct record *record,
                              const struct context *context)
{
    (void)context;
    return end_address(column, record, record->flow.reply.dst);
}

static struct value orig_sport(const struct column *column, const struct record *record,
                               const struct context *context)
{
    (void)context;
    return end_port(column, record, &record->flow.orig, record->flow.orig.src_port);
}

static struct value orig_dport(const struct column *column, const struct record *record,
                               const struct context *context)
{
    (void)context;
    return end_port(column, record, &record->flow.orig, record->flow.orig.dst_port);
}

static struct value reply_sport(const struct column *column, const struct record *record,
                                const struct context *context)
{
    (void)context;
    return end_port(column, record, &record->flow.reply, record->flow.reply.src_port);
}

static struct value reply_dport(const struct column *column, const struct record *record,
                                const struct context *context)
{
    (void)context;
    return end_port(column, record, &record->flow.reply, record->flow.reply.dst_port);
}

static struct value orig_srckey(const struct column *column, const struct record *record,
                                const struct context *context)
{
    (void)context;
    return key(column, record, &record->flow.orig, record->flow.orig.src_port);
}

static struct value orig_dstkey(const struct column *column, const struct record *record,
                                const struct context *context)
{
    (void)context;
    return key(column, record, &record->flow.orig, record->flow.orig.dst_port);
}

static struct value reply_srckey(const struct column *column, const struct record *record,
                                 const struct context *context)
{
    (void)context;
    return key(column, record, &record->flow.reply, record->flow.reply.src_port);
}

static struct value reply_dstkey(const struct column *column, const struct record *record,
                                 const struct context *context)
{
    (void)context;
    return key(column, record, &record->flow.reply, record->flow.reply.dst_port);
}

static struct value icmp_type(const struct column *column, const struct record *record,
                              const struct context *context)
{
    (void)context;
    return icmp(column, record, record->flow.orig.icmp_type);
}

static struct value icmp_code(const struct column *column, const struct record *record,
                              const struct context *context)
{
    (void)context;
    return icmp(column, record, record->flow.orig.icmp_code);
}

static struct value icmp_id(const struct column *column, const struct record *record,
                            const struct context *context)
{
    (void)context;
    return icmp(column, record, record->flow.orig.src_port);
}

static struct value orig_vtag(const struct column *column, const struct record *record,
                              const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? number(record->flow.orig_vtag) : unknown;
}

static struct value reply_vtag(const struct column *column, const struct record *record,
                               const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? number(record->flow.reply_vtag) : unknown;
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

static struct value orig_packets(const struct column *column, const struct record *record,
                                 const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? number(record->flow.orig_packets) : unknown;
}

static struct value orig_bytes(const struct column *column, const struct record *record,
                               const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? number(record->flow.orig_bytes) : unknown;
}

static struct value reply_packets(const struct column *column, const struct record *record,
                                  const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? number(record->flow.reply_packets) : unknown;
}

static struct value reply_bytes(const struct column *column, const struct record *record,
                                const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? number(record->flow.reply_bytes) : unknown;
}

static struct value timeout(const struct column *column, const struct record *record,
                            const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? number(record->flow.timeout) : unknown;
}

/* From nanoseconds to the thousandths of VALUE_DECIMAL. */
static uint64_t milliseconds(uint64_t nanoseconds)
{
    return nanoseconds / 1000000;
}

static struct value start(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? decimal(milliseconds(record->flow.start)) : unknown;
}

static struct value stop(const struct column *column, const struct record *record,
                         const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? decimal(milliseconds(record->flow.stop)) : unknown;
}

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* A clock that was set back makes no age below 0. */
static struct value age(const struct column *column, const struct record *record,
                        const struct context *context)
{
    (void)column;
    (void)context;
    const struct flow_record *flow = &record->flow;

    if (!(record->has & FLOW_START))
        return unknown;
    const uint64_t end = (record->has & FLOW_STOP) ? flow->stop : now();
    return decimal(end > flow->start ? milliseconds(end - flow->start) : 0);
}

/* --- What else belongs to it ------------------------------------------------------------------ */

static struct value mark(const struct column *column, const struct record *record,
                         const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? number(record->flow.mark) : unknown;
}

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

static struct value secmark(const struct column *column, const struct record *record,
                            const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? number(record->flow.secmark) : unknown;
}

static struct value secctx(const struct column *column, const struct record *record,
                           const struct context *context)
{
    (void)context;
    return is_filled(column, record)
               ? ((struct value){.type = VALUE_TEXT, .text = record->flow.secctx})
               : unknown;
}

static struct value helper(const struct column *column, const struct record *record,
                           const struct context *context)
{
    (void)context;
    return is_filled(column, record)
               ? ((struct value){.type = VALUE_TEXT, .text = record->flow.helper})
               : unknown;
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

static struct value id(const struct column *column, const struct record *record,
                       const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? number(record->flow.id) : unknown;
}

static struct value use(const struct column *column, const struct record *record,
                        const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? number(record->flow.use) : unknown;
}

/* --- What happened to it ---------------------------------------------------------------------- */

static struct value event(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? string(flow_event_name(record->flow.event)) : unknown;
}

static struct value received(const struct column *column, const struct record *record,
                             const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? decimal(milliseconds(record->flow.received)) : unknown;
}

static struct value sender(const struct column *column, const struct record *record,
                           const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? number(record->flow.sender) : unknown;
}

static struct value program(const struct column *column, const struct record *record,
                            const struct context *context)
{
    if (!is_filled(column, record) || context->senders == NULL)
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
     .value = protonum},
    {.name = "family",
     .heading = "FAMILY",
     .help = "inet or inet6",
     .type = VALUE_TEXT,
     .value = family},
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
     .value = timeout},
    {.name = "orig_src",
     .heading = "ORIG_SRC",
     .help = "who sent the first packet",
     .needs = FLOW_ORIG,
     .type = VALUE_ADDRESS,
     .value = orig_src},
    {.name = "orig_dst",
     .heading = "ORIG_DST",
     .help = "to whom",
     .needs = FLOW_ORIG,
     .type = VALUE_ADDRESS,
     .value = orig_dst},
    {.name = "orig_sport",
     .heading = "ORIG_SPORT",
     .help = "port of the sender",
     .needs = FLOW_ORIG,
     .type = VALUE_NUMBER,
     .value = orig_sport},
    {.name = "orig_dport",
     .heading = "ORIG_DPORT",
     .help = "port that it was sent to",
     .needs = FLOW_ORIG,
     .type = VALUE_NUMBER,
     .value = orig_dport},
    {.name = "orig_packets",
     .heading = "ORIG_PACKETS",
     .help = "packets in that direction; only with nf_conntrack_acct",
     .needs = FLOW_ORIG_COUNTERS,
     .type = VALUE_NUMBER,
     .value = orig_packets},
    {.name = "orig_bytes",
     .heading = "ORIG_BYTES",
     .help = "bytes in that direction; only with nf_conntrack_acct",
     .needs = FLOW_ORIG_COUNTERS,
     .type = VALUE_NUMBER,
     .value = orig_bytes},
    {.name = "reply_src",
     .heading = "REPLY_SRC",
     .help = "who answers; another than orig_dst where that was translated",
     .needs = FLOW_REPLY,
     .type = VALUE_ADDRESS,
     .value = reply_src},
    {.name = "reply_dst",
     .heading = "REPLY_DST",
     .help = "to whom; another than orig_src where that was translated",
     .needs = FLOW_REPLY,
     .type = VALUE_ADDRESS,
     .value = reply_dst},
    {.name = "reply_sport",
     .heading = "REPLY_SPORT",
     .help = "port that is answered from",
     .needs = FLOW_REPLY,
     .type = VALUE_NUMBER,
     .value = reply_sport},
    {.name = "reply_dport",
     .heading = "REPLY_DPORT",
     .help = "port that is answered to",
     .needs = FLOW_REPLY,
     .type = VALUE_NUMBER,
     .value = reply_dport},
    {.name = "reply_packets",
     .heading = "REPLY_PACKETS",
     .help = "packets of the answers; only with nf_conntrack_acct",
     .needs = FLOW_REPLY_COUNTERS,
     .type = VALUE_NUMBER,
     .value = reply_packets},
    {.name = "reply_bytes",
     .heading = "REPLY_BYTES",
     .help = "bytes of the answers; only with nf_conntrack_acct",
     .needs = FLOW_REPLY_COUNTERS,
     .type = VALUE_NUMBER,
     .value = reply_bytes},
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
     .value = mark},
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
     .value = secmark},
    {.name = "secctx",
     .heading = "SECCTX",
     .help = "its security context",
     .needs = FLOW_SECCTX,
     .type = VALUE_TEXT,
     .value = secctx},
    {.name = "helper",
     .heading = "HELPER",
     .help = "the helper that looks into it: ftp, sip, ...",
     .needs = FLOW_HELPER,
     .type = VALUE_TEXT,
     .value = helper},
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
     .value = id},
    {.name = "use",
     .heading = "USE",
     .help = "references to it in the kernel",
     .needs = FLOW_USE,
     .type = VALUE_NUMBER,
     .value = use},
    {.name = "start",
     .heading = "START",
     .help = "when it began, in seconds since 1970, where that is kept",
     .needs = FLOW_START,
     .type = VALUE_DECIMAL,
     .value = start},
    {.name = "stop",
     .heading = "STOP",
     .help = "when it ended, in seconds since 1970",
     .needs = FLOW_STOP,
     .type = VALUE_DECIMAL,
     .value = stop},
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
     .value = icmp_type},
    {.name = "icmp_code",
     .heading = "ICMP_CODE",
     .help = "of ICMP: code of the request",
     .needs = FLOW_ORIG,
     .type = VALUE_NUMBER,
     .value = icmp_code},
    {.name = "icmp_id",
     .heading = "ICMP_ID",
     .help = "of ICMP: its identifier",
     .needs = FLOW_ORIG,
     .type = VALUE_NUMBER,
     .value = icmp_id},
    {.name = "orig_srckey",
     .heading = "ORIG_SRCKEY",
     .help = "of GRE: source key",
     .needs = FLOW_ORIG,
     .type = VALUE_NUMBER,
     .value = orig_srckey},
    {.name = "orig_dstkey",
     .heading = "ORIG_DSTKEY",
     .help = "of GRE: destination key",
     .needs = FLOW_ORIG,
     .type = VALUE_NUMBER,
     .value = orig_dstkey},
    {.name = "reply_srckey",
     .heading = "REPLY_SRCKEY",
     .help = "of GRE: source key of the answers",
     .needs = FLOW_REPLY,
     .type = VALUE_NUMBER,
     .value = reply_srckey},
    {.name = "reply_dstkey",
     .heading = "REPLY_DSTKEY",
     .help = "of GRE: destination key of the answers",
     .needs = FLOW_REPLY,
     .type = VALUE_NUMBER,
     .value = reply_dstkey},
    {.name = "orig_vtag",
     .heading = "ORIG_VTAG",
     .help = "of SCTP: verification tag",
     .needs = FLOW_ORIG_VTAG,
     .type = VALUE_NUMBER,
     .value = orig_vtag},
    {.name = "reply_vtag",
     .heading = "REPLY_VTAG",
     .help = "of SCTP: verification tag of the answers",
     .needs = FLOW_REPLY_VTAG,
     .type = VALUE_NUMBER,
     .value = reply_vtag},
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
     .value = received},
    {.name = "sender",
     .heading = "SENDER",
     .help = "of an event: netlink port of the process that brought it about",
     .needs = FLOW_SENDER,
     .type = VALUE_NUMBER,
     .value = sender},
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
    .count = sizeof(columns) / sizeof(columns[0]),
};
