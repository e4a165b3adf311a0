/* SPDX-License-Identifier: MIT */
/* The masqueraded connections of net-tools 2.10 netstat -M, which reads a file that Linux has not
 * had since 2.2. Connection tracking has the same data: the connection as its sender sees it, and
 * the port that masquerading gave it. */
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>

#include "fastnet/flow_names.h"
#include "fastnet/layouts.h"
#include "fastnet/text.h"
#include "text/put.h"

enum {
    PROTOCOL_WIDTH = 4,
    MINUTES_WIDTH = 3,
    ADDRESS_WIDTH = 20,
    NUMERIC_ROW_MAX = 256, /* the longest row without names */
};

_Static_assert(NUMERIC_ROW_MAX + ESCAPE_FACTOR * (2 * HOST_MAX + 3 * NAME_MAX_SHOWN) <=
                   WRITER_RESERVE_MAX,
               "the reserve holds a row with two host names and three services");

struct masquerade_sink {
    struct sink sink;
    struct masquerade_layout layout;
    bool headed; /* the heading, which comes with the first row, was written */
};

static void masquerade_begin(struct sink *sink)
{
    ((struct masquerade_sink *)sink)->headed = false;
}

static char *masquerade_put_protocol(char *dst, uint8_t protocol)
{
    const struct text name =
        protocol == IPPROTO_ESP ? (struct text)TEXT_LITERAL("esp") : flow_protocol_name(protocol);

    return text_pad(name.data ? put_text(dst, name) : text_u64(dst, protocol), dst, PROTOCOL_WIDTH);
}

/* Writes minutes, seconds and ".00": today's kernels do not report hundredths. */
static char *put_expiry(char *dst, const struct record *record)
{
    uint32_t seconds = record->flow.timeout;

    if (!(record->has & FLOW_TIMEOUT))
        return put_string(dst, "     -    ");
    if (seconds / 60 > 99 && dst[-1] != ' ')
        *dst++ = ' ';
    dst = PUT(put_number_right(dst, seconds / 60, MINUTES_WIDTH), ":");
    return PUT(put_two_digits(dst, seconds % 60), ".00 ");
}

/* Writes the three ports. Like netstat, names only services of TCP and UDP. */
static char *masquerade_put_ports(char *dst, const struct masquerade_sink *masquerade,
                                  const struct flow_tuple *orig, const struct flow_tuple *reply)
{
    const bool named = !masquerade->layout.numeric_ports &&
                       (orig->protocol == IPPROTO_TCP || orig->protocol == IPPROTO_UDP);
    const struct services *services = named ? masquerade->sink.context->services : NULL;
    const uint16_t masqueraded = flow_is_icmp(reply->protocol) ? reply->src_port : reply->dst_port;
    /* ICMP: the id is the source port; type and code together are the destination port */
    const uint16_t destination = flow_is_icmp(orig->protocol)
                                     ? (uint16_t)(orig->icmp_type << 8 | orig->icmp_code)
                                     : orig->dst_port;

    dst = put_port(dst, services, orig->protocol, orig->src_port, NULL);
    dst = put_port(PUT(dst, " -> "), services, orig->protocol, destination, NULL);
    dst = put_port(PUT(dst, " ("), services, orig->protocol, masqueraded, NULL);
    return PUT(dst, ")\n");
}

static void masquerade_row(struct sink *sink, const struct record *record)
{
    struct masquerade_sink *masquerade = (struct masquerade_sink *)sink;
    const struct flow_tuple *orig = &record->flow.way[WAY_ORIG].tuple;
    const struct hosts *hosts = masquerade->layout.numeric_hosts ? NULL : sink->context->hosts;
    /* The columns initseq, delta and prevd describe changed sequence numbers. 0: the kernel does
     * not change them. "-": unknown, because the kernel changes them without reporting how, or
     * because the row is from /proc (without an id). */
    const bool unchanged = record->has & FLOW_STATUS && record->has & FLOW_ID &&
                           !(record->flow.status & IPS_SEQ_ADJUST);
    char *dst;

    if (masquerade->layout.header && !masquerade->headed) {
        writer_puts(sink->writer, "IP masquerading entries\nprot   expire ");
        if (masquerade->layout.extended)
            writer_puts(sink->writer, "   initseq delta prevd ");
        writer_puts(sink->writer, "source               destination          ports\n");
        masquerade->headed = true;
    }
    dst = writer_reserve(sink->writer, WRITER_RESERVE_MAX);
    dst = masquerade_put_protocol(dst, orig->protocol);
    dst = put_expiry(dst, record);
    if (masquerade->layout.extended)
        dst = put_string(dst, unchanged ? "         0     0     0 " : "         -     -     - ");
    dst = end_cell(put_host(dst, hosts, &orig->src, NULL), dst, ADDRESS_WIDTH);
    dst = end_cell(put_host(dst, hosts, &orig->dst, NULL), dst, ADDRESS_WIDTH);
    dst = masquerade_put_ports(dst, masquerade, orig, &record->flow.way[WAY_REPLY].tuple);
    writer_commit(sink->writer, dst);
}

const struct sink_ops sink_masquerade = {
    .size = sizeof(struct masquerade_sink),
    .layout_size = sizeof(struct masquerade_layout),
    .begin = masquerade_begin,
    .row = masquerade_row,
};
