/* SPDX-License-Identifier: MIT */
/*
 * What every personality has besides its own options: other forms of output, and where to read.
 * And how every command line is parsed.
 */
#ifndef CLI_COMMON_H
#define CLI_COMMON_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/filters.h"
#include "cli/misuse.h"
#include "cli/personality.h"
#include "fastnet/hosts.h"
#include "fastnet/owners.h"
#include "fastnet/query.h"

extern const struct option_table common_options;
/* Behind these, for personalities that show owners. */
extern const struct option_table common_options_of_owners;

/*
 * The forms of output that are made of columns. A row has the option's letter and name, whether it
 * is newer than options that begin alike, what makes the sink, and the help.
 */
/* clang-format off */
#define OUTPUT_FORMATS(ROW)                                                                        \
    ROW(JSON, 'J', "json", false, sink_json_create, "one JSON array of objects")                   \
    ROW(NDJSON, 0, "ndjson", false, sink_ndjson_create, "one JSON object per line")                \
    ROW(CSV, 0, "csv", false, sink_csv_create, "RFC 4180, with a header line")                     \
    ROW(CSV_SAFE, 0, "csv-safe", false, sink_csv_create,                                           \
        "CSV that is safe to open in a spreadsheet")                                               \
    ROW(PROMETHEUS, 0, "prometheus", true, sink_prometheus_create,                                 \
        "metrics: counters, usage, or --count-by")                                              \
    ROW(OPENMETRICS, 0, "openmetrics", true, sink_openmetrics_create, "the same in the format of OpenMetrics")
#define FORMAT_NUMBER(its, ...) FORMAT_##its,
enum output_format { FORMAT_PLAIN, OUTPUT_FORMATS(FORMAT_NUMBER) };
/* clang-format on */

enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* The first member of each personality's options. Zeroed to start with. */
struct common {
    const char *program; /* for messages */
    const struct grammar *grammar;
    const struct grammar *const *words; /* NULL, but of fastnet_run() (personality.h) */
    const char *commit;                 /* as words */
    enum output_format format;
    const char *columns, *sort, *count_by, *sum; /* as typed, or NULL */
    const char *proc_root;  /* its files are read in place of those in /proc; NULL: /proc */
    const char *processes;  /* the directory with the processes; NULL: that of proc_root */
    const char *typed_root; /* --proc-root; NULL: it was not given */
    const char
        *usual_root;    /* what stands for --proc-root, if nothing says where to read; or NULL */
    const char *netns;  /* a network namespace; NULL: this one */
    int home;           /* the home namespace (namespace.h); 0: this one */
    bool all_netns;     /* all of them */
    const char *output; /* a file to replace; NULL: stdout */
    const char *completion; /* a shell, or NULL */
    bool no_header, exact, explain, percent, human;
    bool table; /* columns in place of the personality's layout */
    enum color_choice color;
    uint64_t limit;       /* rows to show; 0: all */
    bool delta;           /* rates instead of totals */
    bool nonzero;         /* only rows whose counters moved */
    unsigned interval_ms; /* between two passes; 0: there is only one */
    bool strict_interval; /* it is kept, however much processor time a pass takes */
    enum backend_choice backend;
    enum owners_choice owners;
    struct filters filters;
};

/*
 * Parses a command line and answers --help, --version and --completion.
 * What neither sets a member (struct option) nor is a common option goes to take(), with arg;
 * take NULL: it is refused.
 * Returns PARSED, or the exit status: after an answer, or after a line on stderr.
 */
int common_parse(struct common *common, const struct grammar *grammar, int argc, char *const argv[],
                 option_fn take, void *arg);

/* Rows of each personality's table: one screen of help, and all of it. */
#define HELP_OPTIONS(group)                                                                        \
    OPTION('h', NULL, group, "help that fits a screen"),                                           \
        LONG(OPTION_HELP, "help", group, "all options and more examples")
