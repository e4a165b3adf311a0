/* SPDX-License-Identifier: MIT */
#include "fastnet/drops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/drop_probe.h"
#include "fastnet/drop_reasons.h"
#include "fastnet/engine.h"
#include "fastnet/namespace.h"
#include "fastnet/netlink.h"
#include "fastnet/predicate.h"
#include "fastnet/report.h"
#include "fastnet/symbols.h"
#include "makers/drop_counters.h"
#include "makers/packet_sockets.h"

struct drops {
    const struct drops_options *options;
    struct drop_probe *probe; /* NULL: only counters are read */
    struct bpf_refusal refusal;
    struct symbols *symbols;
    struct drop_counters *counters;
    bool *listed; /* for each drop of the probe: it had a row, or was counted as harmless */
    size_t listed_capacity;
    struct fitting *fitting; /* by drop: the socket that fits, if the drop names no socket */
    size_t fitting_capacity;
    struct engine *engine;
    bool began;
    bool last;          /* ctrl-C came before the packets of this listing were taken */
    uint64_t own_netns; /* id of the own network namespace; 0: unknown */
    int error;          /* error of the probe or of counters, or 0 */
    struct drops_summary summary;
    const struct query *query; /* this and the next two members: of the current listing */
    record_fn fn;
    void *arg;
    struct record *merged; /* rows of the current listing, if rows are merged */
    size_t merged_count, merged_capacity;
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
    drop_probe_destroy(drops->probe);
    symbols_destroy(drops->symbols);
    drop_counters_destroy(drops->counters);
    engine_destroy(drops->engine);
    free(drops->fitting);
    free(drops->listed);
    free(drops->merged);
    free(drops);
}

const struct drops_summary *drops_summary(const struct drops *drops)
{
    return &drops->summary;
}

/* --- Probe ------------------------------------------------------------------------------------ */

/* Takes the drops of the probe, and reads the names of all functions at once. */
static int drops_take(struct drops *drops)
{
    int error = drop_probe_take(drops->probe);
    const size_t count = error ? 0 : drop_probe_count(drops->probe);
    bool *listed =
        array_with_room(drops->listed, &drops->listed_capacity, count + 1, sizeof *listed);
    struct fitting *fitting =
        array_with_room(drops->fitting, &drops->fitting_capacity, count + 1, sizeof *fitting);

    drops->listed = listed ? listed : drops->listed;
    drops->fitting = fitting ? fitting : drops->fitting;
    if (error || !listed || !fitting)
        return error ? error : -ENOMEM;
    memset(listed, 0, count * sizeof *listed);
    memset(fitting, 0, count * sizeof *fitting);
    for (size_t i = 0; i < count && !error; i++) {
        const struct drop *drop = drop_probe_at(drops->probe, i);
        if (drops->options->all_netns || !drop->netns || !drops->own_netns ||
            drop->netns == drops->own_netns)
            error = symbols_add(drops->symbols, drop->location);
    }
    if (!error && symbols_read(drops->symbols, "/proc/kallsyms") == -ENOMEM)
        error = -ENOMEM;
    return error;
}

void drops_begin(void *maker)
{
    struct drops *drops = maker;

    drops->summary = (struct drops_summary){.harmless = 0};
    drops->own_netns = namespace_own_id();
    if (!drops->began) {
        drops->began = true;
        clock_catch_interrupt();
        drops->probe = drop_probe_create(&drops->refusal);
        drops->error = drop_counters_read(drops->counters, drops->probe);
        clock_wait_shown(clock_nanoseconds(CLOCK_MONOTONIC) +
                             drops->options->milliseconds * CLOCK_MILLISECOND,
                         drops->options->progress);
    }
    drops->last = clock_interrupted();
    if (!drops->error && drops->probe)
        drops->error = drops_take(drops);
    if (!drops->error)
        drops->error = drop_counters_read(drops->counters, drops->probe);
}

/* --- Rows ------------------------------------------------------------------------------------- */

/* Adds fields that follow from the reason. Returns true if such packets are listed. */
static bool drops_complete(const struct drops *drops, struct record *record)
{
    struct drop_record *drop = &record->drop;
    const struct drop_reason *reason = drop_reason_find(drop->reason, drop->function);

    drop->meaning = reason ? as_text(reason->meaning) : (struct text){.data = NULL};
    drop->harmless = reason && reason->class == DROP_IS_HARMLESS;
    record->rows = drop->drops;
    return !drop->harmless || drops->options->harmless;
}

static int drops_hand_on(struct drops *drops, struct record *record)
{
    if (drops_complete(drops, record))
        return drops->fn(record, drops->arg);
    if (predicate_holds(drops->query->where, record, NULL))
        drops->summary.harmless += record->drop.drops;
    return 0;
}

