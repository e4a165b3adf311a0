/* SPDX-License-Identifier: MIT */
#include "made_flow.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/flow_names.h"
#include "fuzz.h"

static uint8_t take_protocol(struct bytes *bytes)
{
    static const uint8_t common[] = {IPPROTO_TCP,  IPPROTO_UDP,     IPPROTO_ICMP, IPPROTO_ICMPV6,
                                     IPPROTO_SCTP, IPPROTO_UDPLITE, IPPROTO_DCCP, IPPROTO_GRE};
    const uint8_t protocol = bytes_u8(bytes);

    return protocol >= 0xf0 ? common[protocol % COUNT(common)] : protocol;
}

/* An address with a prefix; of 0xff bits it is one address. */
static struct flow_network take_network(struct bytes *bytes, uint8_t family)
{
    const unsigned most = family == AF_INET ? 32 : 128;
    struct flow_network network = {.mask = {0}};
    unsigned bits = bytes_u8(bytes);

    bits = bits < most ? bits : most;
    bytes_take(bytes, network.network, most / 8);
    for (unsigned i = 0; i < bits; i++)
        network.mask[i / 8] = (uint8_t)(network.mask[i / 8] | 0x80 >> i % 8);
    for (size_t i = 0; i < sizeof network.mask; i++)
        network.network[i] &= network.mask[i];
    return network;
}

/* An address is of a family; one of IPv6 may be IPv4-mapped. */
static struct flow_nat take_nat(struct bytes *bytes, uint8_t family)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    const uint8_t has = bytes_u8(bytes);
    struct flow_nat nat = {.has_address = family != AF_UNSPEC && has & 1,
                           .has_port = has & 2,
                           .port = bytes_u16(bytes)};

    if (nat.has_address)
        bytes_take(bytes, nat.address, family == AF_INET ? 4 : 16);
    if (nat.has_address && family == AF_INET6 && has & 4)
        memcpy(nat.address, mapped, sizeof mapped);
    return nat;
}

/* The numbers of a filter, in the order of the input. */
static const struct member {
    uint32_t field;
    size_t offset, size;
} members[] = {
    {FILTER_ORIG_SRC_PORT, FILTER(orig_src_port), SIZE(orig_src_port)},
    {FILTER_ORIG_DST_PORT, FILTER(orig_dst_port), SIZE(orig_dst_port)},
    {FILTER_REPLY_SRC_PORT, FILTER(reply_src_port), SIZE(reply_src_port)},
    {FILTER_REPLY_DST_PORT, FILTER(reply_dst_port), SIZE(reply_dst_port)},
    {FILTER_ICMP_TYPE, FILTER(icmp_type), SIZE(icmp_type)},
    {FILTER_ICMP_CODE, FILTER(icmp_code), SIZE(icmp_code)},
    {FILTER_ICMP_ID, FILTER(icmp_id), SIZE(icmp_id)},
    {FILTER_STATE, FILTER(state), SIZE(state)},
    {FILTER_ROLE, FILTER(role), SIZE(role)},
    {FILTER_ORIG_VTAG, FILTER(orig_vtag), SIZE(orig_vtag)},
    {FILTER_REPLY_VTAG, FILTER(reply_vtag), SIZE(reply_vtag)},
    {FILTER_STATUS, FILTER(status_mask), SIZE(status_mask)},
    {FILTER_STATUS, FILTER(status), SIZE(status)},
    {FILTER_MARK, FILTER(mark_mask), SIZE(mark_mask)},
    {FILTER_MARK, FILTER(mark), SIZE(mark)},
    {FILTER_SECMARK, FILTER(secmark), SIZE(secmark)},
    {FILTER_ID, FILTER(id), SIZE(id)},
    {FILTER_ZONE, FILTER(zone), SIZE(zone)},
    {FILTER_ORIG_ZONE, FILTER(orig_zone), SIZE(orig_zone)},
    {FILTER_REPLY_ZONE, FILTER(reply_zone), SIZE(reply_zone)},
    {FILTER_LABELS, FILTER(labels), SIZE(labels)},
};

