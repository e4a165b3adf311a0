/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "engine/run.h"
#include "fastnet/bpf_refusal.h"
#include "fastnet/cgroups.h"
#include "fastnet/clock.h"
#include "fastnet/containers.h"
#include "fastnet/firewall.h"
#include "fastnet/hosts.h"
#include "fastnet/interface_sets.h"
#include "fastnet/interfaces.h"
#include "fastnet/kernel_sockets.h"
#include "fastnet/labels.h"
#include "fastnet/machine.h"
#include "fastnet/networks.h"
#include "fastnet/owners.h"
#include "fastnet/peers.h"
#include "fastnet/profiles.h"
#include "fastnet/rights.h"
#include "fastnet/rpc_programs.h"
#include "fastnet/senders.h"
#include "fastnet/services.h"
#include "fastnet/sysctl.h"
#include "fastnet/users.h"

/* For functions with a report of their own, 6 KiB: keeps it out of run_prepare_netns()'s frame.
 * Each listing has this frame, and a first use of each of its pages costs a page fault. */
#define NOT_INLINE __attribute__((noinline))

/* --- Owners ----------------------------------------------------------------------------------- */

/* Returns the BPF program that finds owners; NULL: it cannot run, and *refusal says why. */
static struct owners_program *load_program(struct engine *engine, const struct listing *listing,
                                           struct bpf_refusal *refusal)
{
    const char *processes = listing->processes ? listing->processes : listing->proc_root;
    const bool always = listing->owners == OWNERS_BPF;
    const char *reason;

    reason = listing->owners == OWNERS_PROC ? ""
             : !proc_tree_is_own(processes)
                 ? listing->processes ? "BPF reports process ids of /proc, not of this directory"
                                      : "a captured tree has files only"
             : (listing->needs.lookups & NEED_THREADS) ? "BPF does not report threads"
                                                       : NULL;
    if (!reason && !engine->owners_program && !(engine->owners_program = owners_program_create()))
        reason = strerror(ENOMEM);
    if (reason)
        (void)bpf_refuse(refusal, -ENOTSUP, reason);
    else if (owners_program_load(engine->owners_program, always, refusal) == 0)
        return engine->owners_program;
    return NULL;
}

void engine_prepare(struct engine *engine, const struct listing *listing)
{
    if (listing->saved)
        return;
    if (listing->needs.lookups & NEED_OWNERS)
        (void)load_program(engine, listing, NULL);
    engine_prepare_unlisted(engine, listing);
}

struct owners_program *run_owners_program(const struct run *run)
{
    if (!(run->needs.lookups & NEED_OWNERS))
        return NULL;
    return load_program(run->engine, run->listing, NULL);
}

/* Whether the listing may show that a socket belongs to the kernel, and BPF may be used. */
static bool names_shows_kernel(const struct run *run)
{
    const struct listing *listing = run->listing;

    return listing->owners != OWNERS_PROC && !run_is_captured(run) &&
           (!listing->hides_kernel || predicate_needs(listing->where).lookups & NEED_OWNERS);
}

int run_search_owners(struct run *run, struct owners **owners)
{
    struct bpf_refusal refusal;
    if (!run->engine->kernel_sockets && names_shows_kernel(run))
        run->engine->kernel_sockets = kernel_sockets_create();
    const struct owners_options options = {
        .proc_root = run_processes(run),
        .commands = run->needs.lookups & NEED_COMMANDS,
        .tasks = run->needs.lookups & NEED_THREADS,
        .cgroups = run->owners.stand_ins,
        .pids_inside = run->needs.lookups & NEED_PIDS_INSIDE,
        .program = load_program(run->engine, run->listing, &refusal),
        .kernel = run->engine->kernel_sockets,
        .names_at_once = run->listing->events || run->listing->live,
        .rings = run->unlisted.wanted,
        .profiles = run->engine->context.profiles,
    };

    if (run->listing->owners == OWNERS_BPF && !options.program && !run->engine->new_searches)
        report_note(run->report, "owners were read from %s, because BPF cannot be used: %s",
                    options.proc_root, refusal.reason);
    return owners_create(owners, &options);
}

/* Notes when a search for owners begins: its cost decides how soon the next search may come. */
static void begin_owner_search(struct owner_searches *search)
{
    search->at = clock_nanoseconds(CLOCK_MONOTONIC);
    search->cost = clock_nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
}

