/* SPDX-License-Identifier: MIT */
/* The counters of net-tools 2.10 netstat -s: a title for each protocol, then a line for each
 * counter in the words of netstat. For a counter that netstat does not know, the line has the
 * kernel's name and the indentation of the line before it, and is left out if the counter is 0. */

#include <string.h>

#include "fastnet/layouts.h"
#include "fastnet/text.h"
#include "format/counter/statistics_texts.h"
#include "model/value.h"

struct statistics_sink {
    struct sink sink;
    struct statistics_layout layout;
    char protocol[32];                    /* protocol of the last saved row */
    enum statistics_kind histogram;       /* histogram of the last line, or 0 */
    const struct statistics_table *table; /* words of a protocol; NULL: unknown to netstat */
};

static void statistics_begin(struct sink *sink)
{
    struct statistics_sink *statistics = (struct statistics_sink *)sink;

    statistics->histogram = 0;
    statistics->table = NULL;
    statistics->protocol[0] = '\0';
}

static void statistics_put_indent(const struct statistics_sink *statistics)
{
    writer_puts(statistics->sink.writer, statistics->histogram ? "        " : "    ");
}

/* Writes the title of a histogram when its first counter comes. The title has the indentation of
 * the line before it, so the second histogram is inside of the first, as in netstat. */
static void enter_histogram(struct statistics_sink *statistics, enum statistics_kind kind)
{
    static const char *const titles[] = {[STATISTICS_INPUT] = "ICMP input histogram:\n",
                                         [STATISTICS_OUTPUT] = "ICMP output histogram:\n"};
    const bool is_inside = kind == STATISTICS_INPUT || kind == STATISTICS_OUTPUT;

    if (is_inside && kind != statistics->histogram) {
        statistics_put_indent(statistics);
        writer_puts(statistics->sink.writer, titles[kind]);
    }
    statistics->histogram = is_inside ? kind : 0;
}

/* Writes the line of a counter. text: netstat's words; NULL: netstat does not know the counter. */
static void put_counter(struct statistics_sink *statistics, const struct record *record,
                        const struct statistics_text *text)
{
    struct writer *writer = statistics->sink.writer;
    const struct counter_record *counter = &record->counter;
    const bool known = record->has & COUNTER_VALUE;
    /* netstat shows the bits of a negative number as a number without a sign */
    const uint64_t number = counter->negative ? 0 - counter->magnitude : counter->magnitude;

    if (text)
        enter_histogram(statistics, text->kind);
    if (known && number == 0 && !(text && text->kind == STATISTICS_ALWAYS))
        return;
    statistics_put_indent(statistics);
    if (text)
        writer_puts(writer, text->before);
    else
        text_put(writer, counter->name, NULL, PART_TEXT);
    writer_puts(writer, text ? "" : ": ");
    if (known)
        writer_commit(writer, text_u64(writer_reserve(writer, TEXT_U64_MAX), number));
    else
        writer_puts(writer, "-");
    writer_puts(writer, text ? text->after : "");
    writer_puts(writer, "\n");
}

/* True if the counter is the first of its protocol. */
static bool is_first_counter(struct statistics_sink *statistics,
                             const struct counter_record *counter, bool is_saved)
{
    if (!is_saved)
        return counter->first;
    if (counter->protocol.length >= sizeof statistics->protocol ||
        text_is(counter->protocol, statistics->protocol))
        return false;
    memcpy(statistics->protocol, counter->protocol.data, counter->protocol.length);
    statistics->protocol[counter->protocol.length] = '\0';
    return true;
}

static void statistics_row(struct sink *sink, const struct record *record)
{
    struct statistics_sink *statistics = (struct statistics_sink *)sink;
    const struct counter_record *counter = &record->counter;
    const bool shown = predicate_holds(statistics->layout.where, record, statistics->sink.context);

    if (is_first_counter(statistics, counter, record->saved)) {
        statistics->table = statistics_table_of(counter->protocol);
        if (statistics->table) /* a protocol that netstat does not know keeps the indentation */
            statistics->histogram = 0;
        if (statistics->layout.header && shown) {
            text_put(sink->writer, counter->protocol, NULL, PART_TEXT);
            writer_puts(sink->writer, ":\n");
        }
    }
    if (!shown)
        return;
    const struct statistics_text *text =
        statistics->table ? statistics_text_of(statistics->table, counter->name) : NULL;
    if (!text || text->kind != STATISTICS_HIDDEN)
        put_counter(statistics, record, text);
}

const struct sink_ops sink_statistics = {
    .size = sizeof(struct statistics_sink),
    .layout_size = sizeof(struct statistics_layout),
    .begin = statistics_begin,
    .row = statistics_row,
};
