/* SPDX-License-Identifier: MIT */
/*
 * The layout of conntrack-tools 1.4.7, and of libnetfilter_conntrack 1.0.9, which it prints with.
 * What others chose is escaped, and nothing is cut.
 */
#include "format/flow/layout_conntrack.h"

#include "fastnet/clock.h"
#include "fastnet/lookup.h"
#include "format/text/value.h"

/* --- What the forms share --------------------------------------------------------------------- */

char *put_more(const struct conntrack_sink *conntrack, char *dst)
{
    writer_commit(conntrack->sink.writer, dst);
    return writer_reserve(conntrack->sink.writer, ROW_MAX);
}

char *put_foreign(const struct conntrack_sink *conntrack, char *dst, struct text text,
                  const char *delimiters)
{
    struct writer *writer = conntrack->sink.writer;

    if (text.length <= SHORT_TEXT_MAX)
        return escape_text(dst, text.data, text.length, delimiters);
    writer_commit(writer, dst);
    text_put(writer, text, delimiters, PART_TEXT);
    return writer_reserve(writer, ROW_MAX);
}

char *put_bit_names(char *dst, const struct flag_names *names, uint32_t bits)
{
    const char *const start = dst;

    for (; bits; bits &= bits - 1) {
        const unsigned bit = (unsigned)__builtin_ctz(bits);
        if (bit < names->count)
            dst = put_string(dst == start ? dst : PUT(dst, ","), names->names[bit]);
    }
    return dst;
}

struct text next_label(const struct conntrack_sink *conntrack, const struct flow_record *flow,
                       size_t *bit)
{
    const struct flag_names *names = labels_names(conntrack->sink.context->labels);

    while (*bit < FLOW_LABEL_BITS && *bit < names->count) {
        const bool set = flow->labels[*bit / 32] >> *bit % 32 & 1;
        const char *name = names->names[(*bit)++];
        if (set && name && *name)
            return (struct text){name, strlen(name)};
    }
    return (struct text){.data = NULL};
}

uint64_t seconds_since(uint64_t start)
{
    return (uint64_t)time(NULL) - start / CLOCK_SECOND;
}

struct tm local_time(uint64_t moment)
{
    const time_t seconds = (time_t)(moment / CLOCK_SECOND);
    struct tm tm = {.tm_mday = 1};

    localtime_r(&seconds, &tm);
    return tm;
}

uint64_t row_received(const struct record *record, uint64_t received)
{
    return (record->has & FLOW_EVENT) ? received : clock_nanoseconds(CLOCK_REALTIME);
}

/* --- Rows ------------------------------------------------------------------------------------- */

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
    return put_foreign(conntrack, dst, (struct text){name, strlen(name)},
                       conntrack->layout.xml ? " <>&\"" : " ");
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

/* The header of a document, before its first row. */
static void open_root(struct conntrack_sink *conntrack, const struct record *record)
{
    const char *root = record->kind == &kind_flow ? "conntrack" : "expect";

    if (record->kind != &kind_flow && record->kind != &kind_expectation)
        return;
    conntrack->root = root;
    writer_puts(conntrack->sink.writer, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<");
    writer_puts(conntrack->sink.writer, root);
    writer_puts(conntrack->sink.writer, ">\n");
}

static void row(struct sink *sink, const struct record *record)
{
    struct conntrack_sink *conntrack = (struct conntrack_sink *)sink;
    char *dst;

    if (conntrack->layout.xml && !conntrack->root)
        open_root(conntrack, record);
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
