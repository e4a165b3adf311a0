/* SPDX-License-Identifier: MIT */
/* The fields of flows of connection tracking, and of expectations. */
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/differences.h"
#include "fastnet/flow_names.h"
#include "fastnet/labels.h"
#include "fastnet/namespace.h"
#include "fastnet/saved.h"
#include "fastnet/senders.h"
#include "model/fields/fields.h"
#include "model/flow/view_fields.h"
#include "model/socket/owner_fields.h"

/* A member of a struct flow_tuple. The function gets the tuple by flow_fields_tuple_of(). */
#define OF_TUPLE(id, function, tuple, part, ...)                                                   \
    COMPUTED(id, VALUE_NUMBER, function, __VA_ARGS__, MEMBER(tuple.part),                          \
             .index = offsetof(struct record, tuple))

/* The port of a protocol that has ports. */
#define PORT(id, tuple, part, ...)                                                                 \
    OF_TUPLE(id, port_of_tuple, tuple, part, __VA_ARGS__, .port = true)

/* The two directions of a flow. */
#define ORIG  flow.way[WAY_ORIG]
#define REPLY flow.way[WAY_REPLY]

/* --- Its ends --------------------------------------------------------------------------------- */

static const struct flow_tuple *flow_fields_tuple_of(const struct cell *cell)
{
    return (const void *)((const char *)cell->record + cell->field->index);
}

static struct value port_of_tuple(const struct cell *cell)
{
    const struct flow_tuple *tuple = flow_fields_tuple_of(cell);

    return flow_has_ports(tuple->protocol) && tuple->has_ports ? number_member(cell) : unknown;
}

static struct value key_of_tuple(const struct cell *cell)
{
    const struct flow_tuple *tuple = flow_fields_tuple_of(cell);

    return tuple->protocol == IPPROTO_GRE && tuple->has_ports ? number_member(cell) : unknown;
}

static struct value icmp_of_tuple(const struct cell *cell)
{
    return flow_is_icmp(flow_fields_tuple_of(cell)->protocol) ? number_member(cell) : unknown;
}

/* --- Its state, and since when ---------------------------------------------------------------- */

static struct value flow_state(const struct cell *cell)
{
    const struct flow_record *flow = &cell->record->flow;
    const struct text word = flow_state_name(flow->way[WAY_ORIG].tuple.protocol, flow->state);

    return word.data ? (struct value){.type = VALUE_TEXT, .text = word} : unknown;
}

static WORDS(role_name, "client", "server");

/* The age; unknown if the clock was set back to a time before the flow began. */
static struct value age(const struct cell *cell)
{
    const struct flow_record *flow = &cell->record->flow;
    const uint64_t end =
        (cell->record->has & FLOW_STOP) ? flow->stop : clock_nanoseconds(CLOCK_REALTIME);

    return end < flow->start ? unknown : decimal(milliseconds(end - flow->start));
}

/* --- What else belongs to it ------------------------------------------------------------------ */

/* A flow is in zone 0 unless the kernel sends a zone, for both directions or for one. */
static struct value zone(const struct cell *cell)
{
    return number((cell->record->has & FLOW_ZONE) ? cell->record->flow.zone : 0);
}

/* The zone of one direction, whose presence bit is in field->optional. */
static struct value zone_of_way(const struct cell *cell)
{
    return (cell->record->has & cell->field->optional & ~FLOW_ZONE) ? number_member(cell)
                                                                    : zone(cell);
}

static struct value labels(const struct cell *cell)
{
    const uint32_t *words = cell->record->flow.labels;

    return (struct value){
        .type = VALUE_FLAGS,
        .flags = {labels_names(cell->context->labels),
                  {words[0] | (uint64_t)words[1] << 32, words[2] | (uint64_t)words[3] << 32}}};
}

static struct value process(const struct cell *cell)
{
    const struct context *context = cell->context;

    return context->senders ? string(senders_name(context->senders, cell->record->flow.sender))
                            : unknown;
}

