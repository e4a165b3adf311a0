/* SPDX-License-Identifier: MIT */
/* The summary for people: a line for each row with the value, its limit and the percentage of the
 * limit in use, and words for a row that is close to its limit. */
#include "fastnet/array.h"
#include "fastnet/layouts.h"
#include "text/put.h"

enum { NAME_WIDTH = 18, NUMBER_WIDTH = 12, PERCENT_WIDTH = 8, SUBJECT_MAX = 32 };

struct summary_sink {
    struct sink sink;
    struct summary_layout layout;
    char subject[SUBJECT_MAX]; /* subject of the last row */
    size_t subject_length;
};

static void layout_summary_begin(struct sink *sink)
{
    const struct summary_sink *summary = (struct summary_sink *)sink;
    char *dst;

    ((struct summary_sink *)sink)->subject_length = 0;
    if (!summary->layout.header)
        return;
    dst = writer_reserve(sink->writer, 128);
    dst = put_padded(dst, "", NAME_WIDTH);
    dst = align_right(PUT(dst, "USED"), dst, NUMBER_WIDTH);
    dst = align_right(PUT(dst, "LIMIT"), dst, NUMBER_WIDTH);
    dst = align_right(PUT(dst, "FULL"), dst, PERCENT_WIDTH);
    writer_commit(sink->writer, PUT(dst, "\n"));
}

/* Whether a row is shown: counts of 0 are not, except rows in `always` and rows with a limit. */
static bool is_of_interest(const struct record *record)
{
    static const char *const always[][2] = {{"all", "sockets"}, {"tcp", "sockets"},
                                            {"tcp", "LISTEN"},  {"tcp", "ESTABLISHED"},
                                            {"udp", "sockets"}, {"unix", "sockets"}};
    const struct summary_record *used = &record->summary;

    for (size_t i = 0; i < COUNT(always); i++)
        if (text_is(used->subject, always[i][0]) && text_is(used->name, always[i][1]))
            return true;
    return !(record->has & SUMMARY_VALUE) || used->value || (record->has & SUMMARY_LIMIT);
}

/* Writes a number, or bytes as a size for people, or "-", aligned at the right. */
static char *put_amount(char *dst, const struct record *record, uint64_t number_field,
                        uint64_t number, uint64_t bytes_field, uint64_t bytes)
{
    char *start = dst;

    if (record->has & number_field)
        dst = text_u64(dst, number);
    else if (record->has & bytes_field)
        dst = put_size(dst, bytes, false);
    else
        dst = PUT(dst, "-");
    return align_right(dst, start, NUMBER_WIDTH);
}

static char *put_attention(char *dst, const struct summary_sink *summary, const char *words)
{
    if (summary->layout.colour)
        dst = PUT(dst, COLOUR_ATTENTION);
    dst = put_string(dst, words);
    return summary->layout.colour ? PUT(dst, COLOUR_RESET) : dst;
}

/* Writes the limit, and the percentage of it that is in use. */
static char *put_limit(char *dst, const struct record *record, bool limited, uint64_t thousandths)
{
    const struct summary_record *used = &record->summary;
    char *start;

    if (!limited)
        return put_padded(dst, "", NUMBER_WIDTH + PERCENT_WIDTH);
    start = dst =
        put_amount(dst, record, SUMMARY_LIMIT, used->limit, SUMMARY_LIMIT_BYTES, used->limit_bytes);
    dst = text_u64(dst, thousandths / 1000);
    dst = text_u64(PUT(dst, "."), thousandths / 100 % 10);
    return align_right(PUT(dst, " %"), start, PERCENT_WIDTH);
}

/* Writes remarks, each after two spaces. */
static char *put_remarks(char *dst, const struct summary_sink *summary, const struct record *record,
                         bool limited, uint64_t thousandths)
{
    const struct summary_record *used = &record->summary;
    const bool pressure = record->has & SUMMARY_PRESSURE;

    if (pressure)
        dst = put_size(PUT(dst, "  pressure from "), used->pressure_bytes, false);
    if (used->unnamed)
        dst = PUT(dst, "  unlisted, or other families");
    if (used->machine)
        dst = PUT(dst, "  whole machine");
    if (limited && thousandths >= SUMMARY_CLOSE)
        dst = put_attention(PUT(dst, "  "), summary,
                            thousandths >= SUMMARY_ALL ? "at its limit" : "close to its limit");
    else if (pressure && used->bytes >= used->pressure_bytes)
        dst = put_attention(PUT(dst, "  "), summary, "under pressure");
    return dst;
}

static void layout_summary_row(struct sink *sink, const struct record *record)
{
    struct summary_sink *summary = (struct summary_sink *)sink;
    const struct summary_record *used = &record->summary;
    uint64_t thousandths = 0;
    const bool limited = summary_percent(record, &thousandths);
    const struct text before = {summary->subject, summary->subject_length}, subject = used->subject;
    char *start, *dst;

    if (!is_of_interest(record))
        return;
    start = writer_reserve(sink->writer, WRITER_RESERVE_MAX);
    /* "tcp sockets", then on the next line "  LISTEN" */
    dst = text_equal(before, subject) ? PUT(start, "  ") : PUT(put_text(start, subject), " ");
    dst = text_pad(put_text(dst, used->name), start, NAME_WIDTH);
    summary->subject_length = subject.length < SUBJECT_MAX ? subject.length : SUBJECT_MAX;
    memcpy(summary->subject, subject.data, summary->subject_length);
    dst = put_amount(dst, record, SUMMARY_VALUE, used->value, SUMMARY_BYTES, used->bytes);
    dst = put_limit(dst, record, limited, thousandths);
    dst = put_remarks(dst, summary, record, limited, thousandths);
    while (dst > start && dst[-1] == ' ') /* a line does not end with spaces */
        dst--;
    writer_commit(sink->writer, PUT(dst, "\n"));
}

const struct sink_ops sink_summary = {
    .size = sizeof(struct summary_sink),
    .layout_size = sizeof(struct summary_layout),
    .begin = layout_summary_begin,
    .row = layout_summary_row,
};
