#include "fastnet/flow_filter.h"

#include <linux/netfilter/nf_conntrack_common.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/flow_names.h"

static bool is_in(const struct flow_network *network, const uint8_t *address)
{
    for (size_t i = 0; i < sizeof network->mask; i++)
        if ((address[i] & network->mask[i]) != network->network[i])
            return false;
    return true;
}

/* Whether a field is asked for and not met. */
static bool misses(const struct flow_filter *filter, uint32_t field, bool met)
{
    return (filter->fields & field) && !met;
}

static bool keeps_addresses(const struct flow_filter *filter, const struct flow_record *flow)
{
    return !misses(filter, FILTER_ORIG_SRC,
                   is_in(&filter->orig_src, flow->way[WAY_ORIG].tuple.src.bytes)) &&
           !misses(filter, FILTER_ORIG_DST,
                   is_in(&filter->orig_dst, flow->way[WAY_ORIG].tuple.dst.bytes)) &&
           !misses(filter, FILTER_REPLY_SRC,
                   is_in(&filter->reply_src, flow->way[WAY_REPLY].tuple.src.bytes)) &&
           !misses(filter, FILTER_REPLY_DST,
                   is_in(&filter->reply_dst, flow->way[WAY_REPLY].tuple.dst.bytes));
}

/* A flow without ports has none that is 0. */
static bool keeps_ports(const struct flow_filter *filter, const struct flow_record *flow)
{
    const uint32_t of_orig = FILTER_ORIG_SRC_PORT | FILTER_ORIG_DST_PORT;
    const uint32_t of_reply = FILTER_REPLY_SRC_PORT | FILTER_REPLY_DST_PORT;
    const struct flow_tuple *orig = &flow->way[WAY_ORIG].tuple,
                            *reply = &flow->way[WAY_REPLY].tuple;

    return !misses(filter, of_orig, orig->has_ports) &&
           !misses(filter, of_reply, reply->has_ports) &&
           !misses(filter, FILTER_ORIG_SRC_PORT, orig->src_port == filter->orig_src_port) &&
           !misses(filter, FILTER_ORIG_DST_PORT, orig->dst_port == filter->orig_dst_port) &&
           !misses(filter, FILTER_REPLY_SRC_PORT, reply->src_port == filter->reply_src_port) &&
           !misses(filter, FILTER_REPLY_DST_PORT, reply->dst_port == filter->reply_dst_port);
}

static bool keeps_protocol(const struct flow_filter *filter, const struct record *record)
{
    const struct flow_record *flow = &record->flow;
    const struct flow_tuple *orig = &flow->way[WAY_ORIG].tuple;

    return !misses(filter, FILTER_PROTOCOL, orig->protocol == filter->protocol) &&
           keeps_ports(filter, flow) &&
           !misses(filter, FILTER_ICMP_TYPE, orig->icmp_type == filter->icmp_type) &&
           !misses(filter, FILTER_ICMP_CODE, orig->icmp_code == filter->icmp_code) &&
           !misses(filter, FILTER_ICMP_ID, orig->src_port == filter->icmp_id) &&
           !misses(filter, FILTER_STATE,
                   record->has & FLOW_STATE && flow->state == filter->state) &&
           !misses(filter, FILTER_ROLE, record->has & FLOW_ROLE && flow->role == filter->role) &&
           !misses(filter, FILTER_ORIG_VTAG,
                   record->has & FLOW_ORIG_VTAG && flow->way[WAY_ORIG].vtag == filter->orig_vtag) &&
           !misses(filter, FILTER_REPLY_VTAG,
                   record->has & FLOW_REPLY_VTAG &&
                       flow->way[WAY_REPLY].vtag == filter->reply_vtag);
}

static bool keeps_labels(const struct flow_filter *filter, const struct record *record)
{
    if (!(record->has & FLOW_LABELS))
        return false;
    for (size_t i = 0; i < FLOW_LABEL_WORDS; i++)
        if ((record->flow.labels[i] & filter->labels[i]) != filter->labels[i])
            return false;
    return true;
}

/* Zones and security marks that a flow does not have are 0. */
static bool keeps_marks(const struct flow_filter *filter, const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    return !misses(filter, FILTER_STATUS,
                   record->has & FLOW_STATUS &&
                       (flow->status & filter->status_mask) == filter->status) &&
           !misses(filter, FILTER_MARK,
                   record->has & FLOW_MARK && (flow->mark & filter->mark_mask) == filter->mark) &&
           !misses(filter, FILTER_SECMARK, flow->secmark == filter->secmark) &&
           !misses(filter, FILTER_ZONE, flow->zone == filter->zone) &&
           !misses(filter, FILTER_ORIG_ZONE, flow->way[WAY_ORIG].zone == filter->orig_zone) &&
           !misses(filter, FILTER_REPLY_ZONE, flow->way[WAY_REPLY].zone == filter->reply_zone) &&
           !misses(filter, FILTER_ID, record->has & FLOW_ID && flow->id == filter->id) &&
           !misses(filter, FILTER_LABELS, keeps_labels(filter, record));
}

/* One end of a tuple. */
struct end {
    const uint8_t *address;
    uint16_t port;
};

/* Whether the end that was translated is what is asked for: an address, a port, or anything. */
static bool is_translated(const struct record *record, uint32_t done, struct end from,
                          struct end to, const struct flow_nat *nat)
{
    const struct flow_record *flow = &record->flow;
    const size_t size = flow->family == AF_INET ? 4 : 16;
    const bool address = memcmp(from.address, to.address, size) != 0;
    const bool port = flow_has_ports(flow->way[WAY_ORIG].tuple.protocol) && from.port != to.port;

    if (record->has & FLOW_STATUS && !(flow->status & done))
        return false;
    if (!nat->has_address && !nat->has_port)
        return address || port;
    return (!nat->has_address || (address && memcmp(to.address, nat->address, size) == 0)) &&
           (!nat->has_port || (port && to.port == nat->port));
}

static bool keeps_nat(const struct flow_filter *filter, const struct record *record)
{
    const struct flow_tuple *orig = &record->flow.way[WAY_ORIG].tuple,
                            *reply = &record->flow.way[WAY_REPLY].tuple;
    bool src =
        is_translated(record, IPS_SRC_NAT_DONE, (struct end){orig->src.bytes, orig->src_port},
                      (struct end){reply->dst.bytes, reply->dst_port}, &filter->src_nat);
    bool dst =
        is_translated(record, IPS_DST_NAT_DONE, (struct end){orig->dst.bytes, orig->dst_port},
                      (struct end){reply->src.bytes, reply->src_port}, &filter->dst_nat);

    return !misses(filter, FILTER_SRC_NAT, src) && !misses(filter, FILTER_DST_NAT, dst) &&
           !misses(filter, FILTER_ANY_NAT, src || dst);
}

bool flow_filter_keeps(const struct record *record, const void *arg)
{
    const struct flow_filter *filter = arg;

    if (record->kind == &kind_expectation)
        return filter->family == AF_UNSPEC || filter->family == record->expectation.family;
    if (record->kind != &kind_flow)
        return true;
    return (filter->family == AF_UNSPEC || filter->family == record->flow.family) &&
           keeps_protocol(filter, record) && keeps_addresses(filter, &record->flow) &&
           keeps_marks(filter, record) && keeps_nat(filter, record);
}