/* The network namespace of the socket at one end. field->index: enum flow_way. */
static struct value socket_netns(const struct cell *cell)
{
    const struct netns *netns = cell->record->flow.netns[cell->field->index];

    return netns ? name(*netns->name ? netns->name : NULL, netns->id) : unknown;
}

/* A column of the socket at one end. end: OWN_END for the original source, OTHER_END for the source
 * of the reply, as kind.inode and kind.other_inode. */
#define OF_END(id, type, function, bit, end, ...)                                                  \
    COMPUTED(id, type, function, bit, __VA_ARGS__, .index = (end))
#define OWNERS_OF(id, type, function, bit, end, ...)                                               \
    OF_END(id, type, function, bit, end, __VA_ARGS__, .lookups = NEED_OWNERS)

/* The order of --columns=help. Names and meanings never change after a release. */
static const struct field fields[] = {
    NAMED(protocol, ORIG.tuple.protocol, flow_protocol_word, FLOW_ORIG,
          "tcp, udp, icmp, ...; the number if it has no name"),
    NUMBER(protocol_number, ORIG.tuple.protocol, FLOW_ORIG, "number of the protocol"),
    WORD(family, flow.family, family_name, 0, "inet or inet6"),
    COMPUTED(state, VALUE_TEXT, flow_state, FLOW_STATE | FLOW_ORIG,
             "for TCP, SCTP and DCCP: ESTABLISHED, TIME_WAIT, SYN_SENT, ...", .coloured = true,
             .word = flow_state_word),
    NUMBER(timeout, flow.timeout, FLOW_TIMEOUT, "seconds until the flow is removed",
           .unit = UNIT_SECONDS, .moving = true),
    ADDRESS(orig_src, ORIG.tuple.src, FLOW_ORIG, "source of the first packet"),
    ADDRESS(orig_dst, ORIG.tuple.dst, FLOW_ORIG, "destination of the first packet"),
    PORT(orig_sport, ORIG.tuple, src_port, FLOW_ORIG, "source port of the first packet"),
    PORT(orig_dport, ORIG.tuple, dst_port, FLOW_ORIG, "destination port of the first packet"),
    COUNTER(orig_packets, ORIG.packets, FLOW_ORIG_COUNTERS,
            "packets in the original direction; only with nf_conntrack_acct", .unit = UNIT_PACKETS),
    COUNTER(orig_bytes, ORIG.bytes, FLOW_ORIG_COUNTERS,
            "bytes in the original direction; only with nf_conntrack_acct", .unit = UNIT_BYTES),
    ADDRESS(reply_src, REPLY.tuple.src, FLOW_REPLY,
            "source of the reply: orig_dst, unless NAT translates that"),
    ADDRESS(reply_dst, REPLY.tuple.dst, FLOW_REPLY,
            "destination of the reply: orig_src, unless NAT translates that"),
    PORT(reply_sport, REPLY.tuple, src_port, FLOW_REPLY, "source port of the reply"),
    PORT(reply_dport, REPLY.tuple, dst_port, FLOW_REPLY, "destination port of the reply"),
    COUNTER(reply_packets, REPLY.packets, FLOW_REPLY_COUNTERS,
            "packets of the reply; only with nf_conntrack_acct", .unit = UNIT_PACKETS),
    COUNTER(reply_bytes, REPLY.bytes, FLOW_REPLY_COUNTERS,
            "bytes of the reply; only with nf_conntrack_acct", .unit = UNIT_BYTES),
    FLAGS(status, flow.status, flow_status_names, FLOW_STATUS,
          "SEEN_REPLY, ASSURED, SRC_NAT ...; joined by commas", .moving = true),
    NUMBER(mark, flow.mark, FLOW_MARK, "mark of the flow"),
    COMPUTED(zone, VALUE_NUMBER, zone, FLOW_ORIG,
             "zone of both directions; 0 if there is no zone, or only one direction has it",
             .optional = FLOW_ZONE, MEMBER(flow.zone)),
    COMPUTED(orig_zone, VALUE_NUMBER, zone_of_way, FLOW_ORIG, "zone of the original direction",
             .optional = FLOW_ORIG_ZONE | FLOW_ZONE, MEMBER(ORIG.zone)),
    COMPUTED(reply_zone, VALUE_NUMBER, zone_of_way, FLOW_ORIG, "zone of the reply",
             .optional = FLOW_REPLY_ZONE | FLOW_ZONE, MEMBER(REPLY.zone)),
    NUMBER(secmark, flow.secmark, FLOW_SECMARK, "security mark of the flow"),
    TEXT(secctx, flow.secctx, FLOW_SECCTX, "security context of the flow"),
    TEXT(helper, flow.helper, FLOW_HELPER, "helper that inspects the flow: ftp, sip, ...",
         .any_case = true),
    COMPUTED(labels, VALUE_FLAGS, labels, FLOW_LABELS,
             "labels of the flow, by name or number; joined by commas", .lookups = NEED_LABELS),
    NUMBER(id, flow.id, FLOW_ID, "the kernel's number for the flow"),
    NUMBER(references, flow.use, FLOW_USE, "references to the flow in the kernel", .moving = true),
    NANOSECONDS(start, flow.start, FLOW_START, "start time; only with nf_conntrack_timestamp"),
    NANOSECONDS(stop, flow.stop, FLOW_STOP, "when the flow ended"),
    COMPUTED(age, VALUE_DECIMAL, age, FLOW_START, "seconds from start to stop, or until now",
             .optional = FLOW_STOP, .unit = UNIT_SECONDS),
    OF_TUPLE(icmp_type, icmp_of_tuple, ORIG.tuple, icmp_type, FLOW_ORIG,
             "for ICMP: type of the request"),
    OF_TUPLE(icmp_code, icmp_of_tuple, ORIG.tuple, icmp_code, FLOW_ORIG,
             "for ICMP: code of the request"),
    OF_TUPLE(icmp_id, icmp_of_tuple, ORIG.tuple, src_port, FLOW_ORIG,
             "for ICMP: identifier of the request"),
    OF_TUPLE(orig_srckey, key_of_tuple, ORIG.tuple, src_port, FLOW_ORIG, "for GRE: source key"),
    OF_TUPLE(orig_dstkey, key_of_tuple, ORIG.tuple, dst_port, FLOW_ORIG,
             "for GRE: destination key"),
    OF_TUPLE(reply_srckey, key_of_tuple, REPLY.tuple, src_port, FLOW_REPLY,
             "for GRE: source key of the reply"),
    OF_TUPLE(reply_dstkey, key_of_tuple, REPLY.tuple, dst_port, FLOW_REPLY,
             "for GRE: destination key of the reply"),
    NUMBER(orig_vtag, ORIG.vtag, FLOW_ORIG_VTAG, "for SCTP: verification tag"),
    NUMBER(reply_vtag, REPLY.vtag, FLOW_REPLY_VTAG, "for SCTP: verification tag of the reply"),
    WORD(role, flow.role, role_name, FLOW_ROLE, "for DCCP: client or server"),
    WORD(event, flow.event, flow_event_name, FLOW_EVENT, "for an event: NEW, UPDATE or DESTROY",
         .moving = true),
    NUMBER(sender, flow.sender, FLOW_SENDER,
           "for an event: netlink port of the process that caused it", .moving = true),
    COMPUTED(process, VALUE_TEXT, process, FLOW_SENDER, "for an event: name of that process",
             .lookups = NEED_SENDERS),
    VIEW_BY(from, write_flow_from, FLOW_ORIG, 0, "source of the first packet, with its port"),
    VIEW_BY(to, write_flow_to, FLOW_ORIG, 0, "destination of the first packet, with its port"),
    VIEW(nat, view_flow_nat, FLOW_ORIG | FLOW_REPLY, 0, "translated source and destination"),
    VIEW_BY(traffic, write_flow_traffic, FLOW_ORIG_COUNTERS | FLOW_REPLY_COUNTERS, 0,
            "bytes of both directions: 1.2K/3.4M; only with nf_conntrack_acct", .gauge = true),
    VIEW(details, view_flow_details, FLOW_ORIG, FLOW_REPLY | FLOW_ORIG_ZONE | FLOW_REPLY_ZONE,
         "other numbers that identify the flow: ids of ICMP, keys of GRE, zones of one direction"),
    OWNERS_OF(orig_pid, VALUE_NUMBER, owner_pid, FLOW_ORIG_SOCKET, OWN_END,
              "process of this machine that sent the first packet, in any network namespace",
              .owner = true),
    OWNERS_OF(orig_process, VALUE_TEXT, owner_process, FLOW_ORIG_SOCKET, OWN_END,
              "name of the process in orig_pid", .owner = true),
    OWNERS_OF(orig_processes, VALUE_OWNERS, owner_processes, FLOW_ORIG_SOCKET, OWN_END,
              "all processes that hold its socket open: name/pid/fd"),
    OF_END(orig_netns, VALUE_NAME, socket_netns, FLOW_ORIG_SOCKET, WAY_ORIG,
           "network namespace of that socket; if it has no name, its inode"),
    OWNERS_OF(reply_pid, VALUE_NUMBER, owner_pid, FLOW_REPLY_SOCKET, OTHER_END,
              "process of this machine that answers, in any network namespace", .owner = true),
    OWNERS_OF(reply_process, VALUE_TEXT, owner_process, FLOW_REPLY_SOCKET, OTHER_END,
              "name of the process in reply_pid", .owner = true),
    OWNERS_OF(reply_processes, VALUE_OWNERS, owner_processes, FLOW_REPLY_SOCKET, OTHER_END,
              "all processes that hold its socket open: name/pid/fd"),
    OF_END(reply_netns, VALUE_NAME, socket_netns, FLOW_REPLY_SOCKET, WAY_REPLY,
           "network namespace of that socket; if it has no name, its inode"),
};

