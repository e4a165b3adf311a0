/* SPDX-License-Identifier: MIT */
/* How live rows are sorted. A number is its own rank. All other values (texts, addresses, lists)
 * are stored once each, as bytes that compare as the values do (value_key()), and the rank of a row
 * is the index of its value. Each sample starts with an empty list of values. */
#include <errno.h>
#include <stdlib.h>

#include "engine/live_rows.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/hash.h"

/* A value. Values are stored in the order in which rows brought them. */
struct order_value {
    uint64_t hash; /* keyed hash of the value's bytes; compared instead of the bytes */
    size_t at, length;
    size_t position; /* index among the sorted values */
};

static bool live_order_is_number(const struct field *field)
{
    switch (field->type) {
    case VALUE_NUMBER:
    case VALUE_DECIMAL:
    case VALUE_FINE:
    case VALUE_BOOLEAN:
    case VALUE_TIME:
        return true;
    default:
        return false;
    }
}

/* The index of the value, which is added if it is new; SIZE_MAX: memory is short. */
static size_t live_order_number_of(struct live_order *order, const struct value *value)
{
    const size_t length = value_key(value, NULL, 0);
    char *bytes =
        array_with_room(order->bytes, &order->capacity, order->used + length + 1, sizeof *bytes);
    struct order_value *known;

    if (!bytes)
        return SIZE_MAX;
    order->bytes = bytes;
    (void)value_key(value, bytes + order->used, length);
    const uint64_t hash = hash_bytes(hash_word(hash_seed(), length), bytes + order->used, length);
    known = hash_table_find_number(&order->values, hash, hash);
    if (!known && (known = hash_table_add(&order->values, hash, sizeof *known))) {
        *known = (struct order_value){hash, order->used, length, 0};
        order->used += length;
    }
    return known ? (size_t)(known - (struct order_value *)order->values.elements) : SIZE_MAX;
}

void live_order_finish(struct live_order *order)
{
    hash_table_finish(&order->values);
    free(order->bytes);
    *order = (struct live_order){.used = 0};
}

/* Rank without a sort column: bytes per second in both directions, the first two rates. */
static uint64_t rank_of_moves(const struct live *live, const struct record *record)
{
    uint64_t moved = 0, more;

    for (size_t i = 0; i < 2 && i < live->listing->rate_count && record->before; i++) {
        const struct field *field = live->listing->rates[i];
        if (!field_grows(field, record))
            continue;
        more = field_number(field, record) - field_number(field, record->before);
        moved = more <= UINT64_MAX - moved ? moved + more : UINT64_MAX;
    }
    if (!record->elapsed || record->elapsed == CLOCK_SECOND)
        return moved;
    const double rate = (double)moved * (double)CLOCK_SECOND / (double)record->elapsed;
    return rate < (double)UINT64_MAX ? (uint64_t)rate : UINT64_MAX;
}

struct live_rank live_rank_of(struct live *live, const struct record *record)
{
    const struct field *field = live->view.order.field;
    struct live_rank rank = {.unknown = false};

    if (!field) {
        rank.number = rank_of_moves(live, record);
        return rank;
    }
    const struct value value = field_value(field, record, &live->engine->context);
    if (live_order_is_number(field)) {
        rank.number = value.number;
    } else if (value.type != VALUE_UNKNOWN) {
        rank.number = live_order_number_of(&live->order, &value);
        rank.unknown = rank.number == SIZE_MAX;
    }
    rank.unknown |= value.type == VALUE_UNKNOWN;
    return rank;
}

void live_set_rank(struct live *live, struct live_row *to, const struct record *record)
{
    const struct live_rank rank = live_rank_of(live, record);

    to->rank = rank.number;
    to->flags = (uint8_t)((to->flags & ~HAS_NO_RANK) | (rank.unknown ? HAS_NO_RANK : 0));
}

/* Ranks a row that the sample missed. A numeric rank stays. Other ranks are indexes of values,
 * which every sample assigns again. */
void live_rank_again(struct live *live, struct live_row *to, const struct record *known)
{
    if (live->view.order.field && !live_order_is_number(live->view.order.field))
        live_set_rank(live, to, known);
}

static int compare_values(const void *left, const void *right, void *arg)
{
    const struct live_order *order = arg;
    const struct order_value *a = *(const struct order_value *const *)left,
                             *b = *(const struct order_value *const *)right;
    const size_t common = a->length < b->length ? a->length : b->length;
    const int first = common ? memcmp(order->bytes + a->at, order->bytes + b->at, common) : 0;

    return first ? first : (a->length > b->length) - (a->length < b->length);
}

int live_sort_values(struct live *live)
{
    struct live_order *order = &live->order;
    const size_t count = order->values.count;
    struct order_value **sorted;
    int error;

    if (order->sorted == count)
        return 0;
    sorted = reallocarray(NULL, count, sizeof *sorted);
    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        sorted[i] = hash_table_at(&order->values, i);
    error = sort_stable(sorted, count, sizeof *sorted, compare_values, order);
    for (size_t i = 0; i < count && !error; i++)
        sorted[i]->position = i;
    free(sorted);
    order->sorted = error ? 0 : count;
    return error;
}

uint64_t live_insert_in_order(const struct live *live, struct live_rank rank)
{
    const struct field *field = live->view.order.field;

    if (rank.unknown)
        return UINT64_MAX;
    if (field && !live_order_is_number(field)) {
        const struct hash_table *values = &live->order.values;
        const struct order_value *value =
            rank.number < values->count ? hash_table_at(values, (size_t)rank.number) : NULL;
        rank.number = value ? value->position : 0;
    }
    return live->view.order.descending ? ~rank.number : rank.number;
}
