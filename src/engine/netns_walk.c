/* SPDX-License-Identifier: MIT */
/* Visits the network namespaces of a listing, one after another. If rows wait until the last netns
 * was read, the lookups of each netns (struct netns_lookups) are kept until then. */
#include <errno.h>
#include <stdlib.h>

#include "engine/run.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/firewall.h"
#include "fastnet/interface_sets.h"
#include "fastnet/interfaces.h"
#include "fastnet/netlink.h"
#include "fastnet/owners.h"
#include "fastnet/peers.h"
#include "fastnet/rights.h"
#include "fastnet/socket_pass.h"

static void netns_lookups_finish(struct netns_lookups *lookups)
{
    interfaces_destroy(lookups->interfaces);
    peers_destroy(lookups->peers);
    interface_sets_destroy(lookups->interface_sets);
    firewall_destroy(lookups->firewall);
    *lookups = (struct netns_lookups){.interfaces = NULL};
}

bool run_reads_all_events(const struct run *run)
{
    return run->listing->all_netns && run->listing->events;
}

/* With events, each element has a copy of its network namespace. */
static void walk_finish_lookups(const struct run *run, struct netns_lookups *lookups)
{
    if (run_reads_all_events(run))
        free((void *)(uintptr_t)lookups->netns);
    netns_lookups_finish(lookups);
}

void engine_change_netns(struct engine *engine)
{
    netlink_close(engine->netlink);
    netns_lookups_finish(&engine->context.netns);
}

/* For a listing of a single network namespace: sets its name, if a field needs it. */
static void walk_name_own(struct run *run)
{
    struct engine *engine = run->engine;

    if (!(run->needs.lookups & NEED_MACHINE) || engine->context.netns.netns || run_is_captured(run))
        return;
    engine->own = namespace_own();
    if (engine->own.id)
        engine->context.netns.netns = &engine->own;
}

/* True if one pass over the sockets of all network namespaces reads a table faster than dumps. The
 * live store needs numbers of TCP that only dumps have. Without a filter the pass saves it few
 * dumps, and takes more time and memory. */
static bool does_pass_pay(const struct run *run)
{
    const struct listing *listing = run->listing;
    bool pays = false;

    for (size_t i = 0; i < listing->table_count && !pays && (listing->where || !listing->live); i++) {
        const struct listing_table *table = &listing->tables[i];
        pays = table->table && socket_pass_pays(table->table, table->where) &&
               (!listing->where || socket_pass_pays(table->table, listing->where));
    }
    return pays;
}

/* Gives the pass the number of sockets of each network namespace. Returns 0, or -errno if there is
 * no way back to the first network namespace. */
static int add_socket_counts(struct run *run)
{
    const struct netns *list = run->netns_walk.found.list;
    bool away = false;

    for (size_t i = 0; i < run->netns_walk.count; i++) {
        if (i && namespace_enter(list[i].fd) < 0)
            continue;
        away |= i > 0;
        (void)socket_pass_add_numbers(run->engine->pass, list[i].id, run->listing->proc_root);
    }
    return away ? namespace_enter(list->fd) : 0;
}

/* Reads the sockets of all network namespaces at once. After a refusal, dumps read them. Returns 0,
 * or -errno if the listing must stop. */
static int read_pass(struct run *run)
{
    enum { PASS_MIN = 8 }; /* from 8 dumps on the pass is always faster */
    struct engine *engine = run->engine;
    const struct listing *listing = run->listing;
    struct bpf_refusal refusal;
    int error;

    if (run->netns_walk.count == 1 || listing->exact || listing->backend != BACKEND_AUTO ||
        listing->owners == OWNERS_PROC || !does_pass_pay(run) ||
        (run->netns_walk.count < PASS_MIN && !run_owners_program(run)))
        return 0;
    if (!engine->pass && socket_pass_create(&engine->pass, false, &refusal) < 0) {
        report_detail(run->report, "cannot use BPF to read all namespaces at once: %s",
                      refusal.reason);
        return 0;
    }
    run->netns_walk.pass = NULL;
    if (socket_pass_begin(engine->pass) < 0)
        return 0;
    error = add_socket_counts(run);
    if (error == 0 && socket_pass_end(engine->pass) == 0)
        run->netns_walk.pass = engine->pass;
    return error;
}

static int walk_find_all(struct run *run)
{
    struct report unread = {.partial = false};
    struct report *report = run->listing->netns_implied ? &unread : run->report;
    const int error = namespaces_find(&run->netns_walk.found, report);

    run->report->netns_unread |= unread.partial;
    return error;
}

/* Interfaces and network namespaces can get other names at any time, so each run looks their names
 * up again. But not if an earlier run has moved this thread to listing.own_netns to look up names,
 * because that netns has other interfaces. */
