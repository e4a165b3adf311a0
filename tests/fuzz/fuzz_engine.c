/* SPDX-License-Identifier: MIT */
/*
 * Rows of any kind as the engine keeps, sorts, counts and compares them. The first byte is their
 * kind, the second says what they are sorted and counted by, the third which of them come again;
 * then come the rows (made_records.c).
 */
#include <stdlib.h>
#include <string.h>

#include "../unit/kept_rows.h"
#include "engine/delta.h"
#include "engine/groups.h"
#include "engine/rows.h"
#include "engine/seen.h"
#include "fastnet/clock.h"
#include "fastnet/rates.h"
#include "fuzz.h"
#include "made_records.h"
#include "shown.h"

enum {
    ROWS_MAX = 24,
    TRIPLES_MAX = 6,
    COUNTED_BY_MAX = 3,
    COUNTED_TIMES = 2,
    IDENTITIES_MAX = 64,
    MANY = 3000
};

static const struct context no_names;

struct input {
    uint8_t kind, choice, again;
    struct made_record made[ROWS_MAX];
    size_t count;
};

static struct value value_of(const struct field *column, const struct record *record)
{
    return field_value(column, record, &no_names);
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static int compare(const struct field *column, const struct record *a, const struct record *b)
{
    const struct value x = value_of(column, a), y = value_of(column, b);

    return sign(value_compare(&x, &y));
}

static bool is_known(const struct field *column, const struct record *record)
{
    const enum value_type type = value_of(column, record).type;

    return type != VALUE_UNKNOWN;
}

/* --- Copies ----------------------------------------------------------------------------------- */

/* The rows are copied, and what they were made of is freed: a copy must not refer to it. */
static void copy_rows(struct input *input, struct rows *rows)
{
    const struct kind *kind = made_kind(input->kind);
    uint64_t shown[ROWS_MAX] = {0};

    for (size_t i = 0; i < input->count; i++) {
        const struct record *record = &input->made[i].record;
        shown[i] = shown_hash(0, record, &no_names);
        require(rows_add(rows, record) == 0);
        require(row_at(rows, i)->has == record->has);
        for (size_t j = 0; j < kind->field_count; j++)
            require(!shown_stands_still(&kind->fields[j]) ||
                    compare(&kind->fields[j], record, row_at(rows, i)) == 0);
    }
    require(rows->count == input->count);
    for (size_t i = 0; i < input->count; i++)
        made_record_finish(&input->made[i]);
    for (size_t i = 0; i < input->count; i++)
        require(shown_hash(0, row_at(rows, i), &no_names) == shown[i]);
}

/* --- Order ------------------------------------------------------------------------------------ */

static void check_order(const struct field *column, const struct rows *rows)
{
    int orders[TRIPLES_MAX][TRIPLES_MAX];
    size_t count = TRIPLES_MAX;

    if (rows->count < count)
        count = rows->count;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            orders[i][j] = compare(column, row_at(rows, i), row_at(rows, j));
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            require(orders[i][j] == -orders[j][i]);
            for (size_t k = 0; k < count; k++)
                require(orders[i][j] > 0 || orders[j][k] > 0 || orders[i][k] <= 0);
        }
}

static size_t place_of(const struct rows *rows, const uint64_t *packed)
{
    size_t place = 0;

    while (place < rows->count && rows->packed[place] != packed)
        place++;
    require(place < rows->count);
    return place;
}

static void check_sorted(const struct field *column, const struct rows *rows,
                         const struct rows *before, bool descending)
{
    require(rows->count == before->count);
    for (size_t i = 0; i + 1 < rows->count; i++) {
        const struct record *a = row_at(rows, i), *b = row_at(rows, i + 1);
        const int order = compare(column, a, b);
        const bool falls = descending && is_known(column, a) && is_known(column, b);
        require(falls ? order >= 0 : order <= 0);
        require(order || place_of(before, rows->packed[i]) < place_of(before, rows->packed[i + 1]));
    }
}

/* The same rows in the same order, by pointers of its own. */
static void share_rows(struct rows *rows, const struct rows *from)
{
    *rows = (struct rows){.count = from->count, .capacity = from->count, .bases = from->bases};
    rows->packed = malloc((from->count + 1) * sizeof *rows->packed);
    require(rows->packed != NULL);
    for (size_t i = 0; i < from->count; i++)
        rows->packed[i] = from->packed[i];
}

