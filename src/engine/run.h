/* One listing under way, as the files of this room share it. */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include "engine/groups.h"
#include "engine/rows.h"
#include "engine/seen.h"
#include "fastnet/engine.h"

struct engine {
    struct netlink *netlink;
    struct seen *seen;
    struct context context;
};

/* Tables that could not be had for one reason are told together. */
enum { FAILURES_MAX = 4 };
struct failure {
    char reason[160];
    char tables[96]; /* "tcp, tcp6" */
};

struct run {
    struct engine *engine;
    const struct listing *listing;
    struct sink *sink;
    struct report *report;
    bool keep_all;         /* rows are kept and handed on when all are there */
    bool second_pass;      /* --exact: only what the first pass missed */
    bool ownerless;        /* a socket had no owner at the first look ... */
    bool unowned;          /* ... nor at the second */
    int stopped;           /* why rows are no longer wanted: -errno */
    bool ended;            /* a table that is required is not there */
    bool any_owner;        /* found by the first walk; the second sees fastnet's own socket */
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

/* tables.c: one table, by the first backend that has it. */
void run_table(struct run *run, const struct listing_table *table);
void run_report_failures(struct run *run);

/*
 * lanes.c: the way of a row from a backend's thread to the sink. The first lane writes to the
 * listing's own sink; those that are opened for further threads have a sink and a writer of their
 * own, whose buffer is written whole.
 */
enum { LANES_MAX = 8 };

struct lane {
    struct run *run;
    struct sink *sink;
    struct seen *seen;
    struct rows *kept;    /* where rows go that wait */
    size_t handed;        /* rows that the backend handed on */
    bool ownerless;       /* one of them had no owner */
    int stopped;          /* why this lane takes no more rows: -errno */
    struct writer writer; /* further lanes: their own */
    struct rows own_kept;
};

struct lanes {
    struct lane lane[LANES_MAX];
    size_t count;
    pthread_mutex_t turn; /* of the writers */
};

void lanes_init(struct lanes *lanes, struct run *run, struct rows *kept);

/* A fan_out_fn; arg is a struct lanes. */
size_t lanes_open(void *arg, size_t wanted, void *opened[]);

/* A record_fn; arg is a struct lane. */
int lane_take(const struct record *record, void *arg);

/* Closes the further lanes and writes what they hold. Returns how many rows came over all. */
size_t lanes_finish(struct lanes *lanes);

/* Whether rows of this listing may come from several threads. */
bool lanes_possible(const struct run *run);

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

#endif
