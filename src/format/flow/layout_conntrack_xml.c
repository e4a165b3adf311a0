/* SPDX-License-Identifier: MIT */
/* Flows and expectations as XML elements, one per line. */
#include "format/flow/layout_conntrack_forms.h"

#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>

static char *open_network(char *dst, uint64_t family)
{
    dst = text_u64(PUT(dst, "<layer3 protonum=\""), family);
    dst = PUT(dst, "\" protoname=\"");
    dst = family == AF_INET    ? PUT(dst, "ipv4")
          : family == AF_INET6 ? PUT(dst, "ipv6")
                               : PUT(dst, "unknown");
    return PUT(dst, "\">");
}

static char *open_transport(char *dst, uint64_t protocol)
{
    dst = text_u64(PUT(dst, "<layer4 protonum=\""), protocol);
    return PUT(put_protocol_name(PUT(dst, "\" protoname=\""), (uint8_t)protocol), "\">");
}

/* Writes ports or GRE keys. Like conntrack, writes nothing for ICMP. */
static char *xml_put_ports(char *dst, const struct flow_row *row, const void *member)
{
    const struct flow_tuple *tuple = member;

    (void)row;
    if (flow_has_ports(tuple->protocol)) {
        dst = text_u64(PUT(dst, "<sport>"), tuple->src_port);
        dst = text_u64(PUT(dst, "</sport><dport>"), tuple->dst_port);
        dst = PUT(dst, "</dport>");
    } else if (tuple->protocol == IPPROTO_GRE) {
        dst = put_hex(PUT(dst, "<srckey>0x"), tuple->src_port);
        dst = put_hex(PUT(dst, "</srckey><dstkey>0x"), tuple->dst_port);
        dst = PUT(dst, "</dstkey>");
    }
    return dst;
}

/* Writes the name of a state. libnetfilter_conntrack 1.0.9 uses TCP's names for SCTP and DCCP, too,
 * so an established association has the state FIN_WAIT. Programs that read this XML expect that. */
static char *put_tcp_state(char *dst, uint64_t state)
{
    return put_state_name(dst, IPPROTO_TCP, (uint8_t)state);
}

/* Pieces that are XML elements. */
#define NUMBER(tag, path, ...)  PIECE(NUMBER, "<" tag ">", path, "</" tag ">", __VA_ARGS__)
#define ADDRESS(tag, path, ...) PIECE(ADDRESS, "<" tag ">", path, "</" tag ">", __VA_ARGS__)
#define TEXT(tag, path, ...)                                                                       \
    PIECE(TEXT, "<" tag ">", path, "</" tag ">", __VA_ARGS__, .delimiters = XML_DELIMITERS)

#define ALWAYS(words) IF(words, kind, 0)
#define EVENT(path)                                                                                \
    ALWAYS("<flow"), IF_EVENT(" type=\"new\"", path, FLOW_NEW),                                    \
        IF_EVENT(" type=\"update\"", path, FLOW_UPDATE),                                           \
        IF_EVENT(" type=\"destroy\"", path, FLOW_DESTROY), ALWAYS(">")
#define ADDRESSES(path, ...)                                                                       \
    ADDRESS("src", path.src, __VA_ARGS__), ADDRESS("dst", path.dst, __VA_ARGS__)
#define WAY(dir)                                                                                   \
    NAME(open_network, "", flow.family, "", FLOW_ORIG << (dir)),                                   \
        ADDRESSES(flow.way[dir].tuple, FLOW_ORIG << (dir)),                                        \
        NAME(open_transport, "</layer3>", flow.way[dir].tuple.protocol, "", FLOW_ORIG << (dir)),   \
        OWN(xml_put_ports, "", flow.way[dir].tuple, "</layer4>", FLOW_ORIG << (dir)),              \
        NUMBER("zone", flow.way[dir].zone, FLOW_ORIG_ZONE << (dir)),                               \
        IF("<counters>", kind, FLOW_ORIG_COUNTERS << (dir)),                                       \
        NUMBER("packets", flow.way[dir].packets, FLOW_ORIG_COUNTERS << (dir)),                     \
        NUMBER("bytes", flow.way[dir].bytes, FLOW_ORIG_COUNTERS << (dir)),                         \
        IF("</counters>", kind, FLOW_ORIG_COUNTERS << (dir)), ALWAYS("</meta>")

/* Writes a local time: minutes and seconds with two digits, the day of the week from 1 (Sunday). */
static char *put_when(char *dst, const struct flow_row *row, const void *member)
{
    const struct tm tm = local_time(row_received(row->record, *(const uint64_t *)member));

    dst = text_u64(PUT(dst, "<when><hour>"), (uint64_t)tm.tm_hour);
    dst = put_two_digits(PUT(dst, "</hour><min>"), (unsigned)tm.tm_min);
    dst = put_two_digits(PUT(dst, "</min><sec>"), (unsigned)tm.tm_sec);
    dst = text_u64(PUT(dst, "</sec><wday>"), (uint64_t)tm.tm_wday + 1);
    dst = text_u64(PUT(dst, "</wday><day>"), (uint64_t)tm.tm_mday);
    dst = text_u64(PUT(dst, "</day><month>"), (uint64_t)tm.tm_mon + 1);
    dst = text_u64(PUT(dst, "</month><year>"), (uint64_t)tm.tm_year + 1900);
    return PUT(dst, "</year></when>");
}