static const char *const views[][2] = {{"from", "orig_src"},
                                       {"to", "orig_dst"},
                                       {"nat", "reply_dst"},
                                       {"traffic", "reply_bytes"},
                                       {"details", "icmp_id"}};

/* --- What rows are chosen by, and not shown --------------------------------------------------- */

/* True if NAT has changed this end, or if the status that would show this is unknown. */
static bool flow_is_translated(const struct cell *cell, bool source)
{
    const uint32_t done = source ? IPS_SRC_NAT_DONE : IPS_DST_NAT_DONE;

    return !(cell->record->has & FLOW_STATUS) || cell->record->flow.status & done;
}

/* The address that NAT gave to an end: the reply goes to the translated source, and comes from the
 * translated destination. An IPv4-mapped address stays so, because the kernel treats it as IPv6. */
static struct value nat_address(const struct cell *cell)
{
    const bool source = cell->field == &field_src_nat_address;
    const struct flow_tuple *orig = &cell->record->flow.way[WAY_ORIG].tuple;
    const struct flow_tuple *reply = &cell->record->flow.way[WAY_REPLY].tuple;
    const struct address *from = source ? &orig->src : &orig->dst;
    const struct address *to = source ? &reply->dst : &reply->src;

    if (address_equal(from, to) || !flow_is_translated(cell, source))
        return unknown;
    return (struct value){.type = VALUE_ADDRESS, .address = *to};
}

