/* Flows and expectations as XML elements, each on a line of its own. */
#include "format/flow/layout_conntrack.h"

#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>

#include "fastnet/flow_names.h"
#include "fastnet/lookup.h"

/* What XML (5th edition, 2.4) would take for itself. */
static const char delimiters[] = "<>&\"";

/* <name>number</name>, the name being a literal. */
#define PUT_ELEMENT(dst, name, number) PUT(text_u64(PUT(dst, "<" name ">"), number), "</" name ">")

static char *put_event(char *dst, const struct record *record, uint8_t event)
{
    if (record->has & FLOW_EVENT) {
        switch (event) {
        case FLOW_NEW:
            return PUT(dst, "<flow type=\"new\">");
        case FLOW_UPDATE:
            return PUT(dst, "<flow type=\"update\">");
        case FLOW_DESTROY:
            return PUT(dst, "<flow type=\"destroy\">");
        default:
            break;
        }
    }
    return PUT(dst, "<flow>");
}

static char *open_network(char *dst, uint8_t family)
{
    dst = text_u64(PUT(dst, "<layer3 protonum=\""), family);
    dst = PUT(dst, "\" protoname=\"");
    if (family == AF_INET)
        dst = PUT(dst, "ipv4");
    else if (family == AF_INET6)
        dst = PUT(dst, "ipv6");
    else
        dst = PUT(dst, "unknown");
    return PUT(dst, "\">");
}

static char *open_transport(char *dst, uint8_t protocol)
{
    const struct text name = flow_protocol_name(protocol);

    dst = text_u64(PUT(dst, "<layer4 protonum=\""), protocol);
    dst = PUT(dst, "\" protoname=\"");
    dst = name.data ? put_name(dst, name) : PUT(dst, "unknown");
    return PUT(dst, "\">");
}

static char *put_addresses(char *dst, const struct flow_tuple *tuple)
{
    dst = put_address(PUT(dst, "<src>"), &tuple->src);
    dst = put_address(PUT(dst, "</src><dst>"), &tuple->dst);
    return PUT(dst, "</dst>");
}

/* Of ICMP the original has nothing to say. */
static char *put_ports(char *dst, const struct flow_tuple *tuple)
{
    if (flow_has_ports(tuple->protocol)) {
        dst = PUT_ELEMENT(dst, "sport", tuple->src_port);
        dst = PUT_ELEMENT(dst, "dport", tuple->dst_port);
    } else if (tuple->protocol == IPPROTO_GRE) {
        dst = put_hex(PUT(dst, "<srckey>"), tuple->src_port);
        dst = put_hex(PUT(dst, "</srckey><dstkey>"), tuple->dst_port);
        dst = PUT(dst, "</dstkey>");
    }
    return dst;
}

static char *put_tuple(char *dst, uint8_t family, const struct flow_tuple *tuple)
{
    dst = put_addresses(open_network(dst, family), tuple);
    dst = PUT(dst, "</layer3>");
    dst = put_ports(open_transport(dst, tuple->protocol), tuple);
    return PUT(dst, "</layer4>");
}

static char *put_counters(char *dst, uint64_t packets, uint64_t bytes)
{
    dst = PUT_ELEMENT(PUT(dst, "<counters>"), "packets", packets);
    return PUT(PUT_ELEMENT(dst, "bytes", bytes), "</counters>");
}

static char *put_orig(char *dst, const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    dst = PUT(dst, "<meta direction=\"original\">");
    if (record->has & FLOW_ORIG)
        dst = put_tuple(dst, flow->family, &flow->way[WAY_ORIG].tuple);
    if (record->has & FLOW_ORIG_ZONE)
        dst = PUT_ELEMENT(dst, "zone", flow->way[WAY_ORIG].zone);
    if (record->has & FLOW_ORIG_COUNTERS)
        dst = put_counters(dst, flow->way[WAY_ORIG].packets, flow->way[WAY_ORIG].bytes);
    return PUT(dst, "</meta>");
}

static char *put_reply(char *dst, const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    dst = PUT(dst, "<meta direction=\"reply\">");
    if (record->has & FLOW_REPLY)
        dst = put_tuple(dst, flow->family, &flow->way[WAY_REPLY].tuple);
    if (record->has & FLOW_REPLY_ZONE)
        dst = PUT_ELEMENT(dst, "zone", flow->way[WAY_REPLY].zone);
    if (record->has & FLOW_REPLY_COUNTERS)
        dst = put_counters(dst, flow->way[WAY_REPLY].packets, flow->way[WAY_REPLY].bytes);
    return PUT(dst, "</meta>");
}

