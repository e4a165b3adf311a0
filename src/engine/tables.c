/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "engine/run.h"
#include "fastnet/cgroups.h"
#include "fastnet/clock.h"
#include "fastnet/connects.h"
#include "fastnet/owners.h"
#include "fastnet/rights.h"
#include "fastnet/senders.h"
#include "fastnet/socket_pass.h"

/* The backend of this source that can read the table; NULL: no backend can. */
static const struct backend *backend_of(enum backend_choice source, const struct table *table)
{
    for (size_t i = 0; i < backend_count; i++)
        if (backends[i]->source == source && backend_fields(backends[i], table))
            return backends[i];
    return NULL;
}

/* True if a saved file (TCPDIAG_FILE) is read in place of this table. */
static bool is_saved(const struct run *run, const struct table *table)
{
    return run->listing->diag_file && backend_of(BACKEND_FILE, table);
}

static bool may_choose(const struct run *run, const struct table *table,
                       const struct backend *backend)
{
    const enum backend_choice choice = run->listing->backend;

    if (!backend_fields(backend, table))
        return false;
    if (backend->source == BACKEND_MADE)
        return true;
    if (backend->source == BACKEND_FILE || is_saved(run, table))
        return backend->source == BACKEND_FILE && run->listing->diag_file;
    return backend->source != BACKEND_PASS && (!choice || choice == backend->source);
}

/* True if, of the needed fields, this backend has all fields of the other backend, and more. */
static bool has_all_and_more(const struct backend *backend, const struct backend *other,
                             const struct table *table, uint64_t needs)
{
    const uint64_t here = needs & backend_fields(backend, table);
    const uint64_t there = needs & backend_fields(other, table);

    return !(there & ~here) && here & ~there;
}

/* Chooses the backends for a table, in order. The second backend goes first if it has all needed
 * fields that the first backend has, and more: a column that needs another backend must not make
 * the values of other columns unknown. */
static struct answers choose_backends(const struct run *run, const struct table *table)
{
    struct answers chosen = {.count = 0};

    for (size_t i = 0; i < backend_count && chosen.count < EXPLAINED_BACKENDS_MAX; i++)
        if (may_choose(run, table, backends[i]))
            chosen.asked[chosen.count++] = backends[i];
    if (chosen.count > 1 &&
        has_all_and_more(chosen.asked[1], chosen.asked[0], table, run->needs.fields)) {
        const struct backend *first = chosen.asked[1];
        chosen.asked[1] = chosen.asked[0];
        chosen.asked[0] = first;
    }
    return chosen;
}

bool run_lacks_groups(const struct run *run, const struct table *table)
{
    const struct answers chosen = choose_backends(run, table);

    return chosen.count && !(backend_fields(chosen.asked[0], table) & table->kind->cgroup);
}

/* True for a saved file and for files of a captured tree: they do not change. */
static bool cannot_change(const struct run *run, const struct table *table)
{
    return is_saved(run, table) || (run_is_captured(run) && run->listing->backend == BACKEND_PROC);
}

/* True if a second pass can find rows that the first pass missed. */
static bool is_read_twice(const struct run *run, const struct table *table)
{
    return run->listing->exact && table->kind->identified && !table->endless && !table->single &&
           !cannot_change(run, table);
}

/* True if a repeated row is found in the whole table, not only within a window: then the table can
 * be read again if the kernel resizes it during the dump. A table that repeats rows only because of
 * a resize is searched in this way only if the listing keeps or counts all rows anyway. */
static bool is_repeatable(const struct run *run, const struct table *table)
{
    return table->repeats || is_read_twice(run, table) ||
           (table->resizes && (run->keep_all || run->groups));
}

/* For streams of events: shows all rows so far and reports losses. */
static int pause_listing(void *arg)
{
    struct lane *lane = arg;
    struct run *run = lane->run;
    const struct listing *listing = run->listing;
    struct sink *sink = run->sink;
    int error = 0;

    if (!run->keep_all && !run->groups) {
        if (sink->ops->pause)
            sink->ops->pause(sink);
        error = writer_flush(sink->writer);
        lane->stopped = error;
    }
    senders_forget(run->engine->context.senders);
    if (listing->pause)
        listing->pause(listing->pause_arg, run->report);
    return error;
}

static void tables_search_owners(void *arg)
{
    const struct lane *lane = arg;

    run_search_new_owners(lane->run);
}

/* The query for a backend. both: room for its predicate. */
static struct query query_for(struct run *run, const struct listing_table *table,
                              struct predicate_tree *both)
{
    const struct listing *listing = run->listing;
    struct cgroups *cgroups = run->engine->context.cgroups;

