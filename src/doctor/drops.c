/* SPDX-License-Identifier: MIT */
#include "fastnet/drops.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/drop_counters.h"
#include "doctor/drop_sockets.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/drop_reasons.h"
#include "fastnet/drop_watch.h"
#include "fastnet/engine.h"
#include "fastnet/lookup.h"
#include "fastnet/namespace.h"
#include "fastnet/netlink.h"
#include "fastnet/report.h"

struct drops {
    const struct drops_options *options;
    struct drop_watch *watch; /* NULL: there are only counters */
    char why[DROP_REASON_SIZE];
    struct symbols *symbols;
    struct drop_counters *counters;
    bool *listed; /* of each drop of the watch: it had a row, or was counted as harmless */
    size_t listed_capacity;
    struct fitting *fitting; /* ... and its socket by addresses, where the kernel tells none */
    size_t fitting_capacity;
    struct engine *engine;
    uint64_t deadline; /* of the last watch: CLOCK_MONOTONIC; 0: there was none */
    uint64_t home;     /* id of the namespace that the listing began in */
    int error;         /* of the watch, or 0 */
    struct drops_summary summary;
};

struct drops *drops_create(const struct drops_options *options)
{
    struct drops *drops = calloc(1, sizeof *drops);

    if (!drops)
        return NULL;
    drops->options = options;
    drops->symbols = symbols_create();
    drops->engine = engine_create(netlink_create(NULL));
    drops->counters = drop_counters_create(drops->engine, options->all_netns);
    if (drops->symbols && drops->engine && drops->counters)
        return drops;
    drops_destroy(drops);
    return NULL;
}

void drops_destroy(struct drops *drops)
{
    if (!drops)
        return;
    drop_watch_destroy(drops->watch);
    symbols_destroy(drops->symbols);
    drop_counters_destroy(drops->counters);
    engine_destroy(drops->engine);
    free(drops->fitting);
    free(drops->listed);
    free(drops);
}

const struct drops_summary *drops_summary(const struct drops *drops)
{
    return &drops->summary;
}

/* --- To watch --------------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    (void)signal;
    interrupted = true;
}

/*
 * ctrl-C ends the wait, and shows what there is; a second one ends the program. Not of a program
 * that was started to ignore it.
 */
static void wait_until(uint64_t when)
{
    const struct timespec time = {.tv_sec = (time_t)(when / CLOCK_SECOND),
                                  .tv_nsec = (long)(when % CLOCK_SECOND)};
    const struct sigaction own = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    struct sigaction former;

    sigaction(SIGINT, NULL, &former);
    if (former.sa_handler != SIG_IGN && !interrupted)
        sigaction(SIGINT, &own, NULL);
    while (!interrupted && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        continue;
}

/* Names of places are read once for all that will be listed. */
static int take(struct drops *drops)
{
    const size_t count =
        drops->watch
            ? (drops->error = drop_watch_take(drops->watch)) ? 0 : drop_watch_count(drops->watch)
            : 0;
    bool *listed =
        array_with_room(drops->listed, &drops->listed_capacity, count + 1, sizeof *listed);
    struct fitting *fitting =
        array_with_room(drops->fitting, &drops->fitting_capacity, count + 1, sizeof *fitting);
    int error = listed && fitting ? 0 : -ENOMEM;

    drops->listed = listed ? listed : drops->listed;
    drops->fitting = fitting ? fitting : drops->fitting;
    if (error)
        return error;
    memset(listed, 0, count * sizeof *listed);
    memset(fitting, 0, count * sizeof *fitting);
    for (size_t i = 0; i < count && !error; i++) {
        const struct drop *drop = drop_watch_at(drops->watch, i);
        if (drops->options->all_netns || !drop->netns || drop->netns == drops->home)
            error = symbols_add(drops->symbols, drop->place);
    }
    if (!error && symbols_read(drops->symbols, "/proc/kallsyms") == -ENOMEM)
        error = -ENOMEM;
    return error;
}

void drops_begin(void *maker)
{
    struct drops *drops = maker;
    const uint64_t time = drops->options->milliseconds * (CLOCK_SECOND / 1000);
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);

    drops->summary = (struct drops_summary){.harmless = 0};
    drops->home = namespace_own_id();
    if (!drops->deadline) {
        drops->watch = drop_watch_create(drops->why);
        drop_counters_begin(drops->counters);
    }
    drops->deadline = (drops->deadline ? drops->deadline : now) + time;
    if (drops->deadline < now) /* the listing before took longer */
        drops->deadline = now;
    wait_until(drops->deadline);
    const int error = take(drops);
    drops->error = drops->error ? drops->error : error;
}

/* --- Rows ------------------------------------------------------------------------------------- */

/* Adds what follows from the reason. */
static int hand_on(struct drops *drops, struct record *record, record_fn fn, void *arg)
{
    struct drop_record *drop = &record->drop;
    const struct drop_reason *reason = drop_reason_find(drop->reason, drop->function);

    drop->meaning = reason ? as_text(reason->meaning) : (struct text){.data = NULL};
    drop->harmless = reason && reason->class == DROP_IS_HARMLESS;
    record->rows = drop->drops;
    if (!drop->harmless || drops->options->harmless)
        return fn(record, arg);
    drops->summary.harmless += drop->drops;
    return 0;
}

