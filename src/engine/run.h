/* One listing under way, as the files of this room share it. */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include <string.h>

#include "engine/groups.h"
#include "engine/rows.h"
#include "engine/seen.h"
#include "fastnet/engine.h"
#include "fastnet/proc_tree.h"

struct engine {
    struct netlink *netlink;
    struct seen *seen;
    struct delta *delta; /* NULL until it is asked for */
    struct context context;
};

/* Tables of which something could not be read, for one reason, are reported together. */
enum { FAILURES_MAX = 8 };
struct failure {
    bool costs_rows; /* else only values are unknown */
    char reason[224];
    char tables[96]; /* "tcp, tcp6" */
};

/* One pass over a table: two passes that found the same rows have the same numbers. */
struct pass {
    size_t rows;         /* that the backend handed on */
    size_t unidentified; /* those of them that have no identity */
    uint64_t digest;     /* of the identities, in whatever order they came */
};

struct run {
    struct engine *engine;
    const struct listing *listing;
    struct sink *sink;
    struct report *report;
    bool silent;           /* the first run of several: what it reads is remembered */
    bool keep_all;         /* rows are kept and handed on when all are there */
    bool second_pass;      /* --exact: only what the first pass missed */
    bool ownerless;        /* a socket had no owner at the first look ... */
    bool unowned;          /* ... nor at the second */
    int stopped;           /* why rows are no longer wanted: -errno */
    bool found;            /* one of the tables was there */
    bool ended;            /* a table that is required is not there */
    struct rows *sections; /* kept rows, by section */
    size_t section_count;
    struct groups *groups; /* --count-by, or NULL */
    struct failure failures[FAILURES_MAX];
    size_t failure_count;
};

/* Where a sink has no use for sections, all rows are of one. */
static inline unsigned run_section(const struct run *run, const struct listing_table *table)
{
    return run->sink->ops->section ? table->section : 0;
}

/* Whether the listing is of a tree that was captured, and not of this machine. */
static inline bool run_is_captured(const struct run *run)
{
    return !proc_tree_is_own(run->listing->proc_root);
}

/*
 * tables.c: the table at index i of the listing, by the first backend that has it; perhaps together
 * with the next one. Returns how many tables that were.
 */
size_t run_tables(struct run *run, size_t i);
void run_report_failures(struct run *run);

/*
 * lane.c: the way of a row from a backend to the sink, with all the state that it needs. A lane
 * shares nothing that changes with another: each has a sink and a writer of its own.
 */
struct lane {
    struct run *run;
    struct sink *sink;
    struct seen *seen;
    struct rows *kept; /* where rows go that wait */
    struct pass pass;
    bool ownerless;      /* one of them had no owner */
    int stopped;         /* why this lane takes no more rows: -errno */
    struct lane *second; /* where rows of the second of two tables go, or NULL */
    bool (*is_second)(const struct record *record);
};

/* The lane to the listing's own sink. */
void lane_init(struct lane *lane, struct run *run, struct rows *kept);

/*
 * For two tables that are read as one: rows of the second go through a lane of their own, so that
 * they come behind those of the first as long as they fit into a buffer. Does nothing if memory is
 * short or lane_can_keep_order() is false.
 */
void lane_keep_order(struct lane *lane, bool (*is_second)(const struct record *record));

/* Whether lane_keep_order() can do that for this listing. */
bool lane_can_keep_order(const struct run *run);

/* A record_fn; arg is a struct lane. */
int lane_take(const struct record *record, void *arg);

/* Hands over what the second lane holds. Returns what came over both. */
struct pass lane_finish(struct lane *lane);

/* Hands a row to a sink, or to the groups of the listing where it has some. Returns 0 or -errno. */
int run_emit(const struct run *run, struct sink *sink, const struct record *record);

/* names.c: numbers to names. */
bool run_is_ownerless(const struct run *run, const struct record *record);
void run_walk_owners(struct run *run);
void run_look_again_for_owners(struct run *run);
void run_report_owners(struct run *run);
/* Gives up all rights when anything but owners and interfaces is to be looked up. */
int run_prepare_names(struct run *run);
int run_prepare_interfaces(struct run *run);
int run_prepare_netfilter(struct run *run);
void run_report_lookups(struct run *run);

#endif
