/* SPDX-License-Identifier: MIT */
/* Carries out a listing: chooses a backend or falls back, filters, looks up, sorts, counts. */
#ifndef FASTNET_ENGINE_H
#define FASTNET_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/field.h"
#include "fastnet/hosts.h"
#include "fastnet/owners.h"
#include "fastnet/predicate.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fastnet/sink.h"

/* The consequence if no backend has the table. The message is listing_table.missing. */
enum if_missing {
    MISSING_IS_NOTED,  /* the message is a note */
    MISSING_IS_QUOTED, /* a note without the program's name before it */
    MISSING_IS_PAIRED, /* a note; the table is read even if the table before it ended the listing */
    MISSING_COSTS_STATUS, /* lists the other tables; then the message, status 1, no further run */
    MISSING_ENDS,         /* the message, status 1, and the listing ends */
};

/* One table of a listing. */
struct listing_table {
    const struct table *table; /* NULL: a table that no backend knows, always missing */
    unsigned section; /* below LISTING_SECTIONS_MAX; tables of a section follow each other */
    const struct predicate *where; /* only these rows are listed; the predicate needs no lookups */
    const char *missing;           /* message if the table is missing; NULL: no message */
    bool unnamed; /* a default table: only fields in listing.named may be reported missing */
    enum if_missing if_missing;
};

enum { LISTING_COLUMNS_MAX = 320, LISTING_SECTIONS_MAX = 16, SORT_KEYS_MAX = 8, SUMS_MAX = 16 };
enum { AGGREGATES_MAX = 32 };

struct sort_key {
    const struct field *field;
    bool descending;
};

/* A number that is computed from a column of numbers or times over the rows of a group. Rows whose
 * value is unknown are left out; AGGREGATE_UNKNOWN counts them. */
enum aggregate_function {
    AGGREGATE_AVG,
    AGGREGATE_MIN,
    AGGREGATE_MAX,
    AGGREGATE_QUANTILE, /* a value of one of the rows (engine/quantiles.h) */
    AGGREGATE_UNKNOWN,
};
struct aggregate {
    const struct field *field;
    enum aggregate_function function;
    uint32_t millionths; /* AGGREGATE_QUANTILE: 500000 is the median */
};

/* Returns the type of an aggregate of values of this type. */
static inline enum value_type aggregate_type(enum aggregate_function function, enum value_type type)
{
    if (function == AGGREGATE_UNKNOWN)
        return VALUE_NUMBER;
    return function == AGGREGATE_AVG && type == VALUE_NUMBER ? VALUE_DECIMAL : type;
}

/* What happened to rows of a group: the columns opened, failed and closed, per second. */
enum turnover { TURNOVER_OPENED, TURNOVER_FAILED, TURNOVER_CLOSED, TURNOVER_COLUMNS };

struct byte_counts;
struct listing;

/* Whether a listing has sockets that no table lists (held_sockets.h). Its last table is
 * table_unlisted then. */
enum unlisted_choice {
    UNLISTED_NO,
    UNLISTED_OF_PROCESS, /* if the filter names processes by number */
    UNLISTED_ALL,        /* and all other held sockets, of tables that the listing does not have */
    UNLISTED_ONLY,       /* rows of other tables are not shown */
    UNLISTED_COUNTED,    /* only table_summary counts them; there is no table_unlisted */
};

/* Functions that the owner of a listing adds to its runs; the engine calls them with `arg`. */
struct listing_hooks {
    uint64_t fields; /* fields that row() fills, and no backend */
    /* Completes a row that was just remembered (delta.h). Returns 0 or -ENOMEM. */
    int (*row)(void *arg, struct record *change, uint64_t netns);
    /* A run of several network namespaces has entered the namespace with this cookie. */
    void (*enter_netns)(void *arg, uint64_t netns);
    /* True if the record will be passed on as an event, so that its owners must be current. */
    bool (*is_event)(const void *arg, const struct record *record);
    /* True if rows are ranked or grouped by their owners. */
    bool (*needs_owners)(const void *arg);
    void *arg;
};

/* Functions that find the sockets of rows which are not sockets; the engine calls them with `arg`
 * if the listing needs one of `fields`. */
struct listing_sockets {
    uint64_t fields; /* fields that complete() fills, and no backend */
    /* Reads the sockets, once in each run, before the rows. Returns 0 or -ENOMEM. */
    int (*read)(void *arg, const struct listing *listing, struct report *report);
    /* Completes a row. netns: inode of the network namespace in which the row was read; 0: that in
     * which the run began. What the row borrows is valid until the next read(). */
    void (*complete)(void *arg, struct record *record, uint64_t netns);
    void *arg;
};

