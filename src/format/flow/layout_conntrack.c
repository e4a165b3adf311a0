/* SPDX-License-Identifier: MIT */
/*
 * The layout of conntrack-tools 1.4.7, and of libnetfilter_conntrack 1.0.9, which it prints with.
 * What others chose is escaped, and nothing is cut.
 */
#include "format/flow/layout_conntrack_forms.h"

#include "fastnet/clock.h"
#include "fastnet/lookup.h"

/* A number that fills the width: zeroes before it, or blanks behind it. */
static char *put_filled(char *dst, uint64_t number, size_t width, char fill)
{
    char *stop = text_u64(dst, number);

    if (fill == ' ')
        return text_pad(stop, dst, width);
    for (stop = align_right(stop, dst, width); *dst == ' '; dst++)
        *dst = '0';
    return stop;
}

/* "[sec.usec]" and a tab. conntrack fills with blanks for expectations: its format lacks a point.
 */
static char *put_timestamp(char *dst, uint64_t moment, char fill)
{
    *dst++ = '[';
    dst = put_filled(dst, moment / CLOCK_SECOND, 8, fill);
    *dst++ = '.';
    dst = put_filled(dst, moment / 1000 % 1000000, 6, fill);
    return PUT(dst, "]\t");
}

/* The process that made a change. In XML it stands behind the element. */
static char *put_sender(const struct conntrack_sink *conntrack, char *dst, uint32_t sender)
{
    struct senders *senders = conntrack->sink.context->senders;
    const char *name = senders ? senders_name(senders, sender) : NULL;

    dst = text_u64(PUT(dst, " [USERSPACE] portid="), sender);
    if (!name)
        return dst;
    dst = PUT(dst, " progname=");
    return put_foreign(conntrack, dst, as_text(name), conntrack->layout.xml ? " <>&\"" : " ");
}

static char *put_flow(const struct conntrack_sink *conntrack, char *dst,
                      const struct record *record)
{
    const struct conntrack_layout *layout = &conntrack->layout;

    if (layout->save) {
        dst = save_flow(dst, record);
    } else if (layout->xml) {
        dst = xml_flow(conntrack, dst, record);
    } else {
        if (layout->timestamp && (record->has & FLOW_EVENT))
            dst = put_timestamp(dst, record->flow.received, '0');
        dst = line_flow(conntrack, dst, record);
    }
    if (record->has & FLOW_SENDER)
        dst = put_sender(conntrack, dst, record->flow.sender);
    *dst++ = '\n';
    return dst;
}

static char *put_expectation(const struct conntrack_sink *conntrack, char *dst,
                             const struct record *record)
{
    const struct conntrack_layout *layout = &conntrack->layout;

    if (layout->xml) {
        dst = xml_expectation(conntrack, dst, record);
    } else {
        if (layout->timestamp)
            dst = put_timestamp(dst, row_received(record, record->expectation.received), ' ');
        dst = line_expectation(conntrack, dst, record);
    }
    *dst++ = '\n';
    return dst;
}

static void row(struct sink *sink, const struct record *record)
{
    struct conntrack_sink *conntrack = (struct conntrack_sink *)sink;
    char *dst;

    /* the header of a document, before its first row */
    if (conntrack->layout.xml && !conntrack->root &&
        (record->kind == &kind_flow || record->kind == &kind_expectation)) {
        conntrack->root = record->kind == &kind_flow ? "conntrack" : "expect";
        writer_puts(sink->writer, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<");
        writer_puts(sink->writer, conntrack->root);
        writer_puts(sink->writer, ">\n");
    }
    dst = writer_reserve(sink->writer, ROW_MAX);
    if (record->kind == &kind_flow)
        dst = put_flow(conntrack, dst, record);
    else if (record->kind == &kind_expectation)
        dst = put_expectation(conntrack, dst, record);
    else if (record->kind == &kind_flow_statistics)
        dst = line_statistics(dst, record);
    else if (record->kind == &kind_flow_usage)
        dst = block_usage(dst, record);
    writer_commit(sink->writer, dst);
}

static void begin(struct sink *sink)
{
    ((struct conntrack_sink *)sink)->root = NULL;
}

static void end(struct sink *sink)
{
    const struct conntrack_sink *conntrack = (const struct conntrack_sink *)sink;

    if (!conntrack->root)
        return;
    writer_puts(sink->writer, "</");
    writer_puts(sink->writer, conntrack->root);
    writer_puts(sink->writer, ">\n");
}

const struct sink_ops sink_conntrack = {
    .size = sizeof(struct conntrack_sink),
    .layout_size = sizeof(struct conntrack_layout),
    .begin = begin,
    .row = row,
    .end = end,
};
