/* SPDX-License-Identifier: MIT */
/* Rows that end: the kernel reports the end, or samples do not find the rows any more. */
#include <errno.h>
#include <stdlib.h>

#include "engine/live_rows.h"
#include "fastnet/array.h"
#include "fastnet/byte_counts.h"
#include "fastnet/clock.h"
#include "fastnet/connects.h"
#include "fastnet/namespace.h"

enum { IN_DOUBT_MAX = 10000 };

static void set_received(const struct live *live, struct record *record)
{
    const uint64_t now = clock_nanoseconds(CLOCK_REALTIME);

    memcpy((char *)record + live->kind->received, &now, sizeof now);
    record->has |= live->kind->event;
}

/* Keeps an ended row for the screen. There are two lists: when the rows of the older list are too
 * old to be shown, the newer list replaces it. Ages use CLOCK_MONOTONIC, because the time of day
 * can be set back. */
static void keep_end(struct live *live, const struct record *record)
{
    struct ended_rows *newer = &live->ended[0], *older = &live->ended[1];
    const uint64_t now = live_now(live);

    if (newer->rows.count && now - newer->at[0] > live_age_of(live)) {
        rows_clear(&older->rows);
        *older = *newer;
        newer->rows = (struct rows){.count = 0};
    }
    if (newer->rows.count == ENDED_MAX) {
        live->ended_lost = true;
    } else if (rows_add(&newer->rows, record) == 0) {
        newer->at[newer->rows.count - 1] = now;
        newer->netns_index[newer->rows.count - 1] = (uint16_t)record->netns_index;
    }
}

static void report_end(struct live *live, struct record *record)
{
    record->netns_index = live->current;
    if (!(record->has & live->kind->event))
        set_received(live, record);
    if (live->stream)
        live_report(live, record);
    else
        keep_end(live, record);
}

/* Applies a changed filter to the ended rows, too. */
void live_filter_ended(struct live *live)
{
    struct kept_row kept;

    for (size_t i = 0; i < COUNT(live->ended); i++) {
        struct ended_rows *ended = &live->ended[i];
        size_t left = 0;
        for (size_t j = 0; j < ended->rows.count; j++) {
            const struct record *record = rows_at(&ended->rows, j, &kept);
            live_use_netns(live, ended->netns_index[j]);
            if (!predicate_holds(live->listing->where, record, &live->engine->context))
                continue;
            ended->rows.packed[left] = ended->rows.packed[j];
            ended->at[left] = ended->at[j];
            ended->netns_index[left++] = ended->netns_index[j];
        }
        ended->rows.count = left;
    }
    live_leave_netns(live);
    live->where = live->listing->where;
    live->times = (struct mean_times){.slots = {0}}; /* from now on live->sums adds up other rows */
}

/* True if the end is wanted: if the row was, even if the filter refuses its last state or rate. */
static bool wants_end(const struct live *live, const struct live_row *row, struct record *end)
{
    const struct listing *listing = live->listing;
    const bool by_event = predicate_needs(listing->where).fields & live->kind->lasting->has_event;

    live_set_event(live, end, LIVE_CLOSED);
    if (row && row->flags & IS_WANTED && !by_event)
        return true;
    return predicate_holds(listing->where, end, &live->engine->context);
}

static int live_ends_take_end(const struct record *record, void *arg)
{
    struct live *live = arg;
    struct delta *delta = live->engine->delta;
    struct remembered *row = delta_find(delta, record->identity, live->current);
    struct live_row *of = row ? live_row_of(live, row) : NULL;
    struct record end = *record, change;

    byte_counts_take(live->listing->byte_counts, &end);
    change = end;
    if (of && of->flags & HAS_ENDED && of->flags & IS_MISSING) {
        of->flags &= (uint8_t)~IS_MISSING;
        return 0;
    }
    if (of) {
        const struct row_id id = live_id_of(live, row);
        live->tracker->fill_record(&id, &end);
        if (delta_take(delta, &end, live_netns_at(live, live->current)->of.cookie, &change) < 0)
            return -ENOMEM;
        if (!live->stream) {
            if (!live->engine->delta->too_soon)
                (void)live_take_moves(live, row, &change);
            live_move_as_mean(live, row, &change);
        }
        of->flags |= HAS_ENDED;
        if (!(change.has & live->kind->lasting->has_age))
            live_take_age(live, of, live_now(live), &change);
    }
    if (!wants_end(live, of, &change))
        return 0;
    if (live->view.totals)
        live_take_totals(live, row, &change);
    report_end(live, &change);
    return 0;
}

