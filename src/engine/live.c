/* SPDX-License-Identifier: MIT */
#include "fastnet/live.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/live_rows.h"
#include "fastnet/array.h"
#include "fastnet/byte_counts.h"
#include "fastnet/clock.h"
#include "fastnet/connects.h"
#include "fastnet/hash.h"
#include "fastnet/netlink.h"

_Static_assert(
    sizeof(struct remembered) + sizeof(struct live_row) <= 104,
    "a row with two counters takes 152 bytes, on a screen 176, and its hash slots 5 to 10");

enum {
    ASKED_MAX = 2000, /* active rows that are asked for between two samples: some 5 ms */
    AT_ONCE = 50,     /* rows in one request */
};

struct live_row *live_row_of(const struct live *live, struct remembered *row)
{
    return delta_extra(live->engine->delta, row);
}

uint64_t live_now(const struct live *live)
{
    return (clock_nanoseconds(CLOCK_MONOTONIC) - live->began) / CLOCK_MILLISECOND;
}

/* Notes that a row moves now. Times are milliseconds in 40 bits, which last for 34 years. */
void live_set_active(const struct live *live, struct live_row *of)
{
    of->active = live_now(live) & LIVE_TIME_MASK;
    of->flags |= HAS_MOVED;
}

/* --- Rows as they come ------------------------------------------------------------------------ */

struct row_id live_id_of(const struct live *live, struct remembered *row)
{
    struct row_id id;

    memcpy(&id, live_row_of(live, row)->id, offsetof(struct row_id, identity));
    id.identity = row->key;
    return id;
}

/* A record made of the row's id alone. */
struct record live_memory_of(const struct live *live, struct remembered *row)
{
    const struct row_id id = live_id_of(live, row);
    struct record record = {.kind = live->kind, .netns_index = row->netns_number};

    live->tracker->fill_record(&id, &record);
    return record;
}

void live_set_event(const struct live *live, struct record *record, uint8_t event)
{
    const struct lasting *lasting = live->kind->lasting;

    *((uint8_t *)record + lasting->event) = event;
    record->has |= lasting->has_event;
}

static bool live_needs_owners(const void *arg)
{
    const struct live *live = arg;
    const struct field *const by[] = {live->view.order.field, live->view.group};
    uint64_t lookups = 0;

    for (size_t i = 0; i < COUNT(by); i++)
        lookups |= by[i] ? by[i]->lookups : 0;
    return lookups & NEED_ANY_OWNERS;
}

static bool live_is_event(const void *arg, const struct record *record)
{
    const struct live *live = arg;

    return live->stream && record->has & live->kind->lasting->has_event;
}

static uint8_t state_of(const struct live *live, const struct record *record)
{
    return *((const uint8_t *)record + live->kind->lasting->state);
}

/* --- Rates ------------------------------------------------------------------------------------ */

static struct mean_times times_of(const struct live_row *of)
{
    return (struct mean_times){{of->time0, of->time1, of->time2}};
}

static void set_times(struct live_row *of, struct mean_times times)
{
    of->time0 = times.slots[0] & LIVE_SLOT_MASK;
    of->time1 = times.slots[1] & LIVE_SLOT_MASK;
    of->time2 = times.slots[2] & LIVE_SLOT_MASK;
}

/* The slots with the growth of counter i. Only rows of a screen have slots. */
static float *slots_of(const struct live *live, const struct live_row *of, size_t i)
{
    return (float *)(uintptr_t)&of->moved[2 * live->listing->rate_count] + i * MEAN_SLOTS;
}

double live_last_rate_of(const struct remembered *row, const struct live_row *of, size_t i)
{
    enum { SECOND = 1000000 };

    return row->elapsed ? (double)of->moved[i] * SECOND / (double)row->elapsed : 0;
}

double live_rate_of(const struct live *live, const struct remembered *row, size_t i)
{
    const struct live_row *of = live_row_of(live, (struct remembered *)(uintptr_t)row);
    const struct mean_times times = times_of(of);

    return row->elapsed ? mean_rate(slots_of(live, of, i), &times) : 0;
}

