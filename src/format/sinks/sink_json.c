/* JSON (RFC 8259): one array, or one object a line. */
#include <stdlib.h>
#include <string.h>

#include "fastnet/lookup.h"
#include "fastnet/sink.h"
#include "fastnet/text.h"
#include "format/text/value.h"

/* A member's name as it is written: ,"protocol": (the first member without the comma). */
struct key {
    const char *text;
    size_t length;
};

struct json {
    struct sink sink;
    const struct field *const *columns;
    size_t count;
    bool array; /* else one object a line */
    bool empty; /* no row yet */
    struct key *keys;
    char *names; /* the keys' text */
};

static struct json *json_of(struct sink *sink)
{
    return (struct json *)sink;
}

static void put_string(struct writer *writer, struct text text)
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

static void put_number(struct writer *writer, const char *key, uint64_t number)
{
    writer_puts(writer, key);
    char *dst = writer_reserve(writer, TEXT_U64_MAX);
    writer_commit(writer, text_u64(dst, number));
}

static void put_owners(struct writer *writer, const struct value *value)
{
    writer_put(writer, "[", 1);
    for (size_t i = 0; i < value->owners.count; i++) {
        const struct owner *owner = &value->owners.first[i];
        put_number(writer, i > 0 ? ",{\"pid\":" : "{\"pid\":", (uint64_t)owner->pid);
        put_number(writer, ",\"fd\":", (uint64_t)owner->fd);
        writer_puts(writer, ",\"name\":");
        put_string(writer, (struct text){owner->name, strlen(owner->name)});
        writer_put(writer, "}", 1);
    }
    writer_put(writer, "]", 1);
}

static void put_flags(struct writer *writer, const struct value *value)
{
    const char *before = "[";

    for (unsigned bit = value_next_flag(value, 0); bit < VALUE_FLAG_BITS;
         bit = value_next_flag(value, bit + 1)) {
        char digits[TEXT_U64_MAX];
        writer_puts(writer, before);
        put_string(writer, value_flag_name(value, bit, digits));
        before = ",";
    }
    writer_puts(writer, *before == '[' ? "[]" : "]");
}

static void put_networks(struct writer *writer, const struct value *value)
{
    writer_put(writer, "[", 1);
    for (size_t i = 0; i < value->networks.count; i++) {
        char *dst = writer_reserve(writer, TEXT_NETWORK_MAX + 3);
        dst = stpcpy(dst, i > 0 ? ",\"" : "\"");
        dst = text_network(dst, value_network(value, i));
        *dst++ = '"';
        writer_commit(writer, dst);
    }
    writer_put(writer, "]", 1);
}

static void put_address(struct writer *writer, const struct value *value)
{
    char *dst = writer_reserve(writer, TEXT_ADDRESS_MAX + 2);

    *dst++ = '"';
    dst = text_address(dst, &value->address);
    *dst++ = '"';
    writer_commit(writer, dst);
}

static void put_lladdr(struct writer *writer, const struct value *value)
{
    char *dst = writer_reserve(writer, TEXT_LLADDR_MAX + 2);

    *dst++ = '"';
    dst = value_lladdr(dst, value);
    *dst++ = '"';
    writer_commit(writer, dst);
}

static void put_value(struct writer *writer, const struct value *value)
{
    char digits[TEXT_U64_MAX];

    switch (value->type) {
    case VALUE_UNKNOWN:
        writer_put(writer, "null", 4);
        break;
    case VALUE_NUMBER:
    case VALUE_SIGNED:
    case VALUE_DECIMAL:
        value_put(writer, value, NULL);
        break;
    case VALUE_TEXT:
    case VALUE_SOCKET_NAME:
    case VALUE_NAME:
        put_string(writer, value_text(value, digits));
        break;
    case VALUE_ADDRESS:
        put_address(writer, value);
        break;
    case VALUE_LLADDR:
        put_lladdr(writer, value);
        break;
    case VALUE_OWNERS:
        put_owners(writer, value);
        break;
    case VALUE_FLAGS:
        put_flags(writer, value);
        break;
    case VALUE_NETWORKS:
        put_networks(writer, value);
        break;
    }
}

static void json_begin(struct sink *sink)
{
    struct json *json = json_of(sink);

    json->empty = true;
    if (json->array)
        writer_put(sink->writer, "[", 1);
}

/* The separator between two rows is written when the second one comes. */
static void put_separator(struct json *json)
{
    if (json->array)
        writer_puts(json->sink.writer, json->empty ? "\n" : ",\n");
    json->empty = false;
}

static void json_row(struct sink *sink, const struct record *record)
{
    struct json *json = json_of(sink);

    put_separator(json);
    writer_put(sink->writer, "{", 1);
    for (size_t i = 0; i < json->count; i++) {
        const struct field *column = json->columns[i];
        const struct value value = field_value(column, record, sink->context);
        const size_t comma = i == 0 ? 1 : 0; /* to be left out */
        writer_put(sink->writer, json->keys[i].text + comma, json->keys[i].length - comma);
        put_value(sink->writer, &value);
    }
    writer_puts(sink->writer, json->array ? "}" : "}\n");
}

static void json_end(struct sink *sink)
{
    const struct json *json = json_of(sink);

    if (json->array)
        writer_puts(sink->writer, json->empty ? "]\n" : "\n]\n");
}

static void json_destroy(struct sink *sink)
{
    struct json *json = json_of(sink);

    free(json->names);
    free(json->keys);
    free(json);
}

/* Escapes the names, because those of counters come from the kernel or from a file. */
static bool json_set_columns(struct sink *sink, const struct field *const *columns, size_t count)
{
    struct json *json = json_of(sink);
    size_t size = 1;

    free(json->keys);
    free(json->names);
    json->columns = columns;
    json->count = 0;
    for (size_t i = 0; i < count; i++)
        size += ESCAPE_JSON_FACTOR * strlen(columns[i]->name) + sizeof ",\"\":";
    json->keys = calloc(count + 1, sizeof *json->keys);
    json->names = malloc(size);
    if (!json->keys || !json->names)
        return false;
    json->count = count;

    char *end = json->names;
    for (size_t i = 0; i < json->count; i++) {
        const char *start = end, *name = json->columns[i]->name;
        end = stpcpy(end, ",\"");
        end = escape_json(end, name, strlen(name));
        end = stpcpy(end, "\":");
        json->keys[i] = (struct key){start, (size_t)(end - start)};
    }
    return true;
}

static const struct sink_ops json_ops = {.begin = json_begin,
                                         .row = json_row,
                                         .end = json_end,
                                         .destroy = json_destroy,
                                         .set_columns = json_set_columns};

static struct sink *create(const struct sink_options *options, bool array)
{
    struct json *json = calloc(1, sizeof *json);

    if (!json)
        return NULL;
    json->sink = (struct sink){&json_ops, options->writer, options->context};
    json->array = array;
    if (!json_set_columns(&json->sink, options->columns, options->count)) {
        json_destroy(&json->sink);
        return NULL;
    }
    return &json->sink;
}

struct sink *sink_json_create(const struct sink_options *options)
{
    return create(options, true);
}

struct sink *sink_ndjson_create(const struct sink_options *options)
{
    return create(options, false);
}
