/* SPDX-License-Identifier: MIT */
#include "engine/groups.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/rows.h"
#include "engine/tally.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/owners.h"
#include "fastnet/status_line.h"

struct counted_group {
    uint64_t count;
    /* A value for each column and each sum, then shares, then aggregates, then the turnover. After
     * them, a struct tally for each column of groups.tallied. */
    struct value *values;
    uint32_t turned[TURNOVER_COLUMNS]; /* what happened since the last groups_finish() */
};

struct groups {
    const struct listing *listing;
    const struct field *const *columns;
    size_t column_count, value_count;
    struct {
        const struct field *column;
        bool keeps;            /* quantiles are computed */
    } tallied[AGGREGATES_MAX]; /* the columns of listing.aggregates, each once */
    size_t tallied_count;
    uint64_t seed;           /* secret: peers cannot choose addresses that collide */
    struct hash_table table; /* elements: struct counted_group */
    struct rows memory;      /* holds values and texts */
    struct value scratch[LISTING_COLUMNS_MAX]; /* the values of the current record */
    /* A record often belongs to the same group as the record before. These members detect that
     * without computing values. */
    bool numbers_only;                     /* all columns are numbers that the record contains */
    uint64_t fields;                       /* presence bits of the columns */
    uint64_t has;                          /* which of these bits the record before has */
    uint64_t numbers[LISTING_COLUMNS_MAX]; /* the columns of the record before */
    size_t last;                           /* index of the group of the record before */
    uint64_t time;                         /* arguments of groups_set_time() */
    unsigned known;
};

/* Returns the index of the column in groups.tallied, which gets the column if it lacks it. */
static size_t groups_tally_of(struct groups *groups, const struct field *column)
{
    size_t i = 0;

    while (i < groups->tallied_count && groups->tallied[i].column != column)
        i++;
    if (i == groups->tallied_count)
        groups->tallied[groups->tallied_count++].column = column;
    return i;
}

_Static_assert(_Alignof(struct column_tally) <= _Alignof(struct value), "tallies follow values");

static struct column_tally *tally_of(const struct groups *groups, const struct counted_group *group,
                                     size_t i)
{
    return (struct column_tally *)(group->values + groups->value_count) + i;
}

static struct counted_group *add_group(struct groups *groups, uint64_t hash);

struct groups *groups_create(const struct listing *listing)
{
    struct groups *groups = calloc(1, sizeof *groups);

    if (!groups)
        return NULL;
    groups->seed = hash_seed();
    groups->listing = listing;
    groups->columns = listing->count_by;
    groups->column_count = listing->count_by_count;
    groups->value_count = listing->count_by_count + listing->sum_count +
                          (listing->percent ? 1 + listing->sum_count : 0) +
                          listing->aggregate_count + (listing->turnover ? TURNOVER_COLUMNS : 0);
    for (size_t i = 0; i < listing->aggregate_count; i++) {
        const struct aggregate *aggregate = &listing->aggregates[i];
        groups->tallied[groups_tally_of(groups, aggregate->field)].keeps |=
            aggregate->function == AGGREGATE_QUANTILE;
    }
    groups->numbers_only = true;
    for (size_t i = 0; i < groups->column_count; i++) {
        const struct field *column = groups->columns[i];
        groups->numbers_only &= column->plain && column->member <= MEMBER_UINT64;
        groups->fields |= column->fields;
    }
    if (!groups->column_count && !add_group(groups, groups->seed)) {
        groups_destroy(groups);
        return NULL;
    }
    return groups;
}

void groups_destroy(struct groups *groups)
{
    if (!groups)
        return;
    for (size_t i = 0; i < groups->table.count && groups->tallied_count; i++) {
        const struct counted_group *group = hash_table_at(&groups->table, i);
        for (size_t j = 0; j < groups->tallied_count; j++)
            tally_finish(tally_of(groups, group, j));
    }
    rows_clear(&groups->memory);
    hash_table_finish(&groups->table);
    free(groups);
}

