#include "made_flow.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/flow_names.h"

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

/* An address is of a family. */
static struct flow_nat take_nat(struct bytes *bytes, uint8_t family)
{
    const uint8_t has = bytes_u8(bytes);
    struct flow_nat nat = {.has_address = family != AF_UNSPEC && has & 1,
                           .has_port = has & 2,
                           .port = bytes_u16(bytes)};

    if (nat.has_address)
        bytes_take(bytes, nat.address, family == AF_INET ? 4 : 16);
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
