/* SPDX-License-Identifier: MIT */
/* Flows and expectations as XML elements, each on a line of its own. */
#include "format/flow/layout_conntrack_forms.h"

#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"

/* Characters that have a meaning in XML (5th edition, 2.4). */
static const char delimiters[] = "<>&\"";

/* <name>number</name>; name is a literal. */
#define PUT_ELEMENT(dst, name, number) PUT(text_u64(PUT(dst, "<" name ">"), number), "</" name ">")

/* The same, if it is known. */
#define PUT_KNOWN_ELEMENT(dst, known, name, number)                                                \
    ((known) ? PUT_ELEMENT(dst, name, number) : (dst))

/* <name>text</name>, of a text that others chose. */
#define PUT_TEXT_ELEMENT(conntrack, dst, name, text)                                               \
    PUT(put_foreign(conntrack, PUT(dst, "<" name ">"), text, delimiters), "</" name ">")

static char *put_event(char *dst, const struct record *record, uint8_t event)
{
    static const char *const elements[] = {
        [FLOW_NEW] = "<flow type=\"new\">",
        [FLOW_UPDATE] = "<flow type=\"update\">",
        [FLOW_DESTROY] = "<flow type=\"destroy\">",
    };

    if ((record->has & FLOW_EVENT) && event < COUNT(elements))
        return put_string(dst, elements[event]);
    return PUT(dst, "<flow>");
}

static char *open_network(char *dst, uint8_t family)
{
    dst = text_u64(PUT(dst, "<layer3 protonum=\""), family);
    dst = PUT(dst, "\" protoname=\"");
    dst = family == AF_INET    ? PUT(dst, "ipv4")
          : family == AF_INET6 ? PUT(dst, "ipv6")
                               : PUT(dst, "unknown");
    return PUT(dst, "\">");
}

static char *open_transport(char *dst, uint8_t protocol)
{
    dst = text_u64(PUT(dst, "<layer4 protonum=\""), protocol);
    return PUT(put_protocol_name(PUT(dst, "\" protoname=\""), protocol), "\">");
}

static char *put_addresses(char *dst, const struct flow_tuple *tuple)
{
    dst = put_address(PUT(dst, "<src>"), &tuple->src);
    dst = put_address(PUT(dst, "</src><dst>"), &tuple->dst);
    return PUT(dst, "</dst>");
}

/* The original says nothing of ICMP. */
static char *put_ports(char *dst, const struct flow_tuple *tuple)
{
    if (flow_has_ports(tuple->protocol)) {
        dst = PUT_ELEMENT(dst, "sport", tuple->src_port);
        dst = PUT_ELEMENT(dst, "dport", tuple->dst_port);
    } else if (tuple->protocol == IPPROTO_GRE) {
        dst = put_hex(PUT(dst, "<srckey>0x"), tuple->src_port);
        dst = put_hex(PUT(dst, "</srckey><dstkey>0x"), tuple->dst_port);
        dst = PUT(dst, "</dstkey>");
    }
    return dst;
}

/* Writes one direction: the tuple, the zone, the counters, and the end of its element. */
static char *put_way(char *dst, const struct record *record, enum flow_way way)
{
    const struct flow_direction *direction = &record->flow.way[way];

    if (has_of_way(record, FLOW_ORIG, way)) {
        dst = put_addresses(open_network(dst, record->flow.family), &direction->tuple);
        dst = open_transport(PUT(dst, "</layer3>"), direction->tuple.protocol);
        dst = PUT(put_ports(dst, &direction->tuple), "</layer4>");
    }
    dst = PUT_KNOWN_ELEMENT(dst, has_of_way(record, FLOW_ORIG_ZONE, way), "zone", direction->zone);
    if (has_of_way(record, FLOW_ORIG_COUNTERS, way)) {
        dst = PUT_ELEMENT(PUT(dst, "<counters>"), "packets", direction->packets);
        dst = PUT(PUT_ELEMENT(dst, "bytes", direction->bytes), "</counters>");
    }
    return PUT(dst, "</meta>");
}

