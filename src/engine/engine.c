/* SPDX-License-Identifier: MIT */
#include "fastnet/engine.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/delta.h"
#include "engine/run.h"
#include "fastnet/byte_counts.h"
#include "fastnet/cgroups.h"
#include "fastnet/connects.h"
#include "fastnet/firewall.h"
#include "fastnet/held_sockets.h"
#include "fastnet/hosts.h"
#include "fastnet/interface_sets.h"
#include "fastnet/interfaces.h"
#include "fastnet/kernel_sockets.h"
#include "fastnet/labels.h"
#include "fastnet/netlink.h"
#include "fastnet/networks.h"
#include "fastnet/owners.h"
#include "fastnet/peers.h"
#include "fastnet/profiles.h"
#include "fastnet/rights.h"
#include "fastnet/rpc_programs.h"
#include "fastnet/senders.h"
#include "fastnet/services.h"
#include "fastnet/socket_pass.h"
#include "fastnet/users.h"

struct engine *engine_create(struct netlink *netlink)
{
    struct engine *engine = calloc(1, sizeof *engine);

    if (!engine) {
        netlink_destroy(netlink);
        return NULL;
    }
    engine->netlink = netlink;
    engine->seen = seen_create();
    if (!engine->netlink || !engine->seen) {
        engine_destroy(engine);
        return NULL;
    }
    return engine;
}

void engine_destroy(struct engine *engine)
{
    if (!engine)
        return;
    netlink_destroy(engine->netlink);
    seen_destroy(engine->seen);
    owners_destroy(engine->context.owners);
    profiles_destroy(engine->context.profiles);
    owners_program_destroy(engine->owners_program);
    kernel_sockets_destroy(engine->kernel_sockets);
    connects_destroy(engine->connects);
    socket_pass_destroy(engine->pass);
    held_sockets_destroy(engine->held);
    seen_destroy(engine->noted);
    users_destroy(engine->context.users);
    services_destroy(engine->context.services);
    rpc_programs_destroy(engine->context.rpc_programs);
    hosts_destroy(engine->context.hosts);
    interfaces_destroy(engine->context.netns.interfaces);
    labels_destroy(engine->context.labels);
    senders_destroy(engine->context.senders);
    networks_destroy(engine->context.networks);
    cgroups_destroy(engine->context.cgroups);
    peers_destroy(engine->context.netns.peers);
    interface_sets_destroy(engine->context.netns.interface_sets);
    firewall_destroy(engine->context.netns.firewall);
    delta_destroy(engine->delta);
    delta_destroy(engine->ages);
    free(engine);
}

void engine_use_ascii(struct engine *engine)
{
    engine->context.ascii = true;
}

const struct context *engine_context(const struct engine *engine)
{
    return &engine->context;
}

/* Prepares --delta. The first run shows nothing, because it has nothing to compare with. */
static int prepare_delta(struct run *run)
{
    struct engine *engine = run->engine;

    if (!run->listing->delta)
        return 0;
    run->silent = !engine->delta;
    if (!engine->delta)
        engine->delta = delta_create(run->needs);
    if (!engine->delta)
        return -ENOMEM;
    delta_start(engine->delta);
    return 0;
}

static int prepare_ages(struct run *run)
{
    struct engine *engine = run->engine;

    if (!run->listing->ages)
        return 0;
    if (!engine->ages)
        engine->ages = delta_create_for(NULL, 0, sizeof(struct first_seen));
    if (!engine->ages)
        return -ENOMEM;
    engine->ages->forgets = true;
    delta_start(engine->ages);
    return 0;
}

void engine_read_counts(const struct listing *listing, struct report *report)
{
    const int status = listing->byte_counts ? byte_counts_read(listing->byte_counts) : 0;

    if (status < 0)
        report_note(report, "cannot read the byte counts of UDP and unix sockets: %s",
                    strerror(-status));
}

static void begin_section(struct run *run, unsigned section)
{
    if (!run->sink->ops->section || run->groups || run->silent)
        return;
    run_put_heading(run);
    run->sink->ops->section(run->sink, section);
}