/* The criteria that a command line cannot have without others. */
static uint32_t drop_lonely(const struct flow_filter *filter)
{
    const uint32_t addresses =
        FILTER_ORIG_SRC | FILTER_ORIG_DST | FILTER_REPLY_SRC | FILTER_REPLY_DST;
    const bool has_state =
        filter->fields & FILTER_PROTOCOL && flow_state_name(filter->protocol, filter->state).data;
    const bool has_role = filter->role <= 1; /* client, server: others have no word */

    return filter->fields &
           ~((filter->family ? 0 : addresses) | (has_state ? 0 : (uint32_t)FILTER_STATE) |
             (has_role ? 0 : (uint32_t)FILTER_ROLE));
}

struct flow_filter made_filter(struct bytes *bytes)
{
    static const uint8_t families[] = {AF_UNSPEC, AF_INET, AF_INET6};
    const uint8_t family = families[bytes_u8(bytes) % COUNT(families)];
    const uint32_t fields = bytes_u32(bytes);
    struct flow_filter filter = {.family = family, .fields = fields};

    if (fields & FILTER_PROTOCOL)
        filter.protocol = take_protocol(bytes);
    if (fields & FILTER_ORIG_SRC)
        filter.orig_src = take_network(bytes, family);
    if (fields & FILTER_ORIG_DST)
        filter.orig_dst = take_network(bytes, family);
    if (fields & FILTER_REPLY_SRC)
        filter.reply_src = take_network(bytes, family);
    if (fields & FILTER_REPLY_DST)
        filter.reply_dst = take_network(bytes, family);
    for (size_t i = 0; i < COUNT(members); i++)
        if (fields & members[i].field)
            bytes_take(bytes, (char *)&filter + members[i].offset, members[i].size);
    if (fields & (FILTER_SRC_NAT | FILTER_ANY_NAT))
        filter.src_nat = take_nat(bytes, family);
    if (fields & (FILTER_DST_NAT | FILTER_ANY_NAT))
        filter.dst_nat = take_nat(bytes, family);
    filter.fields = drop_lonely(&filter);
    return filter;
}

/* An address in the network, or any. */
static struct address take_address(struct bytes *bytes, uint8_t family, bool agrees,
                                   const struct flow_network *network)
{
    struct address address = {.family = family};

    bytes_take(bytes, address.bytes, address_size(&address));
    for (size_t i = 0; agrees && i < address_size(&address); i++)
        address.bytes[i] = (uint8_t)((address.bytes[i] & ~network->mask[i]) | network->network[i]);
    return address;
}

/* What the answer to an ICMP message has for a type (nf_conntrack_proto_icmp.c, _icmpv6.c). */
static uint8_t answer_to(uint8_t protocol, uint8_t type)
{
    static const uint8_t pairs[][3] = {
        {IPPROTO_ICMP, 8, 0},   {IPPROTO_ICMP, 13, 14},     {IPPROTO_ICMP, 15, 16},
        {IPPROTO_ICMP, 17, 18}, {IPPROTO_ICMPV6, 128, 129}, {IPPROTO_ICMPV6, 139, 140},
    };

    for (size_t i = 0; i < COUNT(pairs); i++)
        if (pairs[i][0] == protocol && (pairs[i][1] == type || pairs[i][2] == type))
            return pairs[i][1] == type ? pairs[i][2] : pairs[i][1];
    return type;
}

/* Both tuples are of one protocol; without ports, keys or an id these are 0. */
static void make_consistent(struct flow_record *flow)
{
    struct flow_tuple *orig = &flow->way[WAY_ORIG].tuple, *reply = &flow->way[WAY_REPLY].tuple;
    const bool icmp = flow_is_icmp(orig->protocol);
    const bool ports = flow_has_ports(orig->protocol) || orig->protocol == IPPROTO_GRE;

    reply->protocol = orig->protocol;
    orig->has_ports = reply->has_ports = ports;
    if (!icmp)
        orig->icmp_type = orig->icmp_code = 0;
    reply->icmp_type = answer_to(orig->protocol, orig->icmp_type);
    reply->icmp_code = orig->icmp_code;
    if (icmp)
        reply->src_port = orig->src_port;
    else if (!ports)
        orig->src_port = reply->src_port = 0;
    if (!ports)
        orig->dst_port = reply->dst_port = 0;
}