    *both = (struct predicate_tree){.count = 0};
    if (listing->where && !listing->refused && !listing->ages)
        predicate_tree_add(both, &both->whole, *listing->where);
    if (table->where && !listing->ages)
        predicate_tree_add(both, &both->whole, *table->where);
    return (struct query){
        .table = table->table,
        .needs = run->needs.fields,
        /* without BPF, each row must come, or its socket would be asked for as unlisted */
        .where = run->unlisted.wanted && !run->unlisted.by_bpf ? NULL : predicate_of(both),
        .held = run->unlisted.query,
        /* without the groups of sockets, compare only the groups of owners */
        .cgroups = cgroups && cgroups_identify(cgroups_summary(cgroups)) && !run->owners.stand_ins
                       ? cgroups
                       : NULL,
        .key = listing->key,
        .maker = listing->maker,
        .pass = run->netns_walk.pass,
        .netns = run->netns_walk.found.count
                     ? run->netns_walk.found.list[run->netns_walk.current].id
                 : run->unlisted.query ? namespace_own_id()
                                       : 0,
        .proc_root = listing->proc_root,
        .diag_file = listing->diag_file,
        .maps = listing->maps,
        .map_count = listing->map_count,
        .netlink = listing->backend == BACKEND_PROC ? NULL : run->engine->netlink,
        .report = run->report,
        .exclusive = listing->backend != BACKEND_AUTO,
        .repeatable = is_repeatable(run, table->table),
    };
}

/* Asks one backend for a table. Its rows go into the lane. */
static int tables_ask(const struct listing_table *table, const struct backend *backend,
                      struct lane *lane, struct lane_pass *pass)
{
    struct run *run = lane->run;
    const struct listing *listing = run->listing;
    struct predicate_tree both;
    struct query query = query_for(run, table, &both);
    struct query_events events;
    const uint64_t began = clock_nanoseconds(CLOCK_MONOTONIC);
    int result;

    if (listing->events) {
        events = *listing->events;
        events.idle = pause_listing;
        events.appeared = (run->needs.lookups & NEED_OWNERS) ? tables_search_owners : NULL;
        events.idle_arg = lane;
        events.netns = run_reads_all_events(run) ? &run_netns_hooks : NULL;
        query.events = &events;
        /* the kernel numbers processes as /proc does, but listing.processes may use other
         * numbers */
        if (!run->engine->connects && listing->owners != OWNERS_PROC && !listing->processes)
            run->engine->connects = connects_create();
        query.connects = run->engine->connects;
    }
    if (run_is_captured(run))
        rights_raise(RIGHT_READ);
    result = backend->dump(&query, lane_take, lane);
    if (run_is_captured(run))
        rights_lower();
    if (result == 0 && table->table->shared && backend->source == BACKEND_NETLINK)
        run->netns_walk.shared_ns += clock_nanoseconds(CLOCK_MONOTONIC) - began;
    *pass = lane_end_pass(lane);
    run->found |= result == 0 || pass->rows;
    return result;
}

/* If the kernel resumes a dump by counting rows, two passes can miss the same row. If two
 * consecutive passes find the same rows, nothing moved. At most PASSES_MAX passes are made.
 *
 * The kernel resumes other dumps at a bucket, and counts rows only within a bucket. A read of a
 * file stops inside of a bucket every 4 KiB, a netlink dump every 32 KiB. While many connections
 * come and go, one pass over the file misses a row in half of the listings (check-churn), and
 * sometimes two passes missed the same row. */
enum { PASSES_MAX = 8, PASSES_OF_FILE = 3, PASSES_OF_NETLINK = 2 };

/* --exact: reads the table again to find rows that the first pass missed. */
static void read_again(const struct listing_table *table, const struct backend *backend,
                       struct lane *lane, struct lane_pass before)
{
    struct run *run = lane->run;
    const bool until_same = backend_counts_rows(backend, table->table);
    const int enough = backend->source == BACKEND_PROC ? PASSES_OF_FILE : PASSES_OF_NETLINK;
    bool done = false;
    int result = 0;

