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

/* The operations of a type of sink. */
struct sink_ops {
    size_t size, layout_size; /* for sink_create() */
    /* Called once, before anything else of a listing; or NULL. */
    void (*begin)(struct sink *sink);
    /* Called before the rows of each section; NULL: the sink ignores sections. */
    void (*section)(struct sink *sink, unsigned section);
    void (*row)(struct sink *sink, const struct record *record);
    /* Called for a row beyond --limit, which only totals count; NULL: no totals. */
    void (*unshown)(struct sink *sink, const struct record *record);
    /* Writes the rows that were held back. Called when no row is left for now; or NULL. */
    void (*pause)(struct sink *sink);
    /* Called once at the end, also after errors; or NULL. */
    void (*end)(struct sink *sink);
    /* Frees what the sink owns, but not the sink itself; NULL: it owns nothing. */
    void (*destroy)(struct sink *sink);
    /* Makes another sink for rows of the same listing, with another writer; both sinks are used at
     * the same time. The caller calls only its row(), and pause() after the last row. Each row must
     * be whole lines. NULL: rows depend on each other. Returns NULL if memory is short. */
    struct sink *(*clone)(struct sink *sink, struct writer *writer);
    /* Sets the columns of the rows that follow; borrowed until the next change. NULL: columns
     * cannot change, because a heading or widths depend on them. Returns false if memory is
     * short. */
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
    const struct field *const *columns; /* borrowed as long as the sink lives */
    size_t count;
    bool header;      /* write a heading, in CSV a header line */
    bool colour;      /* states may be coloured */
    bool human;       /* tables: short sizes and times */
    bool one_line;    /* JSON: a listing is one line */
    bool silent;      /* tables: without a row, write neither a heading nor totals */
    bool spreadsheet; /* CSV: no text may be read as a formula */
    /* Tables: columns of the terminal to fit into; 0: rows keep their length. */
    size_t width;
    /* Names of columns, separated by spaces, or NULL. drop: columns to leave out so that rows fit,
     * first name first. On a narrow terminal, long values of `whole` columns give up their room
     * before a column after a '|' is left out. shorten: columns whose long texts lose their end.
     * whole: columns whose values are never cut; a long value shifts the rest of its row (if the
     * column is also in `shorten`, it is cut late). keep: columns that are never left out. */
    const char *drop, *shorten, *whole, *keep;
    const char *metric; /* metrics: their names begin with "fastnet_" and this text */
    /* Metrics: writes further metrics after those of the rows; or NULL. */
    void (*more_metrics)(struct writer *writer, const void *layout);
    /* argument of more_metrics(), borrowed */
    const void *layout;
    const struct synonym *synonym; /* tables: another word to write for a value (kind.h); or NULL */
    /* Tables: a set of reasons why a row needs attention (field.marks), or NULL. attention_first:
     * show such rows first, among the rows that are kept to measure the columns. */
    const struct field *attention;
    bool attention_first;
    /* Tables: `totals` is the name of rows in a last line with totals, or NULL: no such line. `see`
     * is the command that this line suggests for rows that need attention, or NULL. */
    const char *totals, *see;
    bool ascii;         /* tables, screens: use ASCII signs, because the locale has no UTF-8 */
    const char *titles; /* tables, screens: titles, NAME=TITLE, separated by spaces; or NULL */
};

/* These functions return NULL if memory is short. */
struct sink *sink_json_create(const struct sink_options *options);
struct sink *sink_ndjson_create(const struct sink_options *options);
/* The number of rows that a sink of these two wrote since it began. */
uint64_t sink_json_rows(const struct sink *sink);
/* Writes a string of JSON, with its quotes. */
void sink_put_json(struct writer *writer, struct text text);
struct sink *sink_csv_create(const struct sink_options *options);
struct sink *sink_table_create(const struct sink_options *options); /* widths fit the contents */

/* Metrics, in the text format 0.0.4 of Prometheus or in that of OpenMetrics 1.0. A column of
 * numbers is a family of metrics, and a row is one metric of each family. Keys (field.key) are its
 * labels. Other texts are labels of a metric fastnet_METRIC_info, which is 1. An unknown number is
 * left out. Rows wait until the end of the listing, because a family must not be interrupted.
 *
 * Names of families follow from the columns: METRIC, the column, its unit, and "_total" for
 * counters. A counter that grows in some rows only is fastnet_METRIC_events_total in these rows,
 * and fastnet_METRIC_state in the others. The column of counts (field_count) is fastnet_METRIC.
 *
 * No two metrics of a family have the same labels: the numbers of groups with equal labels are
 * added; of other rows with equal labels only the first is written. */
struct sink *sink_prometheus_create(const struct sink_options *options);
struct sink *sink_openmetrics_create(const struct sink_options *options);

/* Turns rows whose last three columns are an object, a name and a value into objects: consecutive
 * rows of one object become one row of the sink that `create` makes, with a column for each name.
 * If a name repeats within an object, its first value is used. The values of the columns before
 * these three must not depend on the record. Returns NULL if that sink has no set_columns(), or
 * memory is short. */
typedef struct sink *(*sink_create_fn)(const struct sink_options *options);
struct sink *sink_objects_create(const struct sink_options *options, sink_create_fn create);

/* Creates a sink of ops->size bytes: a struct sink, a copy of `layout` (ops->layout_size bytes;
 * NULL if that is 0), and zeroes. Returns NULL if memory is short. */
struct sink *sink_create(const struct sink_ops *ops, const void *layout, struct writer *writer,
                         const struct context *context);
/* For ops->clone: creates another sink with the same layout. */
struct sink *sink_clone(struct sink *sink, struct writer *writer);
/* Stops all output, because memory was short: further output would be wrong. */
void sink_lacks_memory(struct sink *sink);
/* Calls ops->begin(), unless it is NULL. */
void sink_begin(struct sink *sink);
/* Writes a line before the rows that follow: `what`, and a name, or `number` if the name is
 * empty. */
void sink_heading(struct sink *sink, const char *what, const char *name, uint64_t number);
/* Calls ops->end(), unless it is NULL. */
void sink_end(struct sink *sink);
/* Frees the sink. Accepts NULL. */
void sink_destroy(struct sink *sink);

#endif
