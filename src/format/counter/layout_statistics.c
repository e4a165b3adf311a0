/*
 * The counters of net-tools 2.10 netstat -s: a title a protocol, then a line a counter in its
 * words. A counter that it does not know is shown by the kernel's name, unless it is 0, as far
 * indented as what was shown before it.
 */
#include <stdlib.h>
#include <string.h>

#include "fastnet/sink.h"
#include "fastnet/text.h"
#include "format/counter/statistics_texts.h"
#include "format/text/value.h"

/* Where the lines are: among a protocol's, or in one of the histograms of ICMP. */
enum place { PLACE_PROTOCOL, PLACE_INPUT, PLACE_OUTPUT };

struct statistics_sink {
    struct sink sink;
    struct statistics_layout layout;
    enum place place;
    const struct statistics_table *table; /* of the protocol at hand, or NULL */
};

static struct statistics_sink *statistics_of(struct sink *sink)
{
    return (struct statistics_sink *)sink;
}

static void begin(struct sink *sink)
{
    statistics_of(sink)->place = PLACE_PROTOCOL;
    statistics_of(sink)->table = NULL;
}

static void put_indent(const struct statistics_sink *statistics, enum place place)
{
    writer_puts(statistics->sink.writer, place == PLACE_PROTOCOL ? "    " : "        ");
}

static void put_escaped(struct writer *writer, struct text text)
{
    enum text_part part = PART_TEXT;

    text_put(writer, text, NULL, &part);
}

/* netstat shows what is below zero as the number that the same bits are without a sign. */
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

/* A protocol that netstat does not know leaves the place as it is. */
static void start_protocol(struct statistics_sink *statistics, const struct counter_record *counter,
                           bool shown)
{
    statistics->table = statistics_table_of(counter->protocol);
    if (statistics->table)
        statistics->place = PLACE_PROTOCOL;
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
    put_indent(statistics, statistics->place);
    put_escaped(writer, record->counter.name);
    writer_puts(writer, ": ");
    put_value(writer, record);
    writer_puts(writer, "\n");
}

/* A histogram's title is indented as what is before it: the second one stands in the first. */
static void enter(struct statistics_sink *statistics, enum place place)
{
    static const char *const titles[] = {
        [PLACE_INPUT] = "ICMP input histogram:\n", [PLACE_OUTPUT] = "ICMP output histogram:\n"};

    if (place != PLACE_PROTOCOL && place != statistics->place) {
        put_indent(statistics, statistics->place);
        writer_puts(statistics->sink.writer, titles[place]);
    }
    statistics->place = place;
}

static void put_known(struct statistics_sink *statistics, const struct record *record,
                      const struct statistics_text *text)
{
    static const enum place places[] = {[STATISTICS_ALWAYS] = PLACE_PROTOCOL,
                                        [STATISTICS_NONZERO] = PLACE_PROTOCOL,
                                        [STATISTICS_INPUT] = PLACE_INPUT,
                                        [STATISTICS_OUTPUT] = PLACE_OUTPUT};
    struct writer *writer = statistics->sink.writer;

    enter(statistics, places[text->kind]);
    if (is_zero(record) && text->kind != STATISTICS_ALWAYS)
        return;
    put_indent(statistics, statistics->place);
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
    const bool shown = statistics->layout.shows(record, statistics->layout.arg);

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

static void end(struct sink *sink)
{
    (void)sink;
}

static void destroy(struct sink *sink)
{
    free(sink);
}

struct sink *sink_statistics_create(const struct statistics_layout *layout, struct writer *writer,
                                    const struct context *context)
{
    static const struct sink_ops ops = {.begin = begin, .row = row, .end = end, .destroy = destroy};
    struct statistics_sink *statistics = malloc(sizeof *statistics);

    if (!statistics)
        return NULL;
    *statistics = (struct statistics_sink){.sink = {&ops, writer, context}, .layout = *layout};
    return &statistics->sink;
}