static void end_owner_search(struct owner_searches *search)
{
    search->cost = clock_nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - search->cost;
    search->credit -= (int64_t)search->cost;
}

void run_walk_owners(struct run *run)
{
    struct owners *owners = NULL;
    int error;

    owners_destroy(run->engine->context.owners);
    run->engine->context.owners = NULL;
    begin_owner_search(&run->engine->owner_searches);
    error = run_search_owners(run, &owners);
    end_owner_search(&run->engine->owner_searches);
    if (error < 0)
        report_note(run->report, "owners: %s: %s", run_processes(run), strerror(-error));
    if (owners && owners_summary(owners)->none) {
        report_note(run->report, "owners are unknown, because %s has no processes",
                    run_processes(run));
        owners_destroy(owners);
        owners = NULL;
    }
    run->engine->context.owners = owners;
    run->engine->walked_at = run->listing->time;
    run->engine->walked_for = run->needs.lookups;
    if (owners && owners_summary(owners)->shut_out && run->listing->report_shut_out)
        run->listing->report_shut_out(run->report, owners_summary(owners));
}

void run_defer_owners(struct run *run)
{
    owners_destroy(run->engine->context.owners);
    run->engine->context.owners = NULL;
    run->owners.deferred = true;
}

/* The inode at this offset (kind.inode); 0: no process can hold the socket. */
static uint64_t names_inode_at(const struct record *record, size_t offset)
{
    uint64_t inode = 0;

    if (offset)
        memcpy(&inode, (const char *)record + offset, sizeof inode);
    return inode;
}

/* The inode of the row's socket; 0: no process can hold it. */
static uint64_t names_inode_of(const struct record *record)
{
    return names_inode_at(record, record->kind->inode);
}

static bool has_inode(const struct record *record)
{
    return names_inode_of(record) || names_inode_at(record, record->kind->other_inode);
}

void run_walk_for(struct run *run, const struct rows *rows)
{
    struct kept_row row;

    for (size_t i = 0; i < rows->count && run->owners.deferred; i++) {
        const struct record *record = rows_glance(rows, i, &row);
        if (has_inode(record) || record->has & record->kind->has_origin ||
            run->needs.lookups & NEED_PEERS) {
            run->owners.deferred = false;
            run_walk_owners(run);
        }
    }
}

static bool names_is_ownerless(struct owners *owners, uint64_t inode)
{
    const struct owner *first;

    return inode && owners_find(owners, inode, &first) == 0;
}

/* True if a socket of the row must have an owner, but the search found no owner, and no note says
 * who made it. Another process may have got the socket during the search, so the row waits for a
 * second search. Searches for
 * both sockets, because the first search for an inode reads the names of its owners. */
bool run_is_ownerless(const struct run *run, const struct record *record)
{
    struct owners *owners = run->engine->context.owners;
    bool ownerless;

    if (!owners || record->has & record->kind->has_origin)
        return false;
    ownerless = names_is_ownerless(owners, names_inode_of(record));
    if (record->kind->other_inode)
        ownerless |= names_is_ownerless(owners, names_inode_at(record, record->kind->other_inode));
    return ownerless;
}

bool run_read_owners(struct run *run, const struct rows *rows)
{
    const struct context *context = &run->engine->context;
    const struct owner *first;
    struct kept_row row;
    bool ownerless = false;

    for (size_t i = 0; i < rows->count && context->owners; i++) {
        const struct record *record = rows_glance(rows, i, &row);
        run_use_netns(run, record->netns_index);
        if (run->needs.lookups & NEED_PEERS)
            (void)owners_find(context->owners, peers_inode(context->netns.peers, record), &first);
        ownerless |= run_is_ownerless(run, record);
    }
    return ownerless;
}

void run_search_unowned_again(struct run *run)
{
    struct owners *owners = run->engine->context.owners;
    int error;

    error = owners ? owners_refresh(owners) : 0;
    if (error < 0)
        report_note(run->report, "owners may be old: cannot read %s again: %s", run_processes(run),
                    strerror(-error));
}

/* Whether the filter needs this lookup. If the result is unknown, the filter refuses the row. */
static bool filters_by(const struct run *run, uint64_t lookup)
{
    return predicate_needs(run->listing->where).lookups & lookup;
}

