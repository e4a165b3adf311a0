/* SPDX-License-Identifier: MIT */
#include "engine/delta.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/rows.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/hash.h"

/* Stored for a counter that the row does not have: no counter is so large. */
#define NO_NUMBER UINT64_MAX

/* The largest times that struct remembered can store: `at` 2,283 years, `elapsed` almost 9. */
#define AT_MASK      ((UINT64_C(1) << 56) - 1)
#define ELAPSED_MASK ((UINT64_C(1) << 48) - 1)

static const struct context no_names;

struct delta *delta_create(struct needs needs)
{
    struct delta *delta = calloc(1, sizeof *delta);

    if (!delta)
        return NULL;
    delta->needs = needs;
    delta->netns.size = sizeof(struct netns_entry);
    return delta;
}

struct delta *delta_create_for(const struct field *const *counters, size_t count, size_t extra)
{
    struct delta *delta = delta_create((struct needs){.fields = 0});

    if (!delta)
        return NULL;
    delta->extra = extra;
    delta->counter_count = count;
    delta->counters = calloc(count + 1, sizeof *delta->counters);
    if (delta->counters) {
        for (size_t i = 0; i < count; i++)
            delta->counters[i] = counters[i];
        return delta;
    }
    free(delta);
    return NULL;
}

void delta_destroy(struct delta *delta)
{
    if (!delta)
        return;
    free(delta->counters);
    free(delta->rows);
    free(delta->slots);
    netns_store_finish(&delta->netns, NULL);
    free(delta);
}

/* --- Finding rows ----------------------------------------------------------------------------- */

/* The first slot to search. The hash is keyed, because users choose some of the keys (names). */
static size_t delta_slot_of(const struct delta *delta, uint64_t key, size_t netns_number)
{
    return (size_t)hash_word(netns_number, key) & (delta->slot_count - 1);
}

static void delta_put_slot(struct delta *delta, size_t i)
{
    const struct remembered *row = delta_at(delta, i);
    size_t at = delta_slot_of(delta, row->key, row->netns_number);

    while (delta->slots[at])
        at = (at + 1) & (delta->slot_count - 1);
    delta->slots[at] = (uint32_t)i + 1;
}

static void put_slots(struct delta *delta)
{
    memset(delta->slots, 0, delta->slot_count * sizeof *delta->slots);
    for (size_t i = 0; i < delta->count; i++)
        delta_put_slot(delta, i);
}

/* Dumps mostly repeat their order, so the row after the last found row is tried first. */
struct remembered *delta_find(const struct delta *delta, uint64_t key, size_t netns_number)
{
    if (!delta->slot_count)
        return NULL;
    if (delta->expected < delta->count) {
        struct remembered *row = delta_at(delta, delta->expected);
        if (row->key == key && row->netns_number == netns_number)
            return row;
    }
    for (size_t at = delta_slot_of(delta, key, netns_number); delta->slots[at];
         at = (at + 1) & (delta->slot_count - 1)) {
        struct remembered *row = delta_at(delta, delta->slots[at] - 1);
        if (row->key == key && row->netns_number == netns_number)
            return row;
    }
    return NULL;
}

static bool delta_grow(struct delta *delta)
{
    char *rows = array_with_room(delta->rows, &delta->capacity, delta->count + 1, delta->stride);
    size_t slots = delta->slot_count ? delta->slot_count : 64;

    if (!rows || delta->count >= UINT32_MAX / 2)
        return false;
    delta->rows = rows;
    while ((delta->count + 1) * 5 > slots * 4)
        slots *= 2;
    if (slots == delta->slot_count)
        return true;
    uint32_t *moved = reallocarray(delta->slots, slots, sizeof *moved);
    if (!moved)
        return false;
    delta->slots = moved;
    delta->slot_count = slots;
    put_slots(delta);
    return true;
}

static struct remembered *delta_add(struct delta *delta, uint64_t key, size_t netns_number)
{
    struct remembered *row;

    if (!delta_grow(delta))
        return NULL;
    row = delta_at(delta, delta->count);
    memset(row, 0, delta->stride);
    row->key = key;
    row->netns_number = (uint16_t)netns_number;
    delta_put_slot(delta, delta->count++);
    return row;
}

/* --- Forgetting ------------------------------------------------------------------------------- */

void delta_forget(struct delta *delta, bool (*keeps)(struct remembered *row, void *arg), void *arg)
{
    size_t kept = 0;

    for (size_t i = 0; i < delta->count; i++) {
        if (!keeps(delta_at(delta, i), arg))
            continue;
        if (kept != i)
            memcpy(delta_at(delta, kept), delta_at(delta, i), delta->stride);
        kept++;
    }
    if (kept == delta->count)
        return;
    delta->count = kept;
    put_slots(delta);
}

void delta_forget_netns(struct delta *delta)
{
    for (size_t i = 0; i < delta->count; i++) {
        struct netns_entry *of = netns_store_at(&delta->netns, delta_at(delta, i)->netns_number);
        of->is_read = true;
    }
    netns_store_next(&delta->netns, NULL);
}

static bool is_of_run(struct remembered *row, void *arg)
{
    return delta_is_of(row, *(const uint32_t *)arg);
}

/* Forgets the rows that the last run did not find: if one comes back, it may be another object. */
void delta_start(struct delta *delta)
{
    if (!delta->extra || delta->forgets) {
        delta_forget(delta, is_of_run, &delta->run);
        delta_forget_netns(delta);
    }
    delta->run++;
}

/* --- Remembering ------------------------------------------------------------------------------ */

