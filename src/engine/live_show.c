/* SPDX-License-Identifier: MIT */
/* Which rows are shown: ranks them, groups them, and passes on the lines of one screen. */
#include <errno.h>
#include <stdlib.h>

#include "engine/live_rows.h"
#include "fastnet/array.h"
#include "fastnet/byte_counts.h"
#include "fastnet/clock.h"

enum { RANKED_MIN = 1000 }; /* at least this number of rows after the view's last row is ranked */

static void add_to_group(struct live *live, struct remembered *row)
{
    const struct live_row *of = live_row_of(live, row);
    struct grouped_rows *group;

    if (of->group >= live->groups.count)
        return;
    group = hash_table_at(&live->groups, of->group);
    group->sums.rows++;
    group->sums.rated |= row->elapsed != 0;
    for (size_t i = 0; i < live->listing->rate_count; i++) {
        group->sums.rates[i] +=
            live->view.totals ? (double)live_total_of(live, row, i) : live_rate_of(live, row, i);
        group->sums.totals[i] += row->before[i] != UINT64_MAX ? (double)row->before[i] : 0;
    }
}

bool live_group_name(const struct live *live, uint64_t id, struct text *name)
{
    const struct grouped_rows *group = hash_table_find_number(&live->groups, id, id);

    if (group)
        *name = (struct text){group->name, group->length};
    return group;
}

/* Whether the view shows rows of group number `group`. */
static bool shows_group(const struct live *live, const struct live_view *view, size_t group)
{
    return !view->only || !live->view.group ||
           (group < live->groups.count &&
            ((const struct grouped_rows *)hash_table_at(&live->groups, group))->hash == view->only);
}

/* Sorts the ranked rows. Keeps the first live->best rows, and only counts the rest. */
static int sort_best(struct live *live, size_t *count)
{
    const int error = sort_ranked(live->ranked, *count);
    const size_t beyond = !error && *count > live->best ? *count - live->best : 0;

    live->beyond += beyond;
    *count -= beyond;
    return error;
}

/* Keeps the first live->best rows whose value is unknown, and only counts the rest. */
static void add_unranked(struct live *live, size_t item)
{
    size_t *unranked =
        live->unranked_count < live->best
            ? ARRAY_ADD(live->unranked, live->unranked_count, live->unranked_capacity)
            : NULL;

    if (unranked)
        *unranked = item;
    else
        live->beyond++;
}

static void add_ranked(struct live *live, size_t *count, struct live_rank rank, size_t item)
{
    if (rank.unknown) {
        add_unranked(live, item);
        return;
    }
    if (*count == 2 * live->best)
        (void)sort_best(live, count);
    struct ranked *ranked =
        array_with_room(live->ranked, &live->ranked_capacity, *count + 1, sizeof *ranked);

    if (!ranked)
        return;
    live->ranked = ranked;
    ranked[(*count)++] =
        (struct ranked){live_insert_in_order(live, rank), (const void *)(uintptr_t)item};
}

/* Appends the rows with unknown values after all other rows. */
static int append_unranked(struct live *live, size_t *count)
{
    const size_t all = *count + live->unranked_count, wanted = all < live->best ? all : live->best;
    struct ranked *ranked;

    if (!live->unranked_count)
        return 0;
    ranked = array_with_room(live->ranked, &live->ranked_capacity, wanted, sizeof *ranked);
    if (!ranked)
        return -ENOMEM;
    live->ranked = ranked;
    live->beyond += all - wanted;
    for (size_t i = 0; *count < wanted; i++)
        ranked[(*count)++] =
            (struct ranked){UINT64_MAX, (const void *)(uintptr_t)live->unranked[i]};
    return 0;
}

/* Ranks the rows that the view wants. The item of a row is its index << 1; the lowest bit is set
 * for ended rows. */
static size_t rank_rows(struct live *live, const struct live_view *view,
                        struct live_summary *summary)
{
    size_t count = 0;

    for (size_t i = 0; i < live->groups.count; i++)
        ((struct grouped_rows *)hash_table_at(&live->groups, i))->sums =
            (struct live_group){.rows = 0};
    for (size_t i = 0; i < live->engine->delta->count; i++) {
        struct remembered *row = delta_at(live->engine->delta, i);
        const struct live_row *of = live_row_of(live, row);
        if (!live_is_listed(live, of))
            continue;
        summary->rows++;
        summary->states[of->state < LIVE_STATES ? of->state : 0]++;
        summary->rated |= row->elapsed != 0;
        if (!view->idle && (of->flags & HAS_ENDED || /* its end is shown as a separate row */
                            (!live_is_active(live, of) && !live_is_new(live, of))))
            continue;
        if (!shows_group(live, view, of->group))
            continue;
        if (live->view.group)
            add_to_group(live, row);
        add_ranked(live, &count, (struct live_rank){of->rank, of->flags & HAS_NO_RANK}, i << 1);
    }
    return count;
}