#define ABOUT_OPTIONS(group)                                                                       \
    HELP_OPTIONS(group), OPTION('V', "version", group, "version and build options")
enum { OPTION_HELP = 999 };

/* Rows of personalities that list again and again. common_parse() takes them. */
#define INTERVAL_OPTION(group)                                                                     \
    OPTION('c', "continuous", group, "repeat every second, or every SECONDS",                      \
           .argument = ARGUMENT_INTERVAL, .metavar = "[SECONDS]")
#define STRICT_INTERVAL_OPTION(group)                                                              \
    LONG(THIS_ROW, "strict-interval", group, "with -c: keep the interval, however much CPU",       \
         .member = offsetof(struct common, strict_interval), .newer = true)
#define DELTA_OPTION(group, help)                                                                  \
    LONG(THIS_ROW, "delta", group, help, .member = offsetof(struct common, delta))
#define FOR_OPTION(group, help, ...)                                                               \
    LONG(THIS_ROW, "for", group, help, TAKES("SECONDS"), .form = FORM_SECONDS, __VA_ARGS__)
#define NONZERO_OPTION(group)                                                                      \
    LONG(THIS_ROW, "nonzero", group, "with --delta: only rows whose counters changed",             \
         .member = offsetof(struct common, nonzero), .newer = true)

/* Prints what --help prints, for option_fn. */
int common_help(const struct common *common);

/* The words that run this: its own name, or fastnet and a word. */
enum { COMMON_COMMAND = 24 };
const char *common_command(const struct common *common, char command[COMMON_COMMAND]);

/*
 * Writes what was typed as words of a command line: the letters of a group of options that are set,
 * and the filters with the namespaces.
 */
void common_put_letters(FILE *stream, const struct option_table *table, unsigned group,
                        const struct common *common);
void common_put_filters(FILE *stream, const struct common *common);

/* Says what is wrong with the command line. Returns the exit status for that. */
int common_refuse(const struct common *common, const struct misuse *misuse);
#define common_misuse_of(common, ...) common_refuse(common, &(struct misuse){__VA_ARGS__})
#define common_misuse_typed(common, of, words, text)                                               \
    common_misuse_of(common, .place = (of), .wrong = (words), .typed = (text))
/* The same in words alone, made as printf(3) does. */
int common_complain(const struct common *common, enum misuse_help help, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define common_misuse(common, ...)      common_complain(common, HELP_BEHIND, __VA_ARGS__)
#define common_misuse_bare(common, ...) common_complain(common, HELP_NONE, __VA_ARGS__)

/* The program of that name that is not this one, with its path; the name alone if there is none. */
enum { ORIGINAL_SIZE = 32 };
const char *common_original(const char *name, char path[ORIGINAL_SIZE]);

/* Takes the argument of --output. Returns 0 or a status. */
int common_output(struct common *common, const char *file);

/* Width of the terminal in columns; 0 if stdout is no terminal: then lines are not cut. */
unsigned common_width(const struct common *common);

/* What says on a terminal that names are looked up; NULL if stderr is none that can erase it. */
hosts_wait_fn common_waiting(void);

/* True if metrics are written, which have names and labels in place of columns. */
bool common_is_metrics(const struct common *common);

/* True if an option asks for rows in columns, and not in the personality's own layout. */
bool common_uses_columns(const struct common *common);

/*
 * Writes text to stdout that is not a listing: help, versions, columns, completions. It is printed
 * to memory first, because stdio does not wait if stdout does not block.
 */
struct page {
    FILE *stream;
    char *text;
    size_t size;
};

/* Returns the stream to print to. */
FILE *page_open(struct page *page);
/* Writes out what was printed. Returns the exit status. */
int page_finish(struct page *page, const char *program);

/* Says that memory is short; returns the exit status. */
int no_memory_status(const char *program);

/* Says what a write to stdout met (0 or -errno); returns the exit status. */
int output_status(const char *program, int error);

#endif
