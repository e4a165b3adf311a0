/* SPDX-License-Identifier: MIT */
/* Metrics: Prometheus' text format 0.0.4, and OpenMetrics 1.0. All rows are kept until the end,
 * because the samples of a family must be consecutive. Names follow promtool (check metrics): base
 * units are at the end, and only names of counters end with _total. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/kind.h"
#include "fastnet/sink.h"
#include "fastnet/text.h"
#include "model/value.h"

/* Longer names would be cut, but no name is longer. */
enum { FAMILY_NAME_MAX = 160 };

struct metric_name {
    char text[FAMILY_NAME_MAX];
    size_t length;
};

/* A metric family. A column of numbers has one family; a column that is a counter in some rows and
 * a gauge in others (field.partly) has two families. */
struct family {
    const struct field *field; /* NULL: the family _info, which has only labels */
    bool counter;
};

struct metric_row {
    char *labels; /* labels as they are written, owned; the labels of _info come after the others */
    size_t length, info_length; /* bytes of both parts; info_length 0: no _info */
    struct value values[];      /* one per family; VALUE_UNKNOWN: the row has no such value */
};

struct buffer {
    char *data; /* owned */
    size_t length, capacity;
};

struct prometheus {
    struct sink sink;
    struct sink_options options;
    bool open; /* write OpenMetrics */
    struct family *families;
    size_t family_count;
    struct hash_table rows;        /* struct metric_row, found by labels */
    struct buffer labels, scratch; /* labels of the current row; text of one value */
};

/* --- What a column is ------------------------------------------------------------------------- */

static bool is_label(const struct field *field)
{
    return field->key && !field->constant;
}

static bool prometheus_is_number(const struct field *field)
{
    return !field->key && (value_is_number(field->type) || field->type == VALUE_BOOLEAN ||
                           field->type == VALUE_TIME);
}

/* Whether a column becomes a label of _info. Views are left out: they repeat other columns. */
static bool is_info(const struct field *field)
{
    return !is_label(field) && !prometheus_is_number(field) && field->type != VALUE_VIEW;
}

/* --- Names of families ------------------------------------------------------------------------ */

static void name_add(struct metric_name *name, const char *data, size_t length)
{
    if (length >= sizeof name->text - name->length)
        length = sizeof name->text - name->length - 1;
    memcpy(name->text + name->length, data, length);
    name->length += length;
}

static void name_puts(struct metric_name *name, const char *string)
{
    name_add(name, string, strlen(string));
}

/* Words for units in names of columns, and the base units in names of metrics. */
static const struct unit_words {
    const char *column, *metric;
} units[] = {
    [UNIT_BYTES] = {"bytes", "bytes"},
    [UNIT_SECONDS] = {"seconds", "seconds"},
    [UNIT_PERCENT] = {"percent", "ratio"},
    [UNIT_BYTES_PER_SECOND] = {"bytes_per_second", "bytes_per_second"},
    [UNIT_PER_SECOND] = {"", "per_second"},
};

static struct unit_words prometheus_unit_of(const struct field *field)
{
    static const struct unit_words none = {"", ""}, time = {"", "seconds"};

    if (field->type == VALUE_TIME)
        return time;
    return field->unit < COUNT(units) && units[field->unit].column ? units[field->unit] : none;
}

/* Adds the words of a column's name, without those of its unit, which go to the end. */
static void name_words(struct metric_name *name, const char *words, const char *without)
{
    for (struct text word, other; words && *words && text_next(&words, '_', &word);) {
        const char *others = without;
        bool known = false;
        while (!known && text_next(&others, '_', &other))
            known = text_equal(other, word);
        if (known)
            continue;
        name_puts(name, "_");
        name_add(name, word.data, word.length);
    }
}

static const char *prometheus_words_of(const struct prometheus *prometheus,
                                       const struct family *family)
{
    const struct field *field = family->field, *of = field->rate ? field->of : field;
    const char *metric = prometheus->options.metric;
    const size_t length = strlen(metric);

    if (field == &field_count)
        return "";
    if (of->partly && field->rate)
        return "events_per_second";
    if (of->partly)
        return family->counter ? "events" : "state";
    if (strncmp(field->name, metric, length) == 0 && field->name[length] == '_')
        return field->name + length + 1; /* "interface_index" of an interface becomes "index" */
    return field->name;
}

/* The end of the name of an aggregate, such as "_avg" or "_p99_9": from the last '_' that no digit
 * follows. Empty for other fields. */
static const char *prometheus_suffix_of(const struct field *field)
{
    const char *end = field->name + strlen(field->name), *at = end;

    while (field->aggregate && at > field->name && (*--at != '_' || (at[1] >= '0' && at[1] <= '9')))
        ;
    return at;
}