/* --- Owners of live rows ---------------------------------------------------------------------- */

/* Searches take 1/20 of the CPU time, or 1/2000 if neither filter nor order needs owners. */
enum { SHARE = 20, SHARE_UNASKED = 2000, WAIT_DOUBLINGS = 4 };
enum { SEARCHES_MAX = 100 }; /* number of searches until owners that are gone are forgotten */
static const uint64_t FOUND_LASTS = CLOCK_SECOND / 4; /* how long found owners stay confirmed */
static const int64_t CREDIT_MAX = CLOCK_SECOND / 5;

/* Whether there is CPU time for a search. Unused time adds up to CREDIT_MAX, which allows a short
 * burst of searches. */
static bool may_search_owners(struct owner_searches *search)
{
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC), elapsed = now - search->counted;

    if (!search->counted || elapsed / SHARE > (uint64_t)CREDIT_MAX)
        search->credit = CREDIT_MAX;
    else
        search->credit += (int64_t)(elapsed / SHARE);
    if (search->credit > CREDIT_MAX)
        search->credit = CREDIT_MAX;
    search->counted = now;
    return search->credit > 0;
}

/* True if one search for all owners takes less CPU time than to confirm the owners of each row. */
static bool does_search_pay(const struct owner_searches *search)
{
    return search->rows * search->each_cost > search->cost;
}

void run_search_new_owners(struct run *run)
{
    struct owner_searches *search = &run->engine->owner_searches;
    struct owners *owners = NULL;

    begin_owner_search(search);
    run->engine->new_searches++;
    if (++search->refreshes < SEARCHES_MAX) {
        run_search_unowned_again(run);
    } else {
        if (run->engine->context.profiles)
            profiles_forget(run->engine->context.profiles);
        (void)run_search_owners(run, &owners);
        search->refreshes = 0;
    }
    end_owner_search(search);
    if (!owners)
        return; /* keeps the former owners, also if the search failed */
    owners_destroy(run->engine->context.owners);
    run->engine->context.owners = owners;
}

void run_search_owners_again(struct run *run)
{
    struct owner_searches *search = &run->engine->owner_searches;
    const bool asked = filters_by(run, NEED_ANY_OWNERS) ||
                       run->listing->live->needs_owners(run->listing->live->arg);
    const bool pays = does_search_pay(search);

    search->rows = 0;
    if (pays || (asked && may_search_owners(search)) || search->refreshes >= SEARCHES_MAX)
        run_search_new_owners(run);
}

/* If the owners of a known row changed, or if the last search is long ago, searches for owners
 * again, because other processes may hold the socket, too. A socket without an owner may be on its
 * way from one process to another (SCM_RIGHTS of unix(7)), or belong to the kernel: its owner is
 * searched for more and more rarely, up to every 16 seconds. */
void engine_confirm_owners(struct engine *engine, const struct record *record)
{
    struct owner_searches *search = &engine->owner_searches;
    struct owners *owners = engine->context.owners;
    const uint64_t inode = names_inode_of(record), now = clock_nanoseconds(CLOCK_MONOTONIC);
    const struct owner *first;

    if (!owners || !inode)
        return;
    search->rows++;
    if (now - search->at < FOUND_LASTS)
        return;
    const bool pays = does_search_pay(search);
    const enum owners_state state = pays ? OWNERS_CHANGED : owners_confirm(owners, inode);
    if (!pays)
        search->each_cost = (7 * search->each_cost + clock_nanoseconds(CLOCK_MONOTONIC) - now) / 8;
    if ((state == OWNERS_HOLD && now - search->at < SHARE_UNASKED * search->cost) ||
        (state == OWNERS_NONE && now < search->retry_at) || (!pays && !may_search_owners(search)))
        return;
    begin_owner_search(search);
    search->refreshes++;
    (void)owners_refresh(owners); /* after a failure owners_summary() has the error */
    end_owner_search(search);
    if (owners_find(owners, inode, &first)) {
        search->in_vain = state == OWNERS_HOLD ? search->in_vain : 0;
    } else {
        search->retry_at = now + (CLOCK_SECOND << search->in_vain);
        search->in_vain += search->in_vain < WAIT_DOUBLINGS;
    }
}

