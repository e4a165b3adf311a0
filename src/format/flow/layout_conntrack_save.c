/*
 * -o save: flows as the options that would make them again. As with the original these are not all:
 * marks, labels and helpers are left out.
 */
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>

#include "fastnet/flow_names.h"
#include "format/flow/layout_conntrack.h"

static char *put_number(char *dst, uint64_t number)
{
    dst = text_u64(dst, number);
    *dst++ = ' ';
    return dst;
}

/* A listed flow is one to be added. */
static char *put_command(char *dst, const struct record *record)
{
    if (record->has & FLOW_EVENT) {
        if (record->flow.event == FLOW_UPDATE)
            return PUT(dst, "-U ");
        if (record->flow.event == FLOW_DESTROY)
            return PUT(dst, "-D ");
    }
    return PUT(dst, "-A ");
}

/* Those that conntrack's -u can set. */
static char *put_status(char *dst, uint32_t status)
{
    const char *const start = dst;

    if (status & IPS_EXPECTED)
        dst = PUT(dst, "EXPECTED,");
    if (status & IPS_SEEN_REPLY)
        dst = PUT(dst, "SEEN_REPLY,");
    if (status & IPS_ASSURED)
        dst = PUT(dst, "ASSURED,");
    if (status & IPS_FIXED_TIMEOUT)
        dst = PUT(dst, "FIXED_TIMEOUT,");
    if (dst == start)
        return PUT(dst, "UNSET ");
    dst[-1] = ' ';
    return dst;
}

static char *put_generic(char *dst, const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    if (record->has & FLOW_TIMEOUT)
        dst = put_number(PUT(dst, "-t "), flow->timeout);
    if (record->has & FLOW_STATUS)
        dst = put_status(PUT(dst, "-u "), flow->status);
    if (record->has & FLOW_SECMARK)
        dst = put_number(PUT(dst, "-c "), flow->secmark);
    if (record->has & FLOW_ZONE)
        dst = put_number(PUT(dst, "-w "), flow->zone);
    if (record->has & FLOW_ORIG_ZONE)
        dst = put_number(PUT(dst, "--orig-zone "), flow->way[WAY_ORIG].zone);
    if (record->has & FLOW_REPLY_ZONE)
        dst = put_number(PUT(dst, "--reply-zone "), flow->way[WAY_REPLY].zone);
    return dst;
}

/* Whether the reply comes from, or goes to, another address than the original direction tells. */
static bool is_translated(const struct record *record, uint32_t done, const struct address *reply,
                          const struct address *orig)
{
    if ((record->has & FLOW_STATUS) && !(record->flow.status & done))
        return false;
    return (record->has & FLOW_ORIG) && !address_equal(reply, orig);
}

static char *put_addresses(char *dst, const struct record *record)
{
    const struct flow_record *flow = &record->flow;
    const struct flow_tuple *orig = &flow->way[WAY_ORIG].tuple,
                            *reply = &flow->way[WAY_REPLY].tuple;

    if (record->has & FLOW_ORIG) {
        dst = put_address(PUT(dst, "-s "), &orig->src);
        dst = put_address(PUT(dst, " -d "), &orig->dst);
        *dst++ = ' ';
    }
    if (record->has & FLOW_REPLY) {
        const bool dnat = is_translated(record, IPS_DST_NAT_DONE, &reply->src, &orig->dst);
        const bool snat = is_translated(record, IPS_SRC_NAT_DONE, &reply->dst, &orig->src);
        dst = dnat ? PUT(dst, "-g ") : PUT(dst, "-r ");
        dst = put_address(dst, &reply->src);
        dst = snat ? PUT(dst, " -n ") : PUT(dst, " -q ");
        dst = put_address(dst, &reply->dst);
        *dst++ = ' ';
    }
    return dst;
}

