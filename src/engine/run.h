/* SPDX-License-Identifier: MIT */
/* The state of a running listing, which the files of this directory share. */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include "engine/groups.h"
#include "engine/rows.h"
#include "engine/seen.h"
#include "fastnet/engine.h"
#include "fastnet/held_sockets.h"
#include "fastnet/namespace.h"
#include "fastnet/proc_tree.h"

/* When owners are searched for again, in a listing that goes on (names.c). Times: CLOCK_MONOTONIC,
 * in nanoseconds; 0: never. */
struct owner_searches {
    uint64_t at;        /* start of the last search */
    uint64_t cost;      /* CPU time of the last search */
    uint64_t counted;   /* when `credit` was updated */
    int64_t credit;     /* CPU time that searches may use */
    uint64_t retry_at;  /* from then on sockets without owners may be searched for */
    unsigned refreshes; /* searches that kept the known owners */
    unsigned in_vain;   /* consecutive searches for sockets without owners that found no owner */
    uint64_t each_cost; /* time to confirm the owners of one row */
    size_t rows;        /* rows to confirm since the last run: engine_confirm_owners() */
};

struct engine {
    struct netlink *netlink;
    struct seen *seen;
    struct delta *delta; /* NULL until a listing needs it, like the next five members */
    struct delta *ages;  /* rows with a struct first_seen each (listing.ages) */
    struct owners_program *owners_program;
    struct kernel_sockets *kernel_sockets;
    struct connects *connects;
    struct socket_pass *pass;
    struct held_sockets *held; /* held, noted: NULL until a listing has unlisted sockets */
    struct seen *noted;        /* inodes of the sockets that the tables of the run have */
    unsigned new_searches;     /* searches for owners of new rows */
    struct owner_searches owner_searches;
    bool owners_reported;           /* listing.live: missing owners were reported */
    bool profiles_reported;         /* listing.live: the same for profiles */
    uint64_t profiled_for;          /* NEED_PROFILES and NEED_PROGRAMS of context.profiles */
    uint64_t walked_at, walked_for; /* listing.time and lookups of the last search */
    struct netns own;               /* the netns of context.here, unless the listing has several */
    struct context context;
};

/* When a row was first seen. */
struct first_seen {
    uint64_t at; /* remembered.at of that sample */
    bool is_new; /* an earlier sample lacked it */
};

/* Tables that failed for the same reason are reported together. */
enum { FAILURES_MAX = 16 };
struct failure {
    bool unread;       /* no backend read these tables */
    bool costs_status; /* rows may be missing, or values that the user asked for by name */
    char reason[224];
    char tables[96]; /* names: "tcp, tcp6" */
};

/* What one pass over a table found. Two passes that found the same rows have equal members. */
struct lane_pass {
    size_t rows;         /* rows that the backend passed on */
    size_t unidentified; /* rows without an identity */
    size_t wanted;       /* rows that passed the filters */
    bool lost;           /* a row may have been refused only because of lane.unavailable */
    uint64_t digest;     /* sum of the identities' hashes */
};

/* A missing table that is reported at the end, with exit status 1. */
enum { LACKING_MAX = 32 };
struct lacking {
    const struct table *table; /* may be NULL */
    const char *message;       /* may be NULL */
};

/* The network namespaces of a listing, one after another (netns_walk.c). */
struct netns_walk {
    struct namespaces found; /* all_netns: the network namespaces */
    size_t wanted;           /* how many of them the filter may want */
    size_t refused;          /* how many of them this program may not enter */
    size_t current, count;   /* index of the current netns; how many (1 if there is only one) */
    uint64_t cookie;         /* --delta: cookie of the current netns; 0: the only one */
    bool heading_due;        /* no row of the current netns was shown yet */
    bool moved;              /* events: this thread left the own netns */
    int used;                /* events: index of the netns of the last row */
    /* If rows wait, or if events of all namespaces are read: the lookups of each netns; else
     * NULL. */
    struct netns_lookups *lookups;
    size_t lookup_count, lookup_capacity;
    uint64_t shared_ns;             /* nanoseconds that netlink took for tables with table.shared */
    const struct socket_pass *pass; /* sockets of all netns (socket_pass.h), or NULL */
};