static bool are_owners_missing(const struct run *run, const struct owners *owners)
{
    const struct owners_summary *summary;

    if (!owners)
        return !run->owners.deferred; /* still deferred: no row needed owners */
    summary = owners_summary(owners);
    return summary->error || summary->hidden || summary->shut_out || summary->unnamed ||
           (run->owners.unowned && !owners_know_all(summary));
}

/* Reports that processes may not be read, and which rows that concerns. */
static void report_denied(struct run *run, const struct owners_summary *summary)
{
    const bool loss = run->owners.stand_ins && run->listing->named.lookups & NEED_OWNERS_CGROUPS;
    const size_t rows = run->owners.unowned_rows;
    char denied[OWNERS_DENIED_TEXT], concerns[80] = "";

    if (rows)
        snprintf(concerns, sizeof concerns, ": %zu row%s without an owner may belong to %s", rows,
                 rows == 1 ? "" : "s", summary->denied == 1 ? "it" : "them");
    report_add(run->report, loss ? REPORT_LOSS : REPORT_NOTE, "owners: %s%s%s",
               owners_denied_text(denied, summary), concerns, rights_advice());
}

/* Reports the first reason why rows that seem to have no owner may have owners, or why a filter may
 * have refused rows. */
static void report_unowned(struct run *run, const struct owners_summary *summary)
{
    if (summary->shut_out && run->listing->report_shut_out)
        return;
    if (summary->denied)
        report_denied(run, summary);
    else if (summary->unlisted)
        report_note(run->report, "owners: %s lacks the descriptors of %zu process%s",
                    run_processes(run), summary->unlisted, summary->unlisted == 1 ? "" : "es");
    else if (summary->partial && !summary->hidden)
        report_note(run->report,
                    "owners: %s shows one pid namespace: processes outside of it may hold sockets, "
                    "too",
                    run_processes(run));
}

void run_need_owners(struct run *run)
{
    const struct listing *listing = run->listing;

    run->needs.lookups |= NEED_OWNERS;
    run->owners.reuse = listing->maker && run->engine->context.owners &&
                        run->engine->walked_at == listing->time &&
                        !(run->needs.lookups & ~run->engine->walked_for);
    if (run->owners.reuse)
        return;
    if (listing->live && run->engine->context.owners) {
        run_search_owners_again(run); /* new rows cause a search, too */
        return;
    }
    /* Defer the search: a filter may leave few rows, and few rows of a maker have sockets. Not for
     * a captured tree, where the search would run while RIGHT_READ is raised for the dump. */
    if ((listing->where || listing->maker) && !listing->live && !listing->events &&
        !listing->diag_file && !run_is_captured(run))
        run_defer_owners(run);
    else
        run_walk_owners(run);
}

void run_report_owners(struct run *run)
{
    const struct owners *owners = run->engine->context.owners;
    const struct owners_summary *summary;
    const size_t reported_before = run->report->count;

    if (run->listing->live && run->engine->owners_reported)
        return;
    const bool filters =
        filters_by(run, NEED_OWNERS | (run->owners.stand_ins ? NEED_OWNERS_CGROUPS : 0));
    if (filters && are_owners_missing(run, owners))
        report_loss(run->report, "some owners are unknown, so rows may be missing");
    else if (run->listing->thresholds && run->listing->named.lookups & NEED_OWNERS &&
             run->owners.unowned_rows && are_owners_missing(run, owners))
        report_loss(run->report, "some owners are unknown, so counts may be too small");
    if (!owners)
        return;
    summary = owners_summary(owners);
    if (summary->error)
        report_note(run->report, "some owners are unknown: %s", strerror(summary->error));
    if (summary->hidden)
        report_note(run->report, "owners: %s does not list all processes (hidepid? see proc(5))%s",
                    run_processes(run), rights_advice());
    if (summary->unnamed)
        report_note(run->report, "owners: not allowed to read the name%s of %zu process%s%s",
                    summary->unnamed == 1 ? "" : "s", summary->unnamed,
                    summary->unnamed == 1 ? "" : "es", rights_advice());
    if (run->owners.unowned_rows || (run->owners.unowned && filters))
        report_unowned(run, summary);
    run->engine->owners_reported |= run->report->count > reported_before;
}