static int compare_has(const struct record *a, const struct record *b)
{
    return (a->has > b->has) - (a->has < b->has);
}

static void check_arranged(const struct rows *rows)
{
    struct rows arranged;

    share_rows(&arranged, rows);
    require(rows_sort(&arranged, &(struct listing){.compare = compare_has}, &no_names, NULL) == 0);
    for (size_t i = 0; i + 1 < arranged.count; i++) {
        const struct record *a = row_at(&arranged, i), *b = row_at(&arranged, i + 1);
        require(a->has < b->has ||
                (a->has == b->has &&
                 place_of(rows, arranged.packed[i]) < place_of(rows, arranged.packed[i + 1])));
    }
    rows_clear(&arranged);
}

static void sort_rows(const struct input *input, const struct rows *rows)
{
    const struct kind *kind = made_kind(input->kind);

    for (size_t i = 0; i < kind->field_count; i++) {
        const struct field *column = &kind->fields[i];
        const bool descending = input->choice & 1;
        const struct listing listing = {.sort = {{column, descending}}};
        struct rows sorted;
        if (!shown_stands_still(column))
            continue;
        check_order(column, rows);
        share_rows(&sorted, rows);
        require(rows_sort(&sorted, &listing, &no_names, NULL) == 0);
        check_sorted(column, &sorted, rows, descending);
        rows_clear(&sorted);
    }
    check_arranged(rows);
}

/* --- Groups ----------------------------------------------------------------------------------- */

/* The columns that rows are counted by. */
struct counting {
    const struct field *columns[COUNTED_BY_MAX];
    size_t count;
};

static bool is_in_group(const struct counting *counting, const struct record *group,
                        const struct record *record)
{
    for (size_t i = 0; i < counting->count; i++) {
        const struct value value = value_of(counting->columns[i], record);
        struct field counted;
        field_counted(&counted, counting->columns[i], i);
        const struct value of_group = value_of(&counted, group);
        require(value_compare(&of_group, &group->count.values[i]) == 0);
        if (value_compare(&of_group, &value) != 0)
            return false;
    }
    return true;
}

/* Each row is in one group, and each group has as many as it says. */
static void check_groups(const struct counting *counting, const struct rows *groups,
                         const struct rows *rows)
{
    uint64_t sum = 0, all = 0;

    for (size_t i = 0; i < rows->count; i++)
        all += record_rows(row_at(rows, i));
    for (size_t i = 0; i < groups->count; i++) {
        struct kept_row room;
        const struct record *group = rows_at(groups, i, &room);
        uint64_t members = 0;
        require(group->kind == &kind_count && group->count.count > 0);
        require(i == 0 || row_at(groups, i - 1)->count.count >= group->count.count);
        for (size_t j = 0; j < rows->count; j++)
            if (is_in_group(counting, group, row_at(rows, j)))
                members += record_rows(row_at(rows, j));
        require(members == group->count.count);
        require(value_of(&field_count, group).number == members);
        sum += members;
    }
    require(sum == all);
}

/* A column of numbers of this kind; NULL: there is none. */
static const struct field *summed(const struct kind *kind, size_t from)
{
    for (size_t i = 0; i < kind->field_count; i++) {
        const struct field *field = &kind->fields[(from + i) % kind->field_count];
        if (value_is_number(field->type) && shown_stands_still(field))
            return field;
    }
    return NULL;
}

/* The largest sum comes first, and each is that of its rows; behind it stand the shares. */
static void check_sums(const struct counting *counting, const struct field *column,
                       const struct rows *groups, const struct rows *rows)
{
    const struct value *last = NULL;

    for (size_t i = 0; i < groups->count; i++) {
        struct kept_row room;
        const struct record *group = rows_at(groups, i, &room);
        const struct value *sum = &group->count.values[counting->count];
        struct value expected = {.type = VALUE_UNKNOWN};
        for (size_t j = 0; j < rows->count; j++)
            if (is_in_group(counting, group, row_at(rows, j))) {
                const struct value value = value_of(column, row_at(rows, j));
                value_add(&expected, &value);
            }
        require(value_compare(sum, &expected) == 0);
        require(!last || last->type != sum->type || value_compare(last, sum) >= 0);
        require(sum[1].type == VALUE_UNKNOWN || sum[1].number <= 100000);
        last = sum;
    }
}

