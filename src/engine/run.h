/* SPDX-License-Identifier: MIT */
/* A running listing: the state that the files of this directory share. */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include "engine/groups.h"
#include "engine/rows.h"
#include "engine/seen.h"
#include "fastnet/engine.h"
#include "fastnet/namespace.h"
#include "fastnet/proc_tree.h"

/*
 * How often owners are looked for again while rows go on (names.c). Times are of CLOCK_MONOTONIC,
 * in nanoseconds; 0: never yet.
 */
struct owner_searches {
    uint64_t at;      /* the last look */
    uint64_t cost;    /* processor time that it took */
    uint64_t counted; /* when the credit was counted */
    int64_t credit;   /* processor time that looks may take */
    uint64_t unheld;  /* when sockets without an owner may be looked for again */
    unsigned again;   /* looks that kept what was known before */
    unsigned in_vain; /* looks for such sockets, one after the other, that found nothing */
    uint64_t each;    /* time that it takes to confirm the owners of one row */
    size_t rows;      /* rows since the last listing whose owners had to be right */
};

struct engine {
    struct netlink *netlink;
    struct seen *seen;
    struct delta *delta; /* NULL until a listing needs it, as the next */
    struct owners_program *owners_program;
    struct connects *connects;
    struct socket_pass *pass;
    unsigned looks; /* at new owners */
    struct owner_searches owner_searches;
    bool owners_reported; /* ... which of them are missing was said: of listing.live, once */
    uint64_t walked_at, walked_for; /* of the last walk for owners: listing.time, and lookups */
    struct netns own;               /* where context.here is, unless all namespaces are visited */
    struct context context;
};

/* Tables that failed for the same reason are reported together. */
enum { FAILURES_MAX = 16 };
struct failure {
    bool unread;       /* no backend read these tables */
    bool costs_status; /* rows may be missing, or values that were asked for by name */
    char reason[224];
    char tables[96]; /* "tcp, tcp6" */
};

/* One pass over a table: two passes that found the same rows have equal members. */
struct lane_pass {
    size_t rows;         /* that the backend handed on */
    size_t unidentified; /* rows without an identity */
    size_t wanted;       /* rows that the filters left */
    bool lost;           /* rows may pass the filter, but its fields are untold (lane.untold) */
    uint64_t digest;     /* of the identities, in any order */
};

/* A missing table that costs the status, which is said at the end. */
enum { LACKING_MAX = 32 };
struct lacking {
    const struct table *table; /* or NULL */
    const char *message;       /* or NULL */
};

/* The network namespaces of a listing, one after another (visits.c). */
struct netns_walk {
    struct namespaces found;        /* to visit, if these are all */
    size_t wanted;                  /* namespaces that the filter allows */
    size_t barred;                  /* ... that this program may not enter */
    size_t current, count;          /* the running visit; 1 if there is only one */
    uint64_t cookie;                /* --delta: of the visit's namespace; 0: the only one */
    bool heading_due;               /* nothing of this visit was shown yet */
    struct here *here;              /* of each visit, if rows wait; or NULL */
    uint64_t walked;                /* nanoseconds that netlink took for shared tables */
    const struct socket_pass *pass; /* their sockets (socket_pass.h), or NULL */
};

/* How owners are looked for (names.c). */
struct owner_search {
    bool stand_ins;          /* because of the groups that they are in */
    bool same;               /* no new look for rows that were made before (listing.maker) */
    bool later;              /* when it is known which rows are left */
    bool unread;             /* some waiting rows have had no look, or no owner was found */
    bool unowned;            /* a socket had no owner, not even at a second look */
    unsigned early_searches; /* second looks before the end, because many rows waited */
};

/* What ends a listing before its tables do. */
struct limits {
    int stopped;      /* why rows are no longer wanted: -errno */
    uint64_t taken;   /* rows that were not refused, if there is a limit */
    uint64_t only;    /* the identity that a row must have to pass the filter; 0: any */
    bool met_only;    /* the row that has it was there */
    uint64_t emitted; /* rows of the listing, however much each stands for */
    bool ended;       /* a table is not there, and the listing ends (MISSING_ENDS) */
};