    run->second_pass = true;
    for (int passes = 2; passes <= PASSES_MAX && !done && result == 0; passes++) {
        struct lane_pass pass;
        result = tables_ask(table, backend, lane, &pass);
        done = until_same ? pass.rows == before.rows && pass.digest == before.digest
                          : passes == enough;
        before = pass;
    }
    run->second_pass = false;
    if (run->limits.stopped)
        return;
    if (result < 0)
        report_loss(run->report, "%s: cannot read a second time by %s: %s", table->table->name,
                    backend->name, strerror(-result));
    else if (!done)
        report_loss(
            run->report,
            "%s: rows may be missing: --exact read the table %d times by %s, and it was different "
            "each time",
            table->table->name, PASSES_MAX, backend->name);
    if (before.unidentified)
        report_loss(
            run->report,
            "%s: rows may be missing: --exact cannot distinguish %zu row%s with equal values",
            table->table->name, before.unidentified, before.unidentified == 1 ? "" : "s");
}

/* --exact: after a successful first pass, reads the table again, or reports why that is useless. */
static void make_exact(const struct listing_table *table, const struct backend *backend,
                       struct lane *lane, struct lane_pass pass)
{
    struct run *run = lane->run;

    if (is_read_twice(run, table->table))
        read_again(table, backend, lane, pass);
    else if (run->listing->exact && cannot_change(run, table->table))
        report_note(
            run->report, "--exact has no effect on %s: rows that the capture missed stay missing",
            is_saved(run, table->table) ? run->listing->diag_file : run->listing->proc_root);
    else if (run->listing->exact && table->table->unidentified)
        report_loss(
            run->report,
            "%s: rows may be missing: --exact has no effect, because these rows have no unique key",
            table->table->name);
}

static void start_lane(struct lane *lane, struct run *run, const struct listing_table *table,
                       const struct backend *backend)
{
    const bool all = is_repeatable(run, table->table);

    seen_start(run->engine->seen, all);
    lane_init(lane, run, run_rows(run, run->netns_walk.current, run_section(run, table)));
    lane->where = table->where;
    lane->unavailable = run_unavailable(table->table, backend, run->listing->where);
    lane->at_once = table->table->endless;
    lane->recurs = table->table->recurs;
    if (table->table->is_second)
        lane_keep_order(lane, table->table->is_second, all);
}

/* Reads a table by backend i. Returns false if the backend failed before the first row, so that
 * another backend can be asked. */
static bool read_by(struct run *run, const struct listing_table *table, struct answers *answers,
                    size_t i)
{
    const struct backend *backend = answers->asked[i];
    int *error = &answers->errors[i];
    struct lane lane;
    struct lane_pass pass;

    if (run->needs.lookups & NEED_OWNERS_CGROUPS && !run->owners.stand_ins &&
        !(backend_fields(backend, table->table) & table->table->kind->cgroup)) {
        run->owners.stand_ins = true;
        run_need_owners(run);
        run->owners.unsearched = true; /* waiting rows have the owners of the search before */
    }
    start_lane(&lane, run, table, backend);
    *error = tables_ask(table, backend, &lane, &pass);
    answers->wanted = pass.wanted;
    if (!run->limits.stopped && *error == 0)
        make_exact(table, backend, &lane, pass);
    lane_finish(&lane);
    if (run->limits.stopped)
        return true;
    if (*error < 0 && !pass.rows)
        return false;
    if (pass.lost)
        run_report_unavailable(run, table->table, backend, run->listing->where, lane.unavailable);
    if (*error < 0)
        report_loss(run->report, "%s: %s failed after %zu row%s: %s", table->table->name,
                    backend->name, pass.rows, pass.rows == 1 ? "" : "s", strerror(-*error));
    return true;
}

/* True if the rows came from the pass over all network namespaces. The pass must have all sockets
 * and all needed fields that any backend has, unless it shows that no row is wanted. */
static bool run_pass(struct run *run, const struct listing_table *table)
{
    const struct backend *pass = backend_of(BACKEND_PASS, table->table);
    struct answers only = {.asked = {pass}, .count = 1};
    struct predicate_tree both;
    struct query query;

    if (!run->netns_walk.pass || !pass || is_saved(run, table->table))
        return false;
    if (!(run->needs.fields & backends_fields(table->table) & ~backend_fields(pass, table->table)))
        return read_by(run, table, &only, 0);
    query = query_for(run, table, &both);
    if (!socket_pass_has_none(&query))
        return false;
    run->found = true;
    return true;
}

/* Reads a table by the first backend that can: answers->asked[*by]. Returns false if all backends
 * failed before the first row. */
static bool tables_read_table(struct run *run, const struct listing_table *table,
                              struct answers *answers, size_t *by)
{
    *answers = choose_backends(run, table->table);
    *by = 0;
    if (run_pass(run, table))
        return true;
    while (*by < answers->count && !read_by(run, table, answers, *by))
        ++*by;
    return *by < answers->count;
}

