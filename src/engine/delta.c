/* SPDX-License-Identifier: MIT */
#include "engine/delta.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/rows.h"
#include "fastnet/clock.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"

/* A row of one run. */
struct row {
    size_t place;   /* among the rows */
    uint64_t at;    /* time it was seen, nanoseconds */
    uint64_t netns; /* where: numbers of another namespace mean other things */
};

/* The rows of one run. */
struct totals {
    struct hash_table table; /* of struct row */
    struct rows rows;
};

struct delta {
    struct totals before, now;
    uint32_t spare;
    struct kept_row row; /* the one before */
};

/* The key of a search among the rows of one run. */
struct sought {
    const struct record *record;
    uint64_t netns;
    const struct rows *rows;
    struct kept_row *row; /* room for what is found */
};

static const struct context no_names;

static void forget(struct totals *totals)
{
    hash_table_finish(&totals->table);
    rows_clear(&totals->rows);
}

struct delta *delta_create(uint32_t spare)
{
    struct delta *delta = calloc(1, sizeof *delta);

    if (delta)
        delta->now.rows.spare = delta->spare = spare;
    return delta;
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
    delta->now = (struct totals){.rows.spare = delta->spare};
}

/* A hash of the row's identity or key, equal in all runs; 0: it has neither. */
static uint64_t hash_of(const struct record *record, uint64_t netns)
{
    const struct kind *kind = record->kind;
    uint64_t hash = record->identity ? hash_word(netns, record->identity) : 0;

    for (size_t i = 0; i < kind->field_count && !record->identity; i++) {
        if (!kind->fields[i].key)
            continue;
        const struct value value = field_value(&kind->fields[i], record, &no_names);
        if (value.type == VALUE_UNKNOWN)
            return 0;
        hash = value_hash(hash, &value);
    }
    return hash;
}

/* True if a remembered row is the same as this one; both have an identity or a whole key. */
static bool is_same(const void *element, const void *key)
{
    const struct row *row = element;
    const struct sought *sought = key;

    if (row->netns != sought->netns)
        return false;
    const struct record *a = rows_at(sought->rows, row->place, sought->row), *b = sought->record;
    const struct kind *kind = a->kind;
    for (size_t i = 0; i < kind->field_count && !a->identity; i++) {
        const struct value x = field_value(&kind->fields[i], a, &no_names);
        const struct value y = field_value(&kind->fields[i], b, &no_names);
        if (kind->fields[i].key && value_compare(&x, &y) != 0)
            return false;
    }
    return a->identity == b->identity;
}

static int remember(struct totals *totals, const struct record *record, uint64_t netns, uint64_t at,
                    uint64_t hash)
{
    struct kept_row twin;
    const struct sought sought = {record, netns, &totals->rows, &twin};
    struct row *row = hash_table_find(&totals->table, hash, is_same, &sought);

    if (rows_add(&totals->rows, record) < 0)
        return -ENOMEM;
    if (!row)
        row = hash_table_add(&totals->table, hash, sizeof *row);
    if (!row)
        return -ENOMEM;
    *row = (struct row){totals->rows.count - 1, at, netns};
    return 0;
}

/* True if changes can be computed: the counters are the same, and none fell (was reset). */
static bool is_comparable(const struct record *record, const struct record *before)
{
    for (size_t i = 0; i < record->kind->field_count; i++) {
        const struct field *field = &record->kind->fields[i];
        if (field_grows(field, record) != field_grows(field, before) ||
            (field_grows(field, record) &&
             field_number(field, record) < field_number(field, before)))
            return false;
    }
    return true;
}

static bool has_counters(const struct record *record)
{
    for (size_t i = 0; i < record->kind->field_count; i++)
        if (field_grows(&record->kind->fields[i], record))
            return true;
    return false;
}

int delta_take(struct delta *delta, const struct record *record, uint64_t netns,
               struct record *change)
{
    const struct sought sought = {record, netns, &delta->before.rows, &delta->row};
    const struct record *const found = &delta->row.plain.record;
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC), hash = hash_of(record, netns);
    const struct row *before =
        hash ? hash_table_find(&delta->before.table, hash, is_same, &sought) : NULL;

    memcpy(change, record, record->kind->size);
    change->before = NULL;
    if (before && now > before->at && is_comparable(record, found)) {
        change->before = found;
        change->elapsed = now - before->at;
    }
    return hash && has_counters(record) ? remember(&delta->now, record, netns, now, hash) : 0;
}