static struct record row_of(const struct drops *drops, size_t i)
{
    const struct drop *drop = drop_watch_at(drops->watch, i);
    const char *function = symbols_name(drops->symbols, drop->place);
    struct record record = drop->record;

    drop_sockets_take(&drops->fitting[i], &record);
    if (function) {
        record.drop.function = as_text(function);
        record.has |= DROP_FUNCTION;
    }
    return record;
}

/* Those of a packet whose namespace is unknown are told at home. */
static bool is_here(const struct drops *drops, const struct drop *drop, uint64_t id)
{
    return drop->netns ? drop->netns == id : id == drops->home;
}

/* In metrics a series is a reason and a function: others with the same are added to this one. */
static void merge(struct drops *drops, size_t first, uint64_t id, struct record *record)
{
    for (size_t i = first + 1; i < drop_watch_count(drops->watch); i++) {
        const struct drop *drop = drop_watch_at(drops->watch, i);
        const struct record other = row_of(drops, i);
        const struct drop_record *a = &record->drop, *b = &other.drop;
        if (drops->listed[i] || !is_here(drops, drop, id) || a->reason.length != b->reason.length ||
            memcmp(a->reason.data, b->reason.data, a->reason.length) != 0 ||
            a->function.length != b->function.length ||
            (a->function.length &&
             memcmp(a->function.data, b->function.data, a->function.length) != 0))
            continue;
        drops->listed[i] = true;
        record->drop.drops += b->drops;
    }
    record->has &= DROP_FUNCTION;
    record->drop.inode = 0;
}

static int list_seen(struct drops *drops, uint64_t id, record_fn fn, void *arg)
{
    int result = 0;

    for (size_t i = 0; i < drop_watch_count(drops->watch) && result >= 0; i++) {
        const struct drop *drop = drop_watch_at(drops->watch, i);
        struct record record;
        if (drops->listed[i] || !is_here(drops, drop, id))
            continue;
        drops->listed[i] = true;
        record = row_of(drops, i);
        if (drops->options->merged)
            merge(drops, i, id, &record);
        result = hand_on(drops, &record, fn, arg);
    }
    return result;
}

struct handing_on {
    struct drops *drops;
    record_fn fn;
    void *arg;
    struct record *merged; /* in metrics: one for each reason */
    size_t count, capacity;
};

static int merge_counter(struct handing_on *to, const struct record *record)
{
    const struct text reason = record->drop.reason;
    struct record *merged;

    for (size_t i = 0; i < to->count; i++) {
        struct drop_record *same = &to->merged[i].drop;
        if (same->reason.length == reason.length &&
            memcmp(same->reason.data, reason.data, reason.length) == 0) {
            same->drops += record->drop.drops;
            return 0;
        }
    }
    merged = array_with_room(to->merged, &to->capacity, to->count + 1, sizeof *merged);
    if (!merged)
        return -ENOMEM;
    to->merged = merged;
    merged += to->count++;
    *merged = *record;
    merged->has = 0;
    merged->drop.inode = 0;
    return 0;
}

static int take_counter(struct record *record, void *arg)
{
    struct handing_on *to = arg;

    if (to->drops->options->merged)
        return merge_counter(to, record);
    return hand_on(to->drops, record, to->fn, to->arg);
}

/* Also where fn wants no more: the summary is of all. */
static void sum_up(struct drops *drops)
{
    drops->summary.elsewhere = 0;
    drops->summary.lost = drop_watch_lost(drops->watch);
    for (size_t i = 0; i < drop_watch_count(drops->watch); i++)
        if (!drops->listed[i])
            drops->summary.elsewhere += drop_watch_at(drops->watch, i)->record.drop.drops;
}

int drops_list(void *maker, struct report *report, record_fn fn, void *arg)
{
    struct drops *drops = maker;
    const uint64_t id = namespace_own_id();
    struct handing_on to = {.drops = drops, .fn = fn, .arg = arg};
    int result = drops->error;

    if (interrupted)
        report->ended = true;
    if (!drops->watch)
        report_loss(report, "only counters, because packets are not seen: %s", drops->why);
    if (drops->options->all_netns)
        engine_move(drops->engine);
    if (result == 0 && drops->watch && !drop_watch_tells_receivers(drops->watch))
        result = drop_sockets_find(drops->engine, drops->watch, id, drops->fitting, report);
    if (result == 0 && drops->watch) {
        result = list_seen(drops, id, fn, arg);
        sum_up(drops);
    }
    if (result >= 0)
        result = drop_counters_list(drops->counters, drops->watch, report, take_counter, &to);
    for (size_t i = 0; i < to.count && result >= 0; i++)
        result = hand_on(drops, &to.merged[i], fn, arg);
    free(to.merged);
    return result;
}