static int add_hosts_of(const struct run *run, const struct record *record)
{
    const bool unmapped = run->needs.lookups & NEED_UNMAPPED;
    const struct kind *kind = record->kind;
    int error = 0;

    for (size_t i = 0; i < kind->host_count && !error; i++) {
        const struct named_address *named = &kind->hosts[i];
        struct address address;
        if (named->fields & ~record->has || (named->is_host && !named->is_host(record)))
            continue;
        memcpy(&address, (const char *)record + named->offset, sizeof address);
        if (unmapped)
            address = address_unmapped(&address);
        error = hosts_add(run->engine->context.hosts, &address);
    }
    return error;
}

/* Looks up host names. After a failure rows show addresses. */
static void resolve_hosts(struct run *run)
{
    struct hosts *hosts = run->engine->context.hosts;
    struct kept_row row;
    int unanswered = 0;

    for (size_t i = 0; i < run->section_count; i++)
        for (size_t j = 0; j < run->sections[i].count && !unanswered; j++)
            unanswered = add_hosts_of(run, rows_glance(&run->sections[i], j, &row));
    if (unanswered == 0)
        unanswered = hosts_resolve(hosts, HOSTS_MILLISECONDS, run->listing->wait);
    if (unanswered > 0)
        report_note(run->report, "hosts: no name for %d address%s: no answer within %d seconds",
                    unanswered, unanswered == 1 ? "" : "es", HOSTS_MILLISECONDS / 1000);
    if (unanswered < 0)
        report_note(run->report, "cannot look up names of hosts: %s", strerror(-unanswered));
}

bool engine_gives_up_rights(const struct listing *listing, uint64_t lookups)
{
    const bool other_source = listing->own_netns || (listing->all_netns && !listing->events) ||
                              !proc_tree_is_own(listing->proc_root);

    return !listing->saved && lookups & NEED_NAMES & ~(other_source ? 0 : NEED_USERS);
}

/* Asks the rpcbind of this machine, so a captured tree gets no names. */
static int ask_rpcbind(struct run *run)
{
    struct context *context = &run->engine->context;

    if (context->rpc_programs || run_is_captured(run))
        return 0;
    context->rpc_programs = rpc_programs_create(NULL);
    if (!context->rpc_programs)
        return -ENOMEM;
    rpc_programs_ask(context->rpc_programs, NULL, HOSTS_MILLISECONDS);
    return 0;
}

/* Looks up all names without rights, except the names of owners. */
int run_prepare_names(struct run *run)
{
    struct context *context = &run->engine->context;
    const uint64_t needs = run->needs.lookups;

    if (!(needs & NEED_NAMES))
        return 0;
    const int error = run->listing->own_netns ? namespace_enter(run->listing->own_netns) : 0;
    if (error)
        return error;
    if ((needs & NEED_USERS) && !context->users && !(context->users = users_create()))
        return -ENOMEM;
    if ((needs & NEED_USERS) && !run->listing->live) /* asking again would slow samples down */
        users_forget(context->users);
    if (engine_gives_up_rights(run->listing, needs) || !rights_any()) {
        rights_drop();
    } else if (users_ask_in_child(context->users) < 0) {
        if (!run->keep_all && !run->listing->events) { /* events have no end to wait for */
            run->keep_all = true; /* the tables need rights, so names are looked up later */
            return 0;
        }
        rights_drop();
    }
    if ((needs & NEED_NETWORKS) && !context->networks &&
        !(context->networks = networks_create(NULL)))
        return -ENOMEM;
    if ((needs & NEED_SERVICES) && !context->services && !(context->services = services_create()))
        return -ENOMEM;
    if ((needs & NEED_RPC_PROGRAMS) && ask_rpcbind(run) < 0)
        return -ENOMEM;
    if ((needs & NEED_HOSTS) && !context->hosts && !(context->hosts = hosts_create()))
        return -ENOMEM;
    if (needs & NEED_HOSTS)
        resolve_hosts(run);
    return 0;
}

static int add_interface(const struct interface *interface, void *arg)
{
    return interfaces_add(arg, interface);
}

