#include "engine/delta.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/rows.h"
#include "fastnet/clock.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"

enum { KEY_MAX = 64, COUNTERS_MAX = 32 };

/* Identifies a row among all rows of its kind, in earlier runs too. */
struct key {
    char bytes[KEY_MAX];
    size_t size;
};

/* The counters of a row that grow in it. */
struct counters {
    size_t count;
    struct {
        const struct field *field;
        uint64_t value;
    } counts[COUNTERS_MAX]; /* kept ones have room for only `count` */
};

/* A row of one run. */
struct row {
    uint64_t at; /* time it was seen, nanoseconds */
    struct key key;
    struct counters *counters;
};

/* The rows of one run. */
struct seen_rows {
    struct hash_table table; /* of struct row */
    struct rows memory;      /* of their counters */
};

struct delta {
    struct seen_rows before, now;
};

/* Appends to the key; returns false when it is too long. */
static bool add_key(struct key *key, const void *bytes, size_t size)
{
    if (size > KEY_MAX - key->size)
        return false;
    if (size)
        memcpy(key->bytes + key->size, bytes, size);
    key->size += size;
    return true;
}

static bool add_value(struct key *key, const struct value *value)
{
    switch (value->type) {
    case VALUE_TEXT:
        return add_key(key, value->text.data, value->text.length) && add_key(key, "", 1);
    case VALUE_ADDRESS:
        return add_key(key, &value->address, sizeof value->address);
    case VALUE_NUMBER:
        return add_key(key, &value->number, sizeof value->number);
    default:
        return false;
    }
}

/* The identity, or else the key fields. Returns false if there is none, or it is too long. */
static bool key_of(const struct record *record, struct key *key)
{
    const struct kind *kind = record->kind;
    const struct context none = {0};

    key->size = 0;
    if (record->identity)
        return add_key(key, &record->identity, sizeof record->identity);
    for (size_t i = 0; i < kind->field_count; i++) {
        const struct value value = field_value(&kind->fields[i], record, &none);
        if (kind->fields[i].key && !add_value(key, &value))
            return false;
    }
    return key->size > 0;
}

static void counters_of(const struct record *record, struct counters *counters)
{
    const struct kind *kind = record->kind;

    counters->count = 0;
    for (size_t i = 0; i < kind->field_count && counters->count < COUNTERS_MAX; i++) {
        const struct field *field = &kind->fields[i];
        if (!field->counter || (field->needs.fields | field->grows) & ~record->has)
            continue;
        counters->counts[counters->count].field = field;
        counters->counts[counters->count++].value = field_number(field, record);
    }
}

static void forget(struct seen_rows *rows)
{
    hash_table_finish(&rows->table);
    rows_clear(&rows->memory);
    *rows = (struct seen_rows){.table = {.count = 0}};
}

struct delta *delta_create(void)
{
    return calloc(1, sizeof(struct delta));
}

void delta_destroy(struct delta *delta)
{
    if (!delta)
        return;
    forget(&delta->before);
    forget(&delta->now);
    free(delta);
}

/* Forgets the rows of the run before the last: a row that comes back may be another one. */
void delta_start(struct delta *delta)
{
    forget(&delta->before);
    delta->before = delta->now;
    delta->now = (struct seen_rows){.table = {.count = 0}};
}

static uint64_t hash_of(const struct key *key)
{
    return hash_bytes(key->size, key->bytes, key->size);
}

static bool has_key(const void *element, const void *key)
{
    const struct row *row = element;
    const struct key *other = key;

    return row->key.size == other->size && memcmp(row->key.bytes, other->bytes, other->size) == 0;
}

static int remember(struct seen_rows *rows, const struct key *key, const struct counters *counters,
                    uint64_t time)
{
    const size_t size =
        offsetof(struct counters, counts) + counters->count * sizeof *counters->counts;
    struct row *row = hash_table_find(&rows->table, hash_of(key), has_key, key);

    if (!row)
        row = hash_table_add(&rows->table, hash_of(key), sizeof *row);
    if (!row)
        return -ENOMEM;
    *row = (struct row){.at = time, .key = *key, .counters = rows_allocate(&rows->memory, size)};
    if (!row->counters)
        return -ENOMEM;
    memcpy(row->counters, counters, size);
    return 0;
}

/*
 * The change per second, rounded; nanoseconds is the time between the two readings of the row. The
 * result is at most UINT64_MAX: counters of a captured tree can change by any amount within a
 * moment.
 */
static uint64_t a_second(uint64_t change, uint64_t nanoseconds)
{
    const double rate = (double)change * CLOCK_SECOND / (double)nanoseconds + 0.5;

    return rate < (double)UINT64_MAX ? (uint64_t)rate : UINT64_MAX;
}

/* Whether changes can be computed: the counters are the same, and none fell (was reset). */
static bool is_comparable(const struct counters *counters, const struct counters *before)
{
    if (counters->count != before->count)
        return false;
    for (size_t i = 0; i < counters->count; i++)
        if (counters->counts[i].field != before->counts[i].field ||
            counters->counts[i].value < before->counts[i].value)
            return false;
    return true;
}

static void set_changes(struct record *change, const struct counters *counters,
                        const struct row *before, uint64_t time)
{
    for (size_t i = 0; i < counters->count; i++)
        field_set_number(counters->counts[i].field, change,
                         a_second(counters->counts[i].value - before->counters->counts[i].value,
                                  time - before->at));
}

static void forget_counters(struct record *change, const struct counters *counters)
{
    for (size_t i = 0; i < counters->count; i++)
        change->has &= ~counters->counts[i].field->needs.fields;
}

int delta_take(struct delta *delta, const struct record *record, struct record *change)
{
    const uint64_t time = clock_nanoseconds(CLOCK_MONOTONIC);
    const struct row *before;
    struct counters counters;
    struct key key;

    *change = *record;
    counters_of(record, &counters);
    if (!counters.count)
        return 0;
    if (!key_of(record, &key)) {
        forget_counters(change, &counters);
        return 0;
    }
    before = hash_table_find(&delta->before.table, hash_of(&key), has_key, &key);
    if (before && time > before->at && is_comparable(&counters, before->counters))
        set_changes(change, &counters, before, time);
    else
        forget_counters(change, &counters);
    return remember(&delta->now, &key, &counters, time);
}