/* True if the current record belongs to the group. */
static bool is_group_of(const void *element, const void *key)
{
    const struct counted_group *group = element;
    const struct groups *groups = key;

    for (size_t i = 0; i < groups->column_count; i++)
        if (value_compare(&group->values[i], &groups->scratch[i]) != 0)
            return false;
    return true;
}

static const void *groups_keep(struct groups *groups, const void *bytes, size_t length)
{
    void *kept = rows_allocate(&groups->memory, length);

    return kept ? memcpy(kept, bytes, length) : NULL;
}

static const struct network *keep_networks(struct groups *groups, const struct value *value)
{
    const size_t count = value->networks.count;
    struct network *networks = rows_allocate(&groups->memory, count * sizeof *networks);

    for (size_t i = 0; networks && i < count; i++)
        networks[i] = value_network(value, i);
    return networks;
}

static const char *const *keep_names(struct groups *groups, const struct value *value)
{
    const size_t count = value->names.count;
    const char **names = rows_allocate(&groups->memory, count * sizeof *names);

    for (size_t i = 0; names && i < count; i++) {
        names[i] = groups_keep(groups, value->names.first[i], strlen(value->names.first[i]) + 1);
        if (!names[i])
            return NULL;
    }
    return names;
}

/* Copies the owners and their names: a later search for owners moves them, and processes end. */
static const struct owner *keep_owners(struct groups *groups, const struct value *value)
{
    const size_t count = value->owners.count;
    struct owner *owners = rows_allocate(&groups->memory, count * sizeof *owners);

    for (size_t i = 0; owners && i < count; i++) {
        struct owner_process process = *value->owners.first[i].process;
        process.name = groups_keep(groups, process.name, strlen(process.name) + 1);
        owners[i] = value->owners.first[i];
        owners[i].process = process.name ? groups_keep(groups, &process, sizeof process) : NULL;
        if (!owners[i].process)
            return NULL;
    }
    return owners;
}

/* Copies borrowed bytes of a value: they are valid only as long as the record or the lookup. */
static int keep_value(struct groups *groups, struct value *value)
{
    switch (value->type) {
    case VALUE_TEXT:
    case VALUE_SOCKET_NAME:
    case VALUE_LLADDR:
        if (!value->text.length)
            return 0;
        value->text.data = groups_keep(groups, value->text.data, value->text.length);
        return value->text.data ? 0 : -ENOMEM;
    case VALUE_NAME:
        if (!value->name.string)
            return 0;
        value->name.string =
            groups_keep(groups, value->name.string, strlen(value->name.string) + 1);
        return value->name.string ? 0 : -ENOMEM;
    case VALUE_NETWORKS:
        value->networks.first = keep_networks(groups, value);
        value->networks.stride = sizeof(struct network);
        value->networks.read = NULL;
        return value->networks.first ? 0 : -ENOMEM;
    case VALUE_NAMES:
        if (!value->names.count)
            return 0;
        value->names.first = keep_names(groups, value);
        return value->names.first ? 0 : -ENOMEM;
    case VALUE_OWNERS:
        if (!value->owners.count)
            return 0;
        value->owners.first = keep_owners(groups, value);
        return value->owners.first ? 0 : -ENOMEM;
    default:
        return 0;
    }
}

static struct counted_group *add_group(struct groups *groups, uint64_t hash)
{
    const size_t size = groups->column_count * sizeof(struct value),
                 all = groups->value_count * sizeof(struct value) +
                       groups->tallied_count * sizeof(struct column_tally);
    struct value *values = rows_allocate(&groups->memory, all);
    struct counted_group *group;

    if (!values)
        return NULL;
    memcpy(values, groups->scratch, size);
    memset((char *)values + size, 0, all - size);
    for (size_t i = 0; i < groups->column_count; i++)
        if (keep_value(groups, &values[i]) < 0)
            return NULL;
    group = hash_table_add(&groups->table, hash, sizeof *group);
    if (group)
        group->values = values;
    return group;
}