/* Reads all groups again in each run: a new control group can appear at any time. */
int run_read_cgroups(struct run *run)
{
    struct context *context = &run->engine->context;

    if (!(run->needs.lookups & NEED_CGROUPS))
        return 0;
    cgroups_destroy(context->cgroups);
    context->cgroups = NULL;
    const int error = cgroups_create(&context->cgroups, run_is_captured(run) ? "" : NULL);
    if (error || !(run->needs.lookups & NEED_CONTAINERS) || run_is_captured(run))
        return error;
    struct containers *containers = containers_create(NULL);
    cgroups_take_names(context->cgroups, containers);
    return containers ? 0 : -ENOMEM;
}

static int add_peer(const struct record *record, void *arg)
{
    return peers_add(arg, record);
}

/* True if an earlier table of the listing has sockets of the protocol of table i. */
static bool names_is_repeated(const struct listing *listing, size_t i)
{
    const struct table *table = listing->tables[i].table;

    while (i-- > 0)
        if (listing->tables[i].table && listing->tables[i].table->protocol == table->protocol)
            return true;
    return false;
}

static void report_peers(struct run *run, const char *known, const char *why)
{
    const bool filtered = filters_by(run, NEED_PEERS),
               costs_status = filtered || run->listing->named.lookups & NEED_PEERS;

    report_add(run->report, costs_status ? REPORT_LOSS : REPORT_NOTE,
               "other ends of sockets are %s: %s%s", known, why,
               filtered ? ": rows may be missing" : "");
}

/* Reads the other ends of sockets again in each run, because sockets come and go. */
static NOT_INLINE int read_peers(struct run *run)
{
    const struct listing *listing = run->listing;
    struct context *context = &run->engine->context;
    struct report details = {.partial = false};
    int error = 0;

    peers_destroy(context->netns.peers);
    context->netns.peers = NULL;
    if (listing->backend == BACKEND_PROC || listing->diag_file) {
        report_peers(run, "unknown", "only netlink reports them");
        return 0;
    }
    context->netns.peers = peers_create();
    if (!context->netns.peers)
        return -ENOMEM;
    for (size_t i = 0; i < listing->table_count && !error; i++)
        if (listing->tables[i].table && !names_is_repeated(listing, i))
            error = peers_dump(run->engine->netlink, listing->tables[i].table, add_peer,
                               context->netns.peers, &details);
    if (error < 0 || details.count)
        report_peers(run, "partly unknown", error ? strerror(-error) : details.lines[0]);
    else if (peers_are_ambiguous(context->netns.peers))
        report_peers(run, "partly unknown", "some connections have the same addresses and ports");
    return 0;
}

static int add_interface_set(const struct record *record, void *arg)
{
    const struct interface_record *interface = &record->interface;
    int error = interface->labelled ? 0 : interface_sets_add(arg, interface->name);

    for (size_t i = 0; record->has & INTERFACE_ADDRESSES && !interface->labelled &&
                       i < interface->address_count && !error;
         i++) {
        const struct address *address = &interface->addresses[i].local.address;
        error = interface_sets_add_address(arg, interface->name, address,
                                           (uint8_t)(8 * address_size(address)));
    }
    return error;
}

/* Reads the addresses of interfaces again in each run, because addresses come and go. */
static NOT_INLINE int read_interface_sets(struct run *run)
{
    const struct listing *listing = run->listing;
    struct netns_lookups *lookups = &run->engine->context.netns;
    struct report details = {.partial = false};
    const struct query query = {.table = &table_interfaces,
                                .needs = INTERFACE_INDEX | INTERFACE_ADDRESSES,
                                .proc_root = listing->proc_root,
                                .netlink = run->engine->netlink,
                                .report = &details};
    const bool by_files = run_is_captured(run) || listing->backend == BACKEND_PROC;
    int error;

    interface_sets_destroy(lookups->interface_sets);
    lookups->interface_sets = interface_sets_create();
    if (!lookups->interface_sets)
        return -ENOMEM;
    if (by_files) {
        rights_raise(RIGHT_READ);
        error = interface_sets_of_tree(lookups->interface_sets, listing->proc_root);
        rights_lower();
    } else {
        error = backend_link.dump(&query, add_interface_set, lookups->interface_sets);
    }
    if (error == -ENOMEM || interface_sets_finish(lookups->interface_sets) < 0)
        return -ENOMEM;
    if (error < 0 || details.count)
        report_add(run->report, filters_by(run, NEED_ADDRESSES) ? REPORT_LOSS : REPORT_NOTE,
                   "addresses of interfaces are partly unknown: %s",
                   error < 0 ? strerror(-error) : details.lines[0]);
    return 0;
}