/* One that the kernel does not track by ports has none, and is made again without. */
static char *put_ports(char *dst, const struct flow_record *flow)
{
    if (flow->way[WAY_ORIG].tuple.has_ports) {
        dst = put_number(PUT(dst, "--sport "), flow->way[WAY_ORIG].tuple.src_port);
        dst = put_number(PUT(dst, "--dport "), flow->way[WAY_ORIG].tuple.dst_port);
    }
    if (flow->way[WAY_REPLY].tuple.has_ports) {
        dst = put_number(PUT(dst, "--reply-port-src "), flow->way[WAY_REPLY].tuple.src_port);
        dst = put_number(PUT(dst, "--reply-port-dst "), flow->way[WAY_REPLY].tuple.dst_port);
    }
    return dst;
}

/*
 * conntrack takes the bytes of a tag on the wire for a number of this machine, here and in the
 * options that it reads them from: only so does the same tag come of them again.
 */
static char *put_vtags(char *dst, const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    if (record->has & FLOW_ORIG_VTAG)
        dst = put_number(PUT(dst, "--orig-vtag "), htonl(flow->way[WAY_ORIG].vtag));
    if (record->has & FLOW_REPLY_VTAG)
        dst = put_number(PUT(dst, "--reply-vtag "), htonl(flow->way[WAY_REPLY].vtag));
    return dst;
}

static char *put_state(char *dst, const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    if (record->has & FLOW_STATE) {
        const struct text name = flow_state_name(flow->way[WAY_ORIG].tuple.protocol, flow->state);
        dst = PUT(dst, "--state ");
        dst = name.data ? put_name(dst, name) : PUT(dst, "NONE");
        *dst++ = ' ';
    }
    dst = put_vtags(dst, record);
    if (record->has & FLOW_ROLE)
        dst = flow->role == 0 ? PUT(dst, "--role client ") : PUT(dst, "--role server ");
    return dst;
}

static char *put_keys(char *dst, const struct flow_record *flow)
{
    if (flow->way[WAY_ORIG].tuple.has_ports) {
        dst = put_number(PUT(dst, "--srckey "), flow->way[WAY_ORIG].tuple.src_port);
        dst = put_number(PUT(dst, "--dstkey "), flow->way[WAY_ORIG].tuple.dst_port);
    }
    if (flow->way[WAY_REPLY].tuple.has_ports) {
        dst = put_number(PUT(dst, "--reply-key-src "), flow->way[WAY_REPLY].tuple.src_port);
        dst = put_number(PUT(dst, "--reply-key-dst "), flow->way[WAY_REPLY].tuple.dst_port);
    }
    return dst;
}

static char *put_icmp(char *dst, const struct flow_tuple *tuple)
{
    if (tuple->protocol == IPPROTO_ICMP) {
        dst = put_number(PUT(dst, "--icmp-type "), tuple->icmp_type);
        dst = put_number(PUT(dst, "--icmp-code "), tuple->icmp_code);
        return put_number(PUT(dst, "--icmp-id "), tuple->src_port);
    }
    dst = put_number(PUT(dst, "--icmpv6-type "), tuple->icmp_type);
    dst = put_number(PUT(dst, "--icmpv6-code "), tuple->icmp_code);
    return put_number(PUT(dst, "--icmpv6-id "), tuple->src_port);
}

static char *put_protocol(char *dst, const struct record *record)
{
    const struct flow_tuple *orig = &record->flow.way[WAY_ORIG].tuple;
    const struct text name = flow_protocol_name(orig->protocol);

    dst = PUT(dst, "-p ");
    if (!name.data)
        return put_number(dst, orig->protocol);
    dst = put_name(dst, name);
    *dst++ = ' ';
    if (flow_has_ports(orig->protocol))
        return put_state(put_ports(dst, &record->flow), record);
    return flow_is_icmp(orig->protocol) ? put_icmp(dst, orig) : put_keys(dst, &record->flow);
}

char *save_flow(char *dst, const struct record *record)
{
    dst = put_generic(put_command(dst, record), record);
    dst = put_protocol(put_addresses(dst, record), record);
    return dst - 1; /* the last blank */
}
