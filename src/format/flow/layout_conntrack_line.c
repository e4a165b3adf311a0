/* SPDX-License-Identifier: MIT */
/* Flows and expectations as lines, conntrack's default form. */
#include "format/flow/layout_conntrack_forms.h"

#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>

#include "fastnet/clock.h"

/* Pads a number to the width: with zeroes before it, or with spaces after it. */
static char *put_filled(char *dst, uint64_t number, size_t width, char fill)
{
    char *stop = text_u64(dst, number);

    if (fill == ' ')
        return text_pad(stop, dst, width);
    for (stop = align_right(stop, dst, width); *dst == ' '; dst++)
        *dst = '0';
    return stop;
}

/* Writes SECONDS.MICROSECONDS. */
static char *put_received(char *dst, const struct flow_row *row, const void *received)
{
    const uint64_t moment = row_received(row->record, *(const uint64_t *)received);
    /* like conntrack: its printf(3) format for expectations lacks the '.' of the precision */
    const char fill = row->record->kind == &kind_flow ? '0' : ' ';

    dst = PUT(put_filled(dst, moment / CLOCK_SECOND, 8, fill), ".");
    return put_filled(dst, moment / 1000 % 1000000, 6, fill);
}

static char *line_put_transport(char *dst, const struct flow_row *row, const void *member)
{
    const struct flow_tuple *tuple = member;

    (void)row;
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

static char *line_put_protocol(char *dst, uint64_t protocol)
{
    if (protocol == IPPROTO_TCP)
        return PUT(dst, "tcp      6");
    if (protocol == IPPROTO_UDP)
        return PUT(dst, "udp      17");
    return text_u64(end_cell(put_protocol_name(dst, (uint8_t)protocol), dst, 8), protocol);
}

static char *line_put_family(char *dst, uint64_t family)
{
    return family == AF_INET    ? PUT(dst, "ipv4     2 ")
           : family == AF_INET6 ? PUT(dst, "ipv6     10 ")
                                : put_number(PUT(dst, "unknown  "), family);
}

/* Writes a time in the form of ctime(3): Fri Nov 20 13:21:18 2026. */
static char *line_put_date(char *dst, uint64_t moment)
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

static char *put_flag_names(char *dst, uint64_t flags)
{
    return flags ? PUT(put_bit_names(dst, &expectation_flag_names, (uint32_t)flags), " ") : dst;
}

/* Pieces that end with a space. */
#define NUMBER(name, path, ...)  PIECE(NUMBER, name, path, " ", __VA_ARGS__)
#define ADDRESS(name, path, ...) PIECE(ADDRESS, name, path, " ", __VA_ARGS__)
#define TEXT(name, path, ...)    PIECE(TEXT, name, path, " ", __VA_ARGS__, .delimiters = " ")

#define EVENT(path)                                                                                \
    IF_EVENT("    [NEW] ", path, FLOW_NEW), IF_EVENT(" [UPDATE] ", path, FLOW_UPDATE),             \
        IF_EVENT("[DESTROY] ", path, FLOW_DESTROY)
#define TUPLE(prefix, path, ...)                                                                   \
    ADDRESS(prefix "src=", path.src, __VA_ARGS__), ADDRESS(prefix "dst=", path.dst, __VA_ARGS__),  \
        OWN(line_put_transport, "", path, "", __VA_ARGS__)
#define WAY(dir, zone_word)                                                                        \
    TUPLE("", flow.way[dir].tuple, FLOW_ORIG << (dir)),                                            \
        NUMBER(zone_word, flow.way[dir].zone, FLOW_ORIG_ZONE << (dir)),                            \
        NUMBER("packets=", flow.way[dir].packets, FLOW_ORIG_COUNTERS << (dir)),                    \
        NUMBER("bytes=", flow.way[dir].bytes, FLOW_ORIG_COUNTERS << (dir))

static const struct piece flow_pieces[] = {
    OWN(put_received, "[", flow.received, "]\t", FLOW_EVENT, WITH(timestamp)),
    EVENT(flow.event),
    NAME(line_put_family, "", flow.family, "", 0, WITH(extended)),
    NAME(line_put_protocol, "", flow.way[WAY_ORIG].tuple.protocol, " ", 0),
    NUMBER("", flow.timeout, FLOW_TIMEOUT),
    OWN(put_state, "", flow.state, " ", FLOW_STATE),
    WAY(WAY_ORIG, "zone-orig="),
    IF_STATUS("[UNREPLIED] ", IPS_SEEN_REPLY, 0),
    WAY(WAY_REPLY, "zone-reply="),
    IF_STATUS("[HW_OFFLOAD] ", IPS_HW_OFFLOAD, IPS_HW_OFFLOAD),
    IF_STATUS("[OFFLOAD] ", IPS_HW_OFFLOAD | IPS_OFFLOAD, IPS_OFFLOAD),
    IF_STATUS("[ASSURED] ", IPS_HW_OFFLOAD | IPS_OFFLOAD | IPS_ASSURED, IPS_ASSURED),
    NUMBER("mark=", flow.mark, FLOW_MARK),
    NUMBER("secmark=", flow.secmark, FLOW_SECMARK),
    TEXT("secctx=", flow.secctx, FLOW_SECCTX),
    NUMBER("zone=", flow.zone, FLOW_ZONE),
    OWN(put_delta, "delta-time=", flow.start, " ", FLOW_START),
    NAME(line_put_date, "[start=", flow.start, "] ", FLOW_START, WITH(ktimestamp)),
    NAME(line_put_date, "[stop=", flow.stop, "] ", FLOW_STOP, WITH(ktimestamp)),
    TEXT("helper=", flow.helper, FLOW_HELPER),
    NUMBER("use=", flow.use, FLOW_USE),
    NUMBER("id=", flow.id, FLOW_ID, WITH(id)),
    OWN(put_labels, "", flow, "", FLOW_LABELS, WITH(labels)),
    OWN(put_sender, "[USERSPACE] portid=", flow.sender, " ", FLOW_SENDER),
};

static const struct piece expectation_pieces[] = {
    OWN(put_received, "[", expectation.received, "]\t", 0, WITH(timestamp)),
    EVENT(expectation.event),
    NUMBER("", expectation.timeout, FLOW_TIMEOUT),
    NUMBER("proto=", expectation.orig.protocol, 0),
    TUPLE("", expectation.orig, FLOW_ORIG),
    TUPLE("mask-", expectation.mask, FLOW_MASK),
    TUPLE("master-", expectation.master, FLOW_MASTER),
    NUMBER("zone=", expectation.zone, FLOW_ZONE),
    NAME(put_flag_names, "", expectation.flags, "", FLOW_FLAGS),
    NUMBER("class=", expectation.class, FLOW_CLASS),
    TEXT("helper=", expectation.helper, FLOW_HELPER),
};

/* Writes a row. It ends before the space of its last piece. */
char *line_flow(char *dst, const struct flow_row *row)
{
    return PUT_PIECES(dst, row, flow_pieces) - 1;
}

char *line_expectation(char *dst, const struct flow_row *row)
{
    return PUT_PIECES(dst, row, expectation_pieces) - 1;
}