/* How owners are searched for (names.c). */
struct owner_search {
    bool stand_ins; /* use the cgroups of the owners, because the cgroups of the sockets are unknown
                     */
    bool reuse;     /* no new search: a maker's rows are of the same moment */
    bool deferred;  /* search when it is known which rows pass the filter */
    bool unsearched;         /* some waiting rows were not searched for, or have no owner */
    bool unowned;            /* after the second search a socket has no owner */
    size_t unowned_rows;     /* rows that are shown and have no owner */
    unsigned early_searches; /* times that rows were passed on early: too many waited */
};

/* Conditions that end a listing before its last table. */
struct limits {
    int stopped;       /* why no further row is wanted: -errno */
    uint64_t taken;    /* rows that passed the filter, if listing.limit is set */
    uint64_t identity; /* the identity that the filter requires; 0: any */
    bool seen;         /* that row has come */
    uint64_t emitted;  /* rows that were shown; a row that stands for several counts once */
    bool ended;        /* a missing table ended the listing (MISSING_ENDS) */
};

/* Sockets that no table lists (unlisted.c). */
struct unlisted {
    bool wanted;          /* the lane notes the inode of each row */
    bool of_process;      /* the filter names processes that hold a wanted socket */
    bool by_bpf;          /* BPF finds them; else they are among the descriptors of owners */
    uint64_t ended, took; /* end and duration of the last reading: CLOCK_MONOTONIC, ns; 0: none */
    const struct held_query *query; /* while table_unlisted is read, or `counted` */
    struct held_query counted;      /* for table_summary */
    uint64_t queues[4];             /* inodes of unix sockets with data to receive; 0: none */
};