/* Whether the record is in the same group as the record before. */
static inline bool groups_is_repeated(struct groups *groups, const struct record *record)
{
    bool same = groups->table.count > 0 && groups->has == (record->has & groups->fields);

    for (size_t i = 0; i < groups->column_count; i++) {
        const uint64_t number = field_number(groups->columns[i], record);
        same &= groups->numbers[i] == number;
        groups->numbers[i] = number;
    }
    groups->has = record->has & groups->fields;
    return same;
}

static struct counted_group *search_group(struct groups *groups, const struct record *record,
                                          const struct context *context)
{
    uint64_t hash = groups->seed;
    struct counted_group *group;

    for (size_t i = 0; i < groups->column_count; i++) {
        groups->scratch[i] = field_value(groups->columns[i], record, context);
        hash = value_hash(hash, &groups->scratch[i]);
    }
    group = hash_table_find(&groups->table, hash, is_group_of, groups);
    if (!group)
        group = add_group(groups, hash);
    if (group)
        groups->last = (size_t)(group - (struct counted_group *)groups->table.elements);
    return group;
}

/* The group of the record, which is added if it is new. NULL when memory is short. */
static inline struct counted_group *find_group(struct groups *groups, const struct record *record,
                                               const struct context *context)
{
    return groups->numbers_only && groups_is_repeated(groups, record)
               ? hash_table_at(&groups->table, groups->last)
               : search_group(groups, record, context);
}

static int add_to_tallies(const struct groups *groups, const struct counted_group *group,
                          const struct record *record, const struct context *context)
{
    const uint64_t rows = record_rows(record);
    int error = 0;

    for (size_t i = 0; i < groups->tallied_count && rows && !error; i++) {
        const struct value value = field_value(groups->tallied[i].column, record, context);
        error = tally_add(tally_of(groups, group, i), &value, rows, groups->tallied[i].keeps);
    }
    return error;
}

int groups_add(struct groups *groups, const struct record *record, const struct context *context)
{
    struct counted_group *group = find_group(groups, record, context);

    if (!group)
        return -ENOMEM;
    group->count += record_rows(record);
    for (size_t i = 0; i < groups->listing->sum_count; i++) {
        const struct value value = field_value(groups->listing->sum[i], record, context);
        value_add(&group->values[groups->column_count + i], &value);
    }
    return groups->tallied_count ? add_to_tallies(groups, group, record, context) : 0;
}

int groups_turn(struct groups *groups, const struct record *record, const struct context *context,
                unsigned what)
{
    struct counted_group *group = find_group(groups, record, context);

    for (size_t i = 0; group && i < TURNOVER_COLUMNS; i++)
        group->turned[i] += what >> i & 1;
    return group ? 0 : -ENOMEM;
}

void groups_set_time(struct groups *groups, uint64_t time, unsigned known)
{
    groups->time = time;
    groups->known = known;
}

static int compare_groups(const void *a, const void *b, void *arg)
{
    const struct groups *groups = arg;
    const struct counted_group *x = a, *y = b;
    int order = 0;

    if (groups->listing->sum_count) {
        const struct value *u = &x->values[groups->column_count];
        const struct value *v = &y->values[groups->column_count];
        order = value_compare(u, v);
        if (order)
            return u->type == v->type ? -order : order;
    }
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    for (size_t i = 0; i < groups->column_count && !order; i++)
        order = value_compare(&x->values[i], &y->values[i]);
    return order;
}

/* The share in percent. Unknown if the whole is 0, or if the part may be negative. */
static struct value share_in_percent(const struct value *part, const struct value *whole)
{
    if (part->type == VALUE_UNKNOWN || part->type == VALUE_SIGNED || !whole->number)
        return (struct value){.type = VALUE_UNKNOWN};
    return (struct value){
        .type = VALUE_DECIMAL,
        .number = (uint64_t)((double)part->number / (double)whole->number * 100000 + 0.5)};
}

