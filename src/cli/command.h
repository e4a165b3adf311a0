/* SPDX-License-Identifier: MIT */
/* A command that lists rows. A personality says what it lists. The common options decide which
 * columns are shown, how often, and where rows are read. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>

#include "cli/common.h"
#include "cli/where/where.h"
#include "fastnet/engine.h"
#include "fastnet/rates.h"
#include "fastnet/status_line.h"

enum { NAMED_GROUPS_MAX = 64 };

/* The conditions of --warn and --crit, and the kind whose columns they compare: those of the
 * groups. Large. */
struct threshold_parts {
    struct thresholds thresholds;
    struct level_counts counts;
    bool warning_lasts, critical_lasts; /* a condition that is met stays so if more rows come */
    struct named_group named[NAMED_GROUPS_MAX];
    struct kind kind;
    struct field fields[LISTING_COLUMNS_MAX];
};

/* The columns that --count-by, --sum or --avg make. Large, so not touched without such options. */
struct counting {
    struct threshold_parts thresholds; /* not touched without --warn, --crit and --for-each */
    struct network_field networks[LISTING_COLUMNS_MAX];
    struct field columns[LISTING_COLUMNS_MAX];
    char names[1 + SUMS_MAX][64];        /* names of the columns of --percent */
    char aggregates[AGGREGATES_MAX][64]; /* names of the columns of --avg, --quantile ... */
    struct aggregate aggregated[AGGREGATES_MAX];
    char titles[512]; /* headings of views: a table says OWNERS if owners was typed */
};

struct listing_command {
    const struct common *common;
    const struct kind *kind; /* its columns can be shown */
    /* The default columns: names separated by spaces, in several texts; some may be NULL. A column
     * named twice is shown once. Without any name: all columns except host names and views. */
    const char *columns[32];
    const char
        *table[16]; /* with --save: also these columns, which the table shows; as `columns` */
    /* Names of default columns, separated by spaces, or NULL: columns that are dropped, shortened
     * or kept whole so that the table fits a terminal (struct sink_options). If one of these texts
     * is set, numbers are short, and a last line has the totals. */
    const char *drop, *shorten, *whole;
    const char *titles; /* headings of tables (struct sink_options), or NULL */
    bool synonym;       /* tables show kind.synonym->other in place of kind.synonym->word */
    const char *see; /* command for the totals, which lists the rows that need attention; or NULL */
    uint64_t unknown; /* fields that no row has; their columns are not default columns */
    uint64_t without; /* NEED_*: lookups to skip; their columns show plain numbers */
    /* Tables, filter and order, with their needs. command_run() sets the other members. */
    struct listing listing;

    /* The personality's own layout (layouts.h) and its needs. NULL: it has only columns. */
    const struct sink_ops *layout_ops;
    const void *layout;
    struct needs layout_needs;
    /* Writes metrics that no row has (struct sink_options); gets `layout`; may be NULL. */
    void (*more_metrics)(struct writer *writer, const void *layout);
    int output; /* descriptor that the output goes to; 0: stdout */
    /* Opens `output` after all arguments were accepted. Returns an exit status. May be NULL. */
    int (*open_output)(struct listing_command *command);
    bool clock;           /* with -c, the layout needs a line with the time of each listing */
    bool verbose;         /* also report details about how rows were read */
    bool own_status;      /* with --quiet: all rows are made, and the status is as without it */
    bool another_follows; /* another listing follows, so all rights are kept */
    bool silent;          /* without a row, a table has neither a heading nor totals */
    bool quiet; /* another listing reports the same problems, so this listing reports nothing */
    /* --count-by=host counts this column, with both ends. NULL: `host` is the machine's name. */
    const char *both_ends;
    bool objects; /* in JSON, rows (object, name, value) of one object are joined
                     (sink_objects_create()) */
    /* Carries out a listing without end, instead of repeated runs; or NULL. Returns a status. */
    int (*run_endless)(struct listing_command *command, struct engine *engine, struct sink *sink);
    unsigned rights; /* rights (1 << RIGHT_*) to keep, because a key of a screen may need them */
    /* Called after each run whose output could be written; may be NULL. */
    void (*after_each_run)(const void *arg, struct report *report);
    const void *arg;

