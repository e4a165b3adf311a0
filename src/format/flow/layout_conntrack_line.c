/* Flows and expectations as lines: what conntrack prints unless told otherwise. */
#include "format/flow/layout_conntrack.h"

#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>

#include "fastnet/flow_names.h"
#include "fastnet/lookup.h"

/* The ends of a tuple; prefix is a literal. */
#define PUT_ADDRESSES(dst, prefix, tuple)                                                          \
    put_addresses(dst, (struct text){prefix "src=", sizeof(prefix "src=") - 1},                    \
                  (struct text){prefix "dst=", sizeof(prefix "dst=") - 1}, tuple)

static inline char *put_addresses(char *dst, struct text src, struct text dst_tag,
                                  const struct flow_tuple *tuple)
{
    dst = put_address(put_name(dst, src), &tuple->src);
    *dst++ = ' ';
    dst = put_address(put_name(dst, dst_tag), &tuple->dst);
    *dst++ = ' ';
    return dst;
}

static char *put_icmp(char *dst, const struct flow_tuple *tuple)
{
    dst = text_u64(PUT(dst, "type="), tuple->icmp_type);
    dst = text_u64(PUT(dst, " code="), tuple->icmp_code);
    dst = text_u64(PUT(dst, " id="), tuple->src_port);
    *dst++ = ' ';
    return dst;
}

static char *put_transport(char *dst, const struct flow_tuple *tuple)
{
    if (flow_has_ports(tuple->protocol)) {
        dst = text_u64(PUT(dst, "sport="), tuple->src_port);
        dst = text_u64(PUT(dst, " dport="), tuple->dst_port);
        *dst++ = ' ';
    } else if (flow_is_icmp(tuple->protocol)) {
        dst = put_icmp(dst, tuple);
    } else if (tuple->protocol == IPPROTO_GRE) {
        dst = put_hex(PUT(dst, "srckey="), tuple->src_port);
        dst = put_hex(PUT(dst, " dstkey="), tuple->dst_port);
        *dst++ = ' ';
    }
    return dst;
}

/* What stands behind a label, with a blank after it. */
static char *put_number(char *dst, uint64_t number)
{
    dst = text_u64(dst, number);
    *dst++ = ' ';
    return dst;
}

static char *put_event(char *dst, const struct record *record, uint8_t event)
{
    if (!(record->has & FLOW_EVENT))
        return dst;
    switch (event) {
    case FLOW_NEW:
        return PUT(dst, "    [NEW] ");
    case FLOW_UPDATE:
        return PUT(dst, " [UPDATE] ");
    case FLOW_DESTROY:
        return PUT(dst, "[DESTROY] ");
    default:
        return dst;
    }
}

static char *put_network_protocol(char *dst, uint8_t family)
{
    switch (family) {
    case AF_INET:
        return PUT(dst, "ipv4     2 ");
    case AF_INET6:
        return PUT(dst, "ipv6     10 ");
    default:
        return put_number(PUT(dst, "unknown  "), family);
    }
}

static char *put_protocol(char *dst, uint8_t protocol)
{
    if (protocol == IPPROTO_TCP)
        return PUT(dst, "tcp      6 ");
    if (protocol == IPPROTO_UDP)
        return PUT(dst, "udp      17 ");
    struct text name = flow_protocol_name(protocol);
    if (!name.data)
        name = (struct text){"unknown", 7};
    dst = text_pad(put_name(dst, name), dst, 8);
    *dst++ = ' ';
    return put_number(dst, protocol);
}

static char *put_state(char *dst, const struct flow_record *flow)
{
    struct text name = flow_state_name(flow->way[WAY_ORIG].tuple.protocol, flow->state);

    if (!name.data)
        name = (struct text){"NONE", 4};
    dst = put_name(dst, name);
    *dst++ = ' ';
    return dst;
}

static char *put_counters(char *dst, uint64_t packets, uint64_t bytes)
{
    dst = put_number(PUT(dst, "packets="), packets);
    return put_number(PUT(dst, "bytes="), bytes);
}

