/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "engine/delta.h"
#include "engine/run.h"
#include "fastnet/byte_counts.h"
#include "fastnet/hash.h"

void run_put_heading(struct run *run)
{
    const struct netns *netns = run->engine->context.netns.netns;

    if (run->netns_walk.heading_due && netns)
        sink_heading(run->sink, "Network namespace", netns->name, netns->id);
    run->netns_walk.heading_due = false;
}

int run_emit(struct run *run, struct sink *sink, const struct record *record)
{
    const uint64_t most = run->listing->most;

    if (most && !run->groups && !run->listing->live && run->limits.emitted == most) {
        run->report->unshown++;
        if (sink->ops->unshown)
            sink->ops->unshown(sink, record);
        return 0;
    }
    run->limits.emitted++;
    run->report->listed += record_rows(record);
    if (run->groups)
        return groups_add(run->groups, record, &run->engine->context);
    run_put_heading(run);
    sink->ops->row(sink, record);
    return -sink->writer->error;
}

/* Returns 1 if the row is a repeat, 0 if not, -ENOMEM if the row cannot be remembered. */
static int is_listed(const struct lane *lane, const struct record *record)
{
    if (lane->run->listing->live || lane->recurs)
        return 0; /* the live store itself recognizes repeats, and an event is no repeat */
    if (!record->identity)
        return lane->run->second_pass;
    return seen_before(lane->seen, record->identity);
}

/* If the second buffer is nearly full, writes out the first buffer and then the second, because
 * rows of the first lane come first. This happens between two rows: a row that is written in pieces
 * must not have other rows in between. */
static void lane_make_room(const struct lane *first, const struct lane *second)
{
    if (second->sink->writer->length <= WRITER_CAPACITY - WRITER_RESERVE_MAX)
        return;
    writer_flush(first->sink->writer);
    writer_flush(second->sink->writer);
}

static void lane_count(struct lane *lane, const struct record *record)
{
    lane->pass.rows++;
    if (!lane->run->listing->exact)
        return;
    lane->pass.unidentified += !record->identity;
    lane->pass.digest += hash_word(0, record->identity);
}

static bool count_refused(const struct listing *listing, bool wanted)
{
    if (!wanted && listing->refused)
        ++*listing->refused;
    return wanted;
}

/* Counts a row if the listing has a limit. The last allowed row ends the stream. */
static bool is_within_limit(struct run *run)
{
    const struct listing *listing = run->listing;

    if (!listing->limit)
        return true;
    if (run->limits.taken == listing->limit)
        return false;
    if (++run->limits.taken == listing->limit)
        eventfd_write(listing->events->stop, 1);
    return true;
}

/* Fields and lookups that are known at once. Rows that wait are checked again after all lookups. */
static struct needs known_at_once(const struct run *run)
{
    return (struct needs){.fields = run->listing->live ? ~run->listing->live->fields : UINT64_MAX,
                          .lookups = NEED_INTERFACES | NEED_LINKS | NEED_LABELS | NEED_SENDERS |
                                     NEED_CGROUPS | NEED_CONTAINERS | NEED_EPHEMERAL | NEED_PEERS |
                                     NEED_ADDRESSES | NEED_MACHINE | NEED_LISTING | NEED_CONNECTS |
                                     NEED_FIREWALL |
                                     (run->owners.stand_ins ? 0 : NEED_OWNERS_CGROUPS)};
}

bool run_wants(const struct run *run, const struct record *record)
{
    const struct listing *listing = run->listing;

    return count_refused(listing, predicate_holds(listing->where, record, &run->engine->context));
}

static bool lane_is_wanted(struct lane *lane, const struct record *record, bool wait)
{
    const struct run *run = lane->run;
    const struct listing *listing = run->listing;
    const struct context *context = &run->engine->context;
    bool wanted;

    if (!predicate_holds(lane->where, record, NULL))
        return false;
    if (!listing->where && !listing->limit)
        return true;
    wanted = wait ? predicate_may_be_met(listing->where, record, context, known_at_once(run))
                  : predicate_holds(listing->where, record, context);
    if (lane->unavailable && (!wanted || wait) && !run->limits.seen) {
        struct needs known = known_at_once(run);
        known.fields &= ~lane->unavailable; /* lost: only these unknown fields refuse the row */
        lane->pass.lost |= predicate_may_be_met(listing->where, record, context, known);
    }
    return count_refused(listing, wanted) && is_within_limit(lane->run);
}