int run_plan_walk(struct run *run)
{
    int error;

    run->netns_walk.count = 1;
    if (!run->listing->own_netns || !(run->needs.lookups & NEED_NAMES))
        netns_lookups_finish(&run->engine->context.netns);
    if (!run->listing->all_netns) {
        walk_name_own(run);
        return 0;
    }
    if (run_reads_all_events(run))
        return 0;
    error = walk_find_all(run);
    if (error)
        return error;
    run->netns_walk.count = run->netns_walk.found.count;
    error = read_pass(run);
    if (error)
        return error;
    run->section_count = LISTING_SECTIONS_MAX;
    run->sections = run->own_sections;
    if (run->listing->headings) {
        run->section_count *= run->netns_walk.count;
        run->sections = calloc(run->section_count, sizeof *run->sections);
    }
    run->netns_walk.lookup_count = run->netns_walk.count;
    if (run->keep_all)
        run->netns_walk.lookups = calloc(run->netns_walk.count, sizeof *run->netns_walk.lookups);
    return run->sections && (run->netns_walk.lookups || !run->keep_all) ? 0 : -ENOMEM;
}

void run_end_walk(struct run *run)
{
    for (size_t i = 0; i < run->netns_walk.lookup_count && run->netns_walk.lookups; i++)
        walk_finish_lookups(run, &run->netns_walk.lookups[i]);
    for (size_t i = 0; i < run->section_count && run->sections; i++)
        rows_clear(&run->sections[i]);
    if (run->sections != run->own_sections)
        free(run->sections);
    if (run->listing->all_netns)
        run->engine->context.netns = (struct netns_lookups){.interfaces = NULL};
    free(run->netns_walk.lookups);
    namespaces_finish(&run->netns_walk.found);
}

/* False if the filter compares the network namespace and refuses the current one. */
static bool walk_may_be_wanted(const struct run *run)
{
    const struct listing *listing = run->listing;
    const struct needs known = {.lookups = NEED_MACHINE};
    bool wanted = !listing->where;

    for (size_t i = 0; i < listing->table_count && !wanted; i++) {
        const struct table *table = listing->tables[i].table;
        const struct record record = {.kind = table ? table->kind : NULL};
        wanted =
            table && predicate_may_be_met(listing->where, &record, &run->engine->context, known);
    }
    return wanted;
}

/* Enters a network namespace. Closes netlink sockets, because they are of the former netns. */
static int walk_move_to(struct run *run, const struct netns *netns)
{
    const int error = namespace_enter(netns->fd);

    netlink_close(run->engine->netlink);
    if (error == -EPERM)
        run->netns_walk.refused++;
    else if (error)
        report_loss(run->report, "cannot enter network namespace %s%s%llu: %s", netns->name,
                    *netns->name ? ", " : "", (unsigned long long)netns->id, strerror(-error));
    return error;
}

/* Begins with a network namespace. Returns false if the filter refuses its rows, or if this program
 * cannot enter it. */
static bool walk_enter(struct run *run, size_t netns_index)
{
    struct engine *engine = run->engine;
    const struct netns *netns = &run->netns_walk.found.list[netns_index];

    engine->context.netns.netns = netns->id ? netns : NULL;
    const bool wanted = walk_may_be_wanted(run);
    run->netns_walk.wanted += wanted;
    if (!wanted || (netns_index && walk_move_to(run, netns) < 0)) {
        engine->context.netns.netns = NULL;
        return false;
    }
    run->netns_walk.current = netns_index;
    run->netns_walk.cookie = run->listing->delta ? namespace_own_cookie() : 0;
    if (run->listing->live)
        run->listing->live->enter_netns(run->listing->live->arg, run->netns_walk.cookie);
    run->limits.ended = false;
    for (size_t i = 0; i < run->section_count; i++)
        run->sections[i].netns_index = netns_index;
    return true;
}

bool run_enter(struct run *run, size_t netns_index)
{
    if (run_reads_all_events(run)) /* the backend enters them (run_netns_hooks) */
        return true;
    if (run->listing->all_netns && !walk_enter(run, netns_index))
        return false;
    run->limits.stopped = run_prepare_netns(run);
    if (run->limits.stopped && run->listing->all_netns)
        netns_lookups_finish(&run->engine->context.netns);
    return !run->limits.stopped;
}

void run_leave(struct run *run)
{
    struct netns_lookups *lookups = &run->engine->context.netns;

    if (run_reads_all_events(run))
        return;
    run_report_netns(run);
    if (!run->listing->all_netns)
        return;
    if (run->keep_all)
        run->netns_walk.lookups[run->netns_walk.current] = *lookups;
    else
        netns_lookups_finish(lookups);
    *lookups = (struct netns_lookups){.interfaces = NULL};
}

/* Usually all are refused: one message for all. */
static void walk_report_refused(struct run *run, struct report *report)
{
    if (run->netns_walk.refused)
        report_loss(report, "cannot enter %zu network namespace%s: %s", run->netns_walk.refused,
                    run->netns_walk.refused == 1 ? "" : "s",
                    rights_have(1u << RIGHT_NAMESPACES) ? REFUSED_IN_SPITE_OF("CAP_SYS_ADMIN")
                                                        : RIGHTS_MISSING("CAP_SYS_ADMIN"));
}