bool live_take_moves(const struct live *live, struct remembered *row, const struct record *change)
{
    const struct listing *listing = live->listing;
    struct live_row *to = live_row_of(live, row);
    struct mean_times times = change->before ? times_of(to) : (struct mean_times){.slots = {0}};
    const struct mean_step step = mean_step(&times, row->elapsed);
    bool moved = false;

    for (size_t i = 0; i < listing->rate_count && change->before; i++) {
        const struct field *field = listing->rates[i];
        const uint64_t more = field_grows(field, change) ? field_number(field, change) -
                                                               field_number(field, change->before)
                                                         : 0;
        to->moved[i] = more;
        to->moved[listing->rate_count + i] += more;
        moved |= more > 0;
        if (!live->stream)
            mean_add(slots_of(live, to, i), step, (double)more);
    }
    set_times(to, times);
    return moved;
}

/* Sets the record's age: only a lower bound if the row existed before the first sample. */
void live_take_age(const struct live *live, const struct live_row *of, uint64_t now,
                   struct record *record)
{
    const struct lasting *lasting = live->kind->lasting;
    const struct age age = {.ms = now - of->since, .at_least = !(of->flags & IS_NEW)};

    memcpy((char *)record + lasting->age, &age, sizeof age);
    record->has |= lasting->has_age;
}

uint64_t live_total_of(const struct live *live, const struct remembered *row, size_t i)
{
    const struct live_row *of =
        delta_extra(live->engine->delta, (struct remembered *)(uintptr_t)row);

    if (!(of->flags & IS_NEW))
        return of->moved[live->listing->rate_count + i];
    return row->before[i] != UINT64_MAX ? row->before[i] : 0;
}

/* Sets `before` and `elapsed` so that the record's rates are its totals since the start: as if the
 * row had moved everything within a second. */
void live_take_totals(struct live *live, const struct remembered *row, struct record *record)
{
    const struct listing *listing = live->listing;
    uint64_t before[LIVE_SUMS];

    for (size_t i = 0; i < listing->rate_count; i++) {
        const bool grows = field_grows(listing->rates[i], record);
        const uint64_t now = grows ? field_number(listing->rates[i], record) : 0;
        const uint64_t moved = row ? live_total_of(live, row, i) : now;
        before[i] = !grows ? UINT64_MAX : moved < now ? now - moved : 0;
    }
    record->before = delta_recall(live->engine->delta, record, before);
    record->elapsed = CLOCK_SECOND;
}

/* Creates the tracker of the row's network namespace, which takes two descriptors. Without a
 * tracker rows are still sampled, but ends are noticed late. */
static int live_track_netns(struct live *live, uint64_t netns)
{
    const struct netns *known = live->engine->context.netns.netns;
    struct live_netns *at;
    int error;

    live->current = live->engine->delta->last->netns_number;
    at = live_netns_at(live, live->current);
    if (at->tracker || at->refused)
        return 0;
    at->of.is_read = true;
    if (known && netns)
        at->netns = *known;
    at->tracker = live->tracker->create(live->kinds, netlink_peer(live->engine->netlink), &error);
    at->refused = error;
    return error == -ENOMEM ? error : 0;
}

static void live_enter_netns(void *arg, uint64_t netns)
{
    struct live *live = arg;
    struct live_netns *at = netns_store_find(live->netns, netns);

    if (at) {
        at->of.is_read = true;
        at->refused = 0;
    }
}

/* Sets the record's rates: its counters grew by moved[i] in `elapsed` nanoseconds. */
static void set_moves(const struct live *live, struct record *record, const uint64_t moved[],
                      uint64_t elapsed)
{
    const struct listing *listing = live->listing;
    uint64_t before[LIVE_SUMS];

    for (size_t i = 0; i < listing->rate_count; i++) {
        before[i] = field_grows(listing->rates[i], record) ? field_number(listing->rates[i], record)
                                                           : UINT64_MAX;
        if (before[i] != UINT64_MAX)
            before[i] -= moved[i] < before[i] ? moved[i] : before[i];
    }
    record->before = elapsed ? delta_recall(live->engine->delta, record, before) : NULL;
    record->elapsed = elapsed;
}

void live_move_as_before(const struct live *live, struct remembered *row, struct record *record)
{
    set_moves(live, record, live_row_of(live, row)->moved, (uint64_t)row->elapsed * 1000);
}