/* The zone is of both directions, or of one; what is 0 is not there. */
static void make_zone(struct bytes *bytes, const struct flow_filter *filter, uint32_t agreed,
                      struct record *record)
{
    struct flow_record *flow = &record->flow;
    const uint16_t zone = bytes_u16(bytes);

    if (agreed & (FILTER_ORIG_ZONE | FILTER_REPLY_ZONE)) {
        flow->way[WAY_ORIG].zone = agreed & FILTER_ORIG_ZONE ? filter->orig_zone : 0;
        flow->way[WAY_REPLY].zone = flow->way[WAY_ORIG].zone ? 0 : filter->reply_zone;
    } else {
        flow->zone = agreed & FILTER_ZONE ? filter->zone : zone;
    }
    record->has &= ~(FLOW_ZONE | FLOW_ORIG_ZONE | FLOW_REPLY_ZONE);
    record->has |= (flow->zone ? FLOW_ZONE : 0) | (flow->way[WAY_ORIG].zone ? FLOW_ORIG_ZONE : 0) |
                   (flow->way[WAY_REPLY].zone ? FLOW_REPLY_ZONE : 0);
}

static void take_tuples(struct bytes *bytes, const struct flow_filter *filter, uint32_t agreed,
                        struct flow_record *flow)
{
    struct flow_tuple *orig = &flow->way[WAY_ORIG].tuple, *reply = &flow->way[WAY_REPLY].tuple;
    const uint8_t protocol = take_protocol(bytes);
    const uint8_t family = flow->family;

    orig->src = take_address(bytes, family, agreed & FILTER_ORIG_SRC, &filter->orig_src);
    orig->dst = take_address(bytes, family, agreed & FILTER_ORIG_DST, &filter->orig_dst);
    reply->src = take_address(bytes, family, agreed & FILTER_REPLY_SRC, &filter->reply_src);
    reply->dst = take_address(bytes, family, agreed & FILTER_REPLY_DST, &filter->reply_dst);
    orig->protocol = agreed & FILTER_PROTOCOL ? filter->protocol : protocol;
    orig->src_port = agreed & FILTER_ORIG_SRC_PORT ? filter->orig_src_port : bytes_u16(bytes);
    orig->dst_port = agreed & FILTER_ORIG_DST_PORT ? filter->orig_dst_port : bytes_u16(bytes);
    reply->src_port = agreed & FILTER_REPLY_SRC_PORT ? filter->reply_src_port : bytes_u16(bytes);
    reply->dst_port = agreed & FILTER_REPLY_DST_PORT ? filter->reply_dst_port : bytes_u16(bytes);
    orig->icmp_type = agreed & FILTER_ICMP_TYPE ? filter->icmp_type : bytes_u8(bytes);
    orig->icmp_code = agreed & FILTER_ICMP_CODE ? filter->icmp_code : bytes_u8(bytes);
    if (flow_is_icmp(orig->protocol) && agreed & FILTER_ICMP_ID)
        orig->src_port = filter->icmp_id;
    make_consistent(flow);
    if (agreed & FILTER_SRC_NAT && filter->src_nat.has_address && filter->family == family)
        reply->dst = address_make(family, filter->src_nat.address);
    if (agreed & FILTER_DST_NAT && filter->dst_nat.has_address && filter->family == family)
        reply->src = address_make(family, filter->dst_nat.address);
}