/* Passes the kept rows of a section to the sink. */
static int emit_kept(struct run *run, struct rows *rows)
{
    int error = run->groups
                    ? 0
                    : rows_sort(rows, run->listing, &run->engine->context, run->netns_walk.lookups);
    struct kept_row row;

    for (size_t i = 0; i < rows->count && !error; i++) {
        const struct record *record = rows_at(rows, i, &row);
        run_use_netns(run, record->netns_index);
        const bool ownerless = run_is_ownerless(run, record);
        run->owners.unowned |= ownerless;
        if (!run_wants(run, record))
            continue;
        run->owners.unowned_rows += ownerless;
        error = run_emit(run, run->sink, record);
    }
    rows_clear(rows);
    return error;
}

int run_emit_groups(struct run *run)
{
    if (run->listing->number <= 1)
        groups_report(run->groups, run->report);
    return groups_emit(run->groups, run->sink, run->report);
}

/* True if table i is the first table of its section. */
static bool starts_section(const struct run *run, size_t i)
{
    const struct listing_table *table = &run->listing->tables[i];

    return i == 0 || run_section(run, &table[-1]) != run_section(run, table);
}

/* Finds the owners of rows that waited (`count` lists): makes the deferred search, then a second
 * search if a socket has no owner, then a search for sockets of the kernel. Returns 0, or -errno if
 * the listing must stop. */
static int engine_find_owners(struct run *run, struct rows *rows, size_t count)
{
    bool ownerless = false;

    if (!run->owners.unsearched && !(run->needs.lookups & NEED_PEERS))
        return 0;
    for (size_t i = 0; i < count; i++) {
        run_walk_for(run, &rows[i]);
        ownerless |= run_read_owners(run, &rows[i]);
    }
    if (!ownerless || run->owners.reuse)
        return 0;
    if (run->listing->live)
        run_search_new_owners(run);
    else
        run_search_unowned_again(run);
    ownerless = false;
    for (size_t i = 0; i < count; i++)
        ownerless |= run_read_owners(run, &rows[i]);
    return ownerless ? run_find_kernel_sockets(run, rows, count) : 0;
}

int run_hand_on(struct run *run, struct rows *rows)
{
    const int error = engine_find_owners(run, rows, 1);

    run->owners.unsearched = false;
    return error ? error : emit_kept(run, rows);
}

static void stream_tables(struct run *run)
{
    const struct listing *listing = run->listing;

    for (size_t i = 0;
         i < listing->table_count && !run->limits.stopped &&
         (!run->limits.ended || listing->tables[i].if_missing == MISSING_IS_PAIRED);) {
        unsigned section = run_section(run, &listing->tables[i]);
        struct rows *kept = run_rows(run, run->netns_walk.current, section);
        if (starts_section(run, i))
            begin_section(run, section);
        i += run_tables(run, i);
        const bool ends = run->limits.ended || i == listing->table_count || starts_section(run, i);
        if (!run->limits.stopped && ends && kept->count)
            run->limits.stopped = run_hand_on(run, kept);
    }
}

/* Passes rows to the sink as they come. Rows that waited follow at the end of their section. */
static int engine_stream(struct run *run)
{
    for (size_t netns_index = 0; netns_index < run->netns_walk.count && !run->limits.stopped;
         netns_index++) {
        if (!run_enter(run, netns_index))
            continue;
        run->netns_walk.heading_due = run->listing->headings;
        stream_tables(run);
        run_leave(run);
    }
    return run_return(run);
}

/* Reads all tables of all network namespaces. Returns the number of tables read in each. */
static size_t gather_rows(struct run *run)
{
    size_t listed = 0;

    for (size_t netns_index = 0; netns_index < run->netns_walk.count && !run->limits.stopped;
         netns_index++) {
        size_t i = 0;
        if (!run_enter(run, netns_index))
            continue;
        while (i < run->listing->table_count && !run->limits.stopped && !run->limits.ended)
            i += run_tables(run, i);
        run_leave(run);
        if (i > listed)
            listed = i;
    }
    return listed;
}

int run_emit_gathered(struct run *run, size_t netns_index, size_t listed)
{
    int error = 0;

    for (size_t i = 0; i < listed && !error; i++) {
        const unsigned section = run_section(run, &run->listing->tables[i]);
        if (!starts_section(run, i))
            continue;
        begin_section(run, section);
        error = emit_kept(run, run_rows(run, netns_index, section));
    }
    return error;
}

