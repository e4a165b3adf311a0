/* SPDX-License-Identifier: MIT */
/* JSON (RFC 8259): one array, or one object per line. */
#include <stdlib.h>
#include <string.h>

#include "fastnet/owners.h"
#include "fastnet/sink.h"
#include "fastnet/text.h"
#include "model/value.h"
#include "text/put.h"

enum { KEY_USUAL = 256 }; /* a longer key is written separately from its value */

struct json {
    struct sink sink;
    struct sink_options options;
    bool array;        /* true: one array; false: one object per line */
    uint64_t rows;     /* that were written */
    struct text *keys; /* per column, with punctuation: {"protocol": or ,"state": */
};

void sink_put_json(struct writer *writer, struct text text)
{
    writer_put(writer, "\"", 1);
    while (text.length > 0) {
        const size_t size = escape_piece(text.data, text.length, TEXT_PIECE);
        char *dst = writer_reserve(writer, ESCAPE_JSON_FACTOR * size);
        writer_commit(writer, escape_json(dst, text.data, size));
        text.data += size;
        text.length -= size;
    }
    writer_put(writer, "\"", 1);
}

/* Bound for an address, a network or a time in quotes: MAC addresses are the longest. */
enum { QUOTED_MAX = 2 + TEXT_LLADDR_MAX };

static char *write_quoted(char *dst, const struct value *value)
{
    *dst++ = '"';
    dst = value->type == VALUE_LLADDR ? value_lladdr(dst, value) : value_write(dst, value, NULL);
    *dst++ = '"';
    return dst;
}

static void put_owner(struct writer *writer, const struct owner *owner)
{
    char *dst =
        writer_reserve(writer, sizeof "{'pid':,'tid':,'fd':,'name':" + 3 * (size_t)TEXT_U64_MAX);

    dst = PUT(dst, "{\"pid\":");
    dst = owner->process->pid ? text_u64(dst, (uint64_t)owner->process->pid) : PUT(dst, "null");
    if (owner->tid)
        dst = text_u64(PUT(dst, ",\"tid\":"), (uint64_t)owner->tid);
    if (owner->fd >= 0)
        dst = text_u64(PUT(dst, ",\"fd\":"), (uint64_t)owner->fd);
    writer_commit(writer, PUT(dst, ",\"name\":"));
    if (owner->process->unnamed)
        writer_put(writer, "null", 4);
    else
        sink_put_json(writer, (struct text){owner->process->name, strlen(owner->process->name)});
    writer_put(writer, "}", 1);
}

static void json_put_list(struct writer *writer, const struct value *list)
{
    char digits[TEXT_U64_MAX];
    struct value element;

    writer_put(writer, "[", 1);
    for (size_t at = 0, count = 0; value_next(list, &at, &element); count++) {
        if (count > 0)
            writer_put(writer, ",", 1);
        if (element.type == VALUE_OWNERS)
            put_owner(writer, element.owners.first);
        else if (element.type == VALUE_NETWORKS)
            writer_commit(writer, write_quoted(writer_reserve(writer, QUOTED_MAX), &element));
        else
            sink_put_json(writer, value_text(&element, digits));
    }
    writer_put(writer, "]", 1);
}

/* Returns an upper bound for the bytes of a value; SIZE_MAX: it is written in pieces. */
static inline size_t json_bound_of(const struct value *value)
{
    if (value->type == VALUE_TEXT || value->type == VALUE_SOCKET_NAME)
        return 2 + ESCAPE_JSON_FACTOR * value->text.length;
    /* no other type is longer than a MAC address */
    return value->type == VALUE_VIEW || value_is_list(value) ? SIZE_MAX : QUOTED_MAX;
}

/* Writes a value that has a bound (json_bound_of()). */
static char *json_write_value(char *dst, const struct value *value)
{
    switch (value->type) {
    case VALUE_UNKNOWN:
        return PUT(dst, "null");
    case VALUE_BOOLEAN:
        return value->number ? PUT(dst, "true") : PUT(dst, "false");
    case VALUE_TEXT:
    case VALUE_SOCKET_NAME:
        *dst++ = '"';
        dst = escape_json(dst, value->text.data, value->text.length);
        *dst++ = '"';
        return dst;
    case VALUE_ADDRESS:
    case VALUE_NETWORK:
    case VALUE_LLADDR:
    case VALUE_TIME:
        return write_quoted(dst, value);
    default:
        return value_write(dst, value, NULL);
    }
}

