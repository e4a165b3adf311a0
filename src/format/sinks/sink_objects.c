/*
 * Turns rows of an object, a name and a value into objects: consecutive rows of one object become
 * one row of another sink, with a column for each name. The columns are made for each object after
 * its last row, because the names are not known before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/hash.h"
#include "fastnet/sink.h"

/* The columns of the incoming rows. */
enum { COLUMN_OBJECT, COLUMN_NAME, COLUMN_VALUE, COLUMNS };

enum { MEMBERS_FIRST = 64 };

struct member {
    char *name; /* owned */
    struct value value;
};

/* Finds a member by its name; free unless `object` is the current one. */
struct slot {
    uint64_t object;
    size_t member;
};

struct objects {
    struct sink sink;
    struct sink_options options;
    struct sink *inner; /* owned */
    char *name;         /* of the current object, owned; NULL: none */
    uint64_t object;    /* its number, from 1 on */
    struct member *members;
    struct slot *slots; /* twice the capacity, a power of two */
    size_t count, capacity;
    uint64_t secret[2]; /* a captured file cannot choose names that collide */
};

static struct objects *objects_of(struct sink *sink)
{
    return (struct objects *)sink;
}

static bool is_named(const char *name, struct text text)
{
    return strlen(name) == text.length && memcmp(name, text.data, text.length) == 0;
}

/* --- Members ---------------------------------------------------------------------------------- */

/* The slot of the member with this name, or the free one where it belongs. */
static struct slot *slot_of(const struct objects *objects, struct text name)
{
    const size_t mask = 2 * objects->capacity - 1;
    const uint64_t hash = hash_bytes(objects->secret[0], name.data, name.length);
    size_t at = (size_t)hash_word(hash, objects->secret[1]) & mask;

    for (; objects->slots[at].object == objects->object; at = (at + 1) & mask)
        if (is_named(objects->members[objects->slots[at].member].name, name))
            break;
    return &objects->slots[at];
}

/* Returns false when memory is short. */
static bool grow(struct objects *objects)
{
    const size_t larger = objects->capacity != 0 ? 2 * objects->capacity : MEMBERS_FIRST;
    struct slot *slots = calloc(2 * larger, sizeof *slots);
    struct member *members = reallocarray(objects->members, larger, sizeof *members);

    if (members)
        objects->members = members;
    if (!slots || !members) {
        free(slots);
        return false;
    }
    free(objects->slots);
    objects->slots = slots;
    objects->capacity = larger;
    for (size_t i = 0; i < objects->count; i++) {
        const struct text name = {members[i].name, strlen(members[i].name)};
        *slot_of(objects, name) = (struct slot){objects->object, i};
    }
    return true;
}

/* Of several members with one name the first counts. */
static bool add_member(struct objects *objects, struct text name, const struct value *value)
{
    struct slot *slot;
    char *copy;

    if (is_named(objects->options.columns[COLUMN_OBJECT]->name, name))
        return true;
    if (objects->count == objects->capacity && !grow(objects))
        return false;
    slot = slot_of(objects, name);
    if (slot->object == objects->object)
        return true;
    copy = strndup(name.data, name.length);
    if (!copy)
        return false;
    *slot = (struct slot){objects->object, objects->count};
    objects->members[objects->count++] = (struct member){copy, *value};
    return true;
}

/* --- Objects ---------------------------------------------------------------------------------- */

static void forget(struct objects *objects)
{
    for (size_t i = 0; i < objects->count; i++)
        free(objects->members[i].name);
    free(objects->name);
    objects->name = NULL;
    objects->count = 0;
}

static bool begin_object(struct objects *objects, struct text name)
{
    objects->name = strndup(name.data, name.length);
    objects->object++;
    return objects->name;
}

/* The columns and values of an object. */
struct shape {
    struct field *columns;
    const struct field **order;
    struct value *values;
};