static struct value count_value(uint64_t count)
{
    return (struct value){.type = VALUE_NUMBER, .number = count};
}

/* Computes the shares of each group, which are stored after its sums. */
static void add_shares(struct groups *groups)
{
    const size_t sums = groups->listing->sum_count;
    struct value rows = count_value(0), wholes[SUMS_MAX] = {{.type = VALUE_UNKNOWN}};

    for (size_t i = 0; i < groups->table.count; i++) {
        const struct counted_group *group = hash_table_at(&groups->table, i);
        rows.number += group->count;
        for (size_t j = 0; j < sums; j++)
            value_add(&wholes[j], &group->values[groups->column_count + j]);
    }
    for (size_t i = 0; i < groups->table.count; i++) {
        const struct counted_group *group = hash_table_at(&groups->table, i);
        const struct value *values = &group->values[groups->column_count],
                           count = count_value(group->count);
        struct value *shares = &group->values[groups->column_count + sums];
        *shares++ = share_in_percent(&count, &rows);
        for (size_t j = 0; j < sums; j++)
            *shares++ = share_in_percent(&values[j], &wholes[j]);
    }
}

/* Computes the aggregates of each group. */
static int add_aggregates(struct groups *groups)
{
    const struct listing *listing = groups->listing;
    const size_t first =
        groups->value_count - listing->aggregate_count - (listing->turnover ? TURNOVER_COLUMNS : 0);
    int error = 0;

    for (size_t i = 0; i < listing->aggregate_count; i++) {
        const struct aggregate *aggregate = &listing->aggregates[i];
        const size_t tally = groups_tally_of(groups, aggregate->field);
        for (size_t j = 0; j < groups->table.count && !error; j++) {
            const struct counted_group *group = hash_table_at(&groups->table, j);
            error =
                tally_value(tally_of(groups, group, tally), aggregate, &group->values[first + i]);
        }
    }
    return error;
}

void groups_report(const struct groups *groups, struct report *report)
{
    for (size_t i = 0; i < groups->tallied_count; i++) {
        uint64_t unknown = 0, rows = 0;
        for (size_t j = 0; j < groups->table.count; j++) {
            const struct counted_group *group = hash_table_at(&groups->table, j);
            unknown += tally_of(groups, group, i)->unknown;
            rows += group->count;
        }
        if (unknown)
            report_note(report, "%s: left out %" PRIu64 " of %" PRIu64 " row%s without a value",
                        groups->tallied[i].column->name, unknown, rows, rows == 1 ? "" : "s");
    }
}

/* Computes the turnover of each group, which is its last values, and starts to count again. */
static void add_turnover(struct groups *groups)
{
    for (size_t i = 0; i < groups->table.count; i++) {
        struct counted_group *group = hash_table_at(&groups->table, i);
        struct value *values = &group->values[groups->value_count - TURNOVER_COLUMNS];
        for (size_t j = 0; j < TURNOVER_COLUMNS; j++) {
            const double thousandths = 1000.0 * (double)CLOCK_SECOND * group->turned[j];
            values[j] = (struct value){.type = VALUE_UNKNOWN};
            if (groups->time && groups->known >> j & 1)
                values[j] =
                    (struct value){.type = VALUE_DECIMAL,
                                   .number = (uint64_t)(thousandths / (double)groups->time + 0.5)};
            group->turned[j] = 0;
        }
    }
}

static struct record record_of_group(const struct counted_group *group)
{
    return (struct record){.kind = &kind_count,
                           .has = ~COUNT_LEVEL,
                           .count = {.values = group->values, .count = group->count}};
}