/*
 * libnetfilter_conntrack 1.0.9 takes the names of TCP's states for SCTP and DCCP too, so that an
 * established association reads FIN_WAIT. Whoever reads this XML has come to know it that way.
 */
static char *put_state(char *dst, uint8_t state)
{
    const struct text name = flow_state_name(IPPROTO_TCP, state);

    dst = PUT(dst, "<state>");
    dst = name.data ? put_name(dst, name) : PUT(dst, "NONE");
    return PUT(dst, "</state>");
}

static char *put_labels(const struct conntrack_sink *conntrack, char *dst,
                        const struct flow_record *flow)
{
    const struct flag_names *names = labels_names(conntrack->sink.context->labels);

    dst = PUT(dst, "<labels>");
    for (size_t bit = 0; bit < FLOW_LABEL_BITS && bit < names->count; bit++) {
        const char *name = names->names[bit];
        if (!(flow->labels[bit / 32] >> bit % 32 & 1) || !name || *name == '\0')
            continue;
        dst = put_foreign(conntrack->sink.writer, PUT(dst, "<label>"),
                          (struct text){name, strlen(name)}, delimiters);
        dst = put_more(conntrack->sink.writer, PUT(dst, "</label>"));
    }
    return PUT(dst, "</labels>");
}

/* From nanoseconds to seconds only after they were subtracted, where both are known. */
static uint64_t delta_time(const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    if (record->has & FLOW_STOP)
        return (flow->stop - flow->start) / 1000000000;
    return seconds_since(flow->start);
}

static char *put_times(const struct conntrack_sink *conntrack, char *dst,
                       const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    if (conntrack->layout.ktimestamp) {
        dst = PUT(dst, "<timestamp>");
        if (record->has & FLOW_START)
            dst = PUT_ELEMENT(dst, "start", flow->start);
        if (record->has & FLOW_STOP)
            dst = PUT_ELEMENT(dst, "stop", flow->stop);
        dst = PUT(dst, "</timestamp>");
    }
    if (record->has & FLOW_START)
        dst = PUT_ELEMENT(dst, "deltatime", delta_time(record));
    return dst;
}

/* What is of no direction and no text: where there is none of these there is no element. */
#define INDEPENDENT                                                                                \
    (FLOW_STATE | FLOW_TIMEOUT | FLOW_MARK | FLOW_SECMARK | FLOW_ZONE | FLOW_USE | FLOW_STATUS |   \
     FLOW_ID | FLOW_LABELS | FLOW_START | FLOW_STOP)

static char *put_identity(char *dst, const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    if (record->has & FLOW_ZONE)
        dst = PUT_ELEMENT(dst, "zone", flow->zone);
    if (record->has & FLOW_USE)
        dst = PUT_ELEMENT(dst, "use", flow->use);
    if (record->has & FLOW_ID)
        dst = PUT_ELEMENT(dst, "id", flow->id);
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

    dst = PUT(dst, "<meta direction=\"independent\">");
    if (record->has & FLOW_STATE)
        dst = put_state(dst, flow->state);
    if (record->has & FLOW_TIMEOUT)
        dst = PUT_ELEMENT(dst, "timeout", flow->timeout);
    if (record->has & FLOW_MARK)
        dst = PUT_ELEMENT(dst, "mark", flow->mark);
    if (conntrack->layout.labels && (record->has & FLOW_LABELS) && conntrack->sink.context->labels)
        dst = put_labels(conntrack, dst, flow);
    if (record->has & FLOW_SECMARK)
        dst = PUT_ELEMENT(dst, "secmark", flow->secmark);
    if (record->has & FLOW_SECCTX) {
        dst = PUT(dst, "<secctx>");
        dst = put_foreign(conntrack->sink.writer, dst, flow->secctx, delimiters);
        dst = PUT(dst, "</secctx>");
    }
    dst = put_identity(dst, record);
    if (record->has & (FLOW_START | FLOW_STOP))
        dst = put_times(conntrack, dst, record);
    return PUT(dst, "</meta>");
}

