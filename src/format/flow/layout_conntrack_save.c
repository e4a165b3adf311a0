/* SPDX-License-Identifier: MIT */
/*
 * -o save: flows as the options that make them again. As in the original, marks, labels and helpers
 * are left out.
 */
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>

#include "format/flow/layout_conntrack_forms.h"

static char *put_generic(char *dst, const struct record *record)
{
    /* the bits that conntrack's -u can set */
    const uint32_t settable = IPS_EXPECTED | IPS_SEEN_REPLY | IPS_ASSURED | IPS_FIXED_TIMEOUT;
    const struct flow_record *flow = &record->flow;
    const uint32_t set = flow->status & settable;

    dst = PUT_KNOWN(dst, record->has & FLOW_TIMEOUT, "-t ", flow->timeout);
    if (record->has & FLOW_STATUS) {
        dst = PUT(dst, "-u ");
        dst = PUT(set ? put_bit_names(dst, &flow_status_names, set) : PUT(dst, "UNSET"), " ");
    }
    dst = PUT_KNOWN(dst, record->has & FLOW_SECMARK, "-c ", flow->secmark);
    dst = PUT_KNOWN(dst, record->has & FLOW_ZONE, "-w ", flow->zone);
    dst = PUT_KNOWN(dst, record->has & FLOW_ORIG_ZONE, "--orig-zone ", flow->way[WAY_ORIG].zone);
    dst = PUT_KNOWN(dst, record->has & FLOW_REPLY_ZONE, "--reply-zone ", flow->way[WAY_REPLY].zone);
    return dst;
}

/* True if NAT changed an address, so that the reply has another one than the original direction. */
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

/*
 * The ports of a direction, or its keys, behind the options for them. If the kernel tracks the
 * protocol without them, the flow has none, and the same flow is made without them.
 */
static inline char *put_ports(char *dst, const struct flow_direction *direction, const char *src,
                              const char *dst_option)
{
    const struct flow_tuple *tuple = &direction->tuple;

    if (!tuple->has_ports)
        return dst;
    dst = put_number(put_string(dst, src), tuple->src_port);
    return put_number(put_string(dst, dst_option), tuple->dst_port);
}

/*
 * conntrack reads the bytes of a tag on the wire as a number in the order of this machine, both
 * here and in its options. Only if both do the same does the option make the same tag again.
 */
static char *put_state(char *dst, const struct record *record)
{
    const struct flow_record *flow = &record->flow;
    const struct flow_direction *way = flow->way;
    const uint8_t protocol = way[WAY_ORIG].tuple.protocol;

    if (record->has & FLOW_STATE)
        dst = PUT(put_state_name(PUT(dst, "--state "), protocol, flow->state), " ");
    dst = PUT_KNOWN(dst, record->has & FLOW_ORIG_VTAG, "--orig-vtag ", htonl(way[WAY_ORIG].vtag));
    dst =
        PUT_KNOWN(dst, record->has & FLOW_REPLY_VTAG, "--reply-vtag ", htonl(way[WAY_REPLY].vtag));
    if (record->has & FLOW_ROLE)
        dst = flow->role == 0 ? PUT(dst, "--role client ") : PUT(dst, "--role server ");
    return dst;
}

static char *put_protocol(char *dst, const struct record *record)
{
    const struct flow_direction *way = record->flow.way;
    const struct flow_tuple *orig = &way[WAY_ORIG].tuple;
    const struct text name = flow_protocol_name(orig->protocol);
    const char *icmp = orig->protocol == IPPROTO_ICMP ? "--icmp" : "--icmpv6";

    dst = PUT(dst, "-p ");
    if (!name.data)
        return put_number(dst, orig->protocol);
    dst = put_text(dst, name);
    *dst++ = ' ';
    if (flow_is_icmp(orig->protocol)) {
        dst = put_number(PUT(put_string(dst, icmp), "-type "), orig->icmp_type);
        dst = put_number(PUT(put_string(dst, icmp), "-code "), orig->icmp_code);
        return put_number(PUT(put_string(dst, icmp), "-id "), orig->src_port);
    }
    if (flow_has_ports(orig->protocol)) {
        dst = put_ports(dst, &way[WAY_ORIG], "--sport ", "--dport ");
        dst = put_ports(dst, &way[WAY_REPLY], "--reply-port-src ", "--reply-port-dst ");
        return put_state(dst, record);
    }
    dst = put_ports(dst, &way[WAY_ORIG], "--srckey ", "--dstkey ");
    return put_ports(dst, &way[WAY_REPLY], "--reply-key-src ", "--reply-key-dst ");
}

/* A listed flow (not an event) becomes a command that adds it. */
char *save_flow(char *dst, const struct record *record)
{
    const enum flow_event event = (record->has & FLOW_EVENT) ? record->flow.event : FLOW_NEW;

    dst = put_string(dst, event == FLOW_UPDATE ? "-U " : event == FLOW_DESTROY ? "-D " : "-A ");
    dst = put_generic(dst, record);
    dst = put_protocol(put_addresses(dst, record), record);
    return dst - 1; /* the last blank */
}
