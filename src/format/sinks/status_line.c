/* SPDX-License-Identifier: MIT */
#include "fastnet/status_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fastnet/array.h"

void status_line_put(struct writer *writer, enum level level, struct text text, struct text numbers)
{
    static const char *const words[LEVELS] = {[LEVEL_OK] = "FASTNET OK: ",
                                              [LEVEL_UNKNOWN] = "FASTNET UNKNOWN: ",
                                              [LEVEL_WARNING] = "FASTNET WARNING: ",
                                              [LEVEL_CRITICAL] = "FASTNET CRITICAL: "};

    writer_puts(writer, words[level]);
    writer_put(writer, text.data, text.length);
    writer_puts(writer, " | ");
    writer_put(writer, numbers.data, numbers.length);
    writer_puts(writer, "\n");
}

/* --- Groups ----------------------------------------------------------------------------------- */

/* Nagios reads at most 8 KiB of a plugin's output (MAX_PLUGIN_OUTPUT_LENGTH), so groups whose
 * numbers do not fit are left out. */
enum { PART_BYTES = 3840, TEXT_MOST = 64, VALUE_BYTES = 512 };

/* A part of the line. If something does not fit, nothing of it is added, and `full` is set. */
struct line_part {
    bool full;
    size_t length;
    char data[PART_BYTES];
};

struct groups_line_sink {
    struct sink sink;
    struct groups_line layout;
    size_t number_count; /* columns of numbers */
    enum level worst;
    uint64_t left_out; /* groups whose numbers do not fit */
    struct line_part text, numbers;
};

static void line_add(struct line_part *part, const char *text, size_t length)
{
    part->full |= length > sizeof part->data - part->length;
    if (part->full)
        return;
    memcpy(part->data + part->length, text, length);
    part->length += length;
}

static void line_puts(struct line_part *part, const char *text)
{
    line_add(part, text, strlen(text));
}

/* Adds a value, escaped; '|' would begin the numbers. In a label a quote is written twice. */
static void line_add_value(struct line_part *part, struct value value, const char *quote)
{
    char text[VALUE_BYTES], *end;

    if ((value.type == VALUE_TEXT || value.type == VALUE_SOCKET_NAME) &&
        value.text.length > TEXT_MOST)
        value.text.length = TEXT_MOST;
    if (value_bound(&value) > sizeof text) {
        line_puts(part, "...");
        return;
    }
    end = value_write(text, &value, NULL);
    for (const char *at = text; at < end; at++) {
        if (*at == '|')
            line_puts(part, "\\x7c");
        else
            line_add(part, at, 1);
        if (*at == '\'')
            line_puts(part, quote);
    }
}

static bool line_has_number(const struct field *column)
{
    return !column->key && value_is_number(column->type);
}

/* Adds the keys of a group, separated by spaces. Returns the number of keys. */
static size_t line_add_keys(const struct groups_line_sink *line, const struct record *record,
                            struct line_part *part, const char *quote)
{
    size_t keys = 0;

    for (size_t i = 0; i < line->layout.count; i++) {
        const struct field *column = line->layout.columns[i];
        if (!column->key)
            continue;
        line_puts(part, keys++ ? " " : "");
        line_add_value(part, field_value(column, record, line->sink.context), quote);
    }
    return keys;
}

static const char *line_unit_of(const struct field *column)
{
    static const char *const units[] = {
        [UNIT_BYTES] = "B", [UNIT_SECONDS] = "s", [UNIT_PERCENT] = "%"};

    return column->unit < COUNT(units) && units[column->unit] ? units[column->unit] : "";
}

/* Adds the limit of a condition that compares only this column with a number: a range that the
 * number must not leave, or after '@' a range that it must not enter (guidelines, 2.5). */
static void line_add_limit(struct line_part *part, const struct predicate *condition,
                           const struct field *column)
{
    const bool negated = condition && condition->operation == PREDICATE_NOT;
    const struct predicate *compared = negated ? condition->parts : condition;

    line_puts(part, ";");
    if (!compared || !compared->field || strcmp(compared->field->name, column->name) != 0)
        return;
    const struct value *constant = &compared->constant;
    switch (compared->operation) {
    case PREDICATE_ABOVE: /* without a beginning, a range begins with 0 */
        line_puts(part, negated ? "@~:" : column->type == VALUE_SIGNED ? "~:" : "");
        line_add_value(part, *constant, "");
        break;
    case PREDICATE_BELOW:
        line_puts(part, negated ? "@" : "");
        line_add_value(part, *constant, "");
        line_puts(part, ":");
        break;
    case PREDICATE_EQUAL:
        line_puts(part, negated ? "" : "@");
        line_add_value(part, *constant, "");
        line_puts(part, ":");
        line_add_value(part, *constant, "");
        break;
    default:
        break;
    }
}

