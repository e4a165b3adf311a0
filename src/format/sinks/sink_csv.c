/* SPDX-License-Identifier: MIT */
/* CSV (RFC 4180). An empty field is unknown; "" (with quotes) is an empty text. Text is escaped,
 * then quoted if the format or a simple reader needs quotes. For spreadsheets, text that begins
 * like a formula gets a ' before it, and semicolons are escaped, because they separate cells where
 * the decimal point is a comma. */
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/owners.h"
#include "fastnet/sink.h"
#include "fastnet/text.h"
#include "model/value.h"

struct csv {
    struct sink sink;
    struct sink_options options;
};

/* Whether text begins like a formula (OWASP, CSV Injection), also with full-width characters. Text
 * that begins with ' gets another ', so that a reader can always remove the first '. */
static bool begins_formula(struct text text)
{
    /* The last four are U+FF1D, U+FF0B, U+FF0D and U+FF20. */
    static const char *const beginnings[] = {
        "=", "+", "-", "@", "'", "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"};

    for (; text.length > 0 && *text.data == ' '; text.length--)
        text.data++;
    for (size_t i = 0; i < COUNT(beginnings); i++) {
        const size_t length = strlen(beginnings[i]);
        if (text.length >= length && memcmp(text.data, beginnings[i], length) == 0)
            return true;
    }
    return false;
}

/* Writes text with each quote doubled. */
static void put_doubled(struct writer *writer, struct text text, const char *delimiters,
                        enum text_part part)
{
    const char *quote = NULL;

    while (text.length > 0 && (quote = memchr(text.data, '"', text.length))) {
        const size_t size = (size_t)(quote - text.data);
        part = text_put(writer, (struct text){text.data, size}, delimiters, part);
        writer_put(writer, "\"\"", 2);
        text.data += size + 1;
        text.length -= size + 1;
    }
    if (text.length > 0)
        text_put(writer, text, delimiters, part);
}

static void csv_put_text(const struct csv *csv, const struct value *value)
{
    char digits[TEXT_U64_MAX];
    struct writer *writer = csv->sink.writer;
    const struct text text = value_text(value, digits);
    const char *delimiters = csv->options.spreadsheet ? ";" : NULL;
    /* a name's leading NUL is shown as '@', which begins a formula; its own '@' is escaped */
    const bool as_name = value_part(value) == PART_SOCKET_NAME && text.length > 0 &&
                         (*text.data == '\0' || *text.data == '@');
    /* line ends need no quotes, because they are escaped */
    const bool is_quoted =
        text.length == 0 || *text.data == ' ' || text.data[text.length - 1] == ' ' ||
        memchr(text.data, ',', text.length) || memchr(text.data, '"', text.length);

    if (is_quoted)
        writer_put(writer, "\"", 1);
    if (csv->options.spreadsheet && (as_name ? !*text.data : begins_formula(text)))
        writer_put(writer, "'", 1);
    put_doubled(writer, text, delimiters, value_part(value));
    if (is_quoted)
        writer_put(writer, "\"", 1);
}

/* Writes a list, always quoted, because commas separate names. Quotes in names are escaped. */
static void csv_put_list(const struct csv *csv, const struct value *list)
{
    struct writer *writer = csv->sink.writer;
    struct value first;
    size_t at = 0;

    writer_put(writer, "\"", 1);
    if (value_next(list, &at, &first)) {
        char digits[TEXT_U64_MAX];
        const struct text name = /* networks have no names */
            first.type == VALUE_NAME     ? value_text(&first, digits)
            : first.type == VALUE_OWNERS ? as_text(first.owners.first->process->name)
                                         : as_text(NULL);
        if (csv->options.spreadsheet && begins_formula(name))
            writer_put(writer, "'", 1);
        value_put(writer, list, NULL);
    }
    writer_put(writer, "\"", 1);
}

/* Writes a view as a table shows it, but escaped like a text. */
static void put_view(const struct csv *csv, const struct value *view)
{
    char text[VALUE_VIEW_MAX];
    const struct value value = {.type = VALUE_TEXT, .text = value_view_text(text, view)};

    csv_put_text(csv, &value);
}

static void csv_put_value(const struct csv *csv, const struct value *value)
{
    switch (value->type) {
    case VALUE_UNKNOWN:
        break;
    case VALUE_BOOLEAN:
        writer_puts(csv->sink.writer, value->number ? "true" : "false");
        break;
    case VALUE_LLADDR:
        if (value->text.length > 0)
            value_put(csv->sink.writer, value, NULL);
        else
            writer_put(csv->sink.writer, "\"\"", 2);
        break;
    case VALUE_TEXT:
    case VALUE_SOCKET_NAME:
    case VALUE_NAME:
        csv_put_text(csv, value);
        break;
    case VALUE_OWNERS:
    case VALUE_FLAGS:
    case VALUE_NETWORKS:
    case VALUE_NAMES:
        csv_put_list(csv, value);
        break;
    case VALUE_VIEW:
        put_view(csv, value);
        break;
    default:
        value_put(csv->sink.writer, value, NULL);
    }
}

static void csv_begin(struct sink *sink)
{
    const struct sink_options *options = &((const struct csv *)sink)->options;

    if (!options->header || sink->context->number > 1)
        return; /* with -c only the first listing has a heading */
    for (size_t i = 0; i < options->count; i++) {
        if (i > 0)
            writer_put(sink->writer, ",", 1);
        writer_puts(sink->writer, options->columns[i]->name);
    }
    writer_put(sink->writer, "\r\n", 2);
}

static void csv_row(struct sink *sink, const struct record *record)
{
    const struct csv *csv = (const struct csv *)sink;
    const struct sink_options *options = &csv->options;

    for (size_t i = 0; i < options->count; i++) {
        const struct value value = field_value(options->columns[i], record, sink->context);
        if (i > 0)
            writer_put(sink->writer, ",", 1);
        if (value.type == VALUE_UNKNOWN && options->count == 1)
            writer_puts(sink->writer, "\"\""); /* many readers ignore a blank line */
        else
            csv_put_value(csv, &value);
    }
    writer_put(sink->writer, "\r\n", 2);
}

struct sink *sink_csv_create(const struct sink_options *options)
{
    static const struct sink_ops ops = {.size = sizeof(struct csv),
                                        .layout_size = sizeof *options,
                                        .begin = csv_begin,
                                        .row = csv_row};

    return sink_create(&ops, options, options->writer, options->context);
}