static void take_marks(struct bytes *bytes, const struct flow_filter *filter, uint32_t agreed,
                       struct flow_record *flow)
{
    flow->state = agreed & FILTER_STATE ? filter->state : bytes_u8(bytes);
    flow->role = agreed & FILTER_ROLE ? filter->role : bytes_u8(bytes);
    flow->way[WAY_ORIG].vtag = agreed & FILTER_ORIG_VTAG ? filter->orig_vtag : bytes_u32(bytes);
    flow->way[WAY_REPLY].vtag = agreed & FILTER_REPLY_VTAG ? filter->reply_vtag : bytes_u32(bytes);
    flow->secmark = agreed & FILTER_SECMARK ? filter->secmark : bytes_u32(bytes);
    flow->id = agreed & FILTER_ID ? filter->id : bytes_u32(bytes);
    flow->status = bytes_u32(bytes);
    if (agreed & FILTER_STATUS)
        flow->status = (flow->status & ~filter->status_mask) | filter->status;
    flow->mark = bytes_u32(bytes);
    if (agreed & FILTER_MARK)
        flow->mark = (flow->mark & ~filter->mark_mask) | filter->mark;
    for (size_t i = 0; i < FLOW_LABEL_WORDS; i++)
        flow->labels[i] = bytes_u32(bytes) | (agreed & FILTER_LABELS ? filter->labels[i] : 0);
}

struct record made_flow(struct bytes *bytes, const struct flow_filter *filter)
{
    const uint32_t agreed = filter->fields & ~bytes_u32(bytes);
    const uint8_t bits = bytes_u8(bytes), family = bits & 1 ? AF_INET6 : AF_INET;
    struct record record = {.kind = &kind_flow, .identity = 1};

    record.flow.family = filter->family && !(bits & 2) ? filter->family : family;
    record.has = FLOW_ORIG | FLOW_REPLY | (uint32_t)~bytes_u32(bytes);
    take_tuples(bytes, filter, agreed, &record.flow);
    take_marks(bytes, filter, agreed, &record.flow);
    make_zone(bytes, filter, agreed, &record);
    return record;
}

/* --- The filter as a predicate ---------------------------------------------------------------- */

/* Adds a part to this and, or or not of the tree; returns it where it stays. */
static struct predicate *add(struct made_where *where, struct predicate *whole,
                             struct predicate part)
{
    struct predicate *added = &where->parts[where->count++];

    require(where->count <= WHERE_PARTS_MAX);
    *added = part;
    predicate_add(whole, added);
    return added;
}

static const struct field *field_of(const char *name)
{
    const struct field *field = field_find(&kind_flow, name, strlen(name));

    require(field != NULL);
    return field;
}

/* Numbers of one value, and the fields they are in: of ports and keys, without a protocol either.
 */
static const struct equal {
    uint32_t criterion;
    size_t offset, size;
    const char *name, *key;
} equals[] = {
    {FILTER_PROTOCOL, FILTER(protocol), SIZE(protocol), "protocol", NULL},
    {FILTER_ORIG_SRC_PORT, FILTER(orig_src_port), SIZE(orig_src_port), "orig_sport", "orig_srckey"},
    {FILTER_ORIG_DST_PORT, FILTER(orig_dst_port), SIZE(orig_dst_port), "orig_dport", "orig_dstkey"},
    {FILTER_REPLY_SRC_PORT, FILTER(reply_src_port), SIZE(reply_src_port), "reply_sport",
     "reply_srckey"},
    {FILTER_REPLY_DST_PORT, FILTER(reply_dst_port), SIZE(reply_dst_port), "reply_dport",
     "reply_dstkey"},
    {FILTER_ICMP_TYPE, FILTER(icmp_type), SIZE(icmp_type), "icmp_type", NULL},
    {FILTER_ICMP_CODE, FILTER(icmp_code), SIZE(icmp_code), "icmp_code", NULL},
    {FILTER_ICMP_ID, FILTER(icmp_id), SIZE(icmp_id), "icmp_id", NULL},
    {FILTER_ROLE, FILTER(role), SIZE(role), "role", NULL},
    {FILTER_ORIG_VTAG, FILTER(orig_vtag), SIZE(orig_vtag), "orig_vtag", NULL},
    {FILTER_REPLY_VTAG, FILTER(reply_vtag), SIZE(reply_vtag), "reply_vtag", NULL},
    {FILTER_ID, FILTER(id), SIZE(id), "id", NULL},
    {FILTER_ZONE, FILTER(zone), SIZE(zone), "zone", NULL},
};

