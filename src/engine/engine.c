#include "fastnet/engine.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/groups.h"
#include "engine/rows.h"
#include "engine/seen.h"
#include "fastnet/lookup.h"
#include "fastnet/netlink.h"
#include "fastnet/rights.h"

/* How long all reverse lookups of a listing may take together. */
enum { HOSTS_MILLISECONDS = 5000, BACKENDS = 2 };

struct engine {
    struct netlink *netlink;
    struct seen *seen;
    struct context context;
};

/* One listing under way. */
struct run {
    struct engine *engine;
    const struct listing *listing;
    struct sink *sink;
    struct report *report;
    bool keep_all;         /* rows are kept and handed on when all are there */
    bool second_pass;      /* --exact: only what the first pass missed */
    size_t handed;         /* rows that the backend at work handed on */
    int stopped;           /* why rows are no longer wanted: -errno */
    bool ended;            /* a table that is required is not there */
    struct rows *sections; /* kept rows, by section */
    size_t section_count;
    struct groups *groups; /* --count-by, or NULL */
};

int engine_create(struct engine **engine)
{
    struct engine *new = calloc(1, sizeof *new);

    if (!new)
        return -ENOMEM;
    new->netlink = netlink_create();
    new->seen = seen_create();
    if (!new->netlink || !new->seen) {
        engine_destroy(new);
        return -ENOMEM;
    }
    *engine = new;
    return 0;
}

void engine_destroy(struct engine *engine)
{
    if (!engine)
        return;
    netlink_destroy(engine->netlink);
    seen_destroy(engine->seen);
    owners_destroy(engine->context.owners);
    users_destroy(engine->context.users);
    services_destroy(engine->context.services);
    hosts_destroy(engine->context.hosts);
    interfaces_destroy(engine->context.interfaces);
    free(engine);
}

const struct context *engine_context(const struct engine *engine)
{
    return &engine->context;
}

/* Rows */

static int emit(struct run *run, const struct record *record)
{
    if (run->groups)
        return groups_add(run->groups, record, &run->engine->context);
    run->sink->ops->row(run->sink, record);
    return run->sink->writer->error ? -run->sink->writer->error : 0;
}

/*
 * A socket that someone must hold, but nobody was seen with: it may have changed hands while /proc
 * was walked, so it waits for a second look.
 */
static bool is_ownerless(const struct run *run, const struct record *record)
{
    const struct owner *first;

    return run->engine->context.owners && record->kind == RECORD_SOCKET &&
           record->socket.inode != 0 &&
           owners_find(run->engine->context.owners, record->socket.inode, &first) == 0;
}

/* Whether this row is a repeat. */
static int is_listed(struct run *run, const struct record *record)
{
    if (!record->identity)
        return run->second_pass;
    return seen_before(run->engine->seen, record->identity);
}

struct table_run {
    struct run *run;
    const struct listing_table *table;
};

static int take_row(const struct record *record, void *arg)
{
    const struct table_run *table_run = arg;
    struct run *run = table_run->run;
    const struct listing *listing = run->listing;
    int result = 0;

    run->handed++;
    if (listing->keep && !listing->keep(record, listing->keep_arg))
        return 0;
    result = is_listed(run, record);
    if (result == 0 && (run->keep_all || is_ownerless(run, record)))
        result = rows_add(&run->sections[table_run->table->section], record);
    else if (result == 0)
        result = emit(run, record);
    if (result < 0)
        run->stopped = result;
    return result < 0 ? result : 0;
}

/* Tables */

/* Answers that mean "not by this way"; anything else is a fault and is told. */
static bool is_refusal(int error)
{
    switch (-error) {
    case EPERM:
    case EACCES:
    case ENOENT:
    case ENOSYS:
    case EOPNOTSUPP:
    case EPROTONOSUPPORT:
    case EAFNOSUPPORT:
    case ESOCKTNOSUPPORT:
        return true;
    default:
        return false;
    }
}

/* The backends that may be asked for a table, in order; returns how many. */
static size_t choose_backends(const struct run *run, const struct table *table,
                              const struct backend *chosen[BACKENDS])
{
    const struct backend *netlink = &backend_sock_diag, *proc = &backend_proc_net;
    enum backend_choice choice = run->listing->backend;
    uint64_t only_proc = proc->fields(table) & ~netlink->fields(table);
    bool proc_first = choice == BACKEND_AUTO && (run->listing->needs & only_proc);
    size_t count = 0;

    if (proc_first)
        chosen[count++] = proc;
    if (choice != BACKEND_PROC && netlink->fields(table))
        chosen[count++] = netlink;
    if (!proc_first && choice != BACKEND_NETLINK && proc->fields(table))
        chosen[count++] = proc;
    return count;
}