void live_move_as_mean(const struct live *live, struct remembered *row, struct record *record)
{
    const struct live_row *of = live_row_of(live, row);
    const struct mean_times times = times_of(of);
    uint64_t moved[LIVE_SUMS];

    for (size_t i = 0; i < live->listing->rate_count; i++) {
        const double grown = mean_grown(slots_of(live, of, i), &times) + 0.5;
        moved[i] = grown < (double)UINT64_MAX ? (uint64_t)grown : UINT64_MAX;
    }
    set_moves(live, record, moved, row->elapsed ? mean_time(&times) * CLOCK_MILLISECOND : 0);
}

/* Remembers a row that is new to fastnet. Only its idle time shows what it did before. */
static void take_new(const struct live *live, struct live_row *to, const struct record *record,
                     bool over)
{
    const struct value idle = field_value(live->idle, record, &live->engine->context);

    to->since = live_now(live) & LIVE_TIME_MASK;
    to->flags = IS_KNOWN | (over ? HAS_ENDED : live->first ? 0 : IS_NEW);
    if (idle.type != VALUE_UNKNOWN && idle.number < LIVE_AGE)
        live_set_active(live, to);
}

/* Sets the event of a row that was just remembered, and remembers the row's id. */
static int live_note_row(void *arg, struct record *change, uint64_t netns)
{
    struct live *live = arg;
    struct remembered *row = live->engine->delta->last;
    const bool is_over = live->tracker->is_over(change);
    struct row_id id;
    struct live_row *to;
    uint8_t event = 0;

    if (!row)
        return 0;
    if (live_track_netns(live, netns) < 0)
        return -ENOMEM;
    to = live_row_of(live, row);
    to->flags &= (uint8_t)~IS_MISSING;
    if (!(to->flags & IS_KNOWN)) {
        take_new(live, to, change, is_over);
        event = to->flags & IS_NEW ? LIVE_OPENED : 0;
    } else {
        bool moved = to->state != state_of(live, change);
        const bool too_soon = live->engine->delta->too_soon; /* too soon for new rates */
        if (!too_soon)
            moved |= live_take_moves(live, row, change);
        if (!live->stream) /* a screen shows mean rates, so its filter and order use them, too */
            live_move_as_mean(live, row, change);
        else if (too_soon)
            live_move_as_before(live, row, change);
        if (moved) {
            live_set_active(live, to);
            event = LIVE_CHANGED;
        }
    }
    live_take_age(live, to, live_now(live), change);
    void *tracker = live_netns_at(live, live->current)->tracker;
    if (tracker && live->tracker->note(tracker, change) < 0)
        return -ENOMEM;
    id = live_id_of(live, row);
    live->tracker->take_id(&id, change);
    memcpy(to->id, &id, sizeof to->id);
    if (is_over && !(to->flags & HAS_ENDED) && event == LIVE_CHANGED)
        event = 0; /* its end is a separate event: from the kernel or from the next full sample */
    to->flags &= (uint8_t)~IS_WANTED;
    to->state = state_of(live, change);
    if (event && !(to->flags & HAS_ENDED))
        live_set_event(live, change, event);
    return 0;
}

/* Finds the group by a keyed hash of the whole value, because names and lists can begin alike. */
uint32_t live_group_of(struct live *live, const struct record *record)
{
    const struct value value = field_value(live->view.group, record, &live->engine->context);
    char text[VALUE_PART];
    struct text name = {text, 0};
    uint64_t secret[2];

    if (value.type != VALUE_UNKNOWN)
        name.length = value_write_part(text, &value, field_shown_unit(live->view.group));
    hash_secret(secret);
    uint64_t hash = hash_bytes(hash_word(*secret, name.length), text, name.length);
    if (value_is_list(&value))
        hash = value_hash(hash, &value);
    struct grouped_rows *group = hash_table_find_number(&live->groups, hash, hash);
    if (!group && (group = hash_table_add(&live->groups, hash, sizeof *group))) {
        const struct text_room room = {LIVE_NAME, SIZE_MAX, SIZE_MAX};
        group->hash = hash;
        group->length = text_cut(name, room, "").length;
        memcpy(group->name, text, group->length);
    }
    if (!group)
        return UINT32_MAX; /* memory is short: the row is in no group */
    return (uint32_t)(group - (struct grouped_rows *)live->groups.elements);
}

void live_report(struct live *live, const struct record *record)
{
    const uint64_t most = live->listing->most;

    if (most && live->streamed == most)
        return;
    live->streamed++;
    live->stream->ops->row(live->stream, record);
}