/* Returns an ended row. Until live_leave_netns(), columns are computed as in its netns. */
static const struct record *ended_at(struct live *live, size_t index, struct kept_row *kept)
{
    const struct record *ended =
        rows_at(&live->ended[index / ENDED_MAX].rows, index % ENDED_MAX, kept);

    live_use_netns(live, (size_t)ended->netns_index);
    return ended;
}

/* The index of an item's group. */
static size_t group_at(struct live *live, size_t item)
{
    struct kept_row kept;

    return item & 1 ? live_group_of(live, ended_at(live, item >> 1, &kept))
                    : live_row_of(live, delta_at(live->engine->delta, item >> 1))->group;
}

static void add_ended_to_group(struct live *live, const struct record *ended)
{
    const size_t number = live_group_of(live, ended);
    struct grouped_rows *group =
        number < live->groups.count ? hash_table_at(&live->groups, number) : NULL;

    for (size_t i = 0; group && i < live->listing->rate_count; i++) {
        const struct value total =
            field_value(live->listing->rates[i], ended, &live->engine->context);
        group->sums.totals[i] += total.type != VALUE_UNKNOWN ? (double)total.number : 0;
    }
    if (group)
        group->sums.rows++;
}

static bool is_too_old(const struct live *live, size_t index)
{
    return live->ended[index / ENDED_MAX].at[index % ENDED_MAX] + live_age_of(live) <=
           live->sampled;
}

/* Adds the values of ended rows before values are sorted. */
static int prepare_order(struct live *live, bool ended)
{
    struct kept_row kept;

    for (size_t i = 0; i < COUNT(live->ended) && ended; i++)
        for (size_t j = 0; j < live->ended[i].rows.count; j++)
            if (!is_too_old(live, i * ENDED_MAX + j))
                (void)live_rank_of(live, ended_at(live, i * ENDED_MAX + j, &kept));
    return live_sort_values(live);
}

static size_t rank_ended(struct live *live, const struct live_view *view, size_t count)
{
    struct kept_row kept;

    for (size_t i = 0; i < COUNT(live->ended); i++)
        for (size_t j = 0; j < live->ended[i].rows.count; j++) {
            const size_t index = i * ENDED_MAX + j;
            if (is_too_old(live, index))
                continue;
            const struct record *record = ended_at(live, index, &kept);
            if (view->only && live->view.group &&
                !shows_group(live, view, live_group_of(live, record)))
                continue;
            add_ranked(live, &count, live_rank_of(live, record), index << 1 | 1);
            if (live->view.group)
                add_ended_to_group(live, record);
        }
    return count;
}

/* Groups are ordered by the sum of the sort column, or by the number of rows if it has no sum. The
 * largest comes first. */
static double weight_of(const struct live *live, const struct grouped_rows *group)
{
    const struct field *by = live->view.order.field;

    if (by && by->pair)
        by = NULL;
    for (size_t i = 0; by && i < live->listing->rate_count; i++)
        if (by->name == live->listing->rates[i]->name) /* by name: the field may be a copy */
            return group->sums.totals[i];
        else if (by->rate && by->of->name == live->listing->rates[i]->name)
            return group->sums.rates[i];
    return by ? (double)group->sums.rows : group->sums.rates[0] + group->sums.rates[1];
}

/* Sorts the groups, and then the rows by their groups. */
static int order_groups(struct live *live, size_t count)
{
    struct ranked *order = calloc(live->groups.count + 1, sizeof *order);
    int error = order ? 0 : -ENOMEM;

    for (size_t i = 0; i < live->groups.count && !error; i++) {
        const double weight = weight_of(live, hash_table_at(&live->groups, i));
        uint64_t bits; /* IEEE 754: numbers that are not negative compare as their bits do */
        memcpy(&bits, &weight, sizeof bits);
        order[i] = (struct ranked){~bits, hash_table_at(&live->groups, i)};
    }
    if (!error)
        error = sort_ranked(order, live->groups.count);
    for (size_t i = 0; i < live->groups.count && !error; i++)
        ((struct grouped_rows *)(uintptr_t)order[i].item)->position = i;
    free(order);
    for (size_t i = 0; i < count && !error; i++) {
        const size_t group = group_at(live, (uintptr_t)live->ranked[i].item);
        live->ranked[i].rank =
            group < live->groups.count
                ? ((struct grouped_rows *)hash_table_at(&live->groups, group))->position
                : SIZE_MAX;
    }
    return error ? error : sort_ranked(live->ranked, count);
}