    struct where where;            /* the filters of the command line */
    const struct report *problems; /* with --from: of reading the first row; else NULL */
    /* Set by command_run(): the context of the running listing, and the columns that are shown. */
    const struct context *context;
    const struct field *shown[LISTING_COLUMNS_MAX];
    size_t shown_count;
    char keep[512];            /* columns that --columns, --sort and filters name */
    struct counting *counting; /* memory for --count-by */
    struct rates *rates;       /* memory for --delta; not touched without it */
};

/* Lists the rows, or prints the columns for --columns=help. Returns the exit status. */
int command_run(struct listing_command *command);

/* The text of --help for --summary, which several personalities have. */
#define SUMMARY_HELP "number and memory of sockets, and limits"

/* Lists the summary; refuses if options choose some sockets (`chosen`). Returns the exit status. */
int summary_list(const struct common *common, bool chosen);

/* --- Parts of command_run() ------------------------------------------------------------------- */

/* Sets the columns that are shown, and the members of the listing that common options decide:
 * where, needs, sort, most, count_by, delta, exact, backend, proc_root. Returns 0, or an exit
 * status after a line on stderr. *help: the user asked for the columns instead of a listing. */
int command_resolve(struct listing_command *command, bool *help);

/* Makes a listing that only finds out whether there is a row. */
void command_make_quiet(struct listing *listing);

/* True if strangers may have written the files that are read, so the sandbox is entered. False if
 * the sandbox would hide names or owners that the listing needs. */
bool command_is_untrusted(const struct listing_command *command);

/* Creates the sink that rows go to. Returns NULL if memory is exhausted. */
struct sink *command_sink(const struct listing_command *command, struct writer *writer);

/* --explain: prints the filter, and how each table would be read. Returns the exit status. */
int command_explain(const struct listing_command *command, struct engine *engine,
                    struct sink *sink);

/* If stderr is a terminal, writes a line with the filter that words of the command line mean. Does
 * nothing if `where` is NULL, or with --explain, which shows the filter itself. */
void explain_words(const struct listing_command *command, const struct predicate *where);

/* True if a line with the time of the listing comes before its rows, with -c. */
bool command_has_clock(const struct listing_command *command);

/* Writes the line with the time of the listing: the local time (RFC 3339). */
void command_put_clock(const struct listing_command *command, struct writer *writer);

/* True if states on stdout may be coloured, by --color, the environment and stdout's type. */
bool command_colour(const struct common *common);

/* True if the locale uses UTF-8. Otherwise all signs must be ASCII. */
bool command_is_utf8(void);

/* The width of the terminal that shows the output, directly or through a pipe; 0: unknown. */
unsigned command_width(const struct common *common);

/* --- Columns ---------------------------------------------------------------------------------- */

/* Sets the columns that are shown, and what they need. Returns 0 or an exit status. */
int columns_resolve(struct listing_command *command);

/* --columns=help: prints type, unit and meaning of each column. Returns the exit status. */
int columns_help(struct listing_command *command);
/* Prints a line for each column of the kind. */
void columns_help_put(const struct kind *kind, FILE *stream);

/* Parts of a line of columns_help_put(): the type, named after the form that values have in JSON;
 * the unit, or NULL; the meaning, with other names of the column, which is written to `text`. */
enum { COLUMNS_HELP_MEANING = 200 };
const char *columns_help_type(const struct field *field);
const char *columns_help_unit(const struct field *field);
const char *columns_help_meaning(const struct kind *kind, const struct field *field,
                                 char text[COLUMNS_HELP_MEANING]);

/* The kind of a listing's rows, before rates are added to it. NULL: the listing has no table. */
const struct kind *never_kind(const struct listing *listing);

/* Returns the presence bit of the rows' age (kind.lasting) if a listing with -c fills it; 0: it
 * does not. */
uint64_t command_sees_age(const struct listing_command *command);

/* True if no row of this command can have a value in the column, although its kind has the column.
 */
bool never_fills(const struct listing_command *command, const struct field *field);
/* Refuse a column that never_fills() refuses, and that the user typed as `typed`, or a filter with
 * such a column. The message names the commands that fill it. Return 0 or an exit status. */
int never_refuse(const struct listing_command *command, const char *option,
                 const struct field *field, struct text typed);
int never_refuse_filter(const struct listing_command *command, const struct predicate *where);

/* True if rows are shown in columns, instead of the personality's own layout. */
bool columns_used(const struct listing_command *command);

/* Reports that rows have no column `name`, which `option` asks for. Returns the exit status. */
int columns_misuse(const struct listing_command *command, const char *option, struct text name);

#endif