/* Adds 'LABEL'=VALUE[UNIT];[WARNING];[CRITICAL];[MIN]. An unknown value is U. */
static void line_add_number(struct groups_line_sink *line, const struct record *record,
                            const struct field *column)
{
    const struct thresholds *thresholds = line->layout.thresholds;
    const struct value value = field_value(column, record, line->sink.context);
    struct line_part *part = &line->numbers;

    line_puts(part, part->length ? " '" : "'");
    const bool keys = line_add_keys(line, record, part, "'");
    if (!keys || line->number_count > 1) {
        line_puts(part, keys ? " " : "");
        line_puts(part, column->name);
    }
    line_puts(part, "'=");
    if (value.type == VALUE_UNKNOWN)
        line_puts(part, "U");
    else
        line_add_value(part, value, "");
    line_puts(part, value.type == VALUE_UNKNOWN ? "" : line_unit_of(column));
    line_add_limit(part, thresholds->warning, column);
    line_add_limit(part, thresholds->critical, column);
    line_puts(part, column->type == VALUE_SIGNED ? "" : ";0");
}

/* Writes a group for people: "nginx: count 812, rtt_avg 0.012s". */
static void line_describe(struct groups_line_sink *line, const struct record *record)
{
    struct line_part *text = &line->text;
    const char *before;

    text->length = text->full = 0;
    before = line_add_keys(line, record, text, "") ? ": " : "";
    for (size_t i = 0; i < line->layout.count; i++) {
        const struct field *column = line->layout.columns[i];
        if (!line_has_number(column))
            continue;
        const struct value value = field_value(column, record, line->sink.context);
        line_puts(text, before);
        line_puts(text, column->name);
        line_puts(text, " ");
        line_add_value(text, value, "");
        line_puts(text, value.type == VALUE_UNKNOWN ? "" : line_unit_of(column));
        before = ", ";
    }
}

static void groups_line_begin(struct sink *sink)
{
    struct groups_line_sink *line = (struct groups_line_sink *)sink;

    line->text.length = line->numbers.length = line->number_count = 0;
    line->left_out = 0;
    for (size_t i = 0; i < line->layout.count; i++)
        line->number_count += line_has_number(line->layout.columns[i]);
}

static void groups_line_row(struct sink *sink, const struct record *record)
{
    struct groups_line_sink *line = (struct groups_line_sink *)sink;
    const size_t before = line->numbers.length;

    if (!line->text.length || record->count.level > line->worst) {
        line->worst = record->count.level;
        line_describe(line, record);
    }
    for (size_t i = 0; i < line->layout.count; i++)
        if (line_has_number(line->layout.columns[i]))
            line_add_number(line, record, line->layout.columns[i]);
    if (line->numbers.full) {
        line->left_out++;
        line->numbers.length = before;
    }
    line->numbers.full = false;
}

const struct sink_ops sink_groups_line = {
    .size = sizeof(struct groups_line_sink),
    .layout_size = sizeof(struct groups_line),
    .begin = groups_line_begin,
    .row = groups_line_row,
};

void groups_line_put(struct sink *sink, enum level level, bool partial)
{
    struct groups_line_sink *line = (struct groups_line_sink *)sink;
    const uint64_t *counts = line->layout.thresholds->counts->groups;
    uint64_t all = 0;
    char text[256 + PART_BYTES];
    int length = 0;

    for (size_t i = 0; i < LEVELS; i++)
        all += counts[i];
    if (line->layout.columns[0]->key)
        length = snprintf(text, sizeof text,
                          "%" PRIu64 " critical, %" PRIu64 " warning%s in %" PRIu64 " group%s%s",
                          counts[LEVEL_CRITICAL], counts[LEVEL_WARNING],
                          counts[LEVEL_WARNING] == 1 ? "" : "s", all, all == 1 ? "" : "s",
                          line->text.length ? "; " : "");
    length += snprintf(text + length, sizeof text - (size_t)length, "%.*s", (int)line->text.length,
                       line->text.data);
    if (counts[LEVEL_UNKNOWN])
        length += snprintf(text + length, sizeof text - (size_t)length, "; %" PRIu64 " unknown",
                           counts[LEVEL_UNKNOWN]);
    if (line->left_out)
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "; %" PRIu64 " without numbers", line->left_out);
    length += snprintf(text + length, sizeof text - (size_t)length, "%s",
                       partial ? "; not all could be read" : "");
    status_line_put(sink->writer, level, (struct text){text, (size_t)length},
                    (struct text){line->numbers.data, line->numbers.length});
}