struct run {
    struct engine *engine;
    const struct listing *listing;
    struct sink *sink;
    struct report *report;
    struct needs needs; /* of shown fields and of predicates */
    struct netns_walk netns_walk;
    struct owner_search owners;
    struct limits limits;
    uint32_t spare;   /* what rows that wait need not keep (struct rows) */
    bool silent;      /* the first run with --delta: rows are only remembered */
    bool keep_all;    /* rows are kept until all have come */
    bool second_pass; /* --exact: only rows that the first pass missed */
    bool found;       /* one of the tables was there */
    struct rows own_sections[LISTING_SECTIONS_MAX];
    struct rows *sections; /* kept rows (run_rows()): own_sections, or those of each namespace */
    size_t section_count;
    struct lacking lacking[LACKING_MAX];
    size_t lacking_count;
    struct groups *groups; /* --count-by, or NULL */
    struct failure failures[FAILURES_MAX];
};

/* A sink without sections gets all rows in section 0. */
static inline unsigned run_section(const struct run *run, const struct listing_table *table)
{
    return run->sink->ops->section ? table->section : 0;
}

/* True if the listing reads a captured tree instead of this machine. */
static inline bool run_is_captured(const struct run *run)
{
    return !proc_tree_is_own(run->listing->proc_root);
}

/* Where the processes are that may own sockets. */
static inline const char *run_processes(const struct run *run)
{
    return run->listing->processes ? run->listing->processes : run->listing->proc_root;
}

/*
 * visits.c: which namespaces are visited. Returns 0 or -errno; run_end_walk() is needed in any
 * case, and frees the kept rows, too.
 */
int run_plan_walk(struct run *run);
void run_end_walk(struct run *run);

/*
 * Begins a visit: from now on tables are those of its namespace. Returns false if there is nothing
 * to list in it, because it cannot be entered or the listing stops.
 */
bool run_enter(struct run *run, size_t netns_index);
void run_leave(struct run *run);

/*
 * Back to the namespace of the first visit, also where the listing was stopped: the next one begins
 * there. Returns 0 or -errno (why it was stopped), after which no name is looked up.
 */
int run_go_home(struct run *run);

/* From now on numbers mean what they meant in that visit. */
void run_use_netns(struct run *run, uint64_t netns_index);

/* The kept rows of a section. */
struct rows *run_rows(struct run *run, size_t netns_index, unsigned section);

/*
 * tables.c: reads table i of the listing by the first backend that has it, perhaps together with
 * the next table. Returns the number of tables it read.
 */
size_t run_tables(struct run *run, size_t i);

/* Says how run_tables() would read table i. Returns the number of tables that are read as one. */
size_t run_explain(struct run *run, size_t i, struct explained *explained);

/*
 * True if a table's rows are first asked of a backend that does not tell the groups that they
 * belong to (kind.cgroup).
 */
bool run_lacks_groups(const struct run *run, const struct table *table);

/* The answers of backends for one table, up to the one that had it. */
struct answers {
    const struct backend *asked[EXPLAINED_BACKENDS_MAX];
    int errors[EXPLAINED_BACKENDS_MAX];
    size_t count;
    size_t wanted; /* rows of the last one that the filters left */
};

/*
 * refusals.c: reports that a table does not exist (remedy: what the only backend says of that, or
 * NULL), or why no backend had it. Without the right the table's existence is unknown.
 */
void run_report_missing(struct run *run, const struct listing_table *table, const char *remedy);
void run_report_lacking(struct run *run);
void run_report_unread(struct run *run, const struct listing_table *table,
                       const struct answers *answers);

/*
 * Reports why backends other than had_it (NULL: no backend had the table) did not answer, if that
 * was a fault or left values unknown. Backends that were not asked (from `tried` on) are not at
 * fault.
 */
void run_report_fallback(struct run *run, const struct listing_table *listed,
                         const struct answers *answers, size_t tried, const struct backend *had_it);
void run_report_failures(struct run *run);

/* Fields of the predicate that the backend lacks, and another one tells. */
uint64_t run_unavailable(const struct table *table, const struct backend *backend,
                         const struct predicate *where);

/* Reports these fields of the predicate: rows that may pass it were left out. */
void run_report_unavailable(struct run *run, const struct table *table,
                            const struct backend *backend, const struct predicate *where,
                            uint64_t lacks);