static uint64_t number_at(const struct flow_filter *filter, size_t offset, size_t size)
{
    const void *at = (const char *)filter + offset;

    return size == 1   ? *(const uint8_t *)at
           : size == 2 ? *(const uint16_t *)at
                       : *(const uint32_t *)at;
}

static void add_equal(struct made_where *where, const struct flow_filter *filter,
                      const struct equal *equal)
{
    const uint64_t number = number_at(filter, equal->offset, equal->size);
    const bool any = equal->key && !(filter->fields & FILTER_PROTOCOL);
    const bool key = equal->key && filter->protocol == IPPROTO_GRE;
    struct predicate *whole = &where->whole;

    if (any)
        whole = add(where, whole, (struct predicate){.operation = PREDICATE_OR});
    if (any || key)
        add(where, whole, predicate_number(field_of(equal->key), number));
    if (any || !key)
        add(where, whole, predicate_number(field_of(equal->name), number));
}

static void add_network(struct made_where *where, const struct flow_filter *filter,
                        const char *name, const struct flow_network *network)
{
    struct predicate within = predicate_address(
        field_of(name), &(struct address){.family = filter->family, .bytes = {0}});

    within.operation = PREDICATE_WITHIN;
    memcpy(within.constant.address.bytes, network->network, sizeof network->network);
    memcpy(within.mask.address, network->mask, sizeof network->mask);
    add(where, &where->whole, within);
}

static void add_networks(struct made_where *where, const struct flow_filter *filter)
{
    if (filter->fields & FILTER_ORIG_SRC)
        add_network(where, filter, "orig_src", &filter->orig_src);
    if (filter->fields & FILTER_ORIG_DST)
        add_network(where, filter, "orig_dst", &filter->orig_dst);
    if (filter->fields & FILTER_REPLY_SRC)
        add_network(where, filter, "reply_src", &filter->reply_src);
    if (filter->fields & FILTER_REPLY_DST)
        add_network(where, filter, "reply_dst", &filter->reply_dst);
}

/* One end: translated to that address and that port, or at all. */
static void add_end(struct made_where *where, struct predicate *whole, uint8_t family,
                    const struct flow_nat *nat, bool source)
{
    const struct field *address = source ? &field_src_nat_address : &field_dst_nat_address;
    const struct field *port = source ? &field_src_nat_port : &field_dst_nat_port;
    const struct address to = address_make(family, nat->address);
    const bool any = !nat->has_address && !nat->has_port;
    struct predicate *end =
        add(where, whole, (struct predicate){.operation = any ? PREDICATE_OR : PREDICATE_AND});

    if (any) {
        add(where, end, predicate_known(address));
        add(where, end, predicate_known(port));
    }
    if (nat->has_address)
        add(where, end, predicate_address(address, &to));
    if (nat->has_port)
        add(where, end, predicate_number(port, nat->port));
}

static void add_translations(struct made_where *where, const struct flow_filter *filter)
{
    struct predicate *either = NULL;

    if (filter->fields & FILTER_SRC_NAT)
        add_end(where, &where->whole, filter->family, &filter->src_nat, true);
    if (filter->fields & FILTER_DST_NAT)
        add_end(where, &where->whole, filter->family, &filter->dst_nat, false);
    if (!(filter->fields & FILTER_ANY_NAT))
        return;
    either = add(where, &where->whole, (struct predicate){.operation = PREDICATE_OR});
    add_end(where, either, filter->family, &filter->src_nat, true);
    add_end(where, either, filter->family, &filter->dst_nat, false);
}

static void add_labels(struct made_where *where, const uint32_t *labels)
{
    struct predicate masked = predicate_masked(&field_label_bits, 0, 0);

    for (size_t i = 0; i < FLOW_LABEL_WORDS; i++)
        masked.mask.bits[i / 2] |= (uint64_t)labels[i] << i % 2 * 32;
    memcpy(masked.constant.flags.bits, masked.mask.bits, sizeof masked.mask.bits);
    add(where, &where->whole, masked);
}