static void report_missing(struct run *run, const struct listing_table *table)
{
    if (table->missing)
        report_note(run->report, "%s", table->missing);
    run->report->partial |= table->required;
    run->ended = table->required;
}

/* Tells why none of the backends had the table. */
static void report_failure(struct run *run, const struct listing_table *table,
                           const struct backend *const *backends, const int *errors, size_t count)
{
    bool kernel_lacks_it = run->listing->backend != BACKEND_NETLINK;

    for (size_t i = 0; i < count; i++)
        if (backends[i] == &backend_proc_net && errors[i] != -ENOENT)
            kernel_lacks_it = false;
    if (kernel_lacks_it) {
        report_missing(run, table);
        return;
    }
    for (size_t i = 0; i < count; i++)
        report_loss(run->report, "%s: not to be had by %s: %s", table->table->name,
                    backends[i]->name, strerror(-errors[i]));
}

static int ask(struct run *run, const struct listing_table *table, const struct backend *backend)
{
    const struct listing *listing = run->listing;
    struct table_run table_run = {run, table};
    struct query query = {
        .table = table->table,
        .needs = listing->needs,
        .states = table->states,
        .proc_root = listing->proc_root,
        .netlink = listing->backend == BACKEND_PROC ? NULL : run->engine->netlink,
        .report = run->report,
        .exclusive = listing->backend != BACKEND_AUTO,
    };
    bool captured = strcmp(listing->proc_root, "/proc") != 0;
    int result;

    if (captured)
        rights_raise(RIGHT_READ);
    run->handed = 0;
    result = backend->dump(&query, take_row, &table_run);
    if (captured)
        rights_lower();
    return result;
}

/* --exact: what came and went between rows is found by looking again. */
static void ask_again(struct run *run, const struct listing_table *table,
                      const struct backend *backend)
{
    int result;

    run->second_pass = true;
    result = ask(run, table, backend);
    run->second_pass = false;
    if (result < 0 && !run->stopped)
        report_loss(run->report, "%s: the second pass by %s failed: %s", table->table->name,
                    backend->name, strerror(-result));
}

/* Of what the backend that should have been asked lists, the one that was may lack some rows. */
static void report_lacking(struct run *run, const struct table *table,
                           const struct backend *const *backends, size_t answered)
{
    uint64_t wanted = run->listing->needs & backends[0]->fields(table) & SOCKET_PENDING;

    if (wanted & ~backends[answered]->fields(table))
        report_loss(run->report, "%s: connections nobody has accepted yet are not listed by %s",
                    table->name, backends[answered]->name);
}

static void list_table(struct run *run, const struct listing_table *table)
{
    const struct backend *backends[BACKENDS];
    int errors[BACKENDS];
    size_t count = table->table ? choose_backends(run, table->table, backends) : 0;

    if (!table->table) {
        report_missing(run, table);
        return;
    }
    seen_start(run->engine->seen, run->listing->exact);
    for (size_t i = 0; i < count; i++) {
        errors[i] = ask(run, table, backends[i]);
        if (run->stopped)
            return;
        if (errors[i] < 0 && run->handed) {
            report_loss(run->report, "%s: %s ended after %zu rows: %s", table->table->name,
                        backends[i]->name, run->handed, strerror(-errors[i]));
            return;
        }
        if (errors[i] == 0) {
            report_lacking(run, table->table, backends, i);
            if (run->listing->exact)
                ask_again(run, table, backends[i]);
            return;
        }
        if (!is_refusal(errors[i]) && i + 1 < count)
            report_note(run->report, "%s: %s failed: %s", table->table->name, backends[i]->name,
                        strerror(-errors[i]));
    }
    report_failure(run, table, backends, errors, count);
}

/* Names */

static void raise_for_owners(const struct run *run)
{
    rights_raise(strcmp(run->listing->proc_root, "/proc") == 0 ? RIGHT_OWNERS : RIGHT_READ);
}