/* Condition of the element "independent": one of these fields is known. They have no direction. */
#define INDEPENDENT                                                                                \
    ANY(FLOW_STATE | FLOW_TIMEOUT | FLOW_MARK | FLOW_SECMARK | FLOW_ZONE | FLOW_USE |              \
        FLOW_STATUS | FLOW_ID | FLOW_LABELS | FLOW_START | FLOW_STOP)
#define TIMES ANY(FLOW_START | FLOW_STOP)

static const struct piece flow_pieces[] = {
    EVENT(flow.event),
    ALWAYS("<meta direction=\"original\">"),
    WAY(WAY_ORIG),
    ALWAYS("<meta direction=\"reply\">"),
    WAY(WAY_REPLY),
    IF("<meta direction=\"independent\">", kind, 0, INDEPENDENT),
    NAME(put_tcp_state, "<state>", flow.state, "</state>", FLOW_STATE),
    NUMBER("timeout", flow.timeout, FLOW_TIMEOUT),
    NUMBER("mark", flow.mark, FLOW_MARK),
    OWN(put_labels, "", flow, "", FLOW_LABELS, WITH(labels)),
    NUMBER("secmark", flow.secmark, FLOW_SECMARK),
    TEXT("secctx", flow.secctx, FLOW_SECCTX, INDEPENDENT),
    NUMBER("zone", flow.zone, FLOW_ZONE),
    NUMBER("use", flow.use, FLOW_USE),
    NUMBER("id", flow.id, FLOW_ID),
    IF_STATUS("<assured/>", IPS_ASSURED, IPS_ASSURED),
    IF_STATUS("<unreplied/>", IPS_SEEN_REPLY, 0),
    IF("<timestamp>", kind, 0, TIMES, WITH(ktimestamp)),
    NUMBER("start", flow.start, FLOW_START, WITH(ktimestamp)),
    NUMBER("stop", flow.stop, FLOW_STOP, WITH(ktimestamp)),
    IF("</timestamp>", kind, 0, TIMES, WITH(ktimestamp)),
    OWN(put_delta, "<deltatime>", flow.start, "</deltatime>", FLOW_START),
    IF("</meta>", kind, 0, INDEPENDENT),
    OWN(put_when, "", flow.received, "", FLOW_EVENT, WITH(timestamp)),
    TEXT("helper", flow.helper, FLOW_HELPER),
    ALWAYS("</flow>"),
    OWN(put_sender, " [USERSPACE] portid=", flow.sender, "", FLOW_SENDER),
};

/* Writes the same pieces for each of the three tuples. */
#define TUPLES(PIECES)                                                                             \
    ALWAYS("<expected>"), PIECES(expectation.orig, FLOW_ORIG), ALWAYS("</expected><mask>"),        \
        PIECES(expectation.mask, FLOW_MASK), ALWAYS("</mask><master>"),                            \
        PIECES(expectation.master, FLOW_MASTER), ALWAYS("</master>")
#define PORTS(path, ...)  OWN(xml_put_ports, "", path, "", __VA_ARGS__)
#define FLAG(words, flag) IF(words, expectation.flags, FLOW_FLAGS, BITS(flag, flag))

static const struct piece expectation_pieces[] = {
    EVENT(expectation.event),
    NAME(open_network, "", expectation.family, "", 0),
    TUPLES(ADDRESSES),
    NAME(open_transport, "</layer3>", expectation.orig.protocol, "", 0),
    TUPLES(PORTS),
    ALWAYS("</layer4><meta>"),
    TEXT("helper-name", expectation.helper, FLOW_HELPER),
    NUMBER("timeout", expectation.timeout, FLOW_TIMEOUT),
    NUMBER("class", expectation.class, FLOW_CLASS),
    NUMBER("zone", expectation.zone, FLOW_ZONE),
    OWN(put_when, "", expectation.received, "", 0, WITH(timestamp)),
    FLAG("<permanent/>", NF_CT_EXPECT_PERMANENT),
    FLAG("<inactive/>", NF_CT_EXPECT_INACTIVE),
    FLAG("<userspace/>", NF_CT_EXPECT_USERSPACE),
    ALWAYS("</meta></flow>"),
};

char *xml_flow(char *dst, const struct flow_row *row)
{
    return PUT_PIECES(dst, row, flow_pieces);
}

char *xml_expectation(char *dst, const struct flow_row *row)
{
    return PUT_PIECES(dst, row, expectation_pieces);
}