struct connects *live_note_connects(struct live *live)
{
    struct engine *engine = live->engine;

    if (live->first || live->listing->owners == OWNERS_PROC || live->listing->processes ||
        (!engine->connects && !(engine->connects = connects_create())))
        return NULL;
    const uint64_t netns = live->listing->all_netns ? 0 : namespace_own_id();
    const unsigned what = socket_end_notes(live->kinds);
    return connects_begin(engine->connects, what, netns, NULL) == 0 ? engine->connects : NULL;
}

bool live_takes_notes(struct live *live)
{
    return live_note_connects(live);
}

/* A sample may find a connection in TIME_WAIT before its end is read: such a row is not new. Then a
 * note about its beginning, which is not older than the first sample, sets its age exactly. */
bool live_began_unseen(const struct live *live, const struct record *ended)
{
    const struct lasting *lasting = live->kind->lasting;
    struct remembered *row =
        delta_find(live->engine->delta, ended->identity, (size_t)ended->netns_index);
    struct age age;

    if (!row || !(ended->has & lasting->has_age))
        return ended->has & lasting->has_age;
    memcpy(&age, (const char *)ended + lasting->age, sizeof age);
    return !(live_row_of(live, row)->flags & IS_NEW) && !age.at_least;
}

int live_read_ends(struct live *live, struct report *report)
{
    struct connects *connects = live_note_connects(live);
    bool lost = false;
    int error = 0;

    for (size_t i = 0; i < live->netns->count && error >= 0; i++) {
        struct live_netns *at = live_netns_at(live, i);
        if (!at->tracker || live->tracker->descriptor(at->tracker) < 0)
            continue;
        live_use_netns(live, i);
        error = live->tracker->ended(at->tracker, connects, live_ends_take_end, live, report);
        live_leave_netns(live);
        if (error == -ENOBUFS) {
            live_netns_at(live, i)->lost = live->engine->delta->run;
            lost = true;
            error = 0;
        }
    }
    if (lost && live->stream) {
        struct record loss = {.kind = live->kind};
        live_set_event(live, &loss, LIVE_LOST);
        set_received(live, &loss);
        live->stream->ops->row(live->stream, &loss);
    }
    return error < 0 ? error : lost;
}

/* Whether the kernel will report the row's end. False if the row's netns may be gone. */
static bool end_comes(const struct live *live, struct remembered *row)
{
    const struct live_netns *at = live_netns_at(live, row->netns_number);
    const struct row_id id = live_id_of(live, row);

    return (!live->listing->all_netns || at->of.is_read) && at->tracker &&
           live->tracker->reports_end(at->tracker, &id);
}

/* Whether the previous sample found the row, and the kernel will report its end and counters. */
static bool is_awaited(const struct live *live, struct remembered *row)
{
    return delta_is_of(row, live->engine->delta->run - 1) && end_comes(live, row);
}

/* Whether the kernel will report the end later although samples miss the row: a connection that was
 * reset is in no list, but its socket ends only when it is closed.
 *
 * False for a row that was there when the kernel lost ends, because its end may be lost, and for
 * the kernel's own sockets (of tunnels, mostly unconnected), because the kernel never reports their
 * ends. */
static bool ends_later(const struct live *live, struct remembered *row)
{
    const struct live_row *of = live_row_of(live, row);
    const struct lasting *lasting = live->kind->lasting;
    const uint32_t lost = live_netns_at(live, row->netns_number)->lost;

    return (of->flags & IS_MISSING ||
            (of->state != lasting->closed && of->state != lasting->over)) &&
           end_comes(live, row) && (!lost || live->engine->delta->run - lost > 2);
}