/* Returns 0 or -ENOMEM. */
static int delta_begin(struct delta *delta, const struct kind *kind)
{
    if (!delta->counters) {
        delta->counters = calloc(kind->field_count + 1, sizeof *delta->counters);
        for (size_t i = 0; i < kind->field_count && delta->counters; i++) {
            const struct field *field = &kind->fields[i];
            const struct needs *needs = &delta->needs;
            /* remember only counters of which the listing reads all inputs */
            if (field->counter && !(field->fields & ~needs->fields) &&
                !(needs->parts && field->parts & ~needs->parts))
                delta->counters[delta->counter_count++] = field;
        }
    }
    if (!delta->counters)
        return -ENOMEM;
    delta->kind = kind;
    delta->stride = sizeof(struct remembered) + delta->counter_count * sizeof(uint64_t) +
                    (delta->extra + 7) / 8 * 8;
    return 0;
}

/* The record's identity, or a hash of its key; 0: the record has neither. */
static uint64_t delta_key_of(const struct record *record)
{
    const struct kind *kind = record->kind;
    uint64_t secret[2];

    if (record->identity)
        return record->identity;
    hash_secret(secret);
    uint64_t hash = secret[0];
    const uint64_t nothing = hash;
    for (size_t i = 0; i < kind->field_count; i++) {
        if (!kind->fields[i].key)
            continue;
        const struct value value = field_value(&kind->fields[i], record, &no_names);
        if (value.type == VALUE_UNKNOWN)
            return 0;
        hash = value_hash(hash_word(hash, i), &value);
    }
    return hash == nothing ? 0 : hash;
}

static uint64_t delta_number_in(const struct field *counter, const struct record *record)
{
    return field_grows(counter, record) ? field_number(counter, record) : NO_NUMBER;
}

/* True if both records have the same counters, and no counter fell (was reset). */
static bool is_comparable(const struct delta *delta, const struct record *record,
                          const struct remembered *row)
{
    for (size_t i = 0; i < delta->counter_count; i++) {
        const uint64_t now = delta_number_in(delta->counters[i], record);
        if ((now == NO_NUMBER) != (row->before[i] == NO_NUMBER) || now < row->before[i])
            return false;
    }
    return true;
}

/* Copies borrowed bytes that hold counters into delta->parted, where they can be changed. Returns
 * false if there is no room. */
static bool copy_borrowed(struct delta *delta, const struct field *field, size_t *used)
{
    struct text text;
    char *at = (char *)&delta->before + field->offset;

    memcpy(&text, at, sizeof text);
    if (text.data >= delta->parted && text.data < delta->parted + sizeof delta->parted)
        return true;
    if (text.length > sizeof delta->parted - *used)
        return false;
    if (text.length)
        memcpy(delta->parted + *used, text.data, text.length);
    text.data = delta->parted + *used;
    *used += text.length;
    memcpy(at, &text, sizeof text);
    return true;
}

/* Copies `record`, with the numbers `before` in its counters. */
const struct record *delta_recall(struct delta *delta, const struct record *record,
                                  const uint64_t *before)
{
    size_t used = 0;

    memcpy(&delta->before, record, record->kind->size);
    delta->before.before = NULL;
    for (size_t i = 0; i < delta->counter_count; i++) {
        const struct field *field = delta->counters[i];
        if (before[i] == NO_NUMBER)
            continue;
        if (field->member == MEMBER_TEXT && !copy_borrowed(delta, field, &used))
            return NULL;
        field_set_number(field, &delta->before, before[i]);
    }
    return &delta->before;
}

static bool has_counters(const struct record *record)
{
    for (size_t i = 0; i < record->kind->field_count; i++)
        if (field_grows(&record->kind->fields[i], record))
            return true;
    return false;
}

static void set_last(struct delta *delta, struct remembered *row)
{
    delta->last = row;
    delta->expected = (size_t)((const char *)row - delta->rows) / delta->stride + 1;
    row->run = delta->run & DELTA_RUN_MASK;
}

int delta_take(struct delta *delta, const struct record *record, uint64_t netns,
               struct record *change)
{
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC) / 1000, key = delta_key_of(record);
    struct remembered *row;
    const struct netns_entry *of;
    uint64_t elapsed;

    memcpy(change, record, record->kind->size);
    change->before = NULL;
    delta->last = NULL;
    if (!delta->kind && delta_begin(delta, record->kind) < 0)
        return -ENOMEM;
    if (!key || record->kind != delta->kind || (!delta->extra && !has_counters(record)))
        return 0;
    of = netns_store_add(&delta->netns, netns);
    if (!of || of->number > UINT16_MAX)
        return 0;
    row = delta_find(delta, key, of->number);
    elapsed = row ? (now - row->at) & AT_MASK : 0;
    delta->too_soon = row && elapsed * 1000 < delta->min_elapsed;
    if (delta->too_soon) {
        set_last(delta, row);
        return 0;
    }
    if (elapsed && (delta->extra || !delta_is_of(row, delta->run)) &&
        is_comparable(delta, record, row)) {
        change->before = delta_recall(delta, record, row->before);
        change->elapsed = elapsed * 1000;
    }
    if (!row && !(row = delta_add(delta, key, of->number)))
        return -ENOMEM;
    set_last(delta, row);
    row->at = now & AT_MASK;
    row->elapsed = change->before ? elapsed & ELAPSED_MASK : 0;
    for (size_t i = 0; i < delta->counter_count; i++)
        row->before[i] = delta_number_in(delta->counters[i], record);
    return 0;
}