/* Minutes and seconds have two digits, the others as many as they need. */
static char *put_two(char *dst, int number)
{
    *dst++ = (char)('0' + number / 10);
    *dst++ = (char)('0' + number % 10);
    return dst;
}

/* The day of the week is 1 on Sundays. */
static char *put_when(char *dst, uint64_t moment)
{
    const struct tm tm = local_time(moment);

    dst = PUT_ELEMENT(PUT(dst, "<when>"), "hour", (uint64_t)tm.tm_hour);
    dst = PUT(put_two(PUT(dst, "<min>"), tm.tm_min), "</min>");
    dst = PUT(put_two(PUT(dst, "<sec>"), tm.tm_sec), "</sec>");
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
    dst = put_reply(put_orig(dst, record), record);
    if (record->has & INDEPENDENT)
        dst = put_independent(conntrack, dst, record);
    if (conntrack->layout.timestamp && (record->has & FLOW_EVENT))
        dst = put_when(dst, flow->received);
    if (record->has & FLOW_HELPER) {
        dst = PUT(dst, "<helper>");
        dst = put_foreign(conntrack->sink.writer, dst, flow->helper, delimiters);
        dst = PUT(dst, "</helper>");
    }
    return PUT(dst, "</flow>");
}

static char *put_expectation_addresses(char *dst, const struct record *record)
{
    const struct expectation_record *expectation = &record->expectation;
    const uint8_t family = expectation->family;

    dst = PUT(open_network(dst, family), "<expected>");
    if (record->has & FLOW_ORIG)
        dst = put_addresses(dst, &expectation->orig);
    dst = PUT(dst, "</expected><mask>");
    if (record->has & FLOW_MASK)
        dst = put_addresses(dst, &expectation->mask);
    dst = PUT(dst, "</mask><master>");
    if (record->has & FLOW_MASTER)
        dst = put_addresses(dst, &expectation->master);
    return PUT(dst, "</master></layer3>");
}

static char *put_expectation_ports(char *dst, const struct record *record)
{
    const struct expectation_record *expectation = &record->expectation;

    dst = PUT(open_transport(dst, expectation->orig.protocol), "<expected>");
    if (record->has & FLOW_ORIG)
        dst = put_ports(dst, &expectation->orig);
    dst = PUT(dst, "</expected><mask>");
    if (record->has & FLOW_MASK)
        dst = put_ports(dst, &expectation->mask);
    dst = PUT(dst, "</mask><master>");
    if (record->has & FLOW_MASTER)
        dst = put_ports(dst, &expectation->master);
    return PUT(dst, "</master></layer4>");
}

static char *put_expectation_flags(char *dst, const struct record *record)
{
    const uint32_t flags = (record->has & FLOW_FLAGS) ? record->expectation.flags : 0;

    if (flags & NF_CT_EXPECT_PERMANENT)
        dst = PUT(dst, "<permanent/>");
    if (flags & NF_CT_EXPECT_INACTIVE)
        dst = PUT(dst, "<inactive/>");
    if (flags & NF_CT_EXPECT_USERSPACE)
        dst = PUT(dst, "<userspace/>");
    return dst;
}

char *xml_expectation(const struct conntrack_sink *conntrack, char *dst,
                      const struct record *record)
{
    const struct expectation_record *expectation = &record->expectation;

    dst = put_event(dst, record, expectation->event);
    dst = put_expectation_addresses(dst, record);
    dst = PUT(put_expectation_ports(dst, record), "<meta>");
    if (record->has & FLOW_HELPER) {
        dst = PUT(dst, "<helper-name>");
        dst = put_foreign(conntrack->sink.writer, dst, expectation->helper, delimiters);
        dst = PUT(dst, "</helper-name>");
    }
    if (record->has & FLOW_TIMEOUT)
        dst = PUT_ELEMENT(dst, "timeout", expectation->timeout);
    if (record->has & FLOW_CLASS)
        dst = PUT_ELEMENT(dst, "class", expectation->class);
    if (record->has & FLOW_ZONE)
        dst = PUT_ELEMENT(dst, "zone", expectation->zone);
    if (conntrack->layout.timestamp)
        dst = put_when(dst, row_received(record, expectation->received));
    dst = put_expectation_flags(dst, record);
    return PUT(dst, "</meta></flow>");
}