static void name_begin(const struct prometheus *prometheus, struct metric_name *name)
{
    name->length = 0;
    name_puts(name, "fastnet_");
    name_puts(name, prometheus->options.metric);
    for (size_t i = 0; i < name->length; i++)
        if (name->text[i] == ' ')
            name->text[i] = '_';
}

/* Adds the rest of a family's name after name_begin(), but not the "_total" of a counter. If the
 * name of a gauge would end with "_total", it ends with "_all" instead. */
static void name_family(const struct prometheus *prometheus, const struct family *family,
                        struct metric_name *name)
{
    static const char total[] = "_total";
    const size_t length = sizeof total - 1;
    const struct unit_words unit = prometheus_unit_of(family->field);
    const char *words = prometheus_words_of(prometheus, family),
               *suffix = prometheus_suffix_of(family->field);
    char column[FAMILY_NAME_MAX];

    snprintf(column, sizeof column, "%.*s", (int)(strlen(words) - strlen(suffix)), words);
    if (family->field->sum) /* not at the end, where promtool would take it for part of a summary */
        name_puts(name, "_sum");
    name_words(name, column, unit.column);
    if (family->field->type == VALUE_TIME)
        name_puts(name, "_timestamp");
    if (*unit.metric) {
        name_puts(name, "_");
        name_puts(name, unit.metric);
    }
    if (!family->counter && name->length > length &&
        memcmp(name->text + name->length - length, total, length) == 0) {
        name->length -= length;
        name_puts(name, "_all");
    }
    name_puts(name, suffix);
}

/* --- Labels ----------------------------------------------------------------------------------- */

/* Returns the end of the buffer, with room for `size` more bytes; NULL: no memory. */
static char *buffer_room(struct buffer *buffer, size_t size)
{
    char *data = array_with_room(buffer->data, &buffer->capacity, buffer->length + size, 1);

    if (!data)
        return NULL;
    buffer->data = data;
    return data + buffer->length;
}

/* Writes at most ESCAPE_LABEL_FACTOR times value_bound() bytes. Writes nothing for a value whose
 * text is "-" (empty or unknown). */
static char *prometheus_write_value(char *dst, const struct value *value, struct buffer *scratch)
{
    const char *end;

    if (value->type == VALUE_TEXT || value->type == VALUE_NAME) {
        char digits[TEXT_U64_MAX];
        const struct text text = value_text(value, digits);
        return escape_label(dst, text.data, text.length);
    }
    if (value->type == VALUE_BOOLEAN)
        return stpcpy(dst, value->number ? "true" : "false");
    end = value_write(scratch->data, value, NULL);
    if (end == scratch->data + 1 && *scratch->data == '-')
        return dst;
    for (const char *data = scratch->data; data < end; data++) {
        if (*data == '\\' || *data == '"') /* not yet escaped for Prometheus */
            *dst++ = '\\';
        *dst++ = *data;
    }
    return dst;
}

/* Adds a label unless its value is empty: that means no label. Returns false if memory is short. */
static bool prometheus_add_label(struct prometheus *prometheus, const struct field *field,
                                 const struct value *value)
{
    struct buffer *labels = &prometheus->labels;
    const size_t bound = value_bound(value) + sizeof "false", name = strlen(field->name);
    char *start = buffer_room(labels, name + sizeof ",=\"\"" + ESCAPE_LABEL_FACTOR * bound);
    char *at = start, *end;

    if (!start || !buffer_room(&prometheus->scratch, bound))
        return false;
    if (labels->length > 0)
        *at++ = ',';
    at = stpcpy(mempcpy(at, field->name, name), "=\"");
    end = prometheus_write_value(at, value, &prometheus->scratch);
    if (end > at)
        labels->length += (size_t)(stpcpy(end, "\"") - start);
    return true;
}

/* Adds a label for each column for which is_chosen() returns true. A row that counts for the whole
 * machine gets no label of a network namespace, so that such rows of several namespaces become one
 * row. Returns false if memory is short. */
static bool add_labels(struct prometheus *prometheus, const struct record *record,
                       bool (*is_chosen)(const struct field *field))
{
    const struct sink_options *options = &prometheus->options;
    const bool of_machine = record->kind->is_of_machine && record->kind->is_of_machine(record);

    for (size_t i = 0; i < options->count; i++) {
        const struct field *field = options->columns[i];
        const struct value value = is_chosen(field) && !(of_machine && field->of_netns)
                                       ? field_value(field, record, prometheus->sink.context)
                                       : (struct value){.type = VALUE_UNKNOWN};
        if (value.type != VALUE_UNKNOWN && !prometheus_add_label(prometheus, field, &value))
            return false;
    }
    return true;
}