/* Takes a row that live_note_row() marked and that the filter wants. */
static void live_take_row(struct sink *sink, const struct record *record)
{
    struct live *live = (struct live *)sink;
    struct remembered *row = live->engine->delta->last;
    struct live_row *to;

    if (!row || row->key != record->identity) /* the row had to wait: `last` is another row */
        row = delta_find(live->engine->delta, record->identity, live->current);
    if (!row)
        return;
    to = live_row_of(live, row);
    to->flags |= IS_WANTED;
    if (live_is_event(live, record) || live->streams_all)
        live_report(live, record);
    if (live->stream)
        return;
    if (live->view.totals) {
        struct record whole;
        memcpy(&whole, record, record->kind->size);
        live_take_totals(live, row, &whole);
        live_set_rank(live, to, &whole);
    } else {
        live_set_rank(live, to, record);
    }
    if (live->view.group)
        to->group = live_group_of(live, record);
}

/* --- Single rows ------------------------------------------------------------------------------ */

void live_use_netns(struct live *live, size_t netns_number)
{
    const struct netns *netns = &live_netns_at(live, netns_number)->netns;

    live->current = netns_number;
    if (!netns->id && !live->listing->all_netns)
        netns = &live->engine->own;
    live->engine->context.netns.netns = netns->id ? netns : NULL;
}

void live_leave_netns(struct live *live)
{
    live->engine->context.netns.netns = NULL;
}

/* A request for single rows, with the caller's function. take_asked() adds counted bytes. */
struct asked {
    const struct live *live;
    record_fn fn;
    void *arg;
};

static int take_asked(const struct record *record, void *arg)
{
    const struct asked *asked = arg;
    struct record counted;

    memcpy(&counted, record, record->kind->size);
    byte_counts_complete(asked->live->listing->byte_counts, &counted);
    return asked->fn(&counted, asked->arg);
}

int live_ask_for(const struct live *live, size_t netns_number, const struct row_id ids[],
                 size_t count, uint64_t needs, record_fn fn, void *arg, struct report *report)
{
    struct asked asked = {live, fn, arg};

    return live->tracker->ask(live_netns_at(live, netns_number)->tracker, ids, count, needs,
                              take_asked, &asked, report);
}

/* Updates a row that was asked for. */
static int update_row(const struct record *record, void *arg)
{
    struct live *live = arg;
    struct delta *delta = live->engine->delta;
    const uint64_t netns = live_netns_at(live, live->current)->of.cookie;
    struct record change;
    int error;

    if (!delta_find(delta, record->identity, live->current))
        return 0;
    error = delta_take(delta, record, netns, &change);
    if (!error)
        error = live_note_row(live, &change, netns);
    if (!error && live_is_event(live, &change))
        engine_confirm_owners(live->engine, &change);
    if (!error && predicate_holds(live->listing->where, &change, &live->engine->context))
        live_take_row(&live->sink, &change);
    return error;
}

uint64_t live_needs_of(const struct live *live)
{
    return live->listing->needs.fields | predicate_needs(live->listing->where).fields;
}

/* Asks for at most `most` rows with IS_ASKED, of one network namespace. */
static int ask_from(struct live *live, size_t netns_number, size_t most, struct report *report)
{
    const size_t count = live->engine->delta->count;
    struct row_id ids[AT_ONCE];
    size_t asked = 0, chosen = 0;
    int error = 0;

    live_use_netns(live, netns_number);
    for (size_t i = 0; i < count && asked < most && error >= 0; i++) {
        struct remembered *row = delta_at(live->engine->delta, i);
        struct live_row *of = live_row_of(live, row);
        if (of->flags & IS_ASKED && row->netns_number == netns_number) {
            of->flags &= (uint8_t)~IS_ASKED;
            ids[chosen++] = live_id_of(live, row);
            asked++;
        }
        if (chosen == AT_ONCE || (chosen && (i + 1 == count || asked == most))) {
            error = live_ask_for(live, netns_number, ids, chosen, live_needs_of(live), update_row,
                                 live, report);
            chosen = 0;
        }
    }
    live_leave_netns(live);
    return error;
}

int live_ask(struct live *live, size_t most, struct report *report)
{
    int error = 0;

    for (size_t i = 0; i < live->netns->count && error >= 0; i++)
        if (live_netns_at(live, i)->tracker)
            error = ask_from(live, i, most, report);
    return error < 0 ? error : 0;
}