static char *put_orig(char *dst, const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    if (record->has & FLOW_ORIG) {
        dst = PUT_ADDRESSES(dst, "", &flow->way[WAY_ORIG].tuple);
        dst = put_transport(dst, &flow->way[WAY_ORIG].tuple);
    }
    if (record->has & FLOW_ORIG_ZONE)
        dst = put_number(PUT(dst, "zone-orig="), flow->way[WAY_ORIG].zone);
    if (record->has & FLOW_ORIG_COUNTERS)
        dst = put_counters(dst, flow->way[WAY_ORIG].packets, flow->way[WAY_ORIG].bytes);
    if ((record->has & FLOW_STATUS) && !(flow->status & IPS_SEEN_REPLY))
        dst = PUT(dst, "[UNREPLIED] ");
    return dst;
}

static char *put_assured(char *dst, uint32_t status)
{
    if (status & IPS_HW_OFFLOAD)
        return PUT(dst, "[HW_OFFLOAD] ");
    if (status & IPS_OFFLOAD)
        return PUT(dst, "[OFFLOAD] ");
    if (status & IPS_ASSURED)
        return PUT(dst, "[ASSURED] ");
    return dst;
}

static char *put_reply(char *dst, const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    if (record->has & FLOW_REPLY) {
        dst = PUT_ADDRESSES(dst, "", &flow->way[WAY_REPLY].tuple);
        dst = put_transport(dst, &flow->way[WAY_REPLY].tuple);
    }
    if (record->has & FLOW_REPLY_ZONE)
        dst = put_number(PUT(dst, "zone-reply="), flow->way[WAY_REPLY].zone);
    if (record->has & FLOW_REPLY_COUNTERS)
        dst = put_counters(dst, flow->way[WAY_REPLY].packets, flow->way[WAY_REPLY].bytes);
    if (record->has & FLOW_STATUS)
        dst = put_assured(dst, flow->status);
    return dst;
}

/* Two digits, the first of which may be another character. */
static char *put_two(char *dst, int number, char first)
{
    *dst++ = (char)(number < 10 ? first : '0' + number / 10);
    *dst++ = (char)('0' + number % 10);
    return dst;
}

/* As ctime(3): Fri Nov 20 13:21:18 2026 */
static char *put_date(char *dst, uint64_t moment)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const struct tm tm = local_time(moment);

    dst = put_bytes(dst, days + (ptrdiff_t)3 * tm.tm_wday, 3);
    *dst++ = ' ';
    dst = put_bytes(dst, months + (ptrdiff_t)3 * tm.tm_mon, 3);
    *dst++ = ' ';
    dst = put_two(dst, tm.tm_mday, ' ');
    *dst++ = ' ';
    dst = put_two(dst, tm.tm_hour, '0');
    *dst++ = ':';
    dst = put_two(dst, tm.tm_min, '0');
    *dst++ = ':';
    dst = put_two(dst, tm.tm_sec, '0');
    *dst++ = ' ';
    return text_u64(dst, (uint64_t)tm.tm_year + 1900);
}

/* Seconds are cut before they are subtracted. */
static uint64_t delta_time(const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    if (!(record->has & FLOW_STOP) || flow->stop == 0)
        return seconds_since(flow->start);
    return flow->stop / 1000000000 - flow->start / 1000000000;
}

static char *put_times(const struct conntrack_sink *conntrack, char *dst,
                       const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    if (record->has & FLOW_START)
        dst = put_number(PUT(dst, "delta-time="), delta_time(record));
    if (!conntrack->layout.ktimestamp)
        return dst;
    if (record->has & FLOW_START)
        dst = PUT(put_date(PUT(dst, "[start="), flow->start), "] ");
    if (record->has & FLOW_STOP)
        dst = PUT(put_date(PUT(dst, "[stop="), flow->stop), "] ");
    return dst;
}

/* Without a name for any of them just "labels", as the original. */
static char *put_labels(const struct conntrack_sink *conntrack, char *dst,
                        const struct flow_record *flow)
{
    const struct flag_names *names = labels_names(conntrack->sink.context->labels);
    char before = '=';

    dst = PUT(dst, "labels");
    for (size_t bit = 0; bit < FLOW_LABEL_BITS && bit < names->count; bit++) {
        const char *name = names->names[bit];
        if (!(flow->labels[bit / 32] >> bit % 32 & 1) || !name || *name == '\0')
            continue;
        *dst++ = before;
        before = ',';
        dst = put_foreign(conntrack->sink.writer, dst, (struct text){name, strlen(name)}, " ,");
        dst = put_more(conntrack->sink.writer, dst);
    }
    *dst++ = ' ';
    return dst;
}