struct run {
    struct engine *engine;
    const struct listing *listing;
    struct sink *sink;
    struct report *report;
    struct needs needs; /* needs of columns and predicates */
    struct netns_walk netns_walk;
    struct owner_search owners;
    struct limits limits;
    /* listing.sockets if these fill a needed field; else NULL */
    const struct listing_sockets *sockets;
    struct unlisted unlisted;
    uint32_t unused;  /* parts that waiting rows do not keep (struct rows) */
    bool silent;      /* first run with --delta: rows are only remembered */
    bool keep_all;    /* rows are kept until all rows have come */
    bool second_pass; /* --exact: only rows that the first pass missed */
    bool found;       /* a table was read */
    struct rows own_sections[LISTING_SECTIONS_MAX];
    struct rows *sections; /* kept rows (run_rows()): own_sections, or those of each namespace */
    size_t section_count;
    struct lacking lacking[LACKING_MAX];
    size_t lacking_count;
    struct groups *groups; /* --count-by; else NULL */
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

/* The directory with the processes that may own sockets. */
static inline const char *run_processes(const struct run *run)
{
    return run->listing->processes ? run->listing->processes : run->listing->proc_root;
}

/* netns_walk.c: finds the network namespaces to visit. Returns 0 or -errno. Call run_end_walk() in
 * both cases; it also frees the kept rows. */
int run_plan_walk(struct run *run);
void run_end_walk(struct run *run);

/* Begins with a network namespace: tables are now read there. Returns false if there is nothing to
 * list: the netns cannot be entered, the filter refuses it, or the listing stops. */
bool run_enter(struct run *run, size_t netns_index);
void run_leave(struct run *run);

/* Returns to the first network namespace, where the next listing begins. Returns 0 or -errno: why
 * the listing stopped, or why there is no way back. After an error the caller looks up no names. */
int run_return(struct run *run);

/* Whether one table has the events of all network namespaces: the backend finds them itself, and
 * calls these hooks with the lane. */
bool run_reads_all_events(const struct run *run);
extern const struct netns_hooks run_netns_hooks;

/* From now on, looks up numbers as in that network namespace. */
void run_use_netns(struct run *run, uint64_t netns_index);

/* The kept rows of a section. */
struct rows *run_rows(struct run *run, size_t netns_index, unsigned section);

/* tables.c: reads table i of the listing by the first backend that can, perhaps together with table
 * i + 1. Returns the number of tables that were read. */
size_t run_tables(struct run *run, size_t i);

/* Describes how run_tables() would read table i. Returns the number of tables it would read. */
size_t run_explain(struct run *run, size_t i, struct explained *explained);

/* tables.c: reads this table alone. */
void run_table(struct run *run, const struct listing_table *table);

/* unlisted.c: sockets that no table lists. run_prepare_unlisted() decides whether the run has them.
 * run_note_socket() notes that a table has the socket of this row. Both return 0 or -ENOMEM.
 * engine_prepare_unlisted() loads the programs that the runs of an engine need. */
int run_prepare_unlisted(struct run *run);
int run_note_socket(struct run *run, const struct record *record);
void run_list_unlisted(struct run *run, const struct listing_table *table);
void engine_prepare_unlisted(struct engine *engine, const struct listing *listing);

/* True if the first backend of a table does not report the rows' control groups (kind.cgroup). */
bool run_lacks_groups(const struct run *run, const struct table *table);

/* The answers of backends for one table, up to the backend that read it. */
struct answers {
    const struct backend *asked[EXPLAINED_BACKENDS_MAX];
    int errors[EXPLAINED_BACKENDS_MAX];
    size_t count;
    size_t wanted; /* rows of the last answer that passed the filters */
};

/* refusals.c: report that a table does not exist (remedy: words of the only backend, or NULL), or
 * why no backend read it. If a right is missing, nobody knows whether the table exists. */
void run_report_missing(struct run *run, const struct listing_table *table, const char *remedy);
void run_report_lacking(struct run *run);
void run_report_unread(struct run *run, const struct listing_table *table,
                       const struct answers *answers);

/* Reports why backends other than had_it did not read the table (had_it = NULL: no backend did), if
 * that was a fault or made values unknown. Backends from number `tried` on were not asked. */
void run_report_fallback(struct run *run, const struct listing_table *listed,
                         const struct answers *answers, size_t tried, const struct backend *had_it);
void run_report_failures(struct run *run);

/* Fields of the predicate that the backend lacks and another backend has. */
uint64_t run_unavailable(const struct table *table, const struct backend *backend,
                         const struct predicate *where);

/* Reports that these fields of the predicate are unknown, so that rows may be missing. */
void run_report_unavailable(struct run *run, const struct table *table,
                            const struct backend *backend, const struct predicate *where,
                            uint64_t lacks);

/* lane.c: a lane carries rows from a backend to a sink. Two lanes never change the same state: each
 * has its own sink and writer. */
struct lane {
    struct run *run;
    struct sink *sink;
    struct seen *seen;
    struct rows *kept;             /* rows that wait */
    bool follows;                  /* all rows wait for the rows of the first lane */
    const struct predicate *where; /* the table's own filter */
    /* Compared fields that another backend, or the kernel with more rights, would fill. */
    uint64_t unavailable;
    struct lane_pass pass;
    bool at_once;        /* events: no row waits for a second search for owners */
    bool recurs;         /* rows with one identity are no repeats (struct table) */
    int stopped;         /* why this lane takes no more rows: -errno */
    struct lane *second; /* takes rows of the second of two tables; or NULL */
    bool (*is_second)(const struct record *record);
};

/* Makes *lane the lane to the listing's own sink. */
void lane_init(struct lane *lane, struct run *run, struct rows *kept);

/* For two tables that are read as one: rows of the second table get a second lane, which makes them
 * follow the rows of the first table. That works while they fit into a buffer or, if the sink has
 * no clone, into memory for waiting rows. all: as in seen_start(). Does nothing if memory is short
 * or if lane_can_keep_order() is false. */
void lane_keep_order(struct lane *lane, bool (*is_second)(const struct record *record), bool all);

/* True if lane_keep_order() works for this listing. */
bool lane_can_keep_order(const struct run *run);

/* A record_fn; arg is a struct lane. */
int lane_take(const struct record *record, void *arg);

/* Returns the pass that ends, of both lanes together, and starts a new pass. */
struct lane_pass lane_end_pass(struct lane *lane);

/* Passes on the rows of the second lane. */
void lane_finish(struct lane *lane);

/* Prints the heading of the current network namespace, if it is due. */
void run_put_heading(struct run *run);

/* Passes a row to a sink, or to the listing's groups if it has groups. Returns 0 or -errno. */
int run_emit(struct run *run, struct sink *sink, const struct record *record);

/* True if the filter wants a row whose lookups are done. Counts the rows that it refuses. */
bool run_wants(const struct run *run, const struct record *record);

/* saved.c: passes the rows of listing.saved to the sink. Returns 0 or -errno. */
int run_saved(struct run *run);

/* engine.c: pass the rows that were kept, or the groups, to the sink. Return 0 or -errno. */
int run_emit_gathered(struct run *run, size_t netns_index, size_t listed);
int run_emit_groups(struct run *run);

/* engine.c: finds the owners of rows that waited, and passes on these rows. Returns 0 or -errno. */
int run_hand_on(struct run *run, struct rows *rows);

/* engine.c: reads the bytes that BPF counted for sockets without counters (listing.byte_counts). */
void engine_read_counts(const struct listing *listing, struct report *report);

/* kernel_owners.c: searches for the kernel's own sockets, in the network namespaces of rows without
 * an owner. Returns 0, or -errno if the listing must stop. */
int run_find_kernel_sockets(struct run *run, const struct rows *rows, size_t count);

/* names.c: numbers to names. run_is_ownerless(): whether a socket that must have an owner has
 * none. */
bool run_is_ownerless(const struct run *run, const struct record *record);
/* The BPF program that finds owners; NULL: /proc is walked, or no owners are needed. */
struct owners_program *run_owners_program(const struct run *run);
void run_walk_owners(struct run *run);
/* Finds owners that only the caller uses. Returns 0 or -errno. */
int run_search_owners(struct run *run, struct owners **owners);
/* Searches for owners now, or later if the filter may leave few rows. */
void run_need_owners(struct run *run);
/* If a filter may leave few rows, the search is deferred until these are known. Then run_walk_for()
 * searches, unless no process can hold any of the rows. */
void run_defer_owners(struct run *run);
void run_walk_for(struct run *run, const struct rows *rows);
/* Reads everything that is shown of the owners of these rows, because rights may be given up before
 * the rows are shown. Returns whether a row has no owner. */
bool run_read_owners(struct run *run, const struct rows *rows);
void run_search_unowned_again(struct run *run);
/* As run_search_unowned_again(), for new sockets: called again and again as long as events come. */
void run_search_new_owners(struct run *run);
/* Searches for the owners of all rows of listing.live, if a search is due. */
void run_search_owners_again(struct run *run);
/* Checks whether the owners of a known row still hold it, before the row is shown. If not, searches
 * again, unless searches have used too much CPU time. */
void engine_confirm_owners(struct engine *engine, const struct record *record);
void run_report_owners(struct run *run);
/* profiles.c: what the owners of shown rows are. run_read_profiles() visits the owners of these
 * rows before rights are given up. */
void run_prepare_profiles(struct run *run);
void run_read_profiles(struct run *run, struct rows *rows);
void run_report_profiles(struct run *run);
/* Looks up users, services, hosts and networks. Most of these lookups give up all rights. */
int run_prepare_names(struct run *run);
/* Other lookups, which may need rights. run_prepare_numbers() is for the machine,
 * run_prepare_netns() for the current network namespace. */
int run_prepare_numbers(struct run *run);
int run_read_cgroups(struct run *run);
int run_prepare_netns(struct run *run);
void run_report_netns(struct run *run);
void run_report_lookups(struct run *run);

#endif