int run_return(struct run *run)
{
    if (run_reads_all_events(run))
        return run->limits.stopped;
    if (run->netns_walk.refused && run->listing->netns_implied)
        run->report->netns_unread = true;
    else
        walk_report_refused(run, run->report);
    if (run->listing->all_netns && !run->netns_walk.wanted &&
        !run->limits.stopped) /* the user may have mistyped a name */
        report_note(run->report, "the filter matches none of the %zu network namespaces",
                    run->netns_walk.count);
    if (run->netns_walk.count > 1 &&
        run->netns_walk.shared_ns > CLOCK_SECOND) /* a listing of listeners alone is fast */
        report_note(run->report,
                    "%zu network namespaces took %.1f s, because for each of them the kernel walks "
                    "all TCP sockets of the machine (listing only listeners is fast)",
                    run->netns_walk.count, (double)run->netns_walk.shared_ns / CLOCK_SECOND);
    const int error = run->netns_walk.current ? walk_move_to(run, run->netns_walk.found.list) : 0;
    return run->limits.stopped ? run->limits.stopped : error;
}

void run_use_netns(struct run *run, uint64_t netns_index)
{
    if (run->netns_walk.lookups)
        run->engine->context.netns = run->netns_walk.lookups[netns_index];
}

struct rows *run_rows(struct run *run, size_t netns_index, unsigned section)
{
    struct rows *rows =
        &run->sections[run->listing->headings ? netns_index * LISTING_SECTIONS_MAX + section
                                              : section];

    rows->unused = run->unused;
    return rows;
}

/* --- Events of all network namespaces --------------------------------------------------------- */

static struct run *walk_run_of(void *arg)
{
    return ((struct lane *)arg)->run;
}

/* Returns an index of netns_walk.lookups for this network namespace, or -ENOMEM. Rows that wait
 * keep their index, so it is used again only if no row waits. */
static int walk_add_lookups(struct run *run, const struct netns *netns)
{
    struct netns_walk *walk = &run->netns_walk;
    struct netns *copy = malloc(sizeof *copy);
    size_t i = run->keep_all ? walk->lookup_count : 0;

    while (i < walk->lookup_count && walk->lookups[i].netns)
        i++;
    if (!copy || (i == walk->lookup_count &&
                  !ARRAY_ADD(walk->lookups, walk->lookup_count, walk->lookup_capacity))) {
        free(copy);
        return -ENOMEM;
    }
    *copy = *netns;
    walk->lookups[i] = (struct netns_lookups){.netns = copy};
    return (int)i;
}

static void walk_forget(void *arg, int index)
{
    struct run *run = walk_run_of(arg);

    run->engine->context.netns = (struct netns_lookups){.netns = NULL};
    if (run->keep_all)
        return;
    walk_finish_lookups(run, &run->netns_walk.lookups[index]);
}

static int walk_enter_for_events(void *arg, const struct netns *netns, bool own)
{
    struct run *run = walk_run_of(arg);
    struct netns_lookups *lookups = &run->engine->context.netns;
    const int index = walk_add_lookups(run, netns);
    int error;

    if (index < 0)
        return index;
    *lookups = run->netns_walk.lookups[index];
    const bool wanted = walk_may_be_wanted(run);
    run->netns_walk.wanted += wanted;
    error = !wanted ? -ENOENT : own ? 0 : walk_move_to(run, netns);
    run->netns_walk.moved |= !error && !own;
    if (!error)
        error = run_prepare_netns(run);
    run->netns_walk.lookups[index] = *lookups;
    if (error)
        walk_forget(arg, index);
    return error ? error : index;
}

static int walk_leave_for_events(void *arg, const struct netns *own, struct report *report)
{
    struct run *run = walk_run_of(arg);
    const int error = run->netns_walk.moved ? walk_move_to(run, own) : 0;

    walk_report_refused(run, report);
    if (!run->netns_walk.wanted)
        report_note(report, "the filter matches none of the network namespaces");
    run->netns_walk.refused = 0;
    run->netns_walk.moved = false;
    return error;
}

static const struct netns *walk_use_for_events(void *arg, int index)
{
    struct run *run = walk_run_of(arg);

    run->netns_walk.heading_due =
        run->listing->headings && (run->netns_walk.heading_due || run->netns_walk.used != index);
    run->netns_walk.used = index;
    run_use_netns(run, (uint64_t)index);
    for (size_t i = 0; i < run->section_count; i++)
        run->sections[i].netns_index = (uint64_t)index;
    return run->engine->context.netns.netns;
}

static void walk_rename(void *arg, int index, const struct netns *netns)
{
    *(struct netns *)(uintptr_t)walk_run_of(arg)->netns_walk.lookups[index].netns = *netns;
}

const struct netns_hooks run_netns_hooks = {
    .enter = walk_enter_for_events,
    .leave = walk_leave_for_events,
    .use = walk_use_for_events,
    .rename = walk_rename,
    .forget = walk_forget,
};
