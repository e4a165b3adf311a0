/* SPDX-License-Identifier: MIT */
/* Flows and expectations as lines: what conntrack prints unless an option says otherwise. */
#include "format/flow/layout_conntrack_forms.h"

#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"

static char *put_transport(char *dst, const struct flow_tuple *tuple)
{
    if (flow_has_ports(tuple->protocol)) {
        dst = put_number(PUT(dst, "sport="), tuple->src_port);
        dst = put_number(PUT(dst, "dport="), tuple->dst_port);
    } else if (flow_is_icmp(tuple->protocol)) {
        dst = put_number(PUT(dst, "type="), tuple->icmp_type);
        dst = put_number(PUT(dst, "code="), tuple->icmp_code);
        dst = put_number(PUT(dst, "id="), tuple->src_port);
    } else if (tuple->protocol == IPPROTO_GRE) {
        dst = put_hex(PUT(dst, "srckey=0x"), tuple->src_port);
        dst = PUT(put_hex(PUT(dst, " dstkey=0x"), tuple->dst_port), " ");
    }
    return dst;
}

static char *put_event(char *dst, const struct record *record, uint8_t event)
{
    static const char *const words[] = {
        [FLOW_NEW] = "    [NEW] ",
        [FLOW_UPDATE] = " [UPDATE] ",
        [FLOW_DESTROY] = "[DESTROY] ",
    };

    return (record->has & FLOW_EVENT) && event < COUNT(words) ? put_string(dst, words[event]) : dst;
}

/* The prefix of each word is a literal. */
#define PUT_TUPLE(dst, prefix, tuple)                                                              \
    put_transport(put_addresses(dst, (struct text)TEXT_LITERAL(prefix "src="),                     \
                                (struct text)TEXT_LITERAL(prefix "dst="), tuple),                  \
                  tuple)

static inline char *put_addresses(char *dst, struct text src, struct text dst_word,
                                  const struct flow_tuple *tuple)
{
    dst = PUT(put_address(put_text(dst, src), &tuple->src), " ");
    return PUT(put_address(put_text(dst, dst_word), &tuple->dst), " ");
}

static char *put_protocol(char *dst, uint8_t protocol)
{
    if (protocol == IPPROTO_TCP)
        return PUT(dst, "tcp      6 ");
    if (protocol == IPPROTO_UDP)
        return PUT(dst, "udp      17 ");
    return put_number(end_cell(put_protocol_name(dst, protocol), dst, 8), protocol);
}

/* Writes one direction: the tuple, the zone and the counters. */
static inline char *put_way(char *dst, const struct record *record, enum flow_way way)
{
    const struct flow_direction *direction = &record->flow.way[way];

    if (has_of_way(record, FLOW_ORIG, way))
        dst = PUT_TUPLE(dst, "", &direction->tuple);
    if (has_of_way(record, FLOW_ORIG_ZONE, way))
        dst = put_number(put_string(dst, way == WAY_ORIG ? "zone-orig=" : "zone-reply="),
                         direction->zone);
    if (has_of_way(record, FLOW_ORIG_COUNTERS, way)) {
        dst = put_number(PUT(dst, "packets="), direction->packets);
        dst = put_number(PUT(dst, "bytes="), direction->bytes);
    }
    return dst;
}

static char *put_ways(char *dst, const struct record *record)
{
    /* without a known status no word is written */
    const uint32_t status = (record->has & FLOW_STATUS) ? record->flow.status : IPS_SEEN_REPLY;

    dst = put_way(dst, record, WAY_ORIG);
    if (!(status & IPS_SEEN_REPLY))
        dst = PUT(dst, "[UNREPLIED] ");
    dst = put_way(dst, record, WAY_REPLY);
    if (status & IPS_HW_OFFLOAD)
        return PUT(dst, "[HW_OFFLOAD] ");
    if (status & IPS_OFFLOAD)
        return PUT(dst, "[OFFLOAD] ");
    return (status & IPS_ASSURED) ? PUT(dst, "[ASSURED] ") : dst;
}

/* As ctime(3): Fri Nov 20 13:21:18 2026 */
static char *put_date(char *dst, uint64_t moment)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const struct tm tm = local_time(moment);

    dst = PUT(put_bytes(dst, days + (ptrdiff_t)3 * tm.tm_wday, 3), " ");
    dst = PUT(put_bytes(dst, months + (ptrdiff_t)3 * tm.tm_mon, 3), " ");
    dst = PUT(put_number_right(dst, (uint64_t)tm.tm_mday, 2), " ");
    dst = PUT(put_two_digits(dst, (unsigned)tm.tm_hour), ":");
    dst = PUT(put_two_digits(dst, (unsigned)tm.tm_min), ":");
    dst = PUT(put_two_digits(dst, (unsigned)tm.tm_sec), " ");
    return text_u64(dst, (uint64_t)tm.tm_year + 1900);
}