static void sum_rows(struct listing *listing, const struct counting *counting,
                     const struct field *column, const struct rows *rows)
{
    struct rows counted = {0};
    struct groups *groups;

    listing->sum[0] = column;
    listing->sum_count = 1;
    listing->percent = true;
    groups = groups_create(listing);
    require(groups != NULL);
    for (size_t i = 0; i < rows->count; i++)
        require(groups_add(groups, row_at(rows, i), &no_names) == 0);
    require(groups_finish(groups, &counted) == 0);
    check_sums(counting, column, &counted, rows);
    rows_clear(&counted);
    groups_destroy(groups);
    listing->sum_count = 0;
    listing->percent = false;
}

static void count_rows(const struct input *input, const struct rows *rows)
{
    const struct kind *kind = made_kind(input->kind);
    struct counting counting = {.count = 1 + input->choice % COUNTED_BY_MAX};
    struct listing listing = {.count_by_count = counting.count};
    struct rows counted = {0};

    for (size_t time = 0; time < COUNTED_TIMES; time++) {
        const size_t first = input->choice + time * input->again;
        struct groups *groups;
        for (size_t i = 0; i < counting.count; i++) {
            counting.columns[i] = &kind->fields[(first + i * 7) % kind->field_count];
            if (!shown_stands_still(counting.columns[i]))
                counting.columns[i] = &kind->fields[0];
        }
        memcpy(listing.count_by, counting.columns, sizeof counting.columns);
        groups = groups_create(&listing);
        require(groups != NULL);
        for (size_t i = 0; i < rows->count; i++)
            require(groups_add(groups, row_at(rows, i), &no_names) == 0);
        require(groups_finish(groups, &counted) == 0);
        check_groups(&counting, &counted, rows);
        rows_clear(&counted);
        groups_destroy(groups);
        if (summed(kind, first))
            sum_rows(&listing, &counting, summed(kind, first), rows);
    }
}

/* --- Changes ---------------------------------------------------------------------------------- */

enum { COUNTERS_MAX = 32, KEY_MAX = 4096 };

/* The counters that are members of a row, and the fields that say that they are there. */
struct counters {
    const struct field *fields[COUNTERS_MAX];
    uint64_t values[COUNTERS_MAX];
    size_t count;
};

/* A row with counters, and when it was looked at, between two times. */
struct total {
    struct record record;
    uint64_t before, after;
};

static struct counters counters_in(const struct record *record)
{
    const struct kind *kind = record->kind;
    struct counters counters = {.count = 0};

    for (size_t i = 0; i < kind->field_count; i++) {
        const struct field *field = &kind->fields[i];
        const uint64_t needed = field->fields | (field->partly ? field->optional : 0);
        if (!field->counter || field->member == MEMBER_TEXT || (record->has & needed) != needed)
            continue;
        require(counters.count < COUNTERS_MAX);
        counters.fields[counters.count] = field;
        counters.values[counters.count++] = field_number(field, record);
    }
    return counters;
}

/* As changes tell rows apart: by their identities, or by all keys where they have none. */
static bool has_same_key(const struct record *a, const struct record *b)
{
    if (a->identity || b->identity)
        return a->identity == b->identity;
    for (size_t i = 0; i < a->kind->field_count; i++)
        if (a->kind->fields[i].key && compare(&a->kind->fields[i], a, b) != 0)
            return false;
    return true;
}

/* What has neither an identity nor a key that is known has no changes. */
static bool has_changes(const struct record *record)
{
    bool has = false;

    for (size_t i = 0; i < record->kind->field_count && !record->identity; i++) {
        const struct field *field = &record->kind->fields[i];
        if (field->key && !is_known(field, record))
            return false;
        has |= field->key;
    }
    return has || record->identity;
}