static struct value nat_port(const struct cell *cell)
{
    const bool source = cell->field == &field_src_nat_port;
    const struct flow_tuple *orig = &cell->record->flow.way[WAY_ORIG].tuple;
    const struct flow_tuple *reply = &cell->record->flow.way[WAY_REPLY].tuple;
    const uint16_t from = source ? orig->src_port : orig->dst_port;
    const uint16_t to = source ? reply->dst_port : reply->src_port;

    return flow_has_ports(orig->protocol) && from != to && flow_is_translated(cell, source)
               ? number(to)
               : unknown;
}

#define NAT(id, type, function, text)                                                              \
    COMPUTED(id, type, function, FLOW_ORIG | FLOW_REPLY, text, .optional = FLOW_STATUS)

const struct field field_src_nat_address =
    NAT(src_nat_address, VALUE_ADDRESS, nat_address, "what the source was translated to");
const struct field field_dst_nat_address =
    NAT(dst_nat_address, VALUE_ADDRESS, nat_address, "what the destination was translated to");
const struct field field_src_nat_port =
    NAT(src_nat_port, VALUE_NUMBER, nat_port, "what the source's port was translated to");
const struct field field_dst_nat_port =
    NAT(dst_nat_port, VALUE_NUMBER, nat_port, "what the destination's port was translated to");

