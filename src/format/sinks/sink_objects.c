/* SPDX-License-Identifier: MIT */
/* Turns rows of three columns (object, name, value) into objects: consecutive rows of one object
 * become one row of another sink, with a column for each name. The columns are made after the last
 * row of an object, because the names are not known before. */
#include <stdlib.h>
#include <string.h>

#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/rates.h"
#include "fastnet/sink.h"

/* The last columns of the incoming rows. All columns before them are members of every object. */
enum { COLUMN_OBJECT, COLUMN_NAME, COLUMN_VALUE, COLUMNS };

/* One member of an object. The first members are the leading columns, then the object's name. */
struct member {
    struct field column; /* first member: member_value() gets its address */
    struct value value;
    char *name; /* name of the column, owned */
};

struct objects {
    struct sink sink;
    struct sink_options options;
    size_t leading;            /* number of columns before COLUMN_OBJECT */
    struct sink *inner;        /* owned */
    char *name;                /* name of the current object, owned; NULL: no object */
    const struct netns *netns; /* netns of the current object */
    struct hash_table members; /* members of the current object, found by name */
};

static bool is_member(const void *member, const void *name)
{
    return text_is(*(const struct text *)name, ((const struct member *)member)->name);
}

static struct value member_value(const struct cell *cell)
{
    return ((const struct member *)cell->field)->value;
}

/* Adds a member, unless the object has its name already. Returns false if memory is short. */
static bool add_member(struct objects *objects, const struct field *pattern, struct text name,
                       const char *suffix, const struct value *value)
{
    const size_t length = name.length + strlen(suffix);
    char *copy = malloc(length + 1);

    if (!copy)
        return false;
    memcpy(copy, name.data, name.length);
    memcpy(copy + name.length, suffix, strlen(suffix) + 1);

    const struct text whole = {copy, length};
    /* hashed with a secret, so that a captured file cannot choose names that collide */
    const uint64_t hash = hash_bytes(hash_seed(), copy, length);
    const bool known = hash_table_find(&objects->members, hash, is_member, &whole);
    struct member *member = known ? NULL : hash_table_add(&objects->members, hash, sizeof *member);
    if (!member) {
        free(copy);
        return known;
    }
    field_counted(&member->column, pattern, 0);
    member->column.name = copy;
    member->column.value = member_value;
    member->value = *value;
    member->name = copy;
    return true;
}

/* Evaluates leading columns now: at the object's end the engine may be in the next netns. */
static bool begin_object(struct objects *objects, struct text name)
{
    const struct record empty = {.kind = &kind_count};
    bool added;

    objects->netns = objects->sink.context->netns.netns;
    objects->name = strndup(name.data, name.length);
    added = objects->name;
    for (size_t i = 0; i <= objects->leading + COLUMN_OBJECT && added; i++) {
        const struct field *column = objects->options.columns[i];
        const struct value value =
            i < objects->leading
                ? field_value(column, &empty, objects->sink.context)
                : (struct value){.type = VALUE_TEXT, .text = as_text(objects->name)};
        added = add_member(objects, column, as_text(column->name), "", &value);
    }
    return added;
}

static void objects_forget(struct objects *objects)
{
    for (size_t i = 0; i < objects->members.count; i++)
        free(((struct member *)hash_table_at(&objects->members, i))->name);
    hash_table_finish(&objects->members);
    free(objects->name);
    objects->name = NULL;
}

/* Writes the current object, if there is one. Returns false if memory is short. */
static bool end_object(struct objects *objects)
{
    const size_t count = objects->members.count;
    const struct field **columns = calloc(count + 1, sizeof(struct field *));
    struct sink *inner = objects->inner;
    bool shown = !objects->name;

    for (size_t i = 0; columns && i < count; i++)
        columns[i] = &((struct member *)hash_table_at(&objects->members, i))->column;
    if (columns && count > 0 && inner->ops->set_columns(inner, columns, count)) {
        inner->ops->row(inner, &(struct record){.kind = &kind_count});
        shown = true;
    }
    free(columns);
    objects_forget(objects);
    return shown;
}

/* --- The sink --------------------------------------------------------------------------------- */

static void objects_begin(struct sink *sink)
{
    sink_begin(((struct objects *)sink)->inner);
}

static void objects_row(struct sink *sink, const struct record *record)
{
    struct objects *objects = (struct objects *)sink;
    const struct field *const *columns = objects->options.columns + objects->leading;
    const struct value object = field_value(columns[COLUMN_OBJECT], record, sink->context);
    const struct value name = field_value(columns[COLUMN_NAME], record, sink->context);
    const struct field *column = columns[COLUMN_VALUE];
    const bool rate = column->rate && field_grows(column->of, record);
    const struct value value =
        field_value(column->rate && !rate ? column->of : column, record, sink->context);
    bool kept = true;

    if (object.type != VALUE_TEXT || name.type != VALUE_TEXT)
        return;
    /* tables of several network namespaces have objects with equal names */
    if (!objects->name || !text_is(object.text, objects->name) ||
        objects->netns != sink->context->netns.netns)
        kept = end_object(objects) && begin_object(objects, object.text);
    if (!kept || !add_member(objects, column, name.text, rate ? RATE_SUFFIX : "", &value))
        sink_lacks_memory(sink);
}

static void objects_end(struct sink *sink)
{
    struct objects *objects = (struct objects *)sink;

    if (!end_object(objects))
        sink_lacks_memory(sink);
    sink_end(objects->inner);
}

static void objects_destroy(struct sink *sink)
{
    struct objects *objects = (struct objects *)sink;

    objects_forget(objects);
    sink_destroy(objects->inner);
}

struct sink *sink_objects_create(const struct sink_options *options, sink_create_fn create)
{
    static const struct sink_ops ops = {.size = sizeof(struct objects),
                                        .layout_size = sizeof *options,
                                        .begin = objects_begin,
                                        .row = objects_row,
                                        .end = objects_end,
                                        .destroy = objects_destroy};
    struct sink *sink = options->count >= COLUMNS
                            ? sink_create(&ops, options, options->writer, options->context)
                            : NULL;
    struct objects *objects = (struct objects *)sink;

    if (!sink)
        return NULL;
    objects->leading = options->count - COLUMNS;
    objects->inner = create(options);
    if (objects->inner && objects->inner->ops->set_columns)
        return sink;
    sink_destroy(sink);
    return NULL;
}
