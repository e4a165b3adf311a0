/* SPDX-License-Identifier: MIT */
/*
 * A command that lists. A personality states what it lists; which columns are shown, how often, and
 * where rows are read, follows from the common options.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>

#include "cli/common.h"
#include "cli/where/where.h"
#include "fastnet/engine.h"
#include "fastnet/rates.h"

/* The columns that --count-by makes. Large: not touched without it. */
struct counting {
    struct network_field networks[LISTING_COLUMNS_MAX];
    struct field columns[LISTING_COLUMNS_MAX];
    char names[1 + SUMS_MAX][64]; /* of shares */
};

struct listing_command {
    const struct common *common;
    const struct kind *kind; /* whose columns can be shown */
    /*
     * The columns without --columns: names, separated by blanks, in several texts of which some may
     * be NULL; a column is shown once. No name at all: all columns but those with host names.
     */
    const char *columns[32];
    /*
     * Names of these columns, separated by blanks, or NULL. On a terminal a listing of the default
     * columns then fits (struct sink_options). Numbers are short then, and a last line has the
     * totals.
     */
    const char *drop, *shorten, *whole;
    bool synonym;     /* tables show that of the kind */
    const char *see;  /* in these totals: what lists the rows that need attention; or NULL */
    uint64_t unknown; /* fields that no row has: without --columns, their columns are not shown */
    uint64_t without; /* NEED_*: lookups to skip: these columns show plain numbers */
    /* Tables, filter, order, and what they need; the rest is set by command_run(). */
    struct listing listing;

    /* The personality's own layout (layouts.h), and what it needs. NULL: there are only columns. */
    const struct sink_ops *layout_ops;
    const void *layout;
    struct needs layout_needs;
    /* Metrics besides those of the rows (struct sink_options); or NULL. Gets the layout. */
    void (*more_metrics)(struct writer *writer, const void *layout);
    int output; /* the descriptor that is written to; 0: stdout */
    /* Opens that when every argument proved right. Returns an exit status. May be NULL. */
    int (*open_output)(struct listing_command *command);
    bool clock;   /* with -c, the layout needs a line that says when each listing began */
    bool verbose; /* details of how rows were read are reported, too */
    bool another; /* another listing follows: all rights are kept for it */
    /* What --count-by=host counts: a column of both ends of a row. NULL: the machine. */
    const char *both_ends;
    bool objects; /* in JSON, rows of a thing, a name and a number are an object of each thing */
    /* Carries out a listing that goes on, in place of one pass after another; or NULL. Returns the
     * exit status. */
    int (*go_on)(struct listing_command *command, struct engine *engine, struct sink *sink);
    /* After each pass whose output could be written; may be NULL. */
    void (*after_each_pass)(const void *arg, struct report *report);
    const void *arg;

    struct where where; /* the filters of the command line */
    /* Set by command_run(): the names of the running listing, and the columns that are shown. */
    const struct context *context;
    const struct field *shown[LISTING_COLUMNS_MAX];
    size_t shown_count;
    char keep[512];            /* the words of --columns, --sort and filters */
    struct counting *counting; /* room for it */
    struct rates *rates;       /* room for --delta; not touched without it */
};

/* Lists, or prints the columns for --columns=help. Returns the exit status. */
int command_run(struct listing_command *command);

/* The text of --help for --summary, which several personalities have. */
#define SUMMARY_HELP "number and memory of sockets, and limits"

/* Lists the summary, which is refused if options choose some sockets. Returns the exit status. */
int summary_list(const struct common *common, bool chosen);

/* --- Parts of it ------------------------------------------------------------------------------ */

/*
 * Sets the columns that are shown, and the members of the listing that the common options decide:
 * where, needs, sort, most, count_by, delta, exact, backend, proc_root. Returns 0, or an exit
 * status after a line on stderr. *help: the columns are asked for, and not a listing.
 */
int command_resolve(struct listing_command *command, bool *help);

/*
 * True if anybody may have written the files that are read, and the sandbox does not hide the
 * owners of this machine's sockets.
 */
bool command_is_untrusted(const struct listing_command *command);

/* The sink that rows go to. NULL when memory is short. */
struct sink *command_sink(const struct listing_command *command, struct writer *writer);

/*
 * --explain: prints the filter of the listing, and for each table how it would be read, instead of
 * the listing. Returns the exit status.
 */
int command_explain(const struct listing_command *command, struct engine *engine,
                    struct sink *sink);

/* True if states on stdout may be coloured: by --color, the environment, and if it is a terminal.
 */
bool command_colour(const struct common *common);

/* True if the locale has UTF-8, so that signs need not be ASCII. */
bool command_is_utf8(void);

/* The width of the terminal that output goes to, directly or behind a pipe; 0: unknown. */
unsigned command_width(const struct common *common);

/* --- Columns ---------------------------------------------------------------------------------- */

/* Sets the columns that are shown, and what they need. Returns 0 or an exit status. */
int columns_resolve(struct listing_command *command);

/*
 * --columns=help: prints type, unit and text of each column, in JSON or CSV as rows. Returns the
 * exit status.
 */
int columns_help(struct listing_command *command);

/* True if rows are shown in columns, and not in the personality's own layout. */
bool columns_used(const struct listing_command *command);

/* Says that rows of the listing have no such column. Returns the exit status. */
int columns_misuse(const struct listing_command *command, const char *option, struct text name);

#endif