static char *put_times(const struct conntrack_sink *conntrack, char *dst,
                       const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    /* seconds are cut before they are subtracted */
    const uint64_t delta = record->has & FLOW_STOP && flow->stop
                               ? flow->stop / CLOCK_SECOND - flow->start / CLOCK_SECOND
                               : seconds_since(flow->start);

    dst = PUT_KNOWN(dst, record->has & FLOW_START, "delta-time=", delta);
    if (!conntrack->layout.ktimestamp)
        return dst;
    if (record->has & FLOW_START)
        dst = PUT(put_date(PUT(dst, "[start="), flow->start), "] ");
    if (record->has & FLOW_STOP)
        dst = PUT(put_date(PUT(dst, "[stop="), flow->stop), "] ");
    return dst;
}

/* If no label has a name, just "labels", as the original. */
static char *put_labels(const struct conntrack_sink *conntrack, char *dst,
                        const struct flow_record *flow)
{
    struct text name;
    char before = '=';
    size_t bit = 0;

    dst = PUT(dst, "labels");
    while ((name = next_label(conntrack, flow, &bit)).data) {
        *dst++ = before;
        before = ',';
        dst = put_more(conntrack, put_foreign(conntrack, dst, name, " ,"));
    }
    return PUT(dst, " ");
}

/* Fields that few flows have: one comparison rules out all of them. */
static char *put_uncommon(const struct conntrack_sink *conntrack, char *dst,
                          const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    dst = PUT_KNOWN(dst, record->has & FLOW_SECMARK, "secmark=", flow->secmark);
    if (record->has & FLOW_SECCTX)
        dst = PUT(put_foreign(conntrack, PUT(dst, "secctx="), flow->secctx, " "), " ");
    dst = PUT_KNOWN(dst, record->has & FLOW_ZONE, "zone=", flow->zone);
    if (record->has & (FLOW_START | FLOW_STOP))
        dst = put_times(conntrack, dst, record);
    if (record->has & FLOW_HELPER)
        dst = PUT(put_foreign(conntrack, PUT(dst, "helper="), flow->helper, " "), " ");
    return dst;
}

#define UNCOMMON (FLOW_SECMARK | FLOW_SECCTX | FLOW_ZONE | FLOW_START | FLOW_STOP | FLOW_HELPER)

char *line_flow(const struct conntrack_sink *conntrack, char *dst, const struct record *record)
{
    const struct conntrack_layout *layout = &conntrack->layout;
    const struct flow_record *flow = &record->flow;
    const uint8_t protocol = flow->way[WAY_ORIG].tuple.protocol;

    dst = put_event(dst, record, flow->event);
    if (layout->extended)
        dst = flow->family == AF_INET    ? PUT(dst, "ipv4     2 ")
              : flow->family == AF_INET6 ? PUT(dst, "ipv6     10 ")
                                         : put_number(PUT(dst, "unknown  "), flow->family);
    dst = put_protocol(dst, protocol);
    if (record->has & FLOW_TIMEOUT)
        dst = put_number(dst, flow->timeout);
    if (record->has & FLOW_STATE)
        dst = PUT(put_state_name(dst, protocol, flow->state), " ");
    dst = put_ways(dst, record);
    dst = PUT_KNOWN(dst, record->has & FLOW_MARK, "mark=", flow->mark);
    if (record->has & UNCOMMON)
        dst = put_uncommon(conntrack, dst, record);
    dst = PUT_KNOWN(dst, record->has & FLOW_USE, "use=", flow->use);
    dst = PUT_KNOWN(dst, layout->id && (record->has & FLOW_ID), "id=", flow->id);
    if (shows_labels(conntrack, record))
        dst = put_labels(conntrack, dst, flow);
    return dst - 1; /* without the last blank */
}

char *line_expectation(const struct conntrack_sink *conntrack, char *dst,
                       const struct record *record)
{
    const struct expectation_record *expectation = &record->expectation;

    dst = put_event(dst, record, expectation->event);
    if (record->has & FLOW_TIMEOUT)
        dst = put_number(dst, expectation->timeout);
    dst = put_number(PUT(dst, "proto="), expectation->orig.protocol);
    if (record->has & FLOW_ORIG)
        dst = PUT_TUPLE(dst, "", &expectation->orig);
    if (record->has & FLOW_MASK)
        dst = PUT_TUPLE(dst, "mask-", &expectation->mask);
    if (record->has & FLOW_MASTER)
        dst = PUT_TUPLE(dst, "master-", &expectation->master);
    dst = PUT_KNOWN(dst, record->has & FLOW_ZONE, "zone=", expectation->zone);
    if (record->has & FLOW_FLAGS && expectation->flags)
        dst = PUT(put_bit_names(dst, &expectation_flag_names, expectation->flags), " ");
    dst = PUT_KNOWN(dst, record->has & FLOW_CLASS, "class=", expectation->class);
    if (record->has & FLOW_HELPER)
        return put_foreign(conntrack, PUT(dst, "helper="), expectation->helper, " ");
    return dst - 1;
}
