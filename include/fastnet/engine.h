/* A listing, carried out: choose the backend or fall back, filter, look up, sort, count, hand on.
 */
#ifndef FASTNET_ENGINE_H
#define FASTNET_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/field.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fastnet/sink.h"

/* One table of a listing. */
struct listing_table {
    const struct table *table; /* NULL: one that no backend knows, always missing */
    unsigned section;          /* tables of one section follow each other */
    uint32_t states;           /* STATES_ALL, or the states whose rows are wanted */
    /* What to do when no backend has the table. */
    const char *missing; /* said on stderr, or NULL for silence */
    bool required;       /* then the listing ends there with status 1 */
};

enum { LISTING_COLUMNS_MAX = 64 };

struct listing {
    const struct listing_table *tables;
    size_t table_count;
    bool (*keep)(const struct record *record, const void *arg); /* row filter, or NULL for all */
    const void *keep_arg;
    const struct flow_filter *flow;    /* for the backends of flows, or NULL */
    const struct query_events *events; /* of endless tables; idle is the engine's own */
    /* Endless tables: called after what was listed so far was written, with what was lost. */
    void (*pause)(void *arg, struct report *report);
    void *pause_arg;
    const struct neighbour_filter *neighbours; /* for the backends of neighbours, or NULL */
    struct needs needs;                        /* of everything that will be shown */
    enum backend_choice backend;
    const char *proc_root;
    bool exact;
    /* How rows are ordered that are not sorted by a column; NULL: as they come. */
    int (*compare)(const struct record *a, const struct record *b);
    /*
     * Counters are shown as their change a second since the run before, which is for rows of one
     * key (delta.h). The first run shows nothing and writes nothing: it is what the second is
     * compared with.
     */
    bool delta;
    const struct field *sort; /* or NULL */
    bool descending;
    const struct field *count_by[LISTING_COLUMNS_MAX];
    size_t count_by_count;
};

struct engine;

/* Returns 0 or -errno. The engine keeps its sockets and buffers from one run to the next. */
int engine_create(struct engine **engine);
/* The same with a conversation of the caller's, for tests; it becomes the engine's, always. */
int engine_create_with(struct engine **engine, struct netlink *netlink);
void engine_destroy(struct engine *engine);

/* The names of the running listing; what sinks are created with. */
const struct context *engine_context(const struct engine *engine);

/*
 * Lists once. Returns 0, or -errno of an error after which nothing more could be done; what was
 * lost on the way is in the report.
 */
int engine_run(struct engine *engine, const struct listing *listing, struct sink *sink,
               struct report *report);

#endif