/* Gathers all rows first. Then looks up names, sorts, and passes the rows to the sink. */
static int engine_gather_rows(struct run *run)
{
    const size_t listed = gather_rows(run),
                 times = run->listing->headings ? run->netns_walk.count : 1;
    int error = run_return(run);

    if (error)
        return error;
    error = engine_find_owners(run, run->sections, run->section_count);
    for (size_t i = 0; i < run->section_count && !error; i++)
        run_read_profiles(run, &run->sections[i]);
    if (!error)
        error = run_prepare_names(run);
    for (size_t netns_index = 0; netns_index < times && !error; netns_index++) {
        run_use_netns(run, netns_index);
        if (times > 1 && !run->engine->context.netns.netns)
            continue; /* the netns was not entered */
        run->netns_walk.heading_due = run->listing->headings;
        error = run_emit_gathered(run, netns_index, listed);
    }
    return error;
}

/* For a captured tree: reports missing files, because nobody knows which tables its kernel had. */
static void report_nothing_found(struct run *run)
{
    const struct listing *listing = run->listing;
    const struct table *only = listing->table_count == 1 ? listing->tables->table : NULL;
    char names[REPORT_LENGTH / 2] = "";

    for (size_t i = 0; i < listing->table_count; i++)
        if (listing->tables[i].table && listing->tables[i].table->file)
            (void)text_list(names, sizeof names, ", ", as_text(listing->tables[i].table->file));
    if (only && only->file)
        report_loss(run->report, "%s/net/%s is missing", listing->proc_root, only->file);
    else if (*names)
        report_loss(run->report, "%s/net has none of these files: %s", listing->proc_root, names);
    else
        report_loss(run->report, "%s has no file for %s", listing->proc_root,
                    only ? only->name : "this");
}

/* True if all rows must be kept until the end. Names are looked up without rights, so everything
 * that needs rights is read before that. */
static bool must_keep_all(const struct run *run)
{
    const struct listing *listing = run->listing;
    const uint64_t lookups = run->needs.lookups;
    const bool late = engine_gives_up_rights(listing, lookups);
    bool privileged = false; /* the kernel gives some needed fields only to a privileged process */

    for (size_t i = 0; i < listing->table_count; i++)
        privileged |=
            listing->tables[i].table && listing->tables[i].table->privileged & run->needs.fields;
    return listing->sort->field || listing->compare || (lookups & NEED_HOSTS) ||
           ((lookups & (NEED_OWNERS | NEED_OWNERS_CGROUPS)) && (late || run->groups) &&
            !listing->events) ||
           (late && (run->unlisted.wanted || listing->own_netns || listing->all_netns ||
                     run_is_captured(run) || (privileged && rights_any())));
}

static int carry_out(struct run *run)
{
    int result = run_plan_walk(run);

    if (result)
        return result;
    if (run->sockets)
        result = run->sockets->read(run->sockets->arg, run->listing, run->report);
    if (result)
        return result;
    if (run->needs.lookups & NEED_OWNERS)
        run_need_owners(run);
    result = run_prepare_numbers(run);
    if (!result && !run->keep_all)
        result = run_prepare_names(run);
    engine_read_counts(run->listing, run->report); /* last, so that counts are recent */
    if (!run->silent)
        sink_begin(run->sink);
    if (!result)
        result = run->keep_all ? engine_gather_rows(run) : engine_stream(run);
    if (!result && run->groups && !run->silent)
        result = run_emit_groups(run);
    if (!run->silent)
        sink_end(run->sink);
    run_report_failures(run);
    run->report->found |= run->found;
    if (run_is_captured(run) && run->listing->table_count && !run->found && !run->report->partial)
        report_nothing_found(run);
    run_report_owners(run);
    run_report_profiles(run);
    run_report_lookups(run);
    run_report_lacking(run);
    return result;
}

/* True if ids are not enough to identify control groups: containers use version 1, or the groups of
 * other processes may be outside of this cgroup namespace. */