/* What is seldom there. */
static char *put_rare(const struct conntrack_sink *conntrack, char *dst,
                      const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    if (record->has & FLOW_SECMARK)
        dst = put_number(PUT(dst, "secmark="), flow->secmark);
    if (record->has & FLOW_SECCTX) {
        dst = put_foreign(conntrack->sink.writer, PUT(dst, "secctx="), flow->secctx, " ");
        *dst++ = ' ';
    }
    if (record->has & FLOW_ZONE)
        dst = put_number(PUT(dst, "zone="), flow->zone);
    if (record->has & (FLOW_START | FLOW_STOP))
        dst = put_times(conntrack, dst, record);
    if (record->has & FLOW_HELPER) {
        dst = put_foreign(conntrack->sink.writer, PUT(dst, "helper="), flow->helper, " ");
        *dst++ = ' ';
    }
    return dst;
}

#define RARE (FLOW_SECMARK | FLOW_SECCTX | FLOW_ZONE | FLOW_START | FLOW_STOP | FLOW_HELPER)

char *line_flow(const struct conntrack_sink *conntrack, char *dst, const struct record *record)
{
    const struct conntrack_layout *layout = &conntrack->layout;
    const struct flow_record *flow = &record->flow;

    dst = put_event(dst, record, flow->event);
    if (layout->extended)
        dst = put_network_protocol(dst, flow->family);
    dst = put_protocol(dst, flow->way[WAY_ORIG].tuple.protocol);
    if (record->has & FLOW_TIMEOUT)
        dst = put_number(dst, flow->timeout);
    if (record->has & FLOW_STATE)
        dst = put_state(dst, flow);
    dst = put_orig(dst, record);
    dst = put_reply(dst, record);
    if (record->has & FLOW_MARK)
        dst = put_number(PUT(dst, "mark="), flow->mark);
    if (record->has & RARE)
        dst = put_rare(conntrack, dst, record);
    if (record->has & FLOW_USE)
        dst = put_number(PUT(dst, "use="), flow->use);
    if (layout->id && (record->has & FLOW_ID))
        dst = put_number(PUT(dst, "id="), flow->id);
    if (layout->labels && (record->has & FLOW_LABELS) && conntrack->sink.context->labels)
        dst = put_labels(conntrack, dst, flow);
    return dst - 1; /* everything ended with a blank */
}

static char *put_expectation_flags(char *dst, uint32_t flags)
{
    const char *start = dst;

    for (size_t bit = 0; bit < expectation_flag_names.count; bit++) {
        const char *name = expectation_flag_names.names[bit];
        if (!(flags >> bit & 1))
            continue;
        if (dst > start)
            *dst++ = ',';
        dst = put_bytes(dst, name, strlen(name));
    }
    if (flags != 0)
        *dst++ = ' ';
    return dst;
}

static char *put_expectation_tuples(char *dst, const struct record *record)
{
    const struct expectation_record *expectation = &record->expectation;

    if (record->has & FLOW_ORIG) {
        dst = PUT_ADDRESSES(dst, "", &expectation->orig);
        dst = put_transport(dst, &expectation->orig);
    }
    if (record->has & FLOW_MASK) {
        dst = PUT_ADDRESSES(dst, "mask-", &expectation->mask);
        dst = put_transport(dst, &expectation->mask);
    }
    if (record->has & FLOW_MASTER) {
        dst = PUT_ADDRESSES(dst, "master-", &expectation->master);
        dst = put_transport(dst, &expectation->master);
    }
    return dst;
}

char *line_expectation(const struct conntrack_sink *conntrack, char *dst,
                       const struct record *record)
{
    const struct expectation_record *expectation = &record->expectation;

    dst = put_event(dst, record, expectation->event);
    if (record->has & FLOW_TIMEOUT)
        dst = put_number(dst, expectation->timeout);
    dst = put_number(PUT(dst, "proto="), expectation->orig.protocol);
    dst = put_expectation_tuples(dst, record);
    if (record->has & FLOW_ZONE)
        dst = put_number(PUT(dst, "zone="), expectation->zone);
    if (record->has & FLOW_FLAGS)
        dst = put_expectation_flags(dst, expectation->flags);
    if (record->has & FLOW_CLASS)
        dst = put_number(PUT(dst, "class="), expectation->class);
    if (record->has & FLOW_HELPER)
        return put_foreign(conntrack->sink.writer, PUT(dst, "helper="), expectation->helper, " ");
    return dst - 1;
}