static char *put_times(const struct conntrack_sink *conntrack, char *dst,
                       const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    if (conntrack->layout.ktimestamp) {
        dst = PUT(dst, "<timestamp>");
        dst = PUT_KNOWN_ELEMENT(dst, record->has & FLOW_START, "start", flow->start);
        dst = PUT_KNOWN_ELEMENT(dst, record->has & FLOW_STOP, "stop", flow->stop);
        dst = PUT(dst, "</timestamp>");
    }
    /* if both times are known, they are subtracted before they are cut to seconds */
    const uint64_t delta = (record->has & FLOW_STOP) ? (flow->stop - flow->start) / CLOCK_SECOND
                                                     : seconds_since(flow->start);
    dst = PUT_KNOWN_ELEMENT(dst, record->has & FLOW_START, "deltatime", delta);
    return dst;
}

/* Fields of no direction, without texts: a flow that has none of them gets no element. */
#define INDEPENDENT                                                                                \
    (FLOW_STATE | FLOW_TIMEOUT | FLOW_MARK | FLOW_SECMARK | FLOW_ZONE | FLOW_USE | FLOW_STATUS |   \
     FLOW_ID | FLOW_LABELS | FLOW_START | FLOW_STOP)

static char *put_identity(char *dst, const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    dst = PUT_KNOWN_ELEMENT(dst, record->has & FLOW_ZONE, "zone", flow->zone);
    dst = PUT_KNOWN_ELEMENT(dst, record->has & FLOW_USE, "use", flow->use);
    dst = PUT_KNOWN_ELEMENT(dst, record->has & FLOW_ID, "id", flow->id);
    if ((record->has & FLOW_STATUS) && (flow->status & IPS_ASSURED))
        dst = PUT(dst, "<assured/>");
    if ((record->has & FLOW_STATUS) && !(flow->status & IPS_SEEN_REPLY))
        dst = PUT(dst, "<unreplied/>");
    return dst;
}

static char *put_independent(const struct conntrack_sink *conntrack, char *dst,
                             const struct record *record)
{
    const struct flow_record *flow = &record->flow;
    size_t bit = 0;

    dst = PUT(dst, "<meta direction=\"independent\">");
    /*
     * libnetfilter_conntrack 1.0.9 uses the names of TCP's states for SCTP and DCCP, too, so that
     * an established association reads FIN_WAIT. Programs that read this XML expect that.
     */
    if (record->has & FLOW_STATE)
        dst = PUT(put_state_name(PUT(dst, "<state>"), IPPROTO_TCP, flow->state), "</state>");
    dst = PUT_KNOWN_ELEMENT(dst, record->has & FLOW_TIMEOUT, "timeout", flow->timeout);
    dst = PUT_KNOWN_ELEMENT(dst, record->has & FLOW_MARK, "mark", flow->mark);
    if (shows_labels(conntrack, record)) {
        dst = PUT(dst, "<labels>");
        for (struct text name; (name = next_label(conntrack, flow, &bit)).data;)
            dst = put_more(conntrack, PUT_TEXT_ELEMENT(conntrack, dst, "label", name));
        dst = PUT(dst, "</labels>");
    }
    dst = PUT_KNOWN_ELEMENT(dst, record->has & FLOW_SECMARK, "secmark", flow->secmark);
    if (record->has & FLOW_SECCTX)
        dst = PUT_TEXT_ELEMENT(conntrack, dst, "secctx", flow->secctx);

    dst = put_identity(dst, record);
    if (record->has & (FLOW_START | FLOW_STOP))
        dst = put_times(conntrack, dst, record);
    return PUT(dst, "</meta>");
}