/* Adds the groups of listing.named_groups to which no row belongs. Returns 0 or -ENOMEM. */
static int add_named_groups(struct groups *groups)
{
    const struct listing *listing = groups->listing;

    for (size_t i = 0; i < listing->named_group_count; i++) {
        bool found = false;
        for (size_t j = 0; j < groups->table.count && !found; j++) {
            const struct record record = record_of_group(hash_table_at(&groups->table, j));
            found = predicate_is_met(listing->named_groups[i].is, &record, NULL);
        }
        groups->scratch[0] = listing->named_groups[i].key;
        if (!found && !add_group(groups, value_hash(groups->seed, &groups->scratch[0])))
            return -ENOMEM;
    }
    return 0;
}

/* True if the group meets the condition. Sets *unsure if that depends on a number that is not among
 * the known numbers. An unknown key meets no comparison: sockets without a process are not those of
 * nginx. */
static bool group_meets(const struct predicate *condition, const struct record *group,
                        struct needs known, bool *unsure)
{
    const struct predicate opposite = {.operation = PREDICATE_NOT, .parts = condition};

    if (!condition)
        return false;
    const bool met = predicate_is_met(condition, group, NULL);
    *unsure = !met && !predicate_is_met(&opposite, group, NULL) &&
              predicate_may_be_met(condition, group, NULL, known);
    return met;
}

/* Sets and counts the level of a group. */
static void set_level(const struct groups *groups, struct record *group)
{
    const struct thresholds *thresholds = groups->listing->thresholds;
    struct needs known = {.fields = UINT64_MAX};
    bool keyless = false, unsure = false, unsure_warning = false;

    for (size_t i = 0; i < groups->value_count; i++) {
        const bool is_unknown = group->count.values[i].type == VALUE_UNKNOWN;
        keyless |= is_unknown && i < groups->column_count;
        if (is_unknown && i >= groups->column_count)
            known.fields &= ~COUNT_NUMBER(i);
    }
    const bool critical = group_meets(thresholds->critical, group, known, &unsure);
    const bool warning = group_meets(thresholds->warning, group, known, &unsure_warning);
    const enum level level = critical                   ? LEVEL_CRITICAL
                             : warning                  ? LEVEL_WARNING
                             : unsure || unsure_warning ? LEVEL_UNKNOWN
                                                        : LEVEL_OK;

    group->count.level = (uint8_t)level;
    group->has |= level == LEVEL_UNKNOWN ? 0 : COUNT_LEVEL;
    thresholds->counts->groups[level]++;
    thresholds->counts->keyless += critical && keyless;
    thresholds->counts->unsure |= unsure;
}

/* Sorts a copy, because groups are found by their place in the table. */
int groups_finish(struct groups *groups, struct rows *rows)
{
    const struct hash_table *table = &groups->table;
    int error = add_named_groups(groups);
    struct counted_group *sorted = malloc(table->count * sizeof *sorted + 1);

    if (!error)
        error = sorted ? add_aggregates(groups) : -ENOMEM;
    if (groups->listing->percent)
        add_shares(groups);
    if (groups->listing->turnover)
        add_turnover(groups);
    if (!error && table->count) {
        memcpy(sorted, table->elements, table->count * sizeof *sorted);
        error = sort_stable(sorted, table->count, sizeof *sorted, compare_groups, groups);
    }
    for (size_t i = 0; i < table->count && !error; i++) {
        struct record record = record_of_group(&sorted[i]);
        if (groups->listing->thresholds)
            set_level(groups, &record);
        error = rows_add(rows, &record);
    }
    free(sorted);
    return error;
}

int groups_emit(struct groups *groups, struct sink *sink, struct report *report)
{
    const struct listing *listing = groups->listing;
    struct rows rows = {0};
    struct kept_row row;
    int error = groups_finish(groups, &rows);

    if (!error && listing->sort->field)
        error = rows_sort(&rows, listing, sink->context, NULL);
    if (listing->most && listing->most < rows.count) {
        report->unshown = rows.count - listing->most;
        rows.count = (size_t)listing->most;
    }
    for (size_t i = 0; i < rows.count && !error; i++) {
        sink->ops->row(sink, rows_at(&rows, i, &row));
        error = -sink->writer->error;
    }
    rows_clear(&rows);
    return error;
}