/* The change a second, in thousandths, as far as the two times are known. */
static void check_rate(const struct value *rate, uint64_t change, const struct total *first,
                       const struct total *second)
{
    const double amount = (double)change * 1000 * CLOCK_SECOND;
    const double longest = (double)(second->after - first->before);
    const double shortest = (double)(second->before - first->after);

    require(rate->type == VALUE_DECIMAL);
    require((double)rate->number + 1 >= amount / longest * (1 - 1e-9) ||
            rate->number == UINT64_MAX);
    require(shortest == 0 || (double)rate->number <= amount / shortest * (1 + 1e-9) + 1);
}

static void check_change(const struct total *first, const struct total *second,
                         const struct record *change)
{
    static struct rates rates;
    const struct counters before = counters_in(&first->record);
    const struct counters totals = counters_in(&second->record);
    bool fell = !has_changes(&second->record), none = false;

    for (size_t i = 0; i < totals.count; i++) {
        fell |= totals.values[i] < before.values[i];
        /* which stands for none: no counter comes so far */
        none |= before.values[i] == UINT64_MAX || totals.values[i] == UINT64_MAX;
    }
    require(change->has == second->record.has && (!fell || !change->before));
    rates_init(&rates, change->kind);
    for (size_t i = 0; i < totals.count && change->before; i++) {
        const struct value rate =
            field_value(field_named(&rates.kind, totals.fields[i]->name), change, &no_names);
        if (field_value(totals.fields[i], change, &no_names).type == VALUE_NUMBER)
            check_rate(&rate, totals.values[i] - before.values[i], first, second);
    }
    require(change->before || fell || none || second->before == first->after);
}

/* Rates go by whole microseconds. */
static uint64_t time_now(void)
{
    return clock_nanoseconds(CLOCK_MONOTONIC) / 1000 * 1000;
}

static struct record take_total(struct delta *delta, struct total *total)
{
    struct record change;

    total->before = time_now();
    require(delta_take(delta, &total->record, 0, &change) == 0);
    total->after = time_now();
    return change;
}

/* A kept row has only the bytes of its kind. */
static struct record copy_of(const struct record *kept)
{
    struct record record = {.kind = NULL};

    memcpy(&record, kept, kept->kind->size);
    return record;
}

/* Rows with counters, each key once. */
static size_t choose_totals(const struct rows *rows, struct total *totals)
{
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++) {
        bool repeated = false;
        for (size_t j = 0; j < count; j++)
            repeated |= has_same_key(&totals[j].record, row_at(rows, i));
        if (!repeated && counters_in(row_at(rows, i)).count)
            totals[count++].record = copy_of(row_at(rows, i));
    }
    return count;
}

/* One of 32 bits begins again at 0 behind its end, as the kernel's do. */
static void grow(struct record *record, uint8_t seed)
{
    const struct counters counters = counters_in(record);

    for (size_t i = 0; i < counters.count; i++) {
        const uint64_t number =
            counters.values[i] + (seed & 1 ? UINT64_C(1) << (seed + i) % 64 : seed);
        const bool wide = counters.fields[i]->member == MEMBER_UINT64;
        field_set_number(counters.fields[i], record, wide ? number : (uint32_t)number);
    }
}

/* What was seen in the same microsecond has none. */
static void wait_a_microsecond(void)
{
    const uint64_t now = time_now();

    while (time_now() == now)
        continue;
}

/* Three runs; in the second one some rows are missing, so that they are new in the third. */
static void take_changes(const struct input *input, const struct rows *rows)
{
    static struct total first[ROWS_MAX], second[ROWS_MAX];
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});
    const size_t count = choose_totals(rows, first);

    require(delta != NULL);
    for (int run = 0; run < 3; run++) {
        wait_a_microsecond();
        delta_start(delta);
        for (size_t i = 0; i < count; i++) {
            const bool missing = run == 1 && input->again >> i % 8 & 1;
            const bool compared = run == 1 || (run == 2 && !(input->again >> i % 8 & 1));
            struct total *total = compared ? &second[i] : &first[i];
            if (missing)
                continue;
            *total = first[i];
            grow(&total->record, (uint8_t)(input->choice + i));
            const struct record change = take_total(delta, total);
            if (compared)
                check_change(&first[i], total, &change);
            else
                require(change.has == total->record.has && !change.before);
            first[i] = *total;
        }
    }
    delta_destroy(delta);
}