/* Reads the rules of the firewall again in each run. Rights that are lent do not show them to a
 * user who could not read them. */
static NOT_INLINE int read_firewall(struct run *run)
{
    struct firewall **firewall = &run->engine->context.netns.firewall;
    int error;

    firewall_destroy(*firewall);
    if (run_is_captured(run) || run->listing->backend == BACKEND_PROC || run->listing->diag_file) {
        *firewall = firewall_create();
        return *firewall ? 0 : -ENOMEM;
    }
    if (rights_elevated()) {
        *firewall = firewall_create();
        error = *firewall ? -EPERM : -ENOMEM;
    } else {
        error = firewall_read(firewall, run->engine->netlink, run->listing->proc_root);
    }
    if (error == -EPERM)
        report_note(run->report, "reachable is unknown: rules of nftables: %s",
                    rights_have(1u << RIGHT_NETFILTER) ? REFUSED_IN_SPITE_OF("CAP_NET_ADMIN")
                                                       : RIGHTS_MISSING("CAP_NET_ADMIN"));
    else if (error != -ENOMEM && (error || firewall_unknown(*firewall)))
        report_note(run->report, "reachable is unknown: %s",
                    error ? strerror(-error) : firewall_unknown(*firewall));
    return error == -ENOMEM ? error : 0;
}

int run_prepare_numbers(struct run *run)
{
    struct context *context = &run->engine->context;
    const uint64_t needs = run->needs.lookups;
    int error = 0;

    if ((needs & NEED_LABELS) && !context->labels)
        error = labels_create(&context->labels, NULL);
    if (error < 0)
        report_note(run->report, "cannot read the names of labels: /etc/xtables/connlabel.conf: %s",
                    strerror(-error));
    if ((needs & NEED_MACHINE) && !*context->host)
        machine_name(run->listing->proc_root, context->host);
    if ((needs & NEED_SENDERS) && !context->senders &&
        !(context->senders = senders_create(run_processes(run))))
        return -ENOMEM;
    return 0;
}

static void read_names_of_tree(const struct run *run, struct interfaces *interfaces)
{
    rights_raise(RIGHT_READ);
    interfaces_of_tree(interfaces, run->listing->proc_root);
    rights_lower();
}

/* Reads the interfaces by a dump. No loss if it fails: interfaces are asked for one by one, too. */
static NOT_INLINE void read_links(struct run *run, struct interfaces *interfaces)
{
    struct report details = {.partial = false};
    const int error = links_dump(run->engine->netlink, add_interface, interfaces, &details);

    if (error < 0 || details.count)
        report_note(run->report, "interfaces: some details are missing: %s",
                    error < 0 ? strerror(-error) : details.lines[0]);
}

int run_prepare_netns(struct run *run)
{
    struct netns_lookups *lookups = &run->engine->context.netns;
    const uint64_t needs = run->needs.lookups;
    int error = 0;

    if ((needs & NEED_INTERFACES) && !lookups->interfaces) {
        lookups->interfaces = interfaces_create();
        if (!lookups->interfaces)
            return -ENOMEM;
        if (run_is_captured(run))
            read_names_of_tree(run, lookups->interfaces);
        else if (run->listing->own_netns ||
                 (run->listing->all_netns && (run->keep_all || run->listing->events)))
            interfaces_fix_netns(lookups->interfaces);
        if ((needs & NEED_LINKS) && run->listing->backend != BACKEND_PROC)
            read_links(run, lookups->interfaces);
    }
    if ((needs & NEED_EPHEMERAL) && !lookups->ephemeral[1]) /* stays 0 (unknown) without the file */
        (void)sysctl_numbers(run->listing->proc_root, "net/ipv4/ip_local_port_range",
                             lookups->ephemeral, 2);
    error = (needs & NEED_ADDRESSES) ? read_interface_sets(run) : 0;
    if (!error && (needs & NEED_FIREWALL))
        error = read_firewall(run);
    return !error && (needs & NEED_PEERS) ? read_peers(run) : error;
}

