/*
 * The counters of net-tools 2.10 netstat -s: a title for each protocol, then a line for each
 * counter in the words of netstat. If netstat does not know a counter, the line has the kernel's
 * name and the indentation of the line before it; and there is no line if the counter is 0.
 */
#include <string.h>

#include "fastnet/layouts.h"
#include "fastnet/text.h"
#include "format/counter/statistics_texts.h"
#include "format/text/value.h"

/* The histogram of ICMP that a line is in. */
enum histogram { HISTOGRAM_NONE, HISTOGRAM_INPUT, HISTOGRAM_OUTPUT };

struct statistics_sink {
    struct sink sink;
    struct statistics_layout layout;
    enum histogram histogram;             /* of the line before */
    const struct statistics_table *table; /* of the protocol, NULL if netstat does not know it */
};

static struct statistics_sink *statistics_of(struct sink *sink)
{
    return (struct statistics_sink *)sink;
}

static void begin(struct sink *sink)
{
    statistics_of(sink)->histogram = HISTOGRAM_NONE;
    statistics_of(sink)->table = NULL;
}

static void put_indent(const struct statistics_sink *statistics)
{
    writer_puts(statistics->sink.writer,
                statistics->histogram == HISTOGRAM_NONE ? "    " : "        ");
}

static void put_escaped(struct writer *writer, struct text text)
{
    enum text_part part = PART_TEXT;

    text_put(writer, text, NULL, &part);
}

/* netstat shows a number below zero without a sign, as the number that its bits are then. */
static void put_value(struct writer *writer, const struct record *record)
{
    const struct counter_record *counter = &record->counter;
    char *dst;

    if (!(record->has & COUNTER_VALUE)) {
        writer_puts(writer, "-");
        return;
    }
    dst = writer_reserve(writer, TEXT_U64_MAX);
    writer_commit(writer, text_u64(dst, counter->negative ? UINT64_C(0) - counter->magnitude
                                                          : counter->magnitude));
}

static bool is_zero(const struct record *record)
{
    return (record->has & COUNTER_VALUE) && record->counter.magnitude == 0;
}

/* A protocol that netstat does not know leaves the histogram as it is. */
static void start_protocol(struct statistics_sink *statistics, const struct counter_record *counter,
                           bool shown)
{
    statistics->table = statistics_table_of(counter->protocol);
    if (statistics->table)
        statistics->histogram = HISTOGRAM_NONE;
    if (!statistics->layout.header || !shown)
        return;
    put_escaped(statistics->sink.writer, counter->protocol);
    writer_puts(statistics->sink.writer, ":\n");
}

static void put_unknown(const struct statistics_sink *statistics, const struct record *record)
{
    struct writer *writer = statistics->sink.writer;

    if (is_zero(record))
        return;
    put_indent(statistics);
    put_escaped(writer, record->counter.name);
    writer_puts(writer, ": ");
    put_value(writer, record);
    writer_puts(writer, "\n");
}

/* A histogram's title is indented as the line before it, so that the second is inside the first. */
static void enter_histogram(struct statistics_sink *statistics, enum histogram histogram)
{
    static const char *const titles[] = {[HISTOGRAM_INPUT] = "ICMP input histogram:\n",
                                         [HISTOGRAM_OUTPUT] = "ICMP output histogram:\n"};

    if (histogram != HISTOGRAM_NONE && histogram != statistics->histogram) {
        put_indent(statistics);
        writer_puts(statistics->sink.writer, titles[histogram]);
    }
    statistics->histogram = histogram;
}

static void put_known(struct statistics_sink *statistics, const struct record *record,
                      const struct statistics_text *text)
{
    static const enum histogram histograms[] = {[STATISTICS_ALWAYS] = HISTOGRAM_NONE,
                                                [STATISTICS_NONZERO] = HISTOGRAM_NONE,
                                                [STATISTICS_INPUT] = HISTOGRAM_INPUT,
                                                [STATISTICS_OUTPUT] = HISTOGRAM_OUTPUT};
    struct writer *writer = statistics->sink.writer;

    enter_histogram(statistics, histograms[text->kind]);
    if (is_zero(record) && text->kind != STATISTICS_ALWAYS)
        return;
    put_indent(statistics);
    writer_puts(writer, text->before);
    put_value(writer, record);
    writer_puts(writer, text->after);
    writer_puts(writer, "\n");
}

static void row(struct sink *sink, const struct record *record)
{
    struct statistics_sink *statistics = statistics_of(sink);
    const struct counter_record *counter = &record->counter;
    const struct statistics_text *text;
    const bool shown = predicate_holds(statistics->layout.where, record, statistics->sink.context);

    if (counter->first)
        start_protocol(statistics, counter, shown);
    if (!shown)
        return;
    text = statistics->table ? statistics_text_of(statistics->table, counter->name) : NULL;
    if (!text)
        put_unknown(statistics, record);
    else if (text->kind != STATISTICS_HIDDEN)
        put_known(statistics, record, text);
}

const struct sink_ops sink_statistics = {
    .size = sizeof(struct statistics_sink),
    .layout_size = sizeof(struct statistics_layout),
    .begin = begin,
    .row = row,
};