/*
 * lane.c: a lane carries rows from a backend to a sink. Lanes share no state that changes: each has
 * its own sink and writer.
 */
struct lane {
    struct run *run;
    struct sink *sink;
    struct seen *seen;
    struct rows *kept;             /* for rows that wait */
    bool is_behind;                /* all of its rows wait for those of the first lane */
    const struct predicate *where; /* of the table */
    /* Fields that the filter compares, and another source of the table tells, but not this one. */
    uint64_t unavailable;
    struct lane_pass pass;
    bool at_once;        /* events: no row waits for a second look at owners */
    int stopped;         /* why this lane takes no more rows: -errno */
    struct lane *second; /* for rows of the second of two tables, or NULL */
    bool (*is_second)(const struct record *record);
};

/* Makes it the lane to the listing's own sink. */
void lane_init(struct lane *lane, struct run *run, struct rows *kept);

/*
 * For two tables that are read as one: rows of the second table get a second lane, so they come
 * after the first table's rows as long as they fit into a buffer or, where a sink has no clone, are
 * not too many to wait. all: as in seen_start(). Does nothing if memory is short or
 * lane_can_keep_order() is false.
 */
void lane_keep_order(struct lane *lane, bool (*is_second)(const struct record *record), bool all);

/* True if lane_keep_order() works for this listing. */
bool lane_can_keep_order(const struct run *run);

/* A record_fn; arg is a struct lane. */
int lane_take(const struct record *record, void *arg);

/* Returns the pass that ends, of both lanes together. Another one may follow. */
struct lane_pass lane_end_pass(struct lane *lane);

/* Hands over the rows of the second lane. */
void lane_finish(struct lane *lane);

/* Says which namespace the following rows are of, where no column does and it was not said yet. */
void run_put_heading(struct run *run);

/* Hands a row to a sink, or to the listing's groups if it has some. Returns 0 or -errno. */
int run_emit(struct run *run, struct sink *sink, const struct record *record);

/* True if a row that waited is wanted, now that all names are there; counts it if it is not. */
bool run_wants(const struct run *run, const struct record *record);

/* engine.c: finds the owners of rows that waited, and hands these rows on. Returns 0 or -errno. */
int run_hand_on(struct run *run, struct rows *rows);

/* engine.c: reads what sockets without counters have moved (listing.byte_counts). */
void engine_read_counts(const struct listing *listing, struct report *report);

/* names.c: numbers to names. */
bool run_is_ownerless(const struct run *run, const struct record *record);
/* The program that finds the owners of the listing's sockets; NULL: /proc is walked, or none are.
 */
struct owners_program *run_owners_program(const struct run *run);
void run_walk_owners(struct run *run);
/* Looks for owners now, or later if the filter may leave few rows. */
void run_need_owners(struct run *run);
/*
 * If a filter may leave few rows or none, the walk is put off until they are known. Then it is made
 * for these rows, unless no process can hold any of them.
 */
void run_put_off_owners(struct run *run);
void run_walk_for(struct run *run, const struct rows *rows);
/*
 * Reads all that is shown of the owners of these rows, because rights may be given up before they
 * are shown. Returns whether one has no owner.
 */
bool run_read_owners(struct run *run, const struct rows *rows);
void run_search_unowned_again(struct run *run);
/* The same for new sockets; called again and again as long as events come. */
void run_search_new_owners(struct run *run);
/* Looks for the owners of all rows of listing.live, if it is time for that. */
void run_search_owners_again(struct run *run);
/*
 * Before a row that goes on is shown: whether its owners still hold it. If not, they are looked for
 * again, within bounds.
 */
void engine_confirm_owners(struct engine *engine, const struct record *record);
void run_report_owners(struct run *run);
/* Gives up all rights if users, services, hosts or networks are looked up. */
int run_prepare_names(struct run *run);
/* The other lookups, which may need rights: those of the machine, and those of a namespace. */
int run_prepare_numbers(struct run *run);
int run_read_cgroups(struct run *run);
int run_prepare_here(struct run *run);
void run_report_here(struct run *run);
void run_report_lookups(struct run *run);

#endif