/* --delta: finds the earlier row, unless the filter refuses this row by columns other than rates.
 * Returns 1 to go on with the row, 0 to drop it (the first run only remembers rows), or -ENOMEM. */
static int take_change(const struct lane *lane, const struct record *record, struct record *change)
{
    const struct run *run = lane->run;
    struct needs known = known_at_once(run);
    int error;

    known.lookups &= ~NEED_LISTING;
    if (!predicate_holds(lane->where, record, NULL))
        return 0; /* rows outside of the listing's part of the table are not counted as refused */
    if (!predicate_may_be_met(run->listing->where, record, &run->engine->context, known))
        return count_refused(run->listing, false);
    error = delta_take(run->engine->delta, record, run->netns_walk.cookie, change);
    if (!error && run->listing->live)
        error = run->listing->live->row(run->listing->live->arg, change, run->netns_walk.cookie);
    run->report->listed += run->silent;
    return error ? error : !run->silent;
}

/* WAITING_MAX: if more rows wait, the search for owners is not deferred any longer.
 *
 * HELD_MAX: if this many rows wait for an earlier row, all are passed on. If that takes a second
 * search for owners, the limit becomes four times as large: a million rows without an owner take
 * four searches, and never wait all at once. */
enum { WAITING_MAX = 1024, HELD_MAX = 16384, HELD_GROWTH_SHIFT = 2 };

/* Passes on waiting rows in order, up to the first row without an owner. */
static int release_rows(struct run *run, struct rows *rows)
{
    struct kept_row row;
    size_t gone = 0;
    int error = 0;

    for (; gone < rows->count && !error; gone++) {
        const struct record *record = rows_at(rows, gone, &row);
        if (run_is_ownerless(run, record))
            break;
        if (run_wants(run, record))
            error = run_emit(run, run->sink, record);
    }
    rows->count -= gone;
    if (rows->count) {
        memmove(rows->packed, rows->packed + gone, rows->count * sizeof *rows->packed);
    } else {
        rows_clear(rows);
        rows->unused = run->unused;
    }
    return error;
}

static size_t waiting_rows(const struct lane *first)
{
    return first->kept->count + (first->second ? first->second->kept->count : 0);
}

/* Searches for owners if too many rows wait for that. */
static int walk_if_many_wait(struct lane *first)
{
    struct run *run = first->run;

    if (waiting_rows(first) <= WAITING_MAX)
        return 0;
    run->owners.deferred = false;
    run_walk_owners(run);
    return release_rows(run, first->kept);
}

/* Moves the waiting rows of the second table after the waiting rows of the first table. */
static int lane_join(struct lane *first, struct lane *second)
{
    struct kept_row row;
    int error = 0;

    for (size_t i = 0; i < second->kept->count && !error; i++)
        error = rows_add(first->kept, rows_at(second->kept, i, &row));
    rows_clear(second->kept);
    second->kept->unused = first->run->unused;
    return error;
}

/* If too many rows wait, passes all of them on, after a second search if a row has no owner. */
static int release_if_many_wait(struct lane *first)
{
    struct run *run = first->run;
    int error = 0;

    if (waiting_rows(first) < (size_t)HELD_MAX << HELD_GROWTH_SHIFT * run->owners.early_searches)
        return 0;
    if (first->second && !first->kept->count)
        error = release_rows(run, first->second->kept);
    if (!error && first->second)
        error = lane_join(first, first->second);
    if (error || !first->kept->count)
        return error;
    run->owners.early_searches++;
    error = run_hand_on(run, first->kept);
    first->kept->unused = run->unused;
    return error;
}