static bool keeps(struct remembered *row, void *arg)
{
    struct live *live = arg;
    const uint8_t flags = live_row_of(live, row)->flags;

    if (delta_is_of(row, live->engine->delta->run))
        return true;
    if (flags & HAS_ENDED)
        return flags & IS_MISSING && ++live->in_doubt <= IN_DOUBT_MAX;
    return flags & IS_MISSING || is_awaited(live, row);
}

/* Makes group and rank of a row that the sample missed: both are made again for each sample. */
static void rank_missing(struct live *live, struct remembered *row)
{
    const struct record known = live_memory_of(live, row);

    live_rank_again(live, live_row_of(live, row), &known);
    if (live->view.group)
        live_row_of(live, row)->group = live_group_of(live, &known);
}

/* Marks the row as missing, and filters, sorts and groups it again, because the view may have
 * changed since the last sample. */
static void take_missing(struct live *live, struct remembered *row)
{
    struct live_row *of = live_row_of(live, row);
    const bool changes = !(of->flags & IS_MISSING);
    struct record change;

    of->flags = (of->flags | IS_MISSING) & (uint8_t)~IS_WANTED;
    if (changes) {
        of->state = live->kind->lasting->closed;
        live_set_active(live, of);
        row->elapsed = 0;
    }
    change = live_memory_of(live, row);
    live_take_age(live, of, live_now(live), &change);
    if (changes)
        live_set_event(live, &change, LIVE_CHANGED);
    if (predicate_holds(live->listing->where, &change, &live->engine->context))
        live->sink.ops->row(&live->sink, &change);
}

static void report_gone(struct live *live, struct remembered *row)
{
    struct live_row *of = live_row_of(live, row);
    struct record gone = live_memory_of(live, row);

    byte_counts_take(live->listing->byte_counts, &gone);
    live_take_age(live, of, live_now(live), &gone);
    if (wants_end(live, of, &gone))
        report_end(live, &gone);
    of->flags |= end_comes(live, row) ? HAS_ENDED | IS_MISSING : HAS_ENDED;
}

/* Destroys the trackers of network namespaces that this sample did not visit: they have ended, or
 * cannot be entered. A netns cannot end while its tracker has sockets open. A netns keeps its
 * number while a row that ended there is still shown. */
static void forget_netns(struct live *live)
{
    for (size_t i = 0; i < live->netns->count; i++) {
        struct live_netns *at = live_netns_at(live, i);
        if (at->of.is_read)
            continue;
        live->tracker->destroy(at->tracker);
        at->tracker = NULL;
    }
    for (size_t i = 0; i < COUNT(live->ended); i++)
        for (size_t j = 0; j < live->ended[i].rows.count; j++)
            live_netns_at(live, live->ended[i].netns_index[j])->of.is_read = true;
    delta_forget_netns(live->engine->delta);
}

int live_drop_missing(struct live *live, struct report *report)
{
    struct delta *delta = live->engine->delta;
    uint32_t run = delta->run;
    int error;

    for (size_t i = 0; i < delta->count; i++) {
        struct remembered *row = delta_at(delta, i);
        struct live_row *of = live_row_of(live, row);
        if (!delta_is_of(row, run) && !(of->flags & (HAS_ENDED | IS_MISSING)))
            of->flags |= IS_ASKED;
    }
    error = live_ask(live, SIZE_MAX, report);
    for (size_t i = 0; i < delta->count; i++) {
        struct remembered *row = delta_at(delta, i);
        if (delta_is_of(row, run) || live_row_of(live, row)->flags & HAS_ENDED)
            continue;
        live_use_netns(live, row->netns_number);
        if (is_awaited(live, row))
            rank_missing(live, row);
        else if (!ends_later(live, row))
            report_gone(live, row);
        else
            take_missing(live, row);
        live_leave_netns(live);
    }
    live->in_doubt = 0;
    delta_forget(delta, keeps, live);
    if (live->listing->all_netns)
        forget_netns(live);
    return error;
}

size_t live_descriptors(const struct live *live, int *descriptors, size_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < live->netns->count && count < most; i++) {
        void *tracker = live_netns_at(live, i)->tracker;
        if (tracker && live->tracker->descriptor(tracker) >= 0)
            descriptors[count++] = live->tracker->descriptor(tracker);
    }
    return count;
}