/* Minutes and seconds have two digits. The day of the week is 1 on Sundays. */
static char *put_when(char *dst, uint64_t moment)
{
    const struct tm tm = local_time(moment);

    dst = PUT_ELEMENT(PUT(dst, "<when>"), "hour", (uint64_t)tm.tm_hour);
    dst = PUT(put_two_digits(PUT(dst, "<min>"), (unsigned)tm.tm_min), "</min>");
    dst = PUT(put_two_digits(PUT(dst, "<sec>"), (unsigned)tm.tm_sec), "</sec>");
    dst = PUT_ELEMENT(dst, "wday", (uint64_t)tm.tm_wday + 1);
    dst = PUT_ELEMENT(dst, "day", (uint64_t)tm.tm_mday);
    dst = PUT_ELEMENT(dst, "month", (uint64_t)tm.tm_mon + 1);
    dst = PUT_ELEMENT(dst, "year", (uint64_t)tm.tm_year + 1900);
    return PUT(dst, "</when>");
}

char *xml_flow(const struct conntrack_sink *conntrack, char *dst, const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    dst = put_event(dst, record, flow->event);
    dst = put_way(PUT(dst, "<meta direction=\"original\">"), record, WAY_ORIG);
    dst = put_way(PUT(dst, "<meta direction=\"reply\">"), record, WAY_REPLY);
    if (record->has & INDEPENDENT)
        dst = put_independent(conntrack, dst, record);
    if (conntrack->layout.timestamp && (record->has & FLOW_EVENT))
        dst = put_when(dst, flow->received);
    if (record->has & FLOW_HELPER)
        dst = PUT_TEXT_ELEMENT(conntrack, dst, "helper", flow->helper);

    return PUT(dst, "</flow>");
}

/* Writes an element for each tuple, by `put`. */
static char *put_expectation_tuples(char *dst, const struct record *record,
                                    char *(*put)(char *dst, const struct flow_tuple *tuple))
{
    const struct expectation_record *expectation = &record->expectation;

    dst = PUT(dst, "<expected>");
    if (record->has & FLOW_ORIG)
        dst = put(dst, &expectation->orig);
    dst = PUT(dst, "</expected><mask>");
    if (record->has & FLOW_MASK)
        dst = put(dst, &expectation->mask);
    dst = PUT(dst, "</mask><master>");
    if (record->has & FLOW_MASTER)
        dst = put(dst, &expectation->master);
    return PUT(dst, "</master>");
}

char *xml_expectation(const struct conntrack_sink *conntrack, char *dst,
                      const struct record *record)
{
    static const struct flag_text flags[] = {{NF_CT_EXPECT_PERMANENT, "<permanent/>"},
                                             {NF_CT_EXPECT_INACTIVE, "<inactive/>"},
                                             {NF_CT_EXPECT_USERSPACE, "<userspace/>"}};
    const struct expectation_record *expectation = &record->expectation;

    dst = put_event(dst, record, expectation->event);
    dst = put_expectation_tuples(open_network(dst, expectation->family), record, put_addresses);
    dst = open_transport(PUT(dst, "</layer3>"), expectation->orig.protocol);
    dst = PUT(put_expectation_tuples(dst, record, put_ports), "</layer4><meta>");
    if (record->has & FLOW_HELPER)
        dst = PUT_TEXT_ELEMENT(conntrack, dst, "helper-name", expectation->helper);

    dst = PUT_KNOWN_ELEMENT(dst, record->has & FLOW_TIMEOUT, "timeout", expectation->timeout);
    dst = PUT_KNOWN_ELEMENT(dst, record->has & FLOW_CLASS, "class", expectation->class);
    dst = PUT_KNOWN_ELEMENT(dst, record->has & FLOW_ZONE, "zone", expectation->zone);
    if (conntrack->layout.timestamp)
        dst = put_when(dst, row_received(record, expectation->received));
    if (record->has & FLOW_FLAGS)
        dst = put_flags(dst, expectation->flags, flags, COUNT(flags));
    return PUT(dst, "</meta></flow>");
}