/* Keeps a row that waits for earlier rows, or for a search for its owners. */
static int lane_keep(struct lane *first, struct lane *lane, const struct record *record,
                     bool ownerless)
{
    struct run *run = lane->run;
    const int error = rows_add(lane->kept, record);

    run->owners.unsearched |= ownerless || run->owners.deferred || first->at_once;
    if (error || run->keep_all)
        return error;
    return run->owners.deferred ? walk_if_many_wait(first) : release_if_many_wait(first);
}

/* Returns the inode of the current network namespace; 0: the listing reads only its own. */
static uint64_t run_netns_id(const struct run *run)
{
    const struct netns_walk *walk = &run->netns_walk;

    return run->listing->all_netns ? walk->found.list[walk->current].id : 0;
}

/* Copies a row; adds counted bytes, sockets, and `unavailable`: compared fields that the backend
 * lacks. */
static const struct record *complete_row(const struct lane *lane, const struct record *record,
                                         struct record *completed)
{
    memcpy(completed, record, record->kind->size);
    completed->unavailable = lane->unavailable;
    byte_counts_complete(lane->run->listing->byte_counts, completed);
    if (lane->run->sockets)
        lane->run->sockets->complete(lane->run->sockets->arg, completed, run_netns_id(lane->run));
    return completed;
}

/* Copies a row, with its age. Rows of the first run are older than that. */
static int take_age(struct delta *ages, const struct record *record, struct record *aged)
{
    const struct lasting *lasting = record->kind->lasting;
    const int error = delta_take(ages, record, 0, aged);
    struct remembered *row = ages->last;
    struct first_seen *seen = row ? delta_extra(ages, row) : NULL;

    aged->before = NULL;
    if (error || !row)
        return error;
    if (!seen->at)
        *seen = (struct first_seen){.at = row->at, .is_new = ages->run > 1};
    const struct age age = {.ms = (row->at - seen->at) / 1000, .at_least = !seen->is_new};
    memcpy((char *)aged + lasting->age, &age, sizeof age);
    aged->has |= lasting->has_age;
    return 0;
}

/* True if this row must wait for earlier rows that wait. Events and live rows have no order. */
static bool must_wait_for_others(const struct lane *first, const struct lane *lane)
{
    return lane->follows || (first->kept->count && !first->at_once && !lane->run->listing->live);
}

/* True if the listing shows only rows of table_unlisted, and this is no such row. */
static bool is_only_noted(const struct run *run)
{
    return run->listing->unlisted == UNLISTED_ONLY && !run->unlisted.query;
}

int lane_take(const struct record *record, void *arg)
{
    struct lane *first = arg;
    struct lane *lane = first->second && first->is_second(record) ? first->second : first;
    struct record completed, change, aged;
    bool ownerless, wait;
    int result = 0;

    lane_count(lane, record);
    lane->run->limits.seen |= record->identity && record->identity == lane->run->limits.identity;
    if (lane->unavailable || lane->run->listing->byte_counts || lane->run->sockets) /* rare */
        record = complete_row(lane, record, &completed);
    if (lane->run->listing->ages) {
        result = take_age(lane->run->engine->ages, record, &aged);
        record = &aged;
    }
    if (lane != first && !lane->follows)
        lane_make_room(first, lane);
    if (result == 0 && lane->run->unlisted.wanted) {
        result = run_note_socket(lane->run, record);
        if (result == 0 && is_only_noted(lane->run))
            return 0;
    }
    if (result == 0)
        result = is_listed(lane, record);
    if (result == 0 && lane->run->listing->delta) {
        const int taken = take_change(lane, record, &change);
        if (taken == 0)
            return 0;
        result = taken < 0 ? taken : 0;
        record = &change;
    }
    /* a known row keeps the owners that were found when it was new: confirm them before an event */
    if (result == 0 && lane->run->listing->live && record->before &&
        lane->run->listing->live->is_event(lane->run->listing->live->arg, record))
        engine_confirm_owners(lane->run->engine, record);
    ownerless = result == 0 && lane->run->engine->context.owners && !first->at_once &&
                !(lane->run->listing->live && record->before) &&
                run_is_ownerless(lane->run, record);
    wait = lane->run->keep_all || lane->run->owners.deferred || ownerless;
    if (result == 0 && !lane_is_wanted(lane, record, wait))
        return 0;
    lane->pass.wanted++;
    if (result == 0 && !wait && !must_wait_for_others(first, lane))
        result = run_emit(lane->run, lane->sink, record);
    else if (result == 0)
        result = lane_keep(first, lane, record, ownerless);
    if (result < 0)
        lane->stopped = result;
    return result < 0 ? result : 0;
}