/* options.merged: all drops with equal reason and function are one row, as metrics need it. */
static int drops_take_row(struct record *record, void *arg)
{
    struct drops *drops = arg;
    struct record *merged = drops->merged;

    if (!drops->options->merged)
        return drops_hand_on(drops, record);
    for (size_t i = 0; i < drops->merged_count; i++)
        if (text_equal(merged[i].drop.reason, record->drop.reason) &&
            text_equal(merged[i].drop.function, record->drop.function)) {
            merged[i].drop.drops += record->drop.drops;
            return 0;
        }
    merged = ARRAY_ADD(drops->merged, drops->merged_count, drops->merged_capacity);
    if (!merged)
        return -ENOMEM;
    *merged = *record;
    merged->has &= DROP_FUNCTION;
    merged->drop.inode = 0;
    return 0;
}

/* Finds the sockets of drops by the addresses of their packets, for kernels that do not name the
 * socket (before Linux 6.11). */
static int drops_find_sockets(struct drops *drops, uint64_t id)
{
    const size_t all = drop_probe_count(drops->probe);
    struct sought *sought = calloc(all + 1, sizeof *sought);
    size_t count = 0;

    if (!sought)
        return -ENOMEM;
    for (size_t i = 0; i < all; i++) {
        const struct drop *drop = drop_probe_at(drops->probe, i);
        const struct drop_record *seen = &drop->record.drop;
        if (drop->netns == id && drop->record.has & DROP_PORTS && !(drop->record.has & DROP_SOCKET))
            sought[count++] = (struct sought){seen->protocol, seen->local, seen->remote,
                                              &drops->fitting[i], false};
    }
    const int error = packet_sockets_find(drops->engine, NULL, sought, count, drops->query->report);
    free(sought);
    return error;
}

/* Lists drops of netns `id`; if it is the own, also of unknown netns. Own unknown: all drops. */
static int drops_list_probed(struct drops *drops, uint64_t id)
{
    int result = 0;

    for (size_t i = 0; i < drop_probe_count(drops->probe) && result >= 0; i++) {
        const struct drop *drop = drop_probe_at(drops->probe, i);
        const struct fitting *fitting = &drops->fitting[i]; /* sockets that may have the packet */
        const char *function = symbols_name(drops->symbols, drop->location);
        struct record record = drop->record;
        if (drops->listed[i] ||
            (drops->own_netns && (drop->netns ? drop->netns : drops->own_netns) != id))
            continue;
        drops->listed[i] = true;
        if (!(record.has & DROP_SOCKET) && fitting->count == 1 && fitting->inode) {
            record.drop.inode = fitting->inode;
            record.drop.uid = fitting->uid;
            record.has |= DROP_SOCKET;
        }
        if (function) {
            record.drop.function = as_text(function);
            record.has |= DROP_FUNCTION;
        }
        result = drops_take_row(&record, drops);
    }
    return result;
}

/* Fills the summary from all drops, also if fn ended the listing. */
static void drops_sum_up(struct drops *drops)
{
    drops->summary.unlisted = 0;
    drops->summary.lost = drop_probe_lost(drops->probe);
    for (size_t i = 0; i < drop_probe_count(drops->probe); i++) {
        struct record record = drop_probe_at(drops->probe, i)->record;
        if (!drops->listed[i] && drops_complete(drops, &record) &&
            predicate_may_hold(drops->query->where, &record, ~DROP_FUNCTION))
            drops->summary.unlisted += record.drop.drops;
    }
}

int drops_list(void *maker, const struct query *query, record_fn fn, void *arg)
{
    struct drops *drops = maker;
    struct report *report = query->report;
    const uint64_t id = namespace_own_id();
    int result = drops->error;

    drops->query = query;
    drops->fn = fn;
    drops->arg = arg;
    drops->merged_count = 0;
    report->ended |= drops->last;
    if (!drops->probe)
        report_loss(report,
                    "only counters are listed, because dropped packets cannot be watched: %s",
                    drops->refusal.reason);
    else if (!drops->own_netns)
        report_loss(report, "/proc is missing, so fastnet does not know its network namespace: "
                            "drops in all network namespaces are listed");
    if (drops->options->all_netns)
        engine_change_netns(drops->engine);
    if (result == 0 && drops->probe && !drop_probe_knows_receivers(drops->probe))
        result = drops_find_sockets(drops, id);
    if (result == 0 && drops->probe) {
        result = drops_list_probed(drops, id);
        drops_sum_up(drops);
    }
    if (result >= 0)
        result = drop_counters_list(drops->counters, report, drops_take_row, drops);
    for (size_t i = 0; i < drops->merged_count && result >= 0; i++)
        result = drops_hand_on(drops, &drops->merged[i]);
    return result;
}