/* In the first run rows come as they are. */
static void take_others(const struct rows *rows)
{
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});

    require(delta != NULL);
    delta_start(delta);
    for (size_t i = 0; i < rows->count; i++) {
        const struct record record = copy_of(row_at(rows, i));
        struct record change;
        require(delta_take(delta, &record, 0, &change) == 0);
        require(!change.before && change.has == record.has &&
                shown_hash(0, &record, &no_names) == shown_hash(0, &change, &no_names));
    }
    delta_destroy(delta);
}

/* --- Keys ------------------------------------------------------------------------------------- */

/* Of two keys, the one with the smaller bytes, or else with fewer bytes, comes first. */
static int compare_keys(const struct value *x, const struct value *y)
{
    static char keys[2][KEY_MAX];
    const size_t length[] = {value_key(x, keys[0], KEY_MAX), value_key(y, keys[1], KEY_MAX)};
    const size_t common = length[0] < length[1] ? length[0] : length[1];

    require(value_key(x, NULL, 0) == length[0]);
    if (length[0] > KEY_MAX || length[1] > KEY_MAX)
        return sign(value_compare(x, y));
    const int first = common ? memcmp(keys[0], keys[1], common) : 0;
    return first ? sign(first) : (length[0] > length[1]) - (length[0] < length[1]);
}

/* Keys compare as their values do. */
static void compare_values(const struct rows *rows)
{
    const struct kind *kind = rows->count > 1 ? row_at(rows, 0)->kind : NULL;

    for (size_t i = 0; kind && i < kind->field_count; i++) {
        const struct field *field = &kind->fields[i];
        const struct value x = field_value(field, row_at(rows, 0), &no_names),
                           y = field_value(field, row_at(rows, 1), &no_names);
        if (x.type == y.type && x.type != VALUE_UNKNOWN && x.type != VALUE_VIEW)
            require(compare_keys(&x, &y) == sign(value_compare(&x, &y)));
    }
}

/* --- Repeats ---------------------------------------------------------------------------------- */

static void see_identities(const struct input *input, struct bytes bytes)
{
    struct seen *seen = seen_create();
    bool known[256] = {false};

    require(seen != NULL);
    seen_start(seen, input->choice & 1);
    for (size_t i = 0; i < IDENTITIES_MAX && bytes.left; i++) {
        const uint8_t number = bytes_u8(&bytes);
        const uint64_t identity = (number + UINT64_C(1)) << input->again % 56;
        require(seen_before(seen, identity) == known[number]);
        known[number] = true;
    }
    seen_start(seen, !(input->choice & 1));
    require(seen_before(seen, 1) == 0);
    require(seen_before(seen, 1) == 1);
    seen_destroy(seen);
}

/* Past the window the last ones are known; with all of them, all. */
static void see_many(bool all, uint64_t start)
{
    struct seen *seen = seen_create();

    require(seen != NULL);
    seen_start(seen, all);
    for (uint64_t i = 1; i <= MANY; i++)
        require(seen_before(seen, start + i) == 0);
    for (uint64_t i = MANY; i > MANY - 1024; i--)
        require(seen_before(seen, start + i) == 1);
    for (uint64_t i = 1; all && i <= MANY; i++)
        require(seen_before(seen, start + i) == 1);
    seen_destroy(seen);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct input input;
    static struct rows rows; /* empty at the end of each input */
    struct bytes bytes = {data, size};

    input.kind = bytes_u8(&bytes);
    input.choice = bytes_u8(&bytes);
    input.again = bytes_u8(&bytes);
    see_identities(&input, bytes);
    if (input.choice % 16 == 0)
        see_many(input.choice & 16, input.again * UINT64_C(0x100000000));
    for (input.count = 0; input.count < ROWS_MAX && bytes.left; input.count++)
        made_record_init(&input.made[input.count], input.kind, &bytes);
    copy_rows(&input, &rows);
    sort_rows(&input, &rows);
    count_rows(&input, &rows);
    take_changes(&input, &rows);
    take_others(&rows);
    compare_values(&rows);
    rows_clear(&rows);
    return 0;
}