void lane_init(struct lane *lane, struct run *run, struct rows *kept)
{
    *lane = (struct lane){.run = run, .sink = run->sink, .seen = run->engine->seen, .kept = kept};
}

bool lane_can_keep_order(const struct run *run)
{
    return !run->groups && !run->listing->most && !run->listing->sort->field;
}

/* The second lane, with its own writer and kept rows. Its rows wait until the rows of the first
 * lane have come if the sink has no clone, or if rows may wait for owners. Even then, one
 * dump for both tables is faster than two dumps. */
struct second_lane {
    struct lane lane;
    struct writer writer;
    struct rows kept;
};

static void destroy_second(struct second_lane *second)
{
    if (!second->lane.follows)
        sink_destroy(second->lane.sink);
    writer_finish(&second->writer);
    seen_destroy(second->lane.seen);
    rows_clear(&second->kept);
    free(second);
}

void lane_keep_order(struct lane *lane, bool (*is_second)(const struct record *), bool all)
{
    struct second_lane *second = lane_can_keep_order(lane->run) ? calloc(1, sizeof *second) : NULL;
    const bool rows_wait = lane->run->keep_all || lane->run->needs.lookups & NEED_OWNERS;

    if (!second)
        return;
    lane->is_second = is_second;
    second->kept.unused = lane->run->unused;
    second->lane = (struct lane){.run = lane->run,
                                 .seen = seen_create(),
                                 .kept = &second->kept,
                                 .where = lane->where,
                                 .unavailable = lane->unavailable,
                                 .follows = !lane->sink->ops->clone || rows_wait};
    if (second->lane.follows)
        second->lane.sink = lane->sink;
    else if (writer_init(&second->writer, lane->sink->writer->fd) == 0)
        second->lane.sink = lane->sink->ops->clone(lane->sink, &second->writer);
    if (second->lane.seen && second->lane.sink) {
        seen_start(second->lane.seen, all);
        lane->second = &second->lane;
    } else {
        destroy_second(second);
    }
}

static void pass_on_second(struct lane *lane, struct second_lane *second)
{
    struct run *run = lane->run;
    struct writer *writer = lane->sink->writer;
    struct sink *sink = second->lane.sink;
    const bool wait = run->keep_all || run->owners.deferred || lane->kept->count;

    if (!second->lane.follows && sink->ops->pause)
        sink->ops->pause(sink);
    writer_put(writer, second->writer.buffer, second->writer.length);
    if (!writer->error)
        writer->error = second->writer.error;
    if (second->lane.follows && !lane->stopped && !wait)
        lane->stopped = release_rows(run, &second->kept);
    if (!second->lane.stopped)
        second->lane.stopped = lane_join(lane, &second->lane);
    if (!lane->stopped)
        lane->stopped = second->lane.stopped ? second->lane.stopped : -writer->error;
}

struct lane_pass lane_end_pass(struct lane *lane)
{
    struct lane_pass pass = lane->pass;

    lane->pass = (struct lane_pass){0};
    if (!lane->run->limits.stopped)
        lane->run->limits.stopped = lane->stopped;
    if (lane->second) {
        const struct lane_pass second = lane_end_pass(lane->second);
        pass.rows += second.rows;
        pass.unidentified += second.unidentified;
        pass.digest += second.digest;
        pass.wanted += second.wanted;
        pass.lost |= second.lost;
    }
    return pass;
}

void lane_finish(struct lane *lane)
{
    struct second_lane *second = (struct second_lane *)lane->second; /* &second->lane, its start */

    if (second) {
        pass_on_second(lane, second);
        destroy_second(second);
        lane->second = NULL;
    }
    lane->run->limits.stopped = lane->stopped;
}
