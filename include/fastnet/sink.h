/* SPDX-License-Identifier: MIT */
/* Where rows go. A sink knows columns and bytes; it knows no protocol, backend or personality. */
#ifndef FASTNET_SINK_H
#define FASTNET_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/field.h"
#include "fastnet/kind.h"
#include "fastnet/writer.h"

struct sink;

/* The operations of the sinks of one kind. */
struct sink_ops {
    size_t size, layout_size; /* for sink_create() */
    /* Called once before anything else of a listing. NULL if there is nothing to do. */
    void (*begin)(struct sink *sink);
    /* Called before the rows of each section; NULL if the sink ignores sections. */
    void (*section)(struct sink *sink, unsigned section);
    void (*row)(struct sink *sink, const struct record *record);
    /* A row that --limit leaves out: only totals have it. NULL if there are none. */
    void (*unshown)(struct sink *sink, const struct record *record);
    /* No more rows for now: writes the rows that were held back. NULL if it holds none back. */
    void (*pause)(struct sink *sink);
    /* Called once at the end, also after errors. NULL if there is nothing to do. */
    void (*end)(struct sink *sink);
    /* Frees what the sink owns, not the sink. NULL if it owns nothing. */
    void (*destroy)(struct sink *sink);
    /*
     * Makes another sink for rows of the same listing, with another writer. Only its row() is
     * called, and pause() when there are no more; each row is whole lines. Both are used side by
     * side. NULL if rows depend on each other. Returns NULL when memory is short.
     */
    struct sink *(*clone)(struct sink *sink, struct writer *writer);
    /*
     * Sets other columns for the rows that follow; borrowed until the next change. NULL if they
     * cannot change, because a heading or widths depend on them. Returns false when memory is
     * short.
     */
    bool (*set_columns)(struct sink *sink, const struct field *const *columns, size_t count);
};

/* The first member of every sink. The writer keeps the first error. */
struct sink {
    const struct sink_ops *ops;
    struct writer *writer;         /* borrowed */
    const struct context *context; /* borrowed */
};

/* The options of sinks that show columns. */
struct sink_options {
    struct writer *writer;
    const struct context *context;
    const struct field *const *columns; /* borrowed for the sink's life */
    size_t count;
    bool header;      /* a heading line, CSV's header line */
    bool colour;      /* states may be coloured */
    bool human;       /* tables: short sizes and times */
    bool one_line;    /* JSON: a listing is one line */
    bool spreadsheet; /* CSV: no text may look like a formula */
    /* Tables that fit a terminal: its columns; 0: rows are as long as they are. */
    size_t width;
    /* Names of columns, separated by blanks, or NULL. To make rows fit, these are left out, the
     * first one first (on a narrow terminal, those behind a '|' not for long values of `whole`); in
     * these the end of long texts is; a long value of these is never cut, and shifts the rest of
     * its row if it does not fit (if it is in `shorten`, too, it is cut late); these are not left
     * out. */
    const char *drop, *shorten, *whole, *keep;
    const char *metric; /* metrics: what their names begin with after "fastnet_" */
    /* Metrics: writes more of them, behind those of the rows; or NULL. Gets the layout. */
    void (*more_metrics)(struct writer *writer, const void *layout);
    const void *layout;
    const struct synonym *synonym; /* tables: shown in place of its word (kind.h), or NULL */
    /* Tables: a set that says why people should look at a row (field.marks), or NULL; whether such
     * rows come first, among those that are kept to measure the columns. */
    const struct field *attention;
    bool attention_first;
    /* Tables: what rows are called in a last line of totals, NULL: no such line; and the command
     * that it names for those that need attention, or NULL. */
    const char *totals, *see;
    bool ascii;         /* tables, screens: signs are ASCII, because the locale has no UTF-8 */
    const char *titles; /* screens: titles of columns, NAME=TITLE, separated by blanks; or NULL */
};

/* Each returns NULL when memory is short. */
struct sink *sink_json_create(const struct sink_options *options);
struct sink *sink_ndjson_create(const struct sink_options *options);
struct sink *sink_csv_create(const struct sink_options *options);
struct sink *sink_table_create(const struct sink_options *options); /* fitted widths */

/*
 * Metrics, in the text format 0.0.4 of Prometheus or in that of OpenMetrics 1.0. A column of
 * numbers is a family of metrics, and a row is one metric of each family. Keys (field.key) are its
 * labels. Other texts are labels of a metric fastnet_METRIC_info, which is 1. An unknown number is
 * no metric. Rows wait until the end of the listing, because a family must not be interrupted.
 *
 * Names of families follow from the columns: METRIC, the column, its unit, and "_total" for
 * counters. A counter that grows in some rows only is fastnet_METRIC_events_total in these, and
 * fastnet_METRIC_state in the others. The column of counts (field_count) is fastnet_METRIC.
 *
 * No two metrics of a family have the same labels: groups whose labels look the same are added; of
 * other rows the first counts.
 */
struct sink *sink_prometheus_create(const struct sink_options *options);
struct sink *sink_openmetrics_create(const struct sink_options *options);

/*
 * Turns rows whose last three columns are an object, a name and a value into objects: consecutive
 * rows of one object become one row of the sink that `create` makes, with a column for each name.
 * Of equal names in an object the first counts. The columns before these three need no record.
 * Returns NULL if that sink has no set_columns.
 */
typedef struct sink *(*sink_create_fn)(const struct sink_options *options);
struct sink *sink_objects_create(const struct sink_options *options, sink_create_fn create);

/*
 * A sink of ops->size bytes: a struct sink, a copy of the layout (ops->layout_size bytes; NULL if
 * these are 0), and zeroes. Returns NULL when memory is short.
 */
struct sink *sink_create(const struct sink_ops *ops, const void *layout, struct writer *writer,
                         const struct context *context);
/* For ops->clone: another sink with the same layout. */
struct sink *sink_clone(struct sink *sink, struct writer *writer);
/* Ends what is written, because memory was short: later it would be wrong. */
void sink_lacks_memory(struct sink *sink);
void sink_begin(struct sink *sink);
/* A line before the rows that follow: a word, and a name, or the number if the name is empty. */
void sink_heading(struct sink *sink, const char *what, const char *name, uint64_t number);
void sink_end(struct sink *sink);
/* Accepts NULL. */
void sink_destroy(struct sink *sink);

#endif