/* conntrack treats a number that the kernel does not send as 0. */
const struct field field_own_orig_zone =
    NUMBER(own_orig_zone, ORIG.zone, 0, "its own", .optional = FLOW_ORIG_ZONE);
const struct field field_own_reply_zone =
    NUMBER(own_reply_zone, REPLY.zone, 0, "its own", .optional = FLOW_REPLY_ZONE);
/* A filter names labels by bits, not by names. */
const struct field field_label_bits =
    COMPUTED(labels, VALUE_FLAGS, labels, FLOW_LABELS, "the bits of its labels");
const struct field field_any_secmark =
    NUMBER(any_secmark, flow.secmark, 0, "its security mark, or 0", .optional = FLOW_SECMARK);

static const struct borrowed borrowed[] = {
    BORROWED_TEXT(flow.helper, FLOW_HELPER),
    BORROWED_TEXT(flow.secctx, FLOW_SECCTX),
};
static const struct named_address hosts[] = {
    NAMED_ADDRESS(ORIG.tuple.src, FLOW_ORIG),
    NAMED_ADDRESS(ORIG.tuple.dst, FLOW_ORIG),
};

/* The first group that fits counts, so "orig" stays what it was before there were owners. */
static const struct field_group groups[] = {
    {"owners", FLOW_SOCKETS}, {"orig", 0}, {"reply", 0}, {"icmp", 0}};

static const struct matching matching = {
    .object = "id",
    .place =
        "protocol family orig_src orig_dst orig_sport orig_dport orig_zone icmp_type icmp_code "
        "icmp_id orig_srckey orig_dstkey",
    .peer = "orig_dport icmp_id protocol_number",
    .shown = "protocol state from to mark zone",
};

/* Both directions have one protocol. Ports that were not saved stay unknown by their columns. */
static uint64_t flow_complete(struct record *record)
{
    struct flow_record *flow = &record->flow;
    const uint8_t protocol = flow->way[WAY_ORIG].tuple.protocol;
    const char *state = saved_string(record, "state");
    struct text known;

    for (size_t way = 0; way < FLOW_WAYS; way++) {
        flow->way[way].tuple.protocol = protocol;
        flow->way[way].tuple.has_ports = true;
    }
    for (uint8_t i = 0; state && (known = flow_state_name(protocol, i)).data; i++)
        if (text_is(known, state)) {
            flow->state = i;
            return FLOW_STATE;
        }
    return 0;
}

const struct kind kind_flow = {
    .name = "flows",
    .count_by = "protocol,state",
    .size = RECORD_SIZE(flow),
    .identified = true,
    FIELDS(fields),
    GROUPS(groups),
    VIEWS(views),
    BORROWED(borrowed),
    HOSTS(hosts),
    EVENTS(flow.received, FLOW_EVENT),
    .inode = offsetof(struct record, flow.inodes[WAY_ORIG]),
    .other_inode = offsetof(struct record, flow.inodes[WAY_REPLY]),
    .matching = &matching,
    .complete = flow_complete,
};