bool live_is_listed(const struct live *live, const struct live_row *of)
{
    return of->flags & IS_WANTED &&
           !(of->flags & HAS_ENDED &&
             (of->flags & IS_MISSING || of->state != live->kind->lasting->over));
}

/* Notes the end of a sample, and how much all listed rows moved in it. A sample that came too soon
 * has the same rates as the sample before, if that sample has rates. */
static void end_sample(struct live *live)
{
    const struct delta *delta = live->engine->delta;
    const uint64_t now = live_now(live);
    uint64_t elapsed = (now - live->sampled) * 1000;
    const bool is_too_soon = elapsed * 1000 < delta->min_elapsed;
    double rates[LIVE_SUMS] = {0};
    bool is_rated = false;

    live->sampled = now;
    if (is_too_soon && live->times.slots[0])
        return;
    if (is_too_soon)
        elapsed = live->view.interval / 1000;
    for (size_t i = 0; i < delta->count; i++) {
        struct remembered *row = delta_at(delta, i);
        const struct live_row *of = live_row_of(live, row);
        is_rated |= row->elapsed != 0;
        for (size_t j = 0; j < live->listing->rate_count && live_is_listed(live, of); j++)
            rates[j] += live_last_rate_of(row, of, j);
    }
    if (is_too_soon && !is_rated)
        return;
    const struct mean_step step = mean_step(&live->times, elapsed);
    for (size_t j = 0; j < live->listing->rate_count; j++)
        mean_add(live->sums[j], step, rates[j] * (double)elapsed / (CLOCK_SECOND / 1000.0));
}

uint64_t live_age_of(const struct live *live)
{
    const uint64_t milliseconds = live->view.interval / CLOCK_MILLISECOND + 1;

    return milliseconds < LIVE_AGE ? LIVE_AGE : milliseconds;
}

bool live_is_active(const struct live *live, const struct live_row *row)
{
    return row->flags & HAS_MOVED && live->sampled < row->active + live_age_of(live);
}

bool live_is_new(const struct live *live, const struct live_row *of)
{
    return (of->flags & (IS_NEW | HAS_ENDED)) == IS_NEW &&
           live->sampled < of->since + live_age_of(live);
}

int live_refresh(struct live *live, struct report *report)
{
    struct report problems = {.verbose = report->verbose};
    int error;

    live->engine->context.time = live->listing->time = clock_nanoseconds(CLOCK_REALTIME);
    engine_read_counts(live->listing, &problems);
    for (size_t i = 0; i < live->engine->delta->count; i++) {
        struct live_row *of = live_row_of(live, delta_at(live->engine->delta, i));
        if ((of->flags & (IS_WANTED | HAS_ENDED | IS_MISSING)) == IS_WANTED &&
            live_is_active(live, of))
            of->flags |= IS_ASKED;
    }
    error = live_ask(live, ASKED_MAX, &problems);
    end_sample(live);
    report_add_news(report, &problems, &live->reported);
    return error;
}

/* --- Full samples ----------------------------------------------------------------------------- */

static void report_refused(const struct live *live, struct report *report)
{
    for (size_t i = 0; i < live->netns->count; i++)
        if (live_netns_at(live, i)->refused)
            report_loss(report, "cannot see the ends of %s in some network namespaces: %s",
                        live->kind->name, strerror(-live_netns_at(live, i)->refused));
}

/* Reports why no notes about connections are taken, if a column is shown that needs the notes. */
static void live_report_unknown_ends(struct live *live, struct report *report)
{
    struct report problems = {.partial = false};
    struct bpf_refusal refusal;

    if (!(live->listing->needs.fields & live->kind->has_origin) ||
        live->listing->owners == OWNERS_PROC || !live->engine->connects ||
        connects_begin(live->engine->connects, 0, 0, &refusal) == 0)
        return;
    report_note(&problems, "how connections end is unknown (%s)", refusal.reason);
    report_add_news(report, &problems, &live->reported);
}

