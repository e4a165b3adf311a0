/*
 * CSV (RFC 4180). An empty field is unknown; "" is known to be empty. Text is escaped, then quoted
 * where the format or a careless reader would stumble over it.
 */
#include <stdlib.h>
#include <string.h>

#include "fastnet/sink.h"
#include "fastnet/text.h"
#include "format/value.h"

struct csv {
    struct sink sink;
    struct sink_options options;
};

static struct csv *csv_of(struct sink *sink)
{
    return (struct csv *)sink;
}

/* Line ends never get here: they were escaped. */
static bool needs_quotes(struct text text)
{
    if (text.length == 0 || text.data[0] == ' ' || text.data[text.length - 1] == ' ')
        return true;
    return memchr(text.data, ',', text.length) != NULL ||
           memchr(text.data, '"', text.length) != NULL;
}

/* Each quote is written twice. */
static void put_quoted(struct writer *writer, struct text text, enum text_part part)
{
    const char *quote = NULL;

    writer_put(writer, "\"", 1);
    while (text.length > 0 && (quote = memchr(text.data, '"', text.length)) != NULL) {
        const size_t size = (size_t)(quote - text.data);
        text_put(writer, (struct text){text.data, size}, NULL, &part);
        writer_put(writer, "\"\"", 2);
        text.data += size + 1;
        text.length -= size + 1;
    }
    if (text.length > 0)
        text_put(writer, text, NULL, &part);
    writer_put(writer, "\"", 1);
}

static void put_text(struct writer *writer, const struct value *value)
{
    char digits[TEXT_U64_MAX];
    const struct text text = value_text(value, digits);
    enum text_part part = value->type == VALUE_SOCKET_NAME ? PART_SOCKET_NAME : PART_TEXT;

    if (needs_quotes(text))
        put_quoted(writer, text, part);
    else
        text_put(writer, text, NULL, &part);
}

/* Always quoted: commas stand between them, and quotes in their names are escaped. */
static void put_list(struct writer *writer, const struct value *value, bool empty)
{
    writer_put(writer, "\"", 1);
    if (!empty)
        value_put(writer, value, NULL);
    writer_put(writer, "\"", 1);
}

static void put_value(struct writer *writer, const struct value *value)
{
    switch (value->type) {
    case VALUE_UNKNOWN:
    case VALUE_ABSENT:
        break;
    case VALUE_NUMBER:
    case VALUE_SIGNED:
    case VALUE_DECIMAL:
    case VALUE_ADDRESS:
        value_put(writer, value, NULL);
        break;
    case VALUE_LLADDR:
        if (value->text.length == 0)
            put_list(writer, value, true);
        else
            value_put(writer, value, NULL);
        break;
    case VALUE_TEXT:
    case VALUE_SOCKET_NAME:
    case VALUE_NAME:
        put_text(writer, value);
        break;
    case VALUE_OWNERS:
        put_list(writer, value, value->owners.count == 0);
        break;
    case VALUE_FLAGS:
        put_list(writer, value, value_next_flag(value, 0) == VALUE_FLAG_BITS);
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

static bool is_empty(const struct value *value)
{
    return value->type == VALUE_UNKNOWN || value->type == VALUE_ABSENT;
}

static void csv_row(struct sink *sink, const struct record *record)
{
    const struct sink_options *options = &csv_of(sink)->options;

    for (size_t i = 0; i < options->count; i++) {
        const struct column *column = options->columns[i];
        const struct value value = column->value(column, record, sink->context);
        if (i > 0)
            writer_put(sink->writer, ",", 1);
        if (is_empty(&value) && options->count == 1)
            writer_puts(sink->writer, "\"\""); /* a blank line would be no record to many readers */
        else
            put_value(sink->writer, &value);
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
    struct csv *csv = calloc(1, sizeof(*csv));

    if (csv == NULL)
        return NULL;
    csv->sink = (struct sink){&csv_ops, options->writer, options->context};
    csv->options = *options;
    return &csv->sink;
}
