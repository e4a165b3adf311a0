/* SPDX-License-Identifier: MIT */
/* Carries out a listing: chooses the backend or falls back, filters, looks up, sorts, counts. */
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
    MISSING_IS_NOTED,     /* the message is a note */
    MISSING_IS_QUOTED,    /* the same, but without the program's name before it */
    MISSING_IS_PAIRED,    /* a note, and it is read even if the table before it ends the listing */
    MISSING_COSTS_STATUS, /* the rest is listed; then the message, status 1, and no further run */
    MISSING_ENDS,         /* the message, status 1, and the listing ends there */
};

/* One table of a listing. */
struct listing_table {
    const struct table *table; /* NULL: a table that no backend knows, always missing */
    unsigned section; /* below LISTING_SECTIONS_MAX; tables of one section follow each other */
    const struct predicate *where; /* its rows that are part of this listing; needs no lookups */
    const char *missing;           /* message if it is missing; NULL: none */
    bool unnamed; /* listed by default: missing fields cost a line if listing.named has them */
    enum if_missing if_missing;
};

enum { LISTING_COLUMNS_MAX = 256, LISTING_SECTIONS_MAX = 16, SORT_KEYS_MAX = 8, SUMS_MAX = 16 };

/* A column to sort by. */
struct sort_key {
    const struct field *field;
    bool descending;
};

struct byte_counts;

/* Functions that the owner of a listing adds to its runs; the engine calls them with `arg`. */
struct listing_hooks {
    uint64_t fields; /* fields that row() fills, and no backend */
    /* Completes a row that was just remembered (delta.h). Returns 0 or -ENOMEM. */
    int (*row)(void *arg, struct record *change, uint64_t netns);
    /* A run of several network namespaces enters this one (namespace_own_cookie()). */
    void (*enter_netns)(void *arg, uint64_t netns);
    /* Whether the record will be reported as an event, so that its owners must be current. */
    bool (*is_event)(const void *arg, const struct record *record);
    /* Whether rows are ranked or grouped by their owners. */
    bool (*needs_owners)(const void *arg);
    void *arg;
};

struct listing {
    const struct listing_table *tables;
    size_t table_count;
    const struct predicate *where; /* which of these rows are wanted; NULL: all */
    /* Part of it, or NULL: users and interfaces that it names and that are not there are noted. */
    const struct predicate *typed;
    size_t *refused; /* adds the number of rows that it refused; backends leave none out; or NULL */
    uint64_t limit;  /* endless tables: events->stop is set after so many rows; 0: never */
    const struct record *key;          /* for a table of one row: see struct query */
    const struct query_events *events; /* of endless tables; idle is the engine's own */
    const struct maker *maker;         /* of tables that are made (query.h) */
    /* Reports, right after the walk, that processes do not let us see theirs; NULL: noted at the
     * end. */
    void (*report_shut_out)(struct report *report, const struct owners_summary *summary);
    /* Endless tables: called when all rows so far are written; the report has the losses. */
    void (*pause)(void *arg, struct report *report);
    void *pause_arg;
    hosts_wait_fn wait; /* lookup.h; NULL: no message */
    struct needs needs; /* of everything that will be shown */
    struct needs named; /* of columns that were asked for by name: if unknown, status 1 */
    enum backend_choice backend;
    enum owners_choice owners;
    const char *proc_root;
    const char *processes; /* the directory with the processes, who own sockets; NULL: proc_root */
    /*
     * Visits all network namespaces (namespace.h). Where the sink has no column for them, a line
     * with the name stands before the rows of each (headings).
     */
    bool all_netns, headings;
    /* The namespace to look up names in, which is entered before that (setns(2)); 0: this one. */
    int home;
    const char *diag_file; /* saved answers to read in place of the kernel (query.h); or NULL */
    const int *maps;       /* of BPF storages (query.h) */
    size_t map_count;
    bool exact;
    /* The order of rows without `sort`. NULL: as they come. */
    int (*compare)(const struct record *a, const struct record *b);
    /*
     * Shows counters as changes per second since the previous run (delta.h). The first run writes
     * nothing: it only gives the second run something to compare with.
     */
    bool delta;
    /*
     * Hooks of a listing that goes on (live.h), or NULL. With hooks, rows are remembered from one
     * run to the next, with the numbers of these counters, and owners stay.
     */
    const struct listing_hooks *live;
    const struct field *const *rates;
    size_t rate_count;
    struct byte_counts *byte_counts; /* complete sockets that have no counters (byte_counts.h) */
    struct sort_key sort[SORT_KEYS_MAX + 1]; /* the field behind the last is NULL */
    /* Of the rows, or groups, in their order only so many are shown; 0: all. The report counts the
     * rest. */
    uint64_t most;
    uint64_t time;   /* when it begins, nanoseconds since 1970; 0: unknown */
    uint64_t number; /* of several with -c, from 1 on; 0: the only one */
    const struct field *count_by[LISTING_COLUMNS_MAX];
    size_t count_by_count;
    const struct field *sum[SUMS_MAX]; /* of each group; numbers */
    size_t sum_count;
    bool percent; /* the share of each group in the number of rows, and in each sum */
};

struct engine;

/*
 * The engine owns the netlink now, even on failure, and keeps it, its lookups and buffers from one
 * run to the next. Returns NULL when memory is short, or if netlink is NULL.
 */
struct engine *engine_create(struct netlink *netlink);
void engine_destroy(struct engine *engine);

/* This thread has entered another network namespace: what is open or known of the former is
 * dropped. */
void engine_move(struct engine *engine);

/* The looked-up names of the listing. Sinks are created with them. */
const struct context *engine_context(const struct engine *engine);

/* The way in which a table would be read. */
enum { EXPLAINED_BACKENDS_MAX = 4 };
struct explained {
    const struct listing_table *table; /* of the listing */
    const struct table *read; /* it, or the table that has the rows of the next one, too; or NULL */
    const struct backend *backends[EXPLAINED_BACKENDS_MAX]; /* in the order they are asked in */
    size_t backend_count;
    struct explanation kernel; /* of the first backend's request */
};
typedef void (*explain_fn)(const struct explained *explained, void *arg);

/* Passes each table of the listing to fn, instead of reading it. Returns 0 or -ENOMEM. */
int engine_explain(struct engine *engine, const struct listing *listing, struct sink *sink,
                   explain_fn fn, void *arg);

/*
 * Loads what engine_run() would load, so that children of this process need not: each of them would
 * load it again.
 */
void engine_prepare(struct engine *engine, const struct listing *listing);

/*
 * Whether these lookups of the listing make the engine give up all rights. For names of users of
 * this machine alone it keeps them, and has a child without rights ask.
 */
bool engine_gives_up_rights(const struct listing *listing, uint64_t lookups);

/* Lists once. Returns 0, or -errno of an error that ended the listing. report has the losses. */
int engine_run(struct engine *engine, const struct listing *listing, struct sink *sink,
               struct report *report);

/*
 * Lists once, and hands each row to fn in place of a sink. fn's first error (-errno) does not end
 * the listing but is returned. Returns 0, or -errno of an error that ended it.
 */
int engine_gather(struct engine *engine, const struct listing *listing, record_fn fn, void *arg,
                  struct report *report);

#endif