static void report_lookup(struct run *run, const char *what, int error)
{
    if (error)
        report_note(run->report, "%s: some names are missing: %s", what, strerror(error));
}

/* Reports missing names of containers; a missing permission only if the filter needs the names. */
static void report_containers(struct run *run)
{
    const struct cgroups *cgroups = run->engine->context.cgroups;
    const int error = cgroups ? cgroups_summary(cgroups)->nameless : 0;
    const bool denied = error == EACCES || error == EPERM;

    if (error && filters_by(run, NEED_CONTAINERS))
        report_loss(run->report, "cannot read names of containers: %s%s: rows may be missing",
                    run_is_captured(run) ? "a captured tree has none" : strerror(error),
                    denied ? rights_advice() : "");
    else if (!denied && !run_is_captured(run))
        report_lookup(run, "containers", error);
}

/* Reports unknown control groups: as a loss if a filter needs them, which refuses such rows. */
static void report_cgroups(struct run *run)
{
    const struct cgroups *cgroups = run->engine->context.cgroups;
    const bool named =
        run->needs.lookups & NEED_OWNERS_CGROUPS; /* names in paths are needed, too */
    const bool filtered = filters_by(run, NEED_CGROUPS);
    const struct cgroups_summary *summary;

    if (!(run->needs.lookups & NEED_CGROUPS) || !cgroups || run_is_captured(run))
        return;
    summary = cgroups_summary(cgroups);
    if (!summary->asked && !filtered)
        return; /* no row has a control group */
    const bool lost = filtered && (summary->unknown || summary->closed || cgroups_failed(summary));
    const char *suffix = lost ? ": rows may be missing" : "";
    const enum report_line what = lost ? REPORT_LOSS : REPORT_NOTE;
    if (cgroups_failed(summary))
        report_add(run->report, what, "control groups are unknown: %s%s", strerror(summary->error),
                   suffix);
    else if (summary->closed && (filtered || summary->unknown))
        report_add(run->report, what,
                   "control groups are partly unknown: not allowed to read some of them%s%s",
                   rights_advice(), suffix);
    else if (!summary->error && summary->inside && (named || summary->unknown))
        report_add(run->report, what,
                   "control groups outside of this cgroup namespace are unknown%s", suffix);
    else if (named && summary->unknown)
        report_add(run->report, what,
                   "control groups of some sockets were removed, so their names are unknown%s",
                   suffix);
}

/* Reports names in the filter that do not exist: the user may have mistyped them. */
static void names_report_unknown(struct run *run, const struct predicate *typed, uint64_t lookup)
{
    const struct value *constant = &typed->constant;
    const bool is_name = typed->field && typed->operation == PREDICATE_EQUAL &&
                         typed->field->type == VALUE_NAME && constant->type == VALUE_TEXT;
    char name[256];
    uint32_t index;

    for (const struct predicate *part = typed->parts; part; part = part->next)
        names_report_unknown(run, part, lookup);
    if (!is_name || constant->text.length >= sizeof name || !(typed->field->lookups & lookup))
        return;
    memcpy(name, constant->text.data, constant->text.length);
    name[constant->text.length] = '\0';
    if (lookup == NEED_USERS && users_lack(name))
        report_note(run->report, "no user has the name '%s'", name);
    if (lookup == NEED_INTERFACES && interfaces_find(name, &index) < 0)
        report_note(run->report, "no interface has the name '%s'", name);
}

void run_report_netns(struct run *run)
{
    const struct listing *listing = run->listing;

    report_lookup(run, "interfaces", interfaces_error(run->engine->context.netns.interfaces));
    if (listing->typed && !listing->all_netns && !run_is_captured(run))
        names_report_unknown(run, listing->typed, NEED_INTERFACES);
}

void run_report_lookups(struct run *run)
{
    const struct context *context = &run->engine->context;

    report_lookup(run, "users", users_error(context->users));
    report_lookup(run, "services", services_error(context->services));
    report_lookup(run, "RPC programs", rpc_programs_error(context->rpc_programs));
    report_lookup(run, "hosts", hosts_error(context->hosts));
    report_cgroups(run);
    report_containers(run);
    if (run->listing->typed)
        names_report_unknown(run, run->listing->typed, NEED_USERS);
}