static void live_show_add_line(struct live *live, const struct live_view *view, size_t *at,
                               enum line_kind kind, size_t index)
{
    if (*at >= view->first && *at - view->first < view->count && live->line_count < LIVE_LINES)
        live->lines[live->line_count++] = (struct live_line){kind, index, NULL};
    ++*at;
}

/* Chooses the lines of the view; returns the number of all lines. The lines have at most
 * listing.most rows or, if the view is folded, groups. */
static size_t choose_lines(struct live *live, const struct live_view *view, size_t count)
{
    const bool folded = view->folded && live->view.group;
    uint64_t left = live->listing->most ? live->listing->most : UINT64_MAX;
    size_t at = 0, last = SIZE_MAX;

    live->line_count = 0;
    for (size_t i = 0; i < count && left; i++) {
        const size_t item = (uintptr_t)live->ranked[i].item;
        const size_t group = live->view.group && !view->only ? group_at(live, item) : SIZE_MAX;
        left -= !folded || group != last;
        if (group != last)
            live_show_add_line(live, view, &at, LINE_GROUP, last = group);
        if (!folded)
            live_show_add_line(live, view, &at, item & 1 ? LINE_ENDED : LINE_ROW, item >> 1);
    }
    return at;
}

static int live_show_take_line(const struct record *record, void *arg)
{
    struct live *live = arg;

    for (size_t i = 0; i < live->line_count; i++) {
        struct live_line *line = &live->lines[i];
        if (line->kind != LINE_ROW || line->packed)
            continue;
        const struct remembered *row = delta_at(live->engine->delta, line->index);
        if (row->key != record->identity || row->netns_number != live->current)
            continue;
        if (rows_add(&live->asked, record) < 0)
            return -ENOMEM;
        line->packed = live->asked.packed[live->asked.count - 1];
        break;
    }
    return 0;
}

/* Asks for all fields of the rows in these lines. */
static int ask_for_lines(struct live *live, struct report *report)
{
    int error = 0;

    rows_clear(&live->asked);
    for (size_t number = 0; number < live->netns->count && error >= 0; number++) {
        struct row_id ids[LIVE_LINES];
        size_t count = 0;
        for (size_t i = 0; i < live->line_count; i++) {
            struct remembered *row = delta_at(live->engine->delta, live->lines[i].index);
            if (live->lines[i].kind != LINE_ROW || row->netns_number != number)
                continue;
            ids[count++] = live_id_of(live, row);
        }
        live_use_netns(live, number);
        if (count && live_netns_at(live, number)->tracker)
            error = live_ask_for(live, number, ids, count, live_needs_of(live), live_show_take_line,
                                 live, report);
    }
    return error < 0 ? error : 0;
}

/* Sets the counters to those of the last sample, so that they match the rates that are shown. */
static void live_show_complete(struct live *live, struct record *record, struct remembered *row)
{
    const struct listing *listing = live->listing;
    const struct live_row *of = live_row_of(live, row);

    for (size_t i = 0; i < listing->rate_count; i++)
        if (row->before[i] != UINT64_MAX && field_grows(listing->rates[i], record))
            field_set_number(listing->rates[i], record, row->before[i]);
    live_move_as_mean(live, row, record);
    if (live_is_new(live, of))
        live_set_event(live, record, LIVE_OPENED);
}

static void show_line(struct live *live, const struct live_line *line,
                      const struct live_taker *taker)
{
    struct kept_row kept;
    struct record record;

    if (line->kind == LINE_GROUP) {
        struct grouped_rows *group =
            line->index < live->groups.count ? hash_table_at(&live->groups, line->index) : NULL;
        if (group) {
            group->sums.name = (struct text){group->name, group->length};
            group->sums.id = group->hash;
            taker->group(taker->arg, &group->sums);
        }
        return;
    }
    if (line->kind == LINE_ENDED) {
        taker->row(taker->arg, ended_at(live, line->index, &kept));
        return;
    }
    struct remembered *row = delta_at(live->engine->delta, line->index);
    record = live_memory_of(live, row);
    byte_counts_complete(live->listing->byte_counts, &record);
    if (line->packed)
        memcpy(&record, rows_unpack(&live->asked, line->packed, &kept), record.kind->size);
    record.netns_index = row->netns_number;
    live_show_complete(live, &record, row);
    if (live->view.totals)
        live_take_totals(live, row, &record);
    live_take_age(live, live_row_of(live, row), live->sampled, &record);
    live_use_netns(live, row->netns_number);
    engine_confirm_owners(live->engine, &record);
    taker->row(taker->arg, &record);
}