static bool are_ids_too_few(const struct run *run)
{
    struct cgroups *cgroups = run->engine->context.cgroups;

    if (!cgroups_identify(cgroups_summary(cgroups)))
        return true;
    if (run->listing->processes)
        cgroups_set_mixed(cgroups);
    return run->listing->processes || cgroups_find_mixed(cgroups);
}

/* Decides whether the groups of owners replace the groups of sockets, because a backend or this
 * machine does not report the groups of sockets. Then owners are searched for, too. */
static void need_stand_ins(struct run *run)
{
    const struct listing *listing = run->listing;

    if (!(run->needs.lookups & NEED_OWNERS_CGROUPS))
        return;
    run->owners.stand_ins = are_ids_too_few(run);
    for (size_t i = 0; i < listing->table_count; i++)
        if (listing->tables[i].table && run_lacks_groups(run, listing->tables[i].table))
            run->owners.stand_ins = true;
    if (run->owners.stand_ins)
        run->needs.lookups |= NEED_OWNERS;
}

/* Returns 0 or -ENOMEM. Call engine_finish() in both cases. */
static int engine_prepare_run(struct run *run)
{
    const struct listing *listing = run->listing;

    run->needs = listing->needs;
    needs_add(&run->needs, predicate_needs(listing->where));
    for (size_t i = 0; i < listing->table_count; i++)
        needs_add(&run->needs, predicate_needs(listing->tables[i].where));
    const struct predicate *only =
        predicate_requires(listing->where, offsetof(struct record, identity), PREDICATE_EQUAL);
    run->limits.identity = only ? only->constant.number : 0;
    if (run_read_cgroups(run) < 0 || run_prepare_unlisted(run) < 0)
        return -ENOMEM;
    need_stand_ins(run);
    if (listing->sockets && run->needs.fields & listing->sockets->fields)
        run->sockets = listing->sockets;
    run_prepare_profiles(run);
    run->unused = run->needs.parts ? ~run->needs.parts : 0;
    if (listing_counts(listing))
        run->groups = groups_create(listing);
    run->keep_all = must_keep_all(run);
    return listing_counts(listing) && !run->groups ? -ENOMEM : 0;
}

static void engine_finish(struct run *run)
{
    run_end_walk(run);
    groups_destroy(run->groups);
}

/* Lists saved rows. No lookup of another listing may be used for them. */
static int engine_list_saved(struct run *run)
{
    struct context *context = &run->engine->context;
    const struct context lookups = *context;
    int result = 0;

    *context = (struct context){.ascii = lookups.ascii};
    if (run->listing->count_by_count)
        run->groups = groups_create(run->listing);
    result = run->listing->count_by_count && !run->groups ? -ENOMEM : run_saved(run);
    *context = lookups;
    engine_finish(run);
    return result;
}

int engine_run(struct engine *engine, const struct listing *listing, struct sink *sink,
               struct report *report)
{
    struct run run = {.engine = engine,
                      .listing = listing,
                      .sink = sink,
                      .report = report,
                      .sections = run.own_sections,
                      .section_count = LISTING_SECTIONS_MAX};
    int result = listing->saved ? 0 : engine_prepare_run(&run);

    if (listing->saved)
        return engine_list_saved(&run);
    engine->context.time = listing->time;
    engine->context.number = listing->number;
    if (result == 0)
        result = prepare_delta(&run);
    if (result == 0)
        result = prepare_ages(&run);
    if (result == 0)
        result = carry_out(&run);
    engine_finish(&run);
    return result;
}

int engine_explain(struct engine *engine, const struct listing *listing, struct sink *sink,
                   explain_fn fn, void *arg)
{
    struct run run = {.engine = engine, .listing = listing, .sink = sink};
    int result = listing->saved ? 0 : engine_prepare_run(&run);
    struct explained explained;

    for (size_t i = 0; result == 0 && i < listing->table_count;) {
        const bool is_unwanted =
            listing->tables[i].table == &table_unlisted && !run.unlisted.wanted;
        if (listing->saved)
            explained = (struct explained){.table = &listing->tables[i++]};
        else
            i += run_explain(&run, i, &explained);
        if (!is_unwanted)
            fn(&explained, arg);
    }
    engine_finish(&run);
    return result;
}
