/* SPDX-License-Identifier: MIT */
/* -o save: flows as options that create them again, without marks, labels or helpers. */
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>

#include "format/flow/layout_conntrack_forms.h"

/* Writes the command: for an event its type; for a listed flow -A, which adds it. */
static char *put_command(char *dst, const struct flow_row *row, const void *member)
{
    const uint8_t event = (row->record->has & FLOW_EVENT) ? *(const uint8_t *)member : FLOW_NEW;

    return put_string(dst, event == FLOW_UPDATE ? "-U " : event == FLOW_DESTROY ? "-D " : "-A ");
}

/* Writes only the bits that conntrack's -u can set. */
static char *put_status(char *dst, uint64_t status)
{
    const uint32_t settable = IPS_EXPECTED | IPS_SEEN_REPLY | IPS_ASSURED | IPS_FIXED_TIMEOUT;
    const uint32_t set = (uint32_t)status & settable;

    return set ? put_bit_names(dst, &flow_status_names, set) : PUT(dst, "UNSET");
}

/* Whether NAT changed an address: `reply` and `orig` differ. done: the status bit of this NAT. */
static bool save_is_translated(const struct record *record, uint32_t done,
                               const struct address *reply, const struct address *orig)
{
    if ((record->has & FLOW_STATUS) && !(record->flow.status & done))
        return false;
    return (record->has & FLOW_ORIG) && !address_equal(reply, orig);
}

static char *put_reply(char *dst, const struct flow_row *row, const void *member)
{
    const struct flow_tuple *orig = &row->record->flow.way[WAY_ORIG].tuple, *reply = member;
    const bool dnat = save_is_translated(row->record, IPS_DST_NAT_DONE, &reply->src, &orig->dst);
    const bool snat = save_is_translated(row->record, IPS_SRC_NAT_DONE, &reply->dst, &orig->src);

    dst = put_address(dnat ? PUT(dst, "-g ") : PUT(dst, "-r "), &reply->src);
    return put_address(snat ? PUT(dst, " -n ") : PUT(dst, " -q "), &reply->dst);
}

/* Writes the ports or GRE keys of a direction after their options. If the kernel tracks the
 * protocol without ports, nothing is written, and the options create the same flow. */
static inline char *save_put_ports(char *dst, const struct flow_direction *direction,
                                   const char *src, const char *dst_option)
{
    const struct flow_tuple *tuple = &direction->tuple;

    if (!tuple->has_ports)
        return dst;
    dst = put_number(put_string(dst, src), tuple->src_port);
    return put_number(put_string(dst, dst_option), tuple->dst_port);
}

static char *save_put_protocol(char *dst, const struct flow_row *row, const void *member)
{
    const struct flow_direction *way = row->record->flow.way;
    const struct flow_tuple *orig = &way[WAY_ORIG].tuple;
    const struct text name = flow_protocol_name(orig->protocol);
    const char *icmp = orig->protocol == IPPROTO_ICMP ? "--icmp" : "--icmpv6";

    (void)member;
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
        dst = save_put_ports(dst, &way[WAY_ORIG], "--sport ", "--dport ");
        return save_put_ports(dst, &way[WAY_REPLY], "--reply-port-src ", "--reply-port-dst ");
    }
    dst = save_put_ports(dst, &way[WAY_ORIG], "--srckey ", "--dstkey ");
    return save_put_ports(dst, &way[WAY_REPLY], "--reply-key-src ", "--reply-key-dst ");
}

/* Writes an SCTP verification tag. conntrack reads its bytes as a number in the byte order of this
 * machine, both when it prints a tag and in its options. This function does the same: otherwise the
 * option would create another tag. */
static char *put_tag(char *dst, uint64_t tag)
{
    return text_u64(dst, htonl((uint32_t)tag));
}

/* Pieces that end with a space. */
#define NUMBER(name, path, ...)  PIECE(NUMBER, name, path, " ", __VA_ARGS__)
#define ADDRESS(name, path, ...) PIECE(ADDRESS, name, path, " ", __VA_ARGS__)

static const struct piece flow_pieces[] = {
    OWN(put_command, "", flow.event, "", 0),
    NUMBER("-t ", flow.timeout, FLOW_TIMEOUT),
    NAME(put_status, "-u ", flow.status, " ", FLOW_STATUS),
    NUMBER("-c ", flow.secmark, FLOW_SECMARK),
    NUMBER("-w ", flow.zone, FLOW_ZONE),
    NUMBER("--orig-zone ", flow.way[WAY_ORIG].zone, FLOW_ORIG_ZONE),
    NUMBER("--reply-zone ", flow.way[WAY_REPLY].zone, FLOW_REPLY_ZONE),
    ADDRESS("-s ", flow.way[WAY_ORIG].tuple.src, FLOW_ORIG),
    ADDRESS("-d ", flow.way[WAY_ORIG].tuple.dst, FLOW_ORIG),
    OWN(put_reply, "", flow.way[WAY_REPLY].tuple, " ", FLOW_REPLY),
    OWN(save_put_protocol, "-p ", flow, "", 0),
    OWN(put_state, "--state ", flow.state, " ", FLOW_STATE),
    NAME(put_tag, "--orig-vtag ", flow.way[WAY_ORIG].vtag, " ", FLOW_ORIG_VTAG),
    NAME(put_tag, "--reply-vtag ", flow.way[WAY_REPLY].vtag, " ", FLOW_REPLY_VTAG),
    IF("--role client ", flow.role, FLOW_ROLE, BITS(UINT8_MAX, 0)),
    IF("--role server ", flow.role, FLOW_ROLE, BITS(UINT8_MAX, 1)),
    OWN(put_sender, "[USERSPACE] portid=", flow.sender, " ", FLOW_SENDER),
};

char *save_flow(char *dst, const struct flow_row *row)
{
    return PUT_PIECES(dst, row, flow_pieces) - 1; /* without the last space */
}
