#include "engine/delta.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "fastnet/hash.h"

enum { FIRST_SLOTS = 64, KEY_MAX = 64, NANOSECONDS = 1000000000 };

/* What a kind of record counts. */
struct counters {
    uint64_t *values;
    size_t count;
    uint64_t field; /* of record.has: they are there */
    char key[KEY_MAX];
    size_t key_size;
};

/* A row as it was last seen. */
struct row {
    unsigned run; /* in which run; 0: the slot is free */
    uint64_t at;  /* when, nanoseconds */
    char key[KEY_MAX];
    size_t key_size;
    uint64_t *values;
};

struct delta {
    unsigned run;
    struct row *rows; /* open addressing */
    size_t mask, count;
};

/* Appends to the key; returns false when it is too long. */
static bool add_key(struct counters *counters, struct text text)
{
    if (text.length >= KEY_MAX - counters->key_size)
        return false;
    if (text.length)
        memcpy(counters->key + counters->key_size, text.data, text.length);
    counters->key_size += text.length;
    counters->key[counters->key_size++] = '\0';
    return true;
}

/*
 * Returns false for a kind, or a row, that has none, and for a row whose key is too long: then
 * field says what cannot be compared.
 */
static bool counters_of(struct record *record, struct counters *counters)
{
    struct interface_record *interface = &record->interface;
    struct counter_record *counter = &record->counter;

    counters->field = 0;
    if (record->kind == RECORD_INTERFACE && record->has & INTERFACE_COUNTERS) {
        *counters = (struct counters){.values = interface->counters,
                                      .count = INTERFACE_COUNTERS_MAX,
                                      .field = INTERFACE_COUNTERS};
        return add_key(counters, interface->name);
    }
    if (record->kind == RECORD_COUNTER && record->has & COUNTER_VALUE && !counter->negative &&
        !counter->state) {
        *counters =
            (struct counters){.values = &counter->magnitude, .count = 1, .field = COUNTER_VALUE};
        return add_key(counters, counter->protocol) && add_key(counters, counter->name);
    }
    return false;
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
    for (size_t i = 0; i <= delta->mask; i++)
        free(delta->rows[i].values);
    free(delta->rows);
    free(delta);
}

void delta_start(struct delta *delta)
{
    delta->run++;
}

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * NANOSECONDS + (uint64_t)time.tv_nsec;
}

static struct row *find(struct row *rows, size_t mask, const char *key, size_t size)
{
    size_t at;

    for (at = (size_t)hash_bytes(size, key, size) & mask; rows[at].run; at = (at + 1) & mask)
        if (rows[at].key_size == size && memcmp(rows[at].key, key, size) == 0)
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
        struct row *row = &delta->rows[i];
        if (is_forgotten(delta, row)) {
            free(row->values);
            continue;
        }
        *find(rows, mask, row->key, row->key_size) = *row;
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
    const double rate = (double)change * NANOSECONDS / (double)nanoseconds + 0.5;

    return rate < (double)UINT64_MAX ? (uint64_t)rate : UINT64_MAX;
}

/* Whether there are changes: the counters become these. What fell was reset. */
static bool subtract(const struct counters *counters, const struct row *before, uint64_t time)
{
    for (size_t i = 0; i < counters->count; i++)
        if (counters->values[i] < before->values[i])
            return false;
    if (time <= before->at)
        return false;
    for (size_t i = 0; i < counters->count; i++)
        counters->values[i] = a_second(counters->values[i] - before->values[i], time - before->at);
    return true;
}

static int remember(struct delta *delta, struct row *row, const struct counters *counters,
                    const uint64_t *totals, uint64_t time)
{
    if (!row->run) {
        row->values = calloc(counters->count, sizeof *row->values);
        if (!row->values)
            return -ENOMEM;
        memcpy(row->key, counters->key, counters->key_size);
        row->key_size = counters->key_size;
        delta->count++;
    }
    memcpy(row->values, totals, counters->count * sizeof *totals);
    row->run = delta->run;
    row->at = time;
    return 0;
}

int delta_take(struct delta *delta, const struct record *record, struct record *change)
{
    struct record totals = *record;
    struct counters counters, before;
    uint64_t time = now();
    struct row *row;

    *change = *record;
    if (!counters_of(&totals, &before) || !counters_of(change, &counters)) {
        change->has &= ~before.field;
        return 0;
    }
    if (2 * (delta->count + 1) > delta->mask && grow(delta) < 0)
        return -ENOMEM;
    row = find(delta->rows, delta->mask, counters.key, counters.key_size);
    if (is_forgotten(delta, row) || !subtract(&counters, row, time))
        change->has &= ~counters.field;
    return remember(delta, row, &counters, before.values, time);
}