static void shape_finish(struct shape *shape)
{
    free(shape->columns);
    free(shape->order);
    free(shape->values);
}

static bool shape_init(struct shape *shape, const struct objects *objects)
{
    const struct field *const *columns = objects->options.columns;
    const size_t count = 1 + objects->count;

    shape->columns = calloc(count, sizeof *shape->columns);
    shape->order = calloc(count, sizeof(struct field *));
    shape->values = calloc(count, sizeof *shape->values);
    if (!shape->columns || !shape->order || !shape->values)
        return false;
    field_counted(&shape->columns[0], columns[COLUMN_OBJECT], 0);
    shape->values[0] =
        (struct value){.type = VALUE_TEXT, .text = {objects->name, strlen(objects->name)}};
    for (size_t i = 1; i < count; i++) {
        field_counted(&shape->columns[i], columns[COLUMN_VALUE], i);
        shape->columns[i].name = objects->members[i - 1].name;
        shape->values[i] = objects->members[i - 1].value;
    }
    for (size_t i = 0; i < count; i++)
        shape->order[i] = &shape->columns[i];
    return true;
}

/* Hands on the current object, if there is one. Returns false when memory is short. */
static bool end_object(struct objects *objects)
{
    struct shape shape = {.columns = NULL};
    struct sink *inner = objects->inner;
    bool shown = !objects->name;

    if (!shown && shape_init(&shape, objects) &&
        inner->ops->set_columns(inner, shape.order, 1 + objects->count)) {
        inner->ops->row(inner,
                        &(struct record){.kind = &kind_count, .count = {.values = shape.values}});
        shown = true;
    }
    shape_finish(&shape);
    forget(objects);
    return shown;
}

/* --- The sink --------------------------------------------------------------------------------- */

static void check_memory(struct sink *sink, bool enough)
{
    if (!enough && sink->writer->error == 0)
        sink->writer->error = ENOMEM;
}

static void objects_begin(struct sink *sink)
{
    struct sink *inner = objects_of(sink)->inner;

    sink_begin(inner);
}

static struct value value_of(const struct objects *objects, size_t i, const struct record *record)
{
    const struct field *column = objects->options.columns[i];

    return field_value(column, record, objects->sink.context);
}

static void objects_row(struct sink *sink, const struct record *record)
{
    struct objects *objects = objects_of(sink);
    const struct value object = value_of(objects, COLUMN_OBJECT, record);
    const struct value name = value_of(objects, COLUMN_NAME, record);
    const struct value value = value_of(objects, COLUMN_VALUE, record);
    bool kept = true;

    if (object.type != VALUE_TEXT || name.type != VALUE_TEXT)
        return;
    if (!objects->name || !is_named(objects->name, object.text))
        kept = end_object(objects) && begin_object(objects, object.text);
    check_memory(sink, kept && add_member(objects, name.text, &value));
}

static void objects_end(struct sink *sink)
{
    struct objects *objects = objects_of(sink);

    check_memory(sink, end_object(objects));
    sink_end(objects->inner);
}

static void objects_destroy(struct sink *sink)
{
    struct objects *objects = objects_of(sink);

    forget(objects);
    sink_destroy(objects->inner);
    free(objects->members);
    free(objects->slots);
    free(objects);
}

struct sink *sink_objects_create(const struct sink_options *options, sink_create_fn create)
{
    static const struct sink_ops ops = {
        .begin = objects_begin, .row = objects_row, .end = objects_end, .destroy = objects_destroy};
    struct objects *objects = options->count == COLUMNS ? calloc(1, sizeof *objects) : NULL;

    if (!objects)
        return NULL;
    objects->sink = (struct sink){&ops, options->writer, options->context};
    objects->options = *options;
    hash_secret(objects->secret);
    objects->inner = create(options);
    if (!objects->inner || !objects->inner->ops->set_columns) {
        objects_destroy(&objects->sink);
        return NULL;
    }
    return &objects->sink;
}