/* --- Expectations ----------------------------------------------------------------------------- */

static const struct field expectation_fields[] = {
    NAMED(protocol, expectation.orig.protocol, flow_protocol_word, FLOW_ORIG,
          "tcp, udp, ...; the number if it has no name"),
    WORD(family, expectation.family, family_name, 0, "inet or inet6"),
    NUMBER(timeout, expectation.timeout, FLOW_TIMEOUT, "seconds until the expectation is removed",
           .unit = UNIT_SECONDS),
    ADDRESS(src, expectation.orig.src, FLOW_ORIG, "source of the expected flow"),
    ADDRESS(dst, expectation.orig.dst, FLOW_ORIG, "destination of the expected flow"),
    /* A port may be 0: then it is not known yet, and its mask is 0, too. */
    PORT(sport, expectation.orig, src_port, FLOW_ORIG, "source port; 0 if it is not known"),
    PORT(dport, expectation.orig, dst_port, FLOW_ORIG, "destination port"),
    ADDRESS(mask_src, expectation.mask.src, FLOW_MASK, "bits of src that are compared"),
    ADDRESS(mask_dst, expectation.mask.dst, FLOW_MASK, "bits of dst that are compared"),
    PORT(mask_sport, expectation.mask, src_port, FLOW_MASK, "bits of sport that are compared"),
    PORT(mask_dport, expectation.mask, dst_port, FLOW_MASK, "bits of dport that are compared"),
    ADDRESS(master_src, expectation.master.src, FLOW_MASTER,
            "source of the flow that expects this flow, in the original direction"),
    ADDRESS(master_dst, expectation.master.dst, FLOW_MASTER, "destination of that flow"),
    PORT(master_sport, expectation.master, src_port, FLOW_MASTER, "source port of that flow"),
    PORT(master_dport, expectation.master, dst_port, FLOW_MASTER, "destination port of that flow"),
    /* No kernel sends the zone of an expectation so far, so an absent zone is unknown, not 0. */
    NUMBER(zone, expectation.zone, FLOW_ZONE, "zone of the expectation"),
    FLAGS(flags, expectation.flags, expectation_flag_names, FLOW_FLAGS,
          "PERMANENT, INACTIVE, USERSPACE; joined by commas"),
    NUMBER(class, expectation.class, FLOW_CLASS, "number of the helper's class of expectations"),
    TEXT(helper, expectation.helper, FLOW_HELPER, "helper that expects the flow", .any_case = true),
    NUMBER(id, expectation.id, FLOW_ID, "the kernel's number for the expectation"),
    WORD(event, expectation.event, flow_event_name, FLOW_EVENT, "for an event: NEW or DESTROY"),
};

static const struct borrowed expectation_borrowed[] = {
    BORROWED_TEXT(expectation.helper, FLOW_HELPER)};

static const struct field_group expectation_groups[] = {{"mask", 0}, {"master", 0}};

static const struct matching expectation_matching = {
    .place =
        "protocol family src dst sport dport mask_src mask_dst mask_sport mask_dport master_src "
        "master_dst master_sport master_dport zone class",
};

static uint64_t expectation_complete(struct record *record)
{
    struct expectation_record *expectation = &record->expectation;
    struct flow_tuple *tuples[] = {&expectation->orig, &expectation->mask, &expectation->master};

    for (size_t i = 0; i < COUNT(tuples); i++) {
        tuples[i]->protocol = expectation->orig.protocol;
        tuples[i]->has_ports = true;
    }
    return 0;
}

const struct kind kind_expectation = {
    .name = "expectations",
    .count_by = "helper",
    .size = RECORD_SIZE(expectation),
    .identified = true,
    FIELDS(expectation_fields),
    GROUPS(expectation_groups),
    BORROWED(expectation_borrowed),
    EVENTS(expectation.received, FLOW_EVENT),
    .matching = &expectation_matching,
    .complete = expectation_complete,
};