static void add_marks(struct made_where *where, const struct flow_filter *filter)
{
    struct predicate *whole = &where->whole;

    if (filter->fields & FILTER_STATE)
        add(where, whole,
            predicate_text(field_of("state"),
                           flow_state_name(filter->protocol, filter->state).data));
    if (filter->fields & FILTER_STATUS)
        add(where, whole,
            predicate_masked(field_of("status"), filter->status, filter->status_mask));
    if (filter->fields & FILTER_MARK)
        add(where, whole, predicate_masked(field_of("mark"), filter->mark, filter->mark_mask));
    if (filter->fields & FILTER_SECMARK)
        add(where, whole, predicate_number(&field_any_secmark, filter->secmark));
    if (filter->fields & FILTER_ORIG_ZONE)
        add(where, whole, predicate_number(&field_own_orig_zone, filter->orig_zone));
    if (filter->fields & FILTER_REPLY_ZONE)
        add(where, whole, predicate_number(&field_own_reply_zone, filter->reply_zone));
    if (filter->fields & FILTER_LABELS)
        add_labels(where, filter->labels);
}

const struct predicate *made_where_init(struct made_where *where, const struct flow_filter *filter,
                                        const struct kind *kind)
{
    *where = (struct made_where){.whole.operation = PREDICATE_AND};
    if (filter->family)
        add(where, &where->whole,
            predicate_number(field_find(kind, "family", strlen("family")), filter->family));
    if (kind == &kind_flow) {
        for (size_t i = 0; i < COUNT(equals); i++)
            if (filter->fields & equals[i].criterion)
                add_equal(where, filter, &equals[i]);
        add_networks(where, filter);
        add_marks(where, filter);
        add_translations(where, filter);
    }
    return where->count ? &where->whole : NULL;
}

static void fill_tuple(struct flow_tuple *tuple, const struct flow_filter *filter,
                       enum flow_way way)
{
    const bool orig = way == WAY_ORIG, icmp = flow_is_icmp(filter->protocol);
    const struct flow_network *src = orig ? &filter->orig_src : &filter->reply_src;
    const struct flow_network *dst = orig ? &filter->orig_dst : &filter->reply_dst;
    const uint16_t port = orig ? filter->orig_src_port : filter->reply_src_port;

    *tuple = (struct flow_tuple){
        .src = address_make(filter->family, src->network),
        .dst = address_make(filter->family, dst->network),
        .src_port = icmp ? filter->icmp_id : port,
        .dst_port = orig ? filter->orig_dst_port : filter->reply_dst_port,
        .icmp_type = filter->icmp_type,
        .icmp_code = filter->icmp_code,
        .protocol = filter->protocol,
    };
}

struct record made_key(const struct flow_filter *filter, const struct kind *kind)
{
    const uint32_t ends = FILTER_ORIG_SRC | FILTER_ORIG_DST, fields = filter->fields;
    struct record key = {.kind = kind};

    if (kind == &kind_expectation) {
        key.has = FLOW_ORIG;
        key.expectation.family = filter->family;
        fill_tuple(&key.expectation.orig, filter, WAY_ORIG);
        return key;
    }
    key.has = ((fields & ends) == ends ? FLOW_ORIG : FLOW_REPLY) |
              (fields & FILTER_ZONE ? FLOW_ZONE : 0) |
              (fields & FILTER_ORIG_ZONE ? FLOW_ORIG_ZONE : 0) |
              (fields & FILTER_REPLY_ZONE ? FLOW_REPLY_ZONE : 0);
    key.flow.family = filter->family;
    key.flow.zone = filter->zone;
    for (enum flow_way way = WAY_ORIG; way < FLOW_WAYS; way++)
        fill_tuple(&key.flow.way[way].tuple, filter, way);
    key.flow.way[WAY_ORIG].zone = filter->orig_zone;
    key.flow.way[WAY_REPLY].zone = filter->reply_zone;
    return key;
}
