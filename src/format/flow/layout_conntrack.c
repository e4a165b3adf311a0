/*
 * The layout of conntrack-tools 1.4.7, and of libnetfilter_conntrack 1.0.9 which it prints with.
 * What others chose is escaped, and nothing is cut.
 */
#include "format/flow/layout_conntrack.h"

#include <stdlib.h>

#include "fastnet/clock.h"
#include "fastnet/lookup.h"
#include "format/text/value.h"

char *put_hex(char *dst, uint16_t number)
{
    static const char digits[] = "0123456789abcdef";
    int shift = 12;

    dst = PUT(dst, "0x");
    while (shift > 0 && number >> shift == 0)
        shift -= 4;
    for (; shift >= 0; shift -= 4)
        *dst++ = digits[number >> shift & 15];
    return dst;
}

char *put_more(struct writer *writer, char *dst)
{
    writer_commit(writer, dst);
    return writer_reserve(writer, ROW_MAX);
}

char *put_foreign(struct writer *writer, char *dst, struct text text, const char *delimiters)
{
    enum text_part part = PART_TEXT;

    if (text.length <= SHORT_TEXT_MAX)
        return escape_text(dst, text.data, text.length, delimiters);
    writer_commit(writer, dst);
    text_put(writer, text, delimiters, &part);
    return writer_reserve(writer, ROW_MAX);
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
    return record->has & FLOW_EVENT ? received : clock_nanoseconds(CLOCK_REALTIME);
}

/* A number and what fills it up to the width: zeroes before it, or blanks behind. */
static char *put_filled(char *dst, uint64_t number, size_t width, char fill)
{
    char digits[TEXT_U64_MAX];
    const size_t length = (size_t)(text_u64(digits, number) - digits);
    const size_t missing = length < width ? width - length : 0;

    if (fill == '0') {
        memset(dst, '0', missing);
        return put_bytes(dst + missing, digits, length);
    }
    dst = put_bytes(dst, digits, length);
    memset(dst, fill, missing);
    return dst + missing;
}

/* "[sec.usec]" and a tab. For expectations conntrack forgets a point in the format. */
static char *put_timestamp(char *dst, uint64_t moment, char fill)
{
    *dst++ = '[';
    dst = put_filled(dst, moment / CLOCK_SECOND, 8, fill);
    *dst++ = '.';
    dst = put_filled(dst, moment / 1000 % 1000000, 6, fill);
    return PUT(dst, "]\t");
}

/* Who brought an event about. In XML it stands behind the element. */
static char *put_sender(const struct conntrack_sink *conntrack, char *dst, uint32_t sender)
{
    struct senders *senders = conntrack->sink.context->senders;
    const char *name = senders ? senders_name(senders, sender) : NULL;

    dst = text_u64(PUT(dst, " [USERSPACE] portid="), sender);
    if (!name)
        return dst;
    dst = PUT(dst, " progname=");
    return put_foreign(conntrack->sink.writer, dst, (struct text){name, strlen(name)},
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
static void open_root(struct conntrack_sink *conntrack, const char *root)
{
    if (!conntrack->layout.xml || conntrack->root)
        return;
    conntrack->root = root;
    writer_puts(conntrack->sink.writer, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<");
    writer_puts(conntrack->sink.writer, root);
    writer_puts(conntrack->sink.writer, ">\n");
}

static void row(struct sink *sink, const struct record *record)
{
    struct conntrack_sink *conntrack = (struct conntrack_sink *)sink;

    if (record->kind == &kind_flow)
        open_root(conntrack, "conntrack");
    else if (record->kind == &kind_expectation)
        open_root(conntrack, "expect");
    char *dst = writer_reserve(sink->writer, ROW_MAX);
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

static void destroy(struct sink *sink)
{
    free(sink);
}

struct sink *sink_conntrack_create(const struct conntrack_layout *layout, struct writer *writer,
                                   const struct context *context)
{
    static const struct sink_ops ops = {.begin = begin, .row = row, .end = end, .destroy = destroy};
    struct conntrack_sink *conntrack = malloc(sizeof *conntrack);

    if (!conntrack)
        return NULL;
    *conntrack = (struct conntrack_sink){.sink = {&ops, writer, context}, .layout = *layout};
    return &conntrack->sink;
}