/* Takes a sample. Each problem is reported once: the report of a stream is printed repeatedly. */
int live_sample(struct live *live, struct report *report)
{
    struct report problems = {.verbose = report->verbose};
    int error, lost;

    hash_table_finish(&live->groups);
    live_order_finish(&live->order);
    if (live->where != live->listing->where)
        live_filter_ended(live);
    for (size_t i = 0; i < live->netns->count; i++) {
        struct live_netns *at = live_netns_at(live, i);
        at->of.is_read = false;
        if (at->tracker)
            live->tracker->forget(at->tracker);
    }
    live->listing->time = clock_nanoseconds(CLOCK_REALTIME);
    error = engine_run(live->engine, live->listing, &live->sink, &problems);
    report_refused(live, &problems);
    lost = error < 0 ? error : live_read_ends(live, &problems);
    error = lost < 0 ? lost : live_drop_missing(live, &problems);
    report_add_news(report, &problems, &live->reported);
    const bool notes = live->stream || !live->first; /* a screen first draws a frame */
    live->first = false;
    netlink_receive_inline(live->engine->netlink); /* only the first sample must be fast */
    end_sample(live);
    if (notes && !live_note_connects(live))
        live_report_unknown_ends(live, report);
    return error;
}

uint64_t live_reported(const struct live *live)
{
    return live->streamed;
}

void live_stream_all(struct live *live)
{
    live->streams_all = true;
}

uint64_t live_begin_of(const struct live *live, uint64_t identity)
{
    struct connect made;

    return live->engine->connects && connects_find(live->engine->connects, identity, &made)
               ? made.time
               : 0;
}

/* --- Creation and end ------------------------------------------------------------------------- */

struct live *live_create(struct engine *engine, struct listing *listing,
                         const struct row_tracker_ops *tracker, struct sink *stream, unsigned kinds,
                         int *error)
{
    static const struct sink_ops ops = {.row = live_take_row};
    struct live *live = calloc(1, sizeof *live);

    *error = -ENOMEM;
    if (!live)
        return NULL;
    live->engine = engine; /* no compound literal, which would need stack */
    live->listing = listing;
    live->stream = stream;
    live->kinds = kinds;
    live->began = clock_nanoseconds(CLOCK_MONOTONIC);
    live->kind = listing->tables->table->kind;
    live->where = listing->where;
    live->first = true;
    live->tracker = tracker;
    live->idle = field_named(live->kind, live->kind->lasting->idle);
    live->sink = (struct sink){&ops, stream ? stream->writer : &live->no_writer, &engine->context};
    live->hooks = (struct listing_hooks){.fields = live->kind->lasting->has_event |
                                                   live->kind->lasting->has_age,
                                         .row = live_note_row,
                                         .enter_netns = live_enter_netns,
                                         .is_event = live_is_event,
                                         .needs_owners = live_needs_owners,
                                         .arg = live};
    listing->live = &live->hooks;
    listing->delta = true;
    delta_destroy(engine->delta);
    engine->delta =
        delta_create_for(listing->rates, listing->rate_count,
                         sizeof(struct live_row) + 2 * listing->rate_count * sizeof(uint64_t) +
                             (stream ? 0 : listing->rate_count * MEAN_SLOTS * sizeof(float)));
    live->netns = engine->delta ? &engine->delta->netns : NULL;
    if (live->netns)
        live->netns->size = sizeof(struct live_netns);
    /* create the tracker now, so that no end is missed; with all_netns, at the first row of each
     * netns */
    if (engine->delta && !listing->all_netns) {
        struct live_netns *only = netns_store_add(live->netns, 0);
        if (only)
            only->tracker = live->tracker->create(kinds, netlink_peer(engine->netlink), error);
    } else if (engine->delta) {
        *error = 0;
    }
    if (!*error)
        return live;
    live_destroy(live);
    return NULL;
}

void live_destroy(struct live *live)
{
    if (!live)
        return;
    for (size_t i = 0; live->netns && i < live->netns->count; i++)
        live->tracker->destroy(live_netns_at(live, i)->tracker);
    for (size_t i = 0; i < COUNT(live->ended); i++)
        rows_clear(&live->ended[i].rows);
    rows_clear(&live->asked);
    hash_table_finish(&live->groups);
    live_order_finish(&live->order);
    delta_destroy(live->engine->delta);
    live->engine->delta = NULL;
    live->listing->live = NULL;
    free(live->ranked);
    free(live->unranked);
    free(live);
}

void live_set_view(struct live *live, const struct live_view *view)
{
    for (size_t i = 0; i < COUNT(live->ended) && live->view.totals != view->totals; i++)
        rows_clear(&live->ended[i].rows); /* these rows have the rates of the old view */
    live->view = *view;
    live->engine->delta->min_elapsed = view->interval / 2;
}