/* --- Rows ------------------------------------------------------------------------------------- */

static bool is_row_of(const void *element, const void *labels)
{
    const struct metric_row *row = element;
    const struct buffer *buffer = labels;

    return row->length == buffer->length && memcmp(row->labels, buffer->data, row->length) == 0;
}

/* Returns the number that a family shows for a record, in the unit of the family's name. */
static struct value prometheus_value_of(const struct family *family, const struct record *record,
                                        const struct context *context)
{
    const struct field *field = family->field;
    struct value value = {.type = VALUE_UNKNOWN};

    if (!field || (field->counter && field_grows(field, record) != family->counter))
        return value;
    value = field_value(field, record, context);
    if (value.type == VALUE_TIME)
        return (struct value){.type = VALUE_FINE, .number = value.number / 1000};
    if (value.type == VALUE_BOOLEAN)
        value.type = VALUE_NUMBER;
    if (field->unit == UNIT_PERCENT && value.type != VALUE_UNKNOWN) { /* percent become a ratio */
        const uint64_t factor = value.type == VALUE_NUMBER ? 10000 : 10;
        value.type = VALUE_FINE;
        if (__builtin_mul_overflow(value.number, factor, &value.number))
            value.number = UINT64_MAX;
    }
    return value;
}

/* Adds a row with the labels in prometheus->labels. Returns false if memory is short. */
static bool add_row(struct prometheus *prometheus, const struct record *record, uint64_t hash)
{
    struct buffer *labels = &prometheus->labels;
    const size_t length = labels->length, count = prometheus->family_count;
    char *copy = add_labels(prometheus, record, is_info) ? malloc(labels->length + 1) : NULL;
    struct metric_row *row =
        copy ? hash_table_add(&prometheus->rows, hash, sizeof *row + count * sizeof *row->values)
             : NULL;

    if (!row) {
        free(copy);
        return false;
    }
    memcpy(copy, labels->data, labels->length);
    row->labels = copy;
    row->length = length;
    row->info_length = labels->length - length;
    for (size_t i = 0; i < count; i++)
        row->values[i] =
            prometheus_value_of(&prometheus->families[i], record, prometheus->sink.context);
    if (row->info_length)
        row->values[0] = (struct value){.type = VALUE_NUMBER, .number = 1};
    return true;
}

static bool is_aggregate(const struct family *family)
{
    return family->field && family->field->aggregate;
}

static void prometheus_row(struct sink *sink, const struct record *record)
{
    struct prometheus *prometheus = (struct prometheus *)sink;
    struct buffer *labels = &prometheus->labels;
    bool kept;

    labels->length = 0;
    kept = add_labels(prometheus, record, is_label);
    /* hashed with a secret, so that nobody can choose labels that collide */
    const uint64_t hash = hash_bytes(hash_seed(), labels->data, labels->length);
    struct metric_row *row =
        kept ? hash_table_find(&prometheus->rows, hash, is_row_of, labels) : NULL;
    if (!row) {
        if (!kept || !add_row(prometheus, record, hash))
            sink_lacks_memory(sink);
        return;
    }
    for (size_t i = 0; record->kind == &kind_count && i < prometheus->family_count; i++) {
        const struct value value =
            prometheus_value_of(&prometheus->families[i], record, sink->context);
        if (is_aggregate(&prometheus->families[i])) /* unknown for both groups together */
            row->values[i] = (struct value){.type = VALUE_UNKNOWN};
        else
            value_add(&row->values[i], &value);
    }
}

static void prometheus_forget(struct prometheus *prometheus)
{
    for (size_t i = 0; i < prometheus->rows.count; i++)
        free(((struct metric_row *)hash_table_at(&prometheus->rows, i))->labels);
    hash_table_finish(&prometheus->rows);
}

/* --- Writing them ----------------------------------------------------------------------------- */

/* Writes "# KEYWORD NAME ". */
static void put_about(struct prometheus *prometheus, const char *keyword,
                      const struct metric_name *name)
{
    struct writer *writer = prometheus->sink.writer;

    writer_puts(writer, "# ");
    writer_puts(writer, keyword);
    writer_puts(writer, " ");
    writer_put(writer, name->text, name->length);
    writer_puts(writer, " ");
}

/* Writes the lines HELP, TYPE and UNIT of a family. In OpenMetrics these lines name the family
 * without the suffix that its samples have. Leaves the name with suffix in `name`. */
static void put_head(struct prometheus *prometheus, const struct family *family,
                     struct metric_name *name)
{
    const struct field *field = family->field;
    const char *help =
        field ? field->help : "what is known of it besides numbers, as labels; always 1";
    const char *suffix = !field ? "_info" : family->counter ? "_total" : "";
    const char *type = family->counter ? "counter" : !field && prometheus->open ? "info" : "gauge";
    const char *unit = field ? prometheus_unit_of(field).metric : "";
    struct writer *writer = prometheus->sink.writer;
    size_t length;

