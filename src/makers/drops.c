/* SPDX-License-Identifier: MIT */
#include "fastnet/drops.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/connects.h"
#include "fastnet/drop_probe.h"
#include "fastnet/drop_reasons.h"
#include "fastnet/engine.h"
#include "fastnet/namespace.h"
#include "fastnet/netlink.h"
#include "fastnet/predicate.h"
#include "fastnet/report.h"
#include "fastnet/symbols.h"
#include "makers/drop_counters.h"
#include "makers/drop_rows.h"
#include "makers/packet_sockets.h"
#include "makers/socket_index.h"

struct drops {
    const struct drops_options *options;
    struct drop_probe *probe; /* NULL: only counters are read */
    struct bpf_refusal refusal;
    struct symbols *symbols;
    struct drop_counters *counters;
    struct connects *connects; /* who connects and sends; NULL: not noted */
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
    struct drop_rows rows; /* rows of the current listing */
};

struct drops *drops_create(const struct drops_options *options)
{
    struct drops *drops = calloc(1, sizeof *drops);

    if (!drops)
        return NULL;
    drops->options = options;
    drops->rows = (struct drop_rows){.by_reason = options->merged, .processes = options->processes};
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
    connects_destroy(drops->connects);
    engine_destroy(drops->engine);
    free(drops->fitting);
    free(drops->listed);
    drop_rows_clear(&drops->rows);
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

/* True if the packet may come from a socket of this machine that the kernel no longer knows. */
static bool drops_lacks_sender(const struct drop *drop)
{
    return drop->record.drop.received && drop->record.drop.protocol == IPPROTO_TCP &&
           (drop->record.has & (DROP_PORTS | DROP_SOCKET)) == DROP_PORTS;
}

/* Finds who sent packets that came in. A packet loses its socket between network namespaces, but it
 * keeps the addresses of the connection: a single socket that has them is its sender. */
static int drops_find_senders(struct drops *drops)
{
    static const struct listing all = {
        .proc_root = "/proc", .all_netns = true, .netns_implied = true};
    uint8_t ports[SOCKET_PORTS_SIZE] = {0};
    struct socket_index index = {.sockets = {.count = 0}};
    struct report losses = {.partial = false};
    struct engine *engine;
    bool any = false;
    int error;

    for (size_t i = 0; i < drop_probe_count(drops->probe); i++) {
        const struct drop *drop = drop_probe_at(drops->probe, i);
        const uint16_t port = drop->record.drop.remote.port;
        if (drops_lacks_sender(drop)) {
            ports[port / 8] |= (uint8_t)(1 << port % 8);
            any = true;
        }
    }
    if (!any)
        return 0;
    engine = engine_create(netlink_create(NULL));
    error = engine ? socket_index_read(&index, engine, &all, ports, &losses) : -ENOMEM;
    for (size_t i = 0; i < drop_probe_count(drops->probe) && !error; i++) {
        const struct drop *drop = drop_probe_at(drops->probe, i);
        const struct drop_record *seen = &drop->record.drop;
        const struct indexed_sockets *sender =
            drops_lacks_sender(drop) ? socket_index_find(&index, MATCH_CONNECTED, seen->protocol,
                                                         &seen->remote, &seen->local, 0)
                                     : NULL;
        if (sender)
            drops->fitting[i] = (struct fitting){
                .inode = sender->inode, .uid = sender->uid, .count = sender->count};
    }
    socket_index_finish(&index);
    engine_destroy(engine);
    return error == -ENOMEM ? error : 0;
}

/* Begins to count dropped packets, and to note who connects and sends. */
static void drops_start(struct drops *drops)
{
    const struct drops_options *options = drops->options;

    drops->probe = drop_probe_create(-1, false, &drops->refusal);
    if (options->noted && !options->merged && drops->probe)
        drops->connects = connects_create();
    if (drops->connects)
        (void)connects_begin(drops->connects, NOTE_CONNECTS | NOTE_SENDS,
                             options->all_netns ? 0 : drops->own_netns, NULL);
}

void drops_begin(void *maker)
{
    struct drops *drops = maker;

    drops->summary = (struct drops_summary){.harmless = 0};
    drops->own_netns = namespace_own_id();
    if (!drops->began) {
        drops->began = true;
        clock_catch_interrupt();
        drops_start(drops);
        drops->error = drop_counters_read(drops->counters, drops->probe);
        clock_wait_shown(clock_nanoseconds(CLOCK_MONOTONIC) +
                             drops->options->milliseconds * CLOCK_MILLISECOND,
                         drops->options->progress);
    }
    drops->last = clock_interrupted();
    if (!drops->error && drops->probe)
        drops->error = drops_take(drops);
    if (!drops->error && drops->connects)
        drops->error = drops_find_senders(drops);
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

static int drops_hand_on(const struct record *record, void *arg)
{
    struct drops *drops = arg;
    struct record row = *record;

    if (drops_complete(drops, &row))
        return drops->fn(&row, drops->arg);
    if (predicate_holds(drops->query->where, &row, NULL))
        drops->summary.harmless += row.drop.drops;
    return 0;
}

/* Adds packets to their row. Packets whose first packet the filter refuses are a row of their own,
 * which the engine refuses. */
static int drops_add(struct drops *drops, struct record *record, const struct socket_origin *origin)
{
    const uint64_t own = DROP_ADDRESSES | DROP_PORTS | DROP_SOCKET;

    return drops->options->merged || predicate_may_hold(drops->query->where, record, own)
               ? drop_rows_add(&drops->rows, record, origin)
               : drops_hand_on(record, drops);
}

static int drops_take_counter(struct record *record, void *drops)
{
    return drops_add(drops, record, &(struct socket_origin){.pid = 0});
}

/* Sets the process that connected the socket, or sent first on it. */
static void drops_find_origin(const struct drops *drops, const struct drop *drop,
                              struct record *record, struct socket_origin *origin)
{
    struct connect made;

    if (!drops->connects || !drop->cookie || !connects_find(drops->connects, drop->cookie, &made) ||
        !made.pid)
        return;
    origin->pid = (uint32_t)made.pid;
    memcpy(origin->name, made.name, sizeof origin->name);
    if (!(record->has & DROP_SOCKET))
        record->drop.uid = made.uid;
    record->has |= DROP_SOCKET;
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
        struct socket_origin origin = {.pid = 0};
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
        drops_find_origin(drops, drop, &record, &origin);
        result = drops_add(drops, &record, &origin);
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
    drop_rows_clear(&drops->rows);
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
        result = drop_counters_list(drops->counters, report, drops_take_counter, drops);
    return result < 0 ? result : drop_rows_each(&drops->rows, drops_hand_on, drops);
}
