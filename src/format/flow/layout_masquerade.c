/*
 * The masqueraded connections of net-tools 2.10 netstat -M, which knew them from a file that Linux
 * has not had since 2.2. What stood in it is told by connection tracking: the connection as it was
 * sent, and the port that it was sent on from.
 */
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/flow_names.h"
#include "fastnet/lookup.h"
#include "fastnet/sink.h"
#include "fastnet/text.h"
#include "format/text/put.h"

enum {
    PROTOCOL_WIDTH = 4,
    MINUTES_WIDTH = 3,
    SEQUENCE_WIDTH = 10,
    DELTA_WIDTH = 5,
    ADDRESS_WIDTH = 20,
    NAME_MAX_SHOWN = 512, /* of a service: three of them and two hosts fit into the reserve */
};

struct masquerade_sink {
    struct sink sink;
    struct masquerade_layout layout;
    bool headed; /* the heading was written: it comes with the first row, or not at all */
};

static struct masquerade_sink *masquerade_of(struct sink *sink)
{
    return (struct masquerade_sink *)sink;
}

static void begin(struct sink *sink)
{
    masquerade_of(sink)->headed = false;
}

static void put_heading(struct masquerade_sink *masquerade)
{
    struct writer *writer = masquerade->sink.writer;

    if (!masquerade->layout.header || masquerade->headed)
        return;
    masquerade->headed = true;
    writer_puts(writer, "IP masquerading entries\nprot   expire ");
    if (masquerade->layout.extended)
        writer_puts(writer, "   initseq delta prevd ");
    writer_puts(writer, "source               destination          ports\n");
}

static char *put_text_right(char *dst, const char *text, size_t length, size_t width)
{
    if (length < width) {
        memset(dst, ' ', width - length);
        dst += width - length;
    }
    memcpy(dst, text, length);
    return dst + length;
}

static char *put_number(char *dst, uint64_t number, size_t width)
{
    char digits[TEXT_U64_MAX];

    return put_text_right(dst, digits, (size_t)(text_u64(digits, number) - digits), width);
}

static char *put_protocol(char *dst, uint8_t protocol)
{
    const struct text name = flow_protocol_name(protocol);
    char *start = dst;

    if (protocol == IPPROTO_ESP)
        dst = put_string(dst, "esp");
    else if (name.data)
        dst = put_text_right(dst, name.data, name.length, 0);
    else
        dst = text_u64(dst, protocol);
    return text_pad(dst, start, PROTOCOL_WIDTH);
}

/* Minutes, seconds and hundredths, which the kernel no longer tells. */
static char *put_expiry(char *dst, const struct record *record)
{
    uint32_t seconds = record->flow.timeout;

    if (!(record->has & FLOW_TIMEOUT))
        return put_string(dst, "     -    ");
    if (seconds / 60 > 99 && dst[-1] != ' ')
        *dst++ = ' ';
    dst = put_number(dst, seconds / 60, MINUTES_WIDTH);
    *dst++ = ':';
    *dst++ = (char)('0' + seconds % 60 / 10);
    *dst++ = (char)('0' + seconds % 10);
    return put_string(dst, ".00 ");
}

/*
 * From where on sequence numbers are changed, and by how much: nothing, unless the kernel says that
 * it changes them, and then only it knows. Who cannot tell an id has read /proc, where that is not
 * said either way.
 */
static char *put_sequence(char *dst, const struct record *record)
{
    const uint64_t known = FLOW_STATUS | FLOW_ID;
    const bool unchanged =
        (record->has & known) == known && !(record->flow.status & IPS_SEQ_ADJUST);
    const char *text = unchanged ? "0" : "-";

    dst = put_text_right(dst, text, 1, SEQUENCE_WIDTH);
    *dst++ = ' ';
    dst = put_text_right(dst, text, 1, DELTA_WIDTH);
    *dst++ = ' ';
    dst = put_text_right(dst, text, 1, DELTA_WIDTH);
    *dst++ = ' ';
    return dst;
}

static char *put_host(char *dst, const struct masquerade_sink *masquerade,
                      const struct address *address)
{
    const char *name = NULL;
    char *start = dst;

    if (!masquerade->layout.numeric_hosts)
        name = hosts_name(masquerade->sink.context->hosts, address);
    dst = name ? escape_text(dst, name, strlen(name), NULL) : text_address(dst, address);
    dst = text_pad(dst, start, ADDRESS_WIDTH);
    *dst++ = ' ';
    return dst;
}

/* netstat knows the services of TCP and UDP alone. */
static char *put_port(char *dst, const struct masquerade_sink *masquerade, uint8_t protocol,
                      uint16_t port)
{
    const char *name = NULL;

    if (port == 0)
        return put_string(dst, "*");
    if (!masquerade->layout.numeric_ports && (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP))
        name = services_name(masquerade->sink.context->services, protocol, port);
    if (!name || strnlen(name, NAME_MAX_SHOWN + 1) > NAME_MAX_SHOWN)
        return text_u64(dst, port);
    return escape_text(dst, name, strlen(name), NULL);
}

/* ICMP's id was the port of its source, type and code together that of its destination. */
static uint16_t destination_port(const struct flow_tuple *tuple)
{
    if (flow_is_icmp(tuple->protocol))
        return (uint16_t)(tuple->icmp_type << 8 | tuple->icmp_code);
    return tuple->dst_port;
}

static uint16_t masqueraded_port(const struct flow_tuple *reply)
{
    return flow_is_icmp(reply->protocol) ? reply->src_port : reply->dst_port;
}

static void row(struct sink *sink, const struct record *record)
{
    struct masquerade_sink *masquerade = masquerade_of(sink);
    const struct flow_record *flow = &record->flow;
    const uint8_t protocol = flow->way[WAY_ORIG].tuple.protocol;
    char *dst;

    put_heading(masquerade);
    dst = writer_reserve(sink->writer, WRITER_RESERVE_MAX);
    dst = put_protocol(dst, protocol);
    dst = put_expiry(dst, record);
    if (masquerade->layout.extended)
        dst = put_sequence(dst, record);
    dst = put_host(dst, masquerade, &flow->way[WAY_ORIG].tuple.src);
    dst = put_host(dst, masquerade, &flow->way[WAY_ORIG].tuple.dst);
    dst = put_port(dst, masquerade, protocol, flow->way[WAY_ORIG].tuple.src_port);
    dst = put_string(dst, " -> ");
    dst = put_port(dst, masquerade, protocol, destination_port(&flow->way[WAY_ORIG].tuple));
    dst = put_string(dst, " (");
    dst = put_port(dst, masquerade, protocol, masqueraded_port(&flow->way[WAY_REPLY].tuple));
    dst = put_string(dst, ")\n");
    writer_commit(sink->writer, dst);
}

static void end(struct sink *sink)
{
    (void)sink;
}

static void destroy(struct sink *sink)
{
    free(sink);
}

struct sink *sink_masquerade_create(const struct masquerade_layout *layout, struct writer *writer,
                                    const struct context *context)
{
    static const struct sink_ops ops = {.begin = begin, .row = row, .end = end, .destroy = destroy};
    struct masquerade_sink *masquerade = malloc(sizeof *masquerade);

    if (!masquerade)
        return NULL;
    *masquerade = (struct masquerade_sink){.sink = {&ops, writer, context}, .layout = *layout};
    return &masquerade->sink;
}