void run_table(struct run *run, const struct listing_table *table)
{
    struct answers answers;
    size_t by;

    if (!table->table) {
        run_report_missing(run, table, NULL);
    } else if (tables_read_table(run, table, &answers, &by)) {
        if (!run->limits.stopped)
            run_report_fallback(run, table, &answers, by, answers.asked[by]);
    } else {
        if (by)
            run_report_fallback(run, table, &answers, by - 1, NULL);
        run_report_unread(run, table, &answers);
    }
}

/* True if the listing needs only the number of rows with each value. */
static bool may_be_counted(const struct run *run, const struct table *table)
{
    const struct listing *listing = run->listing;
    const uint64_t known = table->counted ? backends_fields(table->counted) : 0;

    if (!run->groups || listing->where || listing->sum_count || listing->aggregate_count ||
        listing->exact || listing->delta || run->unlisted.wanted || is_saved(run, table))
        return false;
    for (size_t i = 0; i < listing->count_by_count; i++) {
        const uint64_t fields = listing->count_by[i]->fields; /* 0: no backend fills it */
        if (!fields || fields & ~known)
            return false;
    }
    return true;
}

/* Tables that contain the rows of tables i and i + 1; the cheapest table is first. */
enum { JOINT_MAX = 2 };
struct joint_tables {
    struct listing_table tables[JOINT_MAX];
    size_t count;
};

/* Returns the tables from which both tables can be read, if the order of their rows is kept or does
 * not matter. Not from a saved file: it may be a pipe, which can be read only once. */
static struct joint_tables joint_tables(const struct run *run, size_t i)
{
    const struct listing *listing = run->listing;
    const struct listing_table *table = &listing->tables[i];
    struct joint_tables both = {.count = 0};

    if (i + 1 == listing->table_count || !table->table || !table->table->joint ||
        table[1].table != table->table->partner || table[1].where != table->where)
        return both;
    if (!lane_can_keep_order(run) && !listing->sort->field && !run->groups && !listing->live &&
        !is_saved(run, table->table))
        return both;
    if (may_be_counted(run, table->table->joint))
        both.tables[both.count++].table = table->table->joint->counted;
    both.tables[both.count++].table = table->table->joint;
    for (size_t j = 0; j < both.count; j++) {
        both.tables[j].section = table->section;
        both.tables[j].where = table->where;
    }
    return both;
}

size_t run_tables(struct run *run, size_t i)
{
    const struct joint_tables both = joint_tables(run, i);
    struct answers answers;
    size_t by;

    if (run->listing->unlisted == UNLISTED_ONLY && !run->unlisted.wanted &&
        i + 1 < run->listing->table_count)
        return 1; /* nothing of this table is shown */
    for (size_t j = 0; j < both.count; j++)
        if (tables_read_table(run, &both.tables[j], &answers, &by))
            return 2;
    if (run->listing->tables[i].table == &table_unlisted)
        run_list_unlisted(run, &run->listing->tables[i]);
    else
        run_table(run, &run->listing->tables[i]);
    return 1;
}

/* Adds the backends that may be asked, each once. */
static void add_backends(struct explained *explained, const struct answers *answers)
{
    for (size_t i = 0; i < answers->count; i++) {
        bool known = false;
        for (size_t j = 0; j < explained->backend_count; j++)
            known |= explained->backends[j] == answers->asked[i];
        if (!known && explained->backend_count < EXPLAINED_BACKENDS_MAX)
            explained->backends[explained->backend_count++] = answers->asked[i];
    }
}

size_t run_explain(struct run *run, size_t i, struct explained *explained)
{
    const struct listing_table *table = &run->listing->tables[i];
    const struct joint_tables both = joint_tables(run, i);
    struct listing_table read = *table;
    struct predicate_tree where;
    size_t count = 1;

    *explained = (struct explained){.table = table};
    for (size_t j = 0; j < both.count; j++) {
        const struct answers answers = choose_backends(run, both.tables[j].table);
        if (answers.count && count == 1)
            read = both.tables[j];
        count = answers.count ? 2 : count;
        add_backends(explained, &answers);
    }
    if (table->table) {
        const struct answers answers = choose_backends(run, table->table);
        add_backends(explained, &answers);
    }
    explained->read = read.table;
    if (read.table && explained->backend_count && explained->backends[0]->explain) {
        const struct query query = query_for(run, &read, &where);
        explained->backends[0]->explain(&query, &explained->kernel);
    }
    return count;
}