static void walk_owners(struct run *run)
{
    struct owners_options options = {.proc_root = run->listing->proc_root,
                                     .commands = run->listing->needs & NEED_COMMANDS};
    struct owners *owners = NULL;
    int error;

    owners_destroy(run->engine->context.owners);
    run->engine->context.owners = NULL;
    raise_for_owners(run);
    error = owners_create(&owners, &options);
    rights_lower();
    if (error < 0)
        report_note(run->report, "owners: %s: %s", options.proc_root, strerror(-error));
    run->engine->context.owners = owners;
}

static void look_again_for_owners(struct run *run)
{
    struct owners *owners = run->engine->context.owners;
    int error;

    raise_for_owners(run);
    error = owners ? owners_refresh(owners) : 0;
    rights_lower();
    if (error < 0)
        report_note(run->report, "owners: the second look: %s", strerror(-error));
}

/* What netstat says, word for word: scripts know it. */
static void report_owners(struct run *run)
{
    const struct owners *owners = run->engine->context.owners;

    if (!owners)
        return;
    if (owners_error(owners))
        report_note(run->report, "owners: not all could be read: %s",
                    strerror(owners_error(owners)));
    if (owners_hidden(owners))
        report_note(run->report, "owners: %s does not list all processes (hidepid, proc(5))",
                    run->listing->proc_root);
    if (!owners_denied(owners))
        return;
    if (owners_any(owners))
        report_verbatim(run->report,
                        "(Not all processes could be identified, non-owned process info\n"
                        " will not be shown, you would have to be root to see it all.)");
    else
        report_verbatim(run->report,
                        "(No info could be read for \"-p\": geteuid()=%u but you should be root.)",
                        (unsigned)geteuid());
}

static bool is_wildcard(const struct endpoint *endpoint, int family)
{
    static const uint8_t zeros[16];

    return memcmp(endpoint->address, zeros, family == AF_INET ? 4 : 16) == 0;
}

static int add_hosts(struct hosts *hosts, const struct rows *rows)
{
    int error = 0;

    for (size_t i = 0; i < rows->count && !error; i++) {
        const struct socket_record *sock = &rows->records[i]->socket;
        if (rows->records[i]->kind != RECORD_SOCKET || sock->family == AF_UNIX)
            continue;
        if (!is_wildcard(&sock->local, sock->family))
            error = hosts_add(hosts, sock->family, sock->local.address);
        if (!error && !is_wildcard(&sock->remote, sock->family))
            error = hosts_add(hosts, sock->family, sock->remote.address);
    }
    return error;
}

static int resolve_hosts(struct run *run)
{
    struct hosts *hosts = run->engine->context.hosts;
    int unanswered = 0;

    for (size_t i = 0; i < run->section_count && unanswered >= 0; i++)
        unanswered = add_hosts(hosts, &run->sections[i]);
    if (unanswered == 0)
        unanswered = hosts_resolve(hosts, HOSTS_MILLISECONDS);
    if (unanswered > 0)
        report_note(run->report, "%d addresses had no name after %d seconds", unanswered,
                    HOSTS_MILLISECONDS / 1000);
    return unanswered < 0 ? unanswered : 0;
}

/* Everything but owners is looked up with no rights left. */
static int prepare_names(struct run *run)
{
    struct context *context = &run->engine->context;
    uint64_t needs = run->listing->needs;

    if (!(needs & (NEED_USERS | NEED_SERVICES | NEED_HOSTS)))
        return 0;
    rights_drop();
    if ((needs & NEED_USERS) && !context->users && !(context->users = users_create()))
        return -ENOMEM;
    if ((needs & NEED_SERVICES) && !context->services && !(context->services = services_create()))
        return -ENOMEM;
    if ((needs & NEED_HOSTS) && !context->hosts && !(context->hosts = hosts_create()))
        return -ENOMEM;
    return needs & NEED_HOSTS ? resolve_hosts(run) : 0;
}

static int prepare_interfaces(struct run *run)
{
    struct context *context = &run->engine->context;

    if ((run->listing->needs & NEED_INTERFACES) && !context->interfaces)
        context->interfaces = interfaces_create();
    return (run->listing->needs & NEED_INTERFACES) && !context->interfaces ? -ENOMEM : 0;
}

/* A listing from its beginning to its end */

static void begin_section(struct run *run, unsigned section)
{
    if (run->sink->ops->section && !run->groups)
        run->sink->ops->section(run->sink, section);
}

