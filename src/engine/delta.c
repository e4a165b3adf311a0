#include "engine/delta.h"

#include <errno.h>
#include <stdlib.h>

#include "fastnet/clock.h"
#include "fastnet/hash.h"

enum { FIRST_SLOTS = 64, KEY_MAX = 64, COUNTERS_MAX = 32 };

/* What tells a row from the others of its kind, in the runs before, too. */
struct key {
    char bytes[KEY_MAX];
    size_t size;
};

/* The counters of a row; one that does not grow in this row is not among them. */
struct counters {
    const struct field *fields[COUNTERS_MAX];
    uint64_t values[COUNTERS_MAX];
    size_t count;
};

/* A row as it was last seen. */
struct row {
    unsigned run; /* in which run; 0: the slot is free */
    uint64_t at;  /* when, nanoseconds */
    struct key key;
    struct counters counters;
};

struct delta {
    unsigned run;
    struct row *rows; /* open addressing */
    size_t mask, count;
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

/* By its identity, or else by the fields that are keys. Returns false when nothing tells it. */
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
        counters->fields[counters->count] = field;
        counters->values[counters->count++] = field_number(field, record);
    }
}

struct delta *delta_create(void)
{
    struct delta *delta = calloc(1, sizeof *delta);

    if (!delta)
        return NULL;
    delta->mask = FIRST_SLOTS - 1;
    delta->rows = calloc(FIRST_SLOTS, sizeof *delta->rows);
    if (delta->rows)
        return delta;
    free(delta);
    return NULL;
}

void delta_destroy(struct delta *delta)
{
    if (!delta)
        return;
    free(delta->rows);
    free(delta);
}

void delta_start(struct delta *delta)
{
    delta->run++;
}

static struct row *find(struct row *rows, size_t mask, const struct key *key)
{
    size_t at = (size_t)hash_bytes(key->size, key->bytes, key->size) & mask;

    for (; rows[at].run; at = (at + 1) & mask)
        if (rows[at].key.size == key->size &&
            memcmp(rows[at].key.bytes, key->bytes, key->size) == 0)
            break;
    return &rows[at];
}

/* A row that was not there at the last run is forgotten: it may be another one that comes back. */
static bool is_forgotten(const struct delta *delta, const struct row *row)
{
    return !row->run || row->run + 1 < delta->run;
}

static int grow(struct delta *delta)
{
    const size_t mask = 2 * delta->mask + 1;
    struct row *rows = calloc(mask + 1, sizeof *rows);

    if (!rows)
        return -ENOMEM;
    delta->count = 0;
    for (size_t i = 0; i <= delta->mask; i++) {
        const struct row *row = &delta->rows[i];
        if (is_forgotten(delta, row))
            continue;
        *find(rows, mask, &row->key) = *row;
        delta->count++;
    }
    free(delta->rows);
    delta->rows = rows;
    delta->mask = mask;
    return 0;
}

/*
 * Rounded; the time is that from one look at the row to the next. What is more than a number can
 * hold, as a counter of 64 bits may change within a moment in a captured tree, is the largest.
 */
static uint64_t a_second(uint64_t change, uint64_t nanoseconds)
{
    const double rate = (double)change * CLOCK_SECOND / (double)nanoseconds + 0.5;

    return rate < (double)UINT64_MAX ? (uint64_t)rate : UINT64_MAX;
}

/* Whether there are changes: the same counters, and none that fell because it was reset. */
static bool is_comparable(const struct counters *counters, const struct counters *before)
{
    if (counters->count != before->count)
        return false;
    for (size_t i = 0; i < counters->count; i++)
        if (counters->fields[i] != before->fields[i] || counters->values[i] < before->values[i])
            return false;
    return true;
}

static void set_changes(struct record *change, const struct counters *counters,
                        const struct row *before, uint64_t time)
{
    for (size_t i = 0; i < counters->count; i++)
        field_set_number(
            counters->fields[i], change,
            a_second(counters->values[i] - before->counters.values[i], time - before->at));
}

static void forget_counters(struct record *change, const struct counters *counters)
{
    for (size_t i = 0; i < counters->count; i++)
        change->has &= ~counters->fields[i]->needs.fields;
}

int delta_take(struct delta *delta, const struct record *record, struct record *change)
{
    const uint64_t time = clock_nanoseconds(CLOCK_MONOTONIC);
    struct counters counters;
    struct row *row;
    struct key key;

    *change = *record;
    counters_of(record, &counters);
    if (!counters.count)
        return 0;
    if (!key_of(record, &key)) {
        forget_counters(change, &counters);
        return 0;
    }
    if (2 * (delta->count + 1) > delta->mask && grow(delta) < 0)
        return -ENOMEM;
    row = find(delta->rows, delta->mask, &key);
    if (is_forgotten(delta, row) || time <= row->at || !is_comparable(&counters, &row->counters))
        forget_counters(change, &counters);
    else
        set_changes(change, &counters, row, time);
    delta->count += !row->run;
    *row = (struct row){.run = delta->run, .at = time, .key = key, .counters = counters};
    return 0;
}