/* What a command line asks for. All pointers are borrowed. */
struct listing {
    const struct listing_table *tables;
    size_t table_count;
    const struct predicate *where; /* filter; NULL: all rows */
    /* Names of users and interfaces in this part of `where` are noted if unknown. NULL: none. */
    const struct predicate *typed;
    size_t *refused; /* counts rows that `where` refuses; NULL: backends may leave such rows out */
    uint64_t limit;  /* endless tables: after this number of rows events->stop is set; 0: never */
    const struct record *key;          /* for a table of one row: see struct query */
    const struct query_events *events; /* for endless tables; the engine sets `idle` itself */
    const struct maker *
        maker; /* makes the rows of tables of fastnet's own (drops, traffic, findings); else NULL */
    /* Reports, right after the search for owners, that processes hide their sockets from this user.
     * NULL: a note at the end. */
    void (*report_shut_out)(struct report *report, const struct owners_summary *summary);
    /* Endless tables: called when all rows so far are written. `report` has the losses. */
    void (*pause)(void *arg, struct report *report);
    void *pause_arg;
    hosts_wait_fn wait; /* called when lookups of hosts take long (hosts.h); NULL: no message */
    struct needs needs; /* fields and lookups for everything that will be shown */
    struct needs named; /* needs of columns that the user named: if unknown, the status is 1 */
    enum backend_choice backend;
    enum owners_choice owners;
    const char *proc_root;
    const char *processes; /* directory with the processes that own sockets; NULL: proc_root */
    /* all_netns: list all network namespaces (namespace.h). headings: if no column shows the
     * network namespace, a line with its name comes before its rows. */
    bool all_netns, headings;
    bool netns_implied; /* the user did not ask for all_netns: a netns that cannot be read is no
                           loss */
    bool hides_kernel;  /* a layout: nothing shows whether a socket belongs to the kernel */
    /* Descriptor of the network namespace to enter before names are looked up (setns(2)), or 0. */
    int own_netns;
    const char *diag_file; /* file with saved answers of the kernel (query.h), or NULL */
    /* Rows that were printed before, in place of the tables (saved.h); NULL: the tables are read. A
     * saved row belongs to the first table whose family and protocol it has; without such a table
     * it is not listed. No lookup is made. */
    struct saved_source *saved;
    const int *maps; /* descriptors of BPF maps: list only their storages (query.h) */
    size_t map_count;
    bool exact;
    /* Shows counters as changes per second since the run before (delta.h). The first run writes
     * nothing: it only reads the numbers that the second run is compared with. */
    bool delta;
    /* With -c: sets the age of each row (kind.lasting) to the time since a run first listed it. All
     * rows are remembered, so backends leave out none. */
    bool ages;
    enum unlisted_choice unlisted;
    /* Order of rows if `sort` is empty. NULL: the order in which they arrive. */
    int (*compare)(const struct record *a, const struct record *b);
    /* Hooks of a listing that continues (live.h), or NULL. With hooks, rows are remembered from one
     * run to the next with the counters in `rates`, and owners are kept. */
    const struct listing_hooks *live;
    const struct field *const *rates;
    size_t rate_count;
    const struct listing_sockets *sockets;   /* finds sockets of rows of another kind; or NULL */
    struct byte_counts *byte_counts;         /* bytes of sockets without counters (byte_counts.h) */
    struct sort_key sort[SORT_KEYS_MAX + 1]; /* ends with a key whose field is NULL */
    /* Show only this number of rows or groups, the first in their order; 0: all. The report counts
     * the rows that are not shown. */
    uint64_t most;
    uint64_t time;   /* begin of the run, ns since 1970; 0: unknown */
    uint64_t number; /* number of this run with -c, from 1 on; 0: the only run */
    const struct field *count_by[LISTING_COLUMNS_MAX];
    size_t count_by_count;
    const struct field *sum[SUMS_MAX]; /* columns of numbers to add up in each group */
    size_t sum_count;
    bool percent; /* show the share of each group in the number of rows, and in each sum */
    const struct aggregate *aggregates;
    size_t aggregate_count;
    bool turnover; /* the last values of a group are its turnover */
};

/* True if rows are counted. Without count_by, all rows are one group. */
static inline bool listing_counts(const struct listing *listing)
{
    return listing->count_by_count || listing->sum_count || listing->aggregate_count;
}

struct engine;

/* Takes ownership of `netlink`, even on failure. The engine keeps `netlink`, lookups and buffers
 * from one run to the next. Returns NULL if memory is short, or if netlink is NULL. */
struct engine *engine_create(struct netlink *netlink);
void engine_destroy(struct engine *engine);

/* Call this when the thread entered another netns: closes sockets, forgets lookups of the old. */
void engine_change_netns(struct engine *engine);

/* Returns the lookups of the listing. Sinks are created with them. */
const struct context *engine_context(const struct engine *engine);

/* Lets views use only ASCII for signs of their own (struct context). */
void engine_use_ascii(struct engine *engine);

/* How a table would be read. */
enum { EXPLAINED_BACKENDS_MAX = 4 };
struct explained {
    const struct listing_table *table;
    const struct table *read; /* the table, or a joint table that has its rows; or NULL */
    const struct backend *backends[EXPLAINED_BACKENDS_MAX]; /* in the order of asking */
    size_t backend_count;
    struct explanation kernel; /* what the first backend would ask the kernel for */
};
/* Takes the explanation of one table, which is valid during the call. */
typedef void (*explain_fn)(const struct explained *explained, void *arg);

/* Passes each table of the listing to `fn` instead of reading it. Returns 0 or -ENOMEM. */
int engine_explain(struct engine *engine, const struct listing *listing, struct sink *sink,
                   explain_fn fn, void *arg);

/* Loads everything that engine_run() would load, so that each child of this process does not load
 * it again. */
void engine_prepare(struct engine *engine, const struct listing *listing);

/* True if these lookups (NEED_*) of the listing make the engine give up all rights. If only names
 * of this machine's users are looked up, the engine keeps its rights, and a child without rights
 * looks up the names. */
bool engine_gives_up_rights(const struct listing *listing, uint64_t lookups);

/* Runs the listing once. Returns 0, or -errno of an error that ended it. report gets the losses. */
int engine_run(struct engine *engine, const struct listing *listing, struct sink *sink,
               struct report *report);

/* Runs the listing once, and passes each row to `fn` instead of a sink. Returns 0, or -errno of an
 * error that ended the listing. An error of fn (-errno) does not end the listing; the first such
 * error is returned. */
int engine_gather(struct engine *engine, const struct listing *listing, record_fn fn, void *arg,
                  struct report *report);

#endif