    name_begin(prometheus, name);
    if (field)
        name_family(prometheus, family, name);
    length = name->length;
    if (!prometheus->open)
        name_puts(name, suffix);
    put_about(prometheus, "HELP", name);
    if (field && field->aggregate)
        writer_puts(writer, prometheus_suffix_of(field) + 1);
    writer_puts(writer, !field             ? ""
                        : field->sum       ? "sum over these rows of: "
                        : field->aggregate ? " over these rows of: "
                                           : "");
    for (; *help; help++) {
        /* OpenMetrics escapes quotes, too; the older format has no such escape */
        if (*help == '\\' || (*help == '"' && prometheus->open))
            writer_puts(writer, "\\");
        writer_put(writer, help, 1);
    }
    writer_puts(writer, "\n");
    put_about(prometheus, "TYPE", name);
    writer_puts(writer, type);
    writer_puts(writer, "\n");
    if (prometheus->open && *unit &&
        !(field && field->aggregate)) { /* the unit would have to be last */
        put_about(prometheus, "UNIT", name);
        writer_puts(writer, unit);
        writer_puts(writer, "\n");
    }
    name->length = length;
    name_puts(name, suffix);
}

static void prometheus_put_family(struct prometheus *prometheus, size_t index)
{
    const struct family *family = &prometheus->families[index];
    struct writer *writer = prometheus->sink.writer;
    bool begun = false;
    struct metric_name name;

    for (size_t i = 0; i < prometheus->rows.count; i++) {
        const struct metric_row *row = hash_table_at(&prometheus->rows, i);
        const size_t length = row->length + (family->field ? 0 : row->info_length);
        if (row->values[index].type == VALUE_UNKNOWN)
            continue;
        if (!begun)
            put_head(prometheus, family, &name);
        begun = true;
        writer_put(writer, name.text, name.length);
        writer_puts(writer, length ? "{" : "");
        writer_put(writer, row->labels, length);
        writer_puts(writer, length ? "} " : " ");
        value_put(writer, &row->values[index], NULL);
        writer_puts(writer, "\n");
    }
}

/* --- The sink --------------------------------------------------------------------------------- */

static void prometheus_begin(struct sink *sink)
{
    prometheus_forget((struct prometheus *)sink);
}

static void prometheus_end(struct sink *sink)
{
    struct prometheus *prometheus = (struct prometheus *)sink;

    for (size_t i = 0; i < prometheus->family_count; i++)
        prometheus_put_family(prometheus, i);
    if (prometheus->options.more_metrics)
        prometheus->options.more_metrics(sink->writer, prometheus->options.layout);
    if (prometheus->open)
        writer_puts(sink->writer, "# EOF\n");
    prometheus_forget(prometheus);
}

static void prometheus_destroy(struct sink *sink)
{
    struct prometheus *prometheus = (struct prometheus *)sink;

    prometheus_forget(prometheus);
    free(prometheus->families);
    free(prometheus->labels.data);
    free(prometheus->scratch.data);
}

static struct sink *prometheus_create(const struct sink_options *options, bool open)
{
    static const struct sink_ops ops = {.size = sizeof(struct prometheus),
                                        .layout_size = sizeof *options,
                                        .begin = prometheus_begin,
                                        .row = prometheus_row,
                                        .end = prometheus_end,
                                        .destroy = prometheus_destroy};
    struct sink *sink = sink_create(&ops, options, options->writer, options->context);
    struct prometheus *prometheus = (struct prometheus *)sink;

    if (!sink)
        return NULL;
    prometheus->open = open;
    prometheus->families = calloc(2 * options->count + 1, sizeof *prometheus->families);
    /* so that both buffers have data, even if no label is ever added */
    if (!prometheus->families || !buffer_room(&prometheus->labels, 1)) {
        sink_destroy(sink);
        return NULL;
    }
    prometheus->family_count = 1; /* the family _info */
    for (size_t i = 0; i < options->count; i++) {
        const struct field *field = options->columns[i];
        if (prometheus_is_number(field) && field->counter)
            prometheus->families[prometheus->family_count++] = (struct family){field, true};
        if (prometheus_is_number(field) && (!field->counter || field->partly))
            prometheus->families[prometheus->family_count++] = (struct family){field, false};
    }
    return sink;
}

struct sink *sink_prometheus_create(const struct sink_options *options)
{
    return prometheus_create(options, false);
}

struct sink *sink_openmetrics_create(const struct sink_options *options)
{
    return prometheus_create(options, true);
}
