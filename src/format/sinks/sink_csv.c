/*
 * CSV (RFC 4180). An empty field is unknown; "" is known to be empty. Text is escaped, then quoted
 * if the format or a careless reader needs that. For spreadsheets, text that looks like a formula
 * gets a ' before it, and semicolons are escaped, because they separate cells if the comma is a
 * decimal point.
 */
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/lookup.h"
#include "fastnet/sink.h"
#include "fastnet/text.h"
#include "format/text/value.h"

struct csv {
    struct sink sink;
    struct sink_options options;
};

static struct csv *csv_of(struct sink *sink)
{
    return (struct csv *)sink;
}

/* Line ends need no quotes, because they are escaped. */
static bool needs_quotes(struct text text)
{
    if (text.length == 0 || text.data[0] == ' ' || text.data[text.length - 1] == ' ')
        return true;
    return memchr(text.data, ',', text.length) || memchr(text.data, '"', text.length);
}

/*
 * Whether text begins like a formula (OWASP, CSV Injection), also in full width. A ' counts too: a
 * reader can then always remove the first '.
 */
static bool begins_formula(struct text text)
{
    static const char *const beginnings[] = {"=",
                                             "+",
                                             "-",
                                             "@",
                                             "'",
                                             "\xef\xbc\x9d",  /* U+FF1D, = */
                                             "\xef\xbc\x8b",  /* U+FF0B, + */
                                             "\xef\xbc\x8d",  /* U+FF0D, - */
                                             "\xef\xbc\xa0"}; /* U+FF20, @ */

    for (; text.length > 0 && *text.data == ' '; text.length--)
        text.data++;
    for (size_t i = 0; i < COUNT(beginnings); i++) {
        const size_t length = strlen(beginnings[i]);
        if (text.length >= length && memcmp(text.data, beginnings[i], length) == 0)
            return true;
    }
    return false;
}

/* The same for text as it is written: in a socket's name NUL becomes '@', and '@' is escaped. */
static bool is_written_as_formula(struct text text, enum text_part part)
{
    if (part == PART_SOCKET_NAME && text.length > 0 && (*text.data == '\0' || *text.data == '@'))
        return *text.data == '\0';
    return begins_formula(text);
}

/* Writes each quote twice. */
static void put_doubled(struct writer *writer, struct text text, const char *delimiters,
                        enum text_part part)
{
    const char *quote = NULL;

    while (text.length > 0 && (quote = memchr(text.data, '"', text.length))) {
        const size_t size = (size_t)(quote - text.data);
        text_put(writer, (struct text){text.data, size}, delimiters, &part);
        writer_put(writer, "\"\"", 2);
        text.data += size + 1;
        text.length -= size + 1;
    }
    if (text.length > 0)
        text_put(writer, text, delimiters, &part);
}

static void put_text(const struct csv *csv, const struct value *value)
{
    char digits[TEXT_U64_MAX];
    struct writer *writer = csv->sink.writer;
    const struct text text = value_text(value, digits);
    const char *delimiters = csv->options.spreadsheet ? ";" : NULL;
    const char *quote = needs_quotes(text) ? "\"" : "";
    enum text_part part = value->type == VALUE_SOCKET_NAME ? PART_SOCKET_NAME : PART_TEXT;

    writer_puts(writer, quote);
    if (csv->options.spreadsheet && is_written_as_formula(text, part))
        writer_put(writer, "'", 1);
    put_doubled(writer, text, delimiters, part);
    writer_puts(writer, quote);
}

/* The name that a list which is not empty begins with; networks have none. */
static struct text first_name(const struct value *value, char *digits)
{
    const char *name;

    if (value->type == VALUE_FLAGS)
        return value_flag_name(value, value_next_flag(value, 0), digits);
    name = value->type == VALUE_OWNERS ? value->owners.first[0].name : "";
    return (struct text){name, strlen(name)};
}

/* Always quoted, because of the commas between names. Quotes in names are escaped. */
static void put_list(const struct csv *csv, const struct value *value, bool empty)
{
    char digits[TEXT_U64_MAX];
    struct writer *writer = csv->sink.writer;

    writer_put(writer, "\"", 1);
    if (!empty && csv->options.spreadsheet && begins_formula(first_name(value, digits)))
        writer_put(writer, "'", 1);
    if (!empty)
        value_put(writer, value, NULL);
    writer_put(writer, "\"", 1);
}

static void put_value(const struct csv *csv, const struct value *value)
{
    switch (value->type) {
    case VALUE_UNKNOWN:
        break;
    case VALUE_LLADDR:
        if (value->text.length == 0)
            put_list(csv, value, true);
        else
            value_put(csv->sink.writer, value, NULL);
        break;
    case VALUE_NUMBER:
    case VALUE_SIGNED:
    case VALUE_DECIMAL:
    case VALUE_ADDRESS:
        value_put(csv->sink.writer, value, NULL);
        break;
    case VALUE_TEXT:
    case VALUE_SOCKET_NAME:
    case VALUE_NAME:
        put_text(csv, value);
        break;
    case VALUE_OWNERS:
        put_list(csv, value, value->owners.count == 0);
        break;
    case VALUE_FLAGS:
        put_list(csv, value, value_next_flag(value, 0) == VALUE_FLAG_BITS);
        break;
    case VALUE_NETWORKS:
        put_list(csv, value, value->networks.count == 0);
        break;
    }
}

static void csv_begin(struct sink *sink)
{
    const struct sink_options *options = &csv_of(sink)->options;

    if (!options->header)
        return;
    for (size_t i = 0; i < options->count; i++) {
        if (i > 0)
            writer_put(sink->writer, ",", 1);
        writer_puts(sink->writer, options->columns[i]->name);
    }
    writer_put(sink->writer, "\r\n", 2);
}

static void csv_row(struct sink *sink, const struct record *record)
{
    const struct sink_options *options = &csv_of(sink)->options;

    for (size_t i = 0; i < options->count; i++) {
        const struct field *column = options->columns[i];
        const struct value value = field_value(column, record, sink->context);
        if (i > 0)
            writer_put(sink->writer, ",", 1);
        if (value.type == VALUE_UNKNOWN && options->count == 1)
            writer_puts(sink->writer, "\"\""); /* many readers ignore a blank line */
        else
            put_value(csv_of(sink), &value);
    }
    writer_put(sink->writer, "\r\n", 2);
}

static void csv_end(struct sink *sink)
{
    (void)sink;
}

static void csv_destroy(struct sink *sink)
{
    free(csv_of(sink));
}

static const struct sink_ops csv_ops = {
    .begin = csv_begin, .row = csv_row, .end = csv_end, .destroy = csv_destroy};

struct sink *sink_csv_create(const struct sink_options *options)
{
    struct csv *csv = calloc(1, sizeof *csv);

    if (!csv)
        return NULL;
    csv->sink = (struct sink){&csv_ops, options->writer, options->context};
    csv->options = *options;
    return &csv->sink;
}
