/*
 * Rows that are a name and a value, made into objects: rows of one thing that follow each other
 * become one row with a column for each of their names, and that goes to another sink. Columns are
 * made anew for each listing, when all rows are there, for the names are not known before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/sink.h"

/* The columns that the rows come with. */
enum { COLUMN_OBJECT, COLUMN_NAME, COLUMN_VALUE, COLUMNS };

struct member {
    char *name; /* owned */
    struct value value;
};

/* Of an object: its members are those from here to the next object's first. */
struct object {
    char *name; /* owned */
    size_t first;
};

struct objects {
    struct sink sink;
    struct sink_options options;
    sink_create_fn create;
    struct object *objects;
    size_t object_count, object_capacity;
    struct member *members;
    size_t member_count, member_capacity;
};

static struct objects *objects_of(struct sink *sink)
{
    return (struct objects *)sink;
}

static void forget(struct objects *objects)
{
    for (size_t i = 0; i < objects->object_count; i++)
        free(objects->objects[i].name);
    for (size_t i = 0; i < objects->member_count; i++)
        free(objects->members[i].name);
    objects->object_count = objects->member_count = 0;
}

static void objects_begin(struct sink *sink)
{
    forget(objects_of(sink));
}

static bool is_named(const char *name, struct text text)
{
    return strlen(name) == text.length && memcmp(name, text.data, text.length) == 0;
}

/* Returns false when memory is short. */
static bool grow(void **array, size_t count, size_t *capacity, size_t size)
{
    const size_t larger = *capacity != 0 ? 2 * *capacity : 64;
    void *moved;

    if (count < *capacity)
        return true;
    moved = reallocarray(*array, larger, size);
    if (moved == NULL)
        return false;
    *array = moved;
    *capacity = larger;
    return true;
}

static bool add_object(struct objects *objects, struct text name)
{
    void *array = objects->objects;
    const bool grown =
        grow(&array, objects->object_count, &objects->object_capacity, sizeof(*objects->objects));
    char *copy = grown ? strndup(name.data, name.length) : NULL;

    objects->objects = array;
    if (copy == NULL)
        return false;
    objects->objects[objects->object_count++] = (struct object){copy, objects->member_count};
    return true;
}

static bool add_member(struct objects *objects, struct text name, const struct value *value)
{
    void *array = objects->members;
    const bool grown =
        grow(&array, objects->member_count, &objects->member_capacity, sizeof(*objects->members));
    char *copy = grown ? strndup(name.data, name.length) : NULL;

    objects->members = array;
    if (copy == NULL)
        return false;
    objects->members[objects->member_count++] = (struct member){copy, *value};
    return true;
}

/* An object has no two members of one name: the first one counts. */
static bool has_member(const struct objects *objects, struct text name)
{
    const struct object *object = &objects->objects[objects->object_count - 1];

    if (is_named(objects->options.columns[COLUMN_OBJECT]->name, name))
        return true;
    for (size_t i = object->first; i < objects->member_count; i++)
        if (is_named(objects->members[i].name, name))
            return true;
    return false;
}

static struct value value_of(const struct objects *objects, size_t i, const struct record *record)
{
    const struct column *column = objects->options.columns[i];

    return column->value(column, record, objects->sink.context);
}

static void objects_row(struct sink *sink, const struct record *record)
{
    struct objects *objects = objects_of(sink);
    const struct value object = value_of(objects, COLUMN_OBJECT, record);
    const struct value name = value_of(objects, COLUMN_NAME, record);
    const struct value value = value_of(objects, COLUMN_VALUE, record);
    const size_t count = objects->object_count;
    bool kept = true;

    if (object.type != VALUE_TEXT || name.type != VALUE_TEXT)
        return;
    if (count == 0 || !is_named(objects->objects[count - 1].name, object.text))
        kept = add_object(objects, object.text);
    if (kept && !has_member(objects, name.text))
        kept = add_member(objects, name.text, &value);
    if (!kept && sink->writer->error == 0)
        sink->writer->error = ENOMEM;
}

/* What the rows of objects are shown by, and where their values are put. */
struct shape {
    struct column *columns;
    const struct column **order;
    struct value *values;
    size_t count;
};

static void shape_finish(struct shape *shape)
{
    free(shape->columns);
    free(shape->order);
    free(shape->values);
}

static bool shape_init(struct shape *shape, const struct objects *objects)
{
    const struct column *const *columns = objects->options.columns;

    shape->count = 1 + objects->member_count;
    shape->columns = calloc(shape->count, sizeof(*shape->columns));
    shape->order = calloc(shape->count, sizeof(struct column *));
    shape->values = calloc(shape->count, sizeof(*shape->values));
    if (shape->columns == NULL || shape->order == NULL || shape->values == NULL)
        return false;
    column_counted(&shape->columns[0], columns[COLUMN_OBJECT], 0);
    for (size_t i = 0; i < shape->count; i++) {
        if (i > 0) {
            column_counted(&shape->columns[i], columns[COLUMN_VALUE], i);
            shape->columns[i].name = objects->members[i - 1].name;
        }
        shape->order[i] = &shape->columns[i];
    }
    return true;
}

static void put_object(const struct objects *objects, size_t i, const struct shape *shape,
                       struct sink *sink)
{
    const struct object *object = &objects->objects[i];
    const size_t end = i + 1 < objects->object_count ? object[1].first : objects->member_count;

    shape->values[0] =
        (struct value){.type = VALUE_TEXT, .text = {object->name, strlen(object->name)}};
    for (size_t m = 0; m < objects->member_count; m++) {
        if (m < object->first || m >= end)
            shape->values[1 + m] = (struct value){.type = VALUE_ABSENT};
        else
            shape->values[1 + m] = objects->members[m].value;
    }
    sink->ops->row(sink,
                   &(struct record){.kind = RECORD_COUNT, .count = {.values = shape->values}});
}

static void objects_end(struct sink *sink)
{
    const struct objects *objects = objects_of(sink);
    struct sink_options options = objects->options;
    struct shape shape = {.count = 0};
    struct sink *inner = NULL;

    if (shape_init(&shape, objects)) {
        options.columns = shape.order;
        options.count = shape.count;
        inner = objects->create(&options);
    }
    if (inner == NULL) {
        sink->writer->error = sink->writer->error != 0 ? sink->writer->error : ENOMEM;
    } else {
        inner->ops->begin(inner);
        for (size_t i = 0; i < objects->object_count; i++)
            put_object(objects, i, &shape, inner);
        inner->ops->end(inner);
    }
    sink_destroy(inner);
    shape_finish(&shape);
}

static void objects_destroy(struct sink *sink)
{
    struct objects *objects = objects_of(sink);

    forget(objects);
    free(objects->objects);
    free(objects->members);
    free(objects);
}

struct sink *sink_objects_create(const struct sink_options *options, sink_create_fn create)
{
    static const struct sink_ops ops = {
        .begin = objects_begin, .row = objects_row, .end = objects_end, .destroy = objects_destroy};
    struct objects *objects = options->count == COLUMNS ? calloc(1, sizeof(*objects)) : NULL;

    if (objects == NULL)
        return NULL;
    objects->sink = (struct sink){&ops, options->writer, options->context};
    objects->options = *options;
    objects->create = create;
    return &objects->sink;
}