int live_show(struct live *live, const struct live_view *view, const struct live_taker *taker,
              struct live_summary *summary, struct report *report)
{
    const uint64_t most = live->listing->most;
    const bool ended = !view->folded || !live->view.group;
    size_t count;
    int error;

    *summary = (struct live_summary){.rows = 0};
    for (size_t i = 0; i < live->listing->rate_count; i++)
        summary->rates[i] = mean_rate(live->sums[i], &live->times);
    live->best = live->view.group ? SIZE_MAX / 2 : view->first + view->count + RANKED_MIN;
    live->beyond = live->unranked_count = 0;
    error = prepare_order(live, ended);
    if (error)
        return error;
    count = rank_rows(live, view, summary);
    if (ended)
        count = rank_ended(live, view, count);
    if (live->ended_lost)
        report_note(report, "some ended %s are not shown, because too many ended",
                    live->kind->name);
    error = sort_best(live, &count);
    if (!error)
        error = append_unranked(live, &count);
    if (!error && live->view.group)
        error = order_groups(live, count);
    summary->listed = choose_lines(live, view, count) + live->beyond;
    if (live->beyond && most && summary->listed > most)
        summary->listed = (size_t)most;
    if (!error)
        error = ask_for_lines(live, report);
    for (size_t i = 0; i < live->line_count && !error; i++)
        show_line(live, &live->lines[i], taker);
    live_leave_netns(live);
    return error;
}

/* A row that ended lately, or NULL. */
static const struct record *find_ended(struct live *live, uint64_t identity, size_t number,
                                       struct kept_row *kept)
{
    for (size_t i = 0; i < COUNT(live->ended); i++)
        for (size_t j = 0; j < live->ended[i].rows.count; j++) {
            const struct record *ended = ended_at(live, i * ENDED_MAX + j, kept);
            if (ended->identity == identity && ended->netns_index == number)
                return ended;
        }
    return NULL;
}

/* The caller's function of live_show_one(), which gets the row with its rates. */
struct shown_one {
    struct live *live;
    struct remembered *row;
    record_fn fn;
    void *arg;
};

static int live_show_take_one(const struct record *record, void *arg)
{
    const struct shown_one *one = arg;
    struct record rated;

    memcpy(&rated, record, record->kind->size);
    if (record->identity == one->row->key)
        live_move_as_before(one->live, one->row, &rated);
    return one->fn(&rated, one->arg);
}

int live_show_one(struct live *live, uint64_t identity, size_t number, uint64_t needs, record_fn fn,
                  void *arg, struct report *report)
{
    struct remembered *row =
        number < live->netns->count ? delta_find(live->engine->delta, identity, number) : NULL;
    struct kept_row kept;
    const struct record *ended = find_ended(live, identity, number, &kept);
    int error;

    if (ended || !row || !live_netns_at(live, number)->tracker) {
        error = ended ? fn(ended, arg) : -ENOENT;
        live_leave_netns(live);
        return error;
    }
    const struct row_id id = live_id_of(live, row);
    struct record known = live_memory_of(live, row);
    struct shown_one one = {live, row, fn, arg};
    live_use_netns(live, number);
    engine_confirm_owners(live->engine, &known);
    if (!live->tracker->asks(&id) || live_row_of(live, row)->flags & IS_MISSING) {
        live_show_complete(live, &known, row);
        error = live_show_take_one(&known, &one);
    } else {
        error = live_ask_for(live, number, &id, 1, needs, live_show_take_one, &one, report);
    }
    live_leave_netns(live);
    return error;
}

void live_each(const struct live *live, live_rates_fn fn, void *arg)
{
    for (size_t i = 0; i < live->engine->delta->count; i++) {
        struct remembered *row = delta_at(live->engine->delta, i);
        const struct live_row *of = live_row_of(live, row);
        struct live_rates moves = {.id = live_id_of(live, row),
                                   .netns = live_netns_at(live, row->netns_number)->netns.id,
                                   .rated = row->elapsed != 0};
        if ((of->flags & (IS_WANTED | HAS_ENDED)) != IS_WANTED)
            continue;
        for (size_t j = 0; j < live->listing->rate_count; j++)
            moves.rates[j] = live_last_rate_of(row, of, j);
        fn(arg, &moves);
    }
}