/* Hands on what was kept of a section. */
static int emit_kept(struct run *run, unsigned section)
{
    struct rows *rows = &run->sections[section];
    int error = 0;

    if (run->listing->sort && !run->groups)
        error =
            rows_sort(rows, run->listing->sort, run->listing->descending, &run->engine->context);
    for (size_t i = 0; i < rows->count && !error; i++)
        error = emit(run, rows->records[i]);
    rows_clear(rows);
    return error;
}

static int finish_ownerless(struct run *run, unsigned section)
{
    if (!run->sections[section].count)
        return 0;
    look_again_for_owners(run);
    return emit_kept(run, section);
}

static int emit_groups(struct run *run)
{
    struct rows rows = {0};
    int error = groups_finish(run->groups, &rows);

    if (!error && run->listing->sort)
        error =
            rows_sort(&rows, run->listing->sort, run->listing->descending, &run->engine->context);
    for (size_t i = 0; i < rows.count && !error; i++) {
        run->sink->ops->row(run->sink, rows.records[i]);
        error = -run->sink->writer->error;
    }
    rows_clear(&rows);
    return error;
}

/* Rows go to the sink as they come; at the end of a section those that waited. */
static int stream(struct run *run)
{
    const struct listing *listing = run->listing;

    for (size_t i = 0; i < listing->table_count && !run->stopped && !run->ended; i++) {
        const struct listing_table *table = &listing->tables[i];
        bool last = i + 1 == listing->table_count || table[1].section != table->section;
        if (i == 0 || table[-1].section != table->section)
            begin_section(run, table->section);
        list_table(run, table);
        if (!run->stopped && (last || run->ended))
            run->stopped = finish_ownerless(run, table->section);
    }
    return run->stopped;
}

/* All rows are gathered first; then they are named, sorted and handed on. */
static int gather(struct run *run)
{
    const struct listing *listing = run->listing;
    size_t kept = 0, listed;
    int error;

    for (listed = 0; listed < listing->table_count && !run->stopped && !run->ended; listed++)
        list_table(run, &listing->tables[listed]);
    if (run->stopped)
        return run->stopped;
    for (size_t i = 0; i < run->section_count; i++)
        kept += run->sections[i].count;
    if (run->engine->context.owners && kept)
        look_again_for_owners(run);
    error = prepare_names(run);
    for (size_t i = 0; i < listed && !error; i++) {
        unsigned section = listing->tables[i].section;
        if (i > 0 && listing->tables[i - 1].section == section)
            continue;
        begin_section(run, section);
        error = emit_kept(run, section);
    }
    return error;
}

static int run_listing(struct run *run)
{
    const struct listing *listing = run->listing;
    bool owners = listing->needs & NEED_OWNERS;
    bool names = listing->needs & (NEED_USERS | NEED_SERVICES | NEED_HOSTS);
    int result;

    run->keep_all =
        listing->sort || (listing->needs & NEED_HOSTS) || (owners && (names || run->groups));
    if (owners)
        walk_owners(run);
    result = prepare_interfaces(run);
    if (!result && !run->keep_all)
        result = prepare_names(run);
    run->sink->ops->begin(run->sink);
    if (!result)
        result = run->keep_all ? gather(run) : stream(run);
    if (!result && run->groups)
        result = emit_groups(run);
    run->sink->ops->end(run->sink);
    report_owners(run);
    return result;
}

static size_t count_sections(const struct listing *listing)
{
    size_t count = 0;

    for (size_t i = 0; i < listing->table_count; i++)
        if (listing->tables[i].section >= count)
            count = listing->tables[i].section + 1u;
    return count;
}

int engine_run(struct engine *engine, const struct listing *listing, struct sink *sink,
               struct report *report)
{
    struct run run = {.engine = engine,
                      .listing = listing,
                      .sink = sink,
                      .report = report,
                      .section_count = count_sections(listing)};
    int result = -ENOMEM;

    run.sections = calloc(run.section_count + 1, sizeof *run.sections);
    if (listing->count_by_count)
        run.groups = groups_create(listing->count_by, listing->count_by_count);
    if (run.sections && (run.groups || !listing->count_by_count))
        result = run_listing(&run);
    for (size_t i = 0; run.sections && i < run.section_count; i++)
        rows_clear(&run.sections[i]);
    free(run.sections);
    groups_destroy(run.groups);
    return result;
}