static void put_long(struct writer *writer, const struct value *value)
{
    char text[VALUE_VIEW_MAX];

    if (value_is_list(value))
        json_put_list(writer, value);
    else if (value->type == VALUE_VIEW)
        sink_put_json(writer, value_view_text(text, value));
    else
        sink_put_json(writer, value->text);
}

/* Writes key and value after dst, the end of the bytes in the writer's room. Returns the end. */
static inline char *json_put_value(struct writer *writer, char *dst, struct text key,
                                   const struct value *value)
{
    const size_t bound = json_bound_of(value);
    const bool is_long = bound > WRITER_RESERVE_MAX - KEY_USUAL;

    if (is_long || key.length > KEY_USUAL) {
        writer_commit(writer, dst);
        writer_put(writer, key.data, key.length);
        if (is_long)
            put_long(writer, value);
        dst = writer_reserve(writer, WRITER_ROOM);
        key.length = 0;
    }
    if (is_long)
        return dst;
    return json_write_value(put_text(writer_more(writer, dst, key.length + bound), key), value);
}

static void json_begin(struct sink *sink)
{
    struct json *json = (struct json *)sink;

    json->rows = 0;
    if (json->array)
        writer_put(sink->writer, "[", 1);
}

/* A separator is written before each row except the first. */
static void json_row(struct sink *sink, const struct record *record)
{
    struct json *json = (struct json *)sink;
    struct writer *const writer = sink->writer;
    char digits[TEXT_U64_MAX];

    if (json->array && json->rows)
        writer_put(writer, ",", 1);
    if (json->array && !json->options.one_line)
        writer_put(writer, "\n", 1);
    json->rows++;
    char *dst = writer_reserve(writer, WRITER_ROOM);
    for (size_t i = 0; i < json->options.count; i++) {
        struct value value = field_value(json->options.columns[i], record, sink->context);
        value_name_to_text(&value, digits);
        dst = json_put_value(writer, dst, json->keys[i], &value);
    }
    dst = writer_more(writer, dst, 2);
    writer_commit(writer, json->array ? PUT(dst, "}") : PUT(dst, "}\n"));
}

static void json_end(struct sink *sink)
{
    const struct json *json = (const struct json *)sink;

    if (json->array)
        writer_puts(sink->writer, !json->rows || json->options.one_line ? "]\n" : "\n]\n");
}

static void json_destroy(struct sink *sink)
{
    free(((struct json *)sink)->keys);
}

/* Escapes the names, because names of counters come from the kernel or from a file. */
static bool json_set_columns(struct sink *sink, const struct field *const *columns, size_t count)
{
    struct json *json = (struct json *)sink;
    size_t size = count * sizeof *json->keys;

    for (size_t i = 0; i < count; i++)
        size += ESCAPE_JSON_FACTOR * strlen(columns[i]->name) + sizeof ",\"\":";
    free(json->keys);
    json->keys = malloc(size);
    json->options.columns = columns;
    json->options.count = json->keys ? count : 0;

    char *end = (char *)(json->keys + json->options.count);
    for (size_t i = 0; i < json->options.count; i++) {
        const char *start = end;
        end = stpcpy(end, i > 0 ? ",\"" : "{\"");
        end = escape_json(end, columns[i]->name, strlen(columns[i]->name));
        end = stpcpy(end, "\":");
        json->keys[i] = (struct text){start, (size_t)(end - start)};
    }
    return json->keys;
}

static struct sink *json_create(const struct sink_options *options, bool array)
{
    static const struct sink_ops ops = {.size = sizeof(struct json),
                                        .layout_size = sizeof *options,
                                        .begin = json_begin,
                                        .row = json_row,
                                        .end = json_end,
                                        .destroy = json_destroy,
                                        .set_columns = json_set_columns};
    struct sink *sink = sink_create(&ops, options, options->writer, options->context);

    if (!sink)
        return NULL;
    ((struct json *)sink)->array = array;
    if (json_set_columns(sink, options->columns, options->count))
        return sink;
    sink_destroy(sink);
    return NULL;
}

uint64_t sink_json_rows(const struct sink *sink)
{
    return ((const struct json *)sink)->rows;
}

struct sink *sink_json_create(const struct sink_options *options)
{
    return json_create(options, true);
}

struct sink *sink_ndjson_create(const struct sink_options *options)
{
    return json_create(options, false);
}
