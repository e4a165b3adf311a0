/* SPDX-License-Identifier: MIT */
/* The options that every personality has in addition to its own: other forms of output, and where
 * to read. Also parses every command line. */
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
/* The same without --quiet, for conntrack, where -q is another option. */
extern const struct option_table common_options_without_quiet;
#define QUIET_HELP "print nothing; status 0: a row, 4: no row"
/* The id and the help of --nagios, which main() looks for. */
enum { OPTION_NAGIOS = 998 };
#define NAGIOS_HELP "print a line and exit as a monitoring plugin must"
/* More common options, for personalities that show owners. */
extern const struct option_table common_options_of_owners;
/* More common options, for commands that list rows of a recording (cli/recorded.h). */
extern const struct option_table common_options_of_recordings;
/* More common options, for commands that count rows (cli/thresholds.h). */
extern const struct option_table threshold_options;

/* The forms of output that are made of columns. Each row has the form's name in C, the option's
 * letter and name, whether the option is newer than options that begin alike, the function that
 * creates the sink, and the help. */
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

/* --wait: list as soon as there is a row. --wait-gone: list as soon as there is no row. */
enum wait_for { WAIT_NOT, WAIT_ROW, WAIT_GONE };

/* The first member of each personality's options. It starts as zeroes. */
struct common {
    const char *program; /* name in messages */
    const struct grammar *grammar;
    const struct grammar *const *words; /* argument of fastnet_run(); else NULL */
    const char *commit;                 /* argument of fastnet_run(), for --version */
    fastnet_run_fn *run;                /* argument of fastnet_run(); else NULL */
    char *const *typed; /* words of the command line, without the command; ends with NULL */
    enum output_format format;
    const char *columns, *sort, *count_by, *sum;               /* as typed, or NULL */
    const char *avg, *min, *max, *median, *quantile, *unknown; /* the same: aggregates */
    const char *warn, *crit, *for_each;                        /* the same (thresholds.h) */
    const char *proc_root;  /* directory whose files are read instead of /proc; NULL: /proc */
    const char *processes;  /* the directory with the processes; NULL: proc_root */
    const char *typed_root; /* --proc-root or usual_root, unchanged; NULL: neither was given */
    const char *usual_root; /* default of --proc-root; NULL: /proc */
    const char *netns;      /* network namespace to list; NULL: the own netns */
    int own_netns;      /* descriptor of this program's own netns, if it entered another; else 0 */
    bool all_netns;     /* list all network namespaces */
    bool netns_implied; /* all_netns is set because a filter names a container or pod */
    const char *output; /* file to replace; NULL: stdout */
    const char *save;   /* file for saved rows (saved.h), "-": stdout; or NULL */
    const char *const *from; /* files of saved rows to list; NULL: the kernel is asked */
    size_t from_count;
    const char *at, *between, *record; /* a moment or a span of a recording, and its directory */
    const char *completion;            /* name of a shell, or NULL */
    bool no_header, exact, explain, percent, human;
    bool quiet;   /* print nothing: the exit status says whether there is a row */
    bool nagios;  /* one line, and the exit status of a monitoring plugin */
    bool nothing; /* cppcheck-suppress unusedStructMember ; set by options without effect */
    bool table;   /* columns instead of the personality's layout */
    enum color_choice color;
    uint64_t limit;       /* largest number of rows to show; 0: no limit */
    bool delta;           /* rates instead of totals */
    bool nonzero;         /* only rows whose counters moved */
    unsigned interval_ms; /* interval of -c; 0: one listing only */
    bool strict_interval; /* keep the interval even if samples take much CPU time */
    enum wait_for wait;
    uint64_t wait_most; /* longest time of --wait, ns; 0: one sample; UINT64_MAX: no limit */
    enum backend_choice backend;
    enum owners_choice owners;
    struct filters filters;
    char lists[384]; /* lists that were typed as several words */
    size_t lists_used;
};

/* Parses a command line and answers --help, --version and --completion.
 *
 * An option goes to take(), with `arg`, unless it is a common option or sets a member (struct
 * option). Words that are not options are filters (words.h) if `take` is NULL, or if it returns
 * OPTIONS_WORD.
 *
 * Returns PARSED, or an exit status: after an answer, or after a message on stderr. */
int common_parse(struct common *common, const struct grammar *grammar, int argc, char *const argv[],
                 option_fn take, void *arg);

/* Option rows for each personality's table: -h (help of one screen) and --help (complete help). */
#define HELP_OPTIONS(group)                                                                        \
    OPTION('h', NULL, group, "help that fits a screen"),                                           \
        LONG(OPTION_HELP, "help", group, "all options and more examples")
#define ABOUT_OPTIONS(group)                                                                       \
    HELP_OPTIONS(group), OPTION('V', "version", group, "version and build options")
enum { OPTION_HELP = 999 };

/* Option rows for personalities that can repeat a listing. common_parse() handles them. */
#define INTERVAL_OPTION(group)                                                                     \
    OPTION('c', "continuous", group, "repeat every second, or every TIME: 5, 500ms, 1m",           \
           .argument = ARGUMENT_DURATION, .metavar = "[TIME]")
/* For netstat and ss: only a number is an interval. */
#define SECONDS_OPTION(group)                                                                      \
    OPTION('c', "continuous", group, "repeat every second, or every SECONDS",                      \
           .argument = ARGUMENT_INTERVAL, .metavar = "[SECONDS]")
#define STRICT_INTERVAL_OPTION(group)                                                              \
    LONG(THIS_ROW, "strict-interval", group, "with -c: do not lengthen the interval to save CPU",  \
         .member = offsetof(struct common, strict_interval), .newer = true)
#define DELTA_OPTION(group, help)                                                                  \
    LONG(THIS_ROW, "delta", group, help, .member = offsetof(struct common, delta))
#define FOR_OPTION(group, help, ...)                                                               \
    LONG(THIS_ROW, "for", group, help, TAKES("TIME"), .form = FORM_SECONDS, __VA_ARGS__)
/* -n and -p, which people add by habit: they change nothing. of_p: why -p changes nothing. Further
 * arguments are members of -n. */
#define HABIT_OPTIONS(group, of_p, ...)                                                            \
    OPTION('n', "numeric", group, "no effect: addresses and ports are numbers",                    \
           .member = offsetof(struct common, nothing), __VA_ARGS__),                               \
        OPTION('p', NULL, group, "no effect: " of_p, .member = offsetof(struct common, nothing))
#define NONZERO_OPTION(group)                                                                      \
    LONG(THIS_ROW, "nonzero", group, "with --delta: only rows whose counters changed",             \
         .member = offsetof(struct common, nonzero), .newer = true)
/* Options of other programs. */
#define MISTAKEN_OPTIONS                                                                           \
    INSTEAD(0, "top", "COUNT", "--limit=%s"), INSTEAD(0, "format", "FORM", NULL)

/* Prints the text of --help. An option_fn can return the result. */
int common_help(const struct common *common);

/* Returns how this command is typed, for example "fastnet ss". `command` has the text. */
enum { COMMON_COMMAND = 24 };
const char *common_command(const struct common *common, char command[COMMON_COMMAND]);

/* Print parts of a command line as the user would type them: the letters of the options of `group`
 * that are set; the filters and network namespaces. */
void common_put_letters(FILE *stream, const struct option_table *table, unsigned group,
                        const struct common *common);
void common_put_filters(FILE *stream, const struct common *common);

/* Reports an error in the command line. Returns the exit status for misuse. */
int common_refuse(const struct common *common, const struct misuse *misuse);
#define common_misuse_of(common, ...) common_refuse(common, &(struct misuse){__VA_ARGS__})
#define common_misuse_typed(common, of, words, text)                                               \
    common_misuse_of(common, .subject = (of), .wrong = (words), .typed = (text))
/* Like common_refuse(), with a message that is formatted as by printf(3), and no suggestions. */
int common_complain(const struct common *common, enum misuse_help help, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define common_misuse(common, ...)      common_complain(common, HELP_AFTER, __VA_ARGS__)
#define common_misuse_bare(common, ...) common_complain(common, HELP_NONE, __VA_ARGS__)

/* Finds the original program `name`, a file that is not this program. Returns its path, written to
 * `path`; `name` alone if it is not installed. */
enum { ORIGINAL_SIZE = 32 };
const char *common_original(const char *name, char path[ORIGINAL_SIZE]);

/* Handles the argument of --output. Returns 0 or an exit status. */
int common_output(struct common *common, const char *file);

/* Width of the terminal in columns; 0 if stdout is not a terminal: then lines are not cut. */
unsigned common_width(const struct common *common);

/* True if stderr is a terminal on which a line can be erased. */
bool common_can_erase(void);

/* Returns the function that shows on a terminal that names are looked up; NULL if stderr is not a
 * terminal on which the line can be erased. */
hosts_wait_fn common_waiting(void);

/* True if the listing has rows that were saved, and no rows of this machine now. */
static inline bool common_is_saved(const struct common *common)
{
    return common->from || common->at || common->between;
}

/* True if rows also have the columns of tables for people: in a table, and with --save, so that
 * --from can show the same table. */
static inline bool common_has_table(const struct common *common)
{
    return common->format == FORMAT_PLAIN || common->save;
}

/* Returns the name of the option that makes this listing wait; NULL: it does not wait. */
static inline const char *common_wait_option(const struct common *common)
{
    return common->wait == WAIT_ROW ? "--wait" : common->wait == WAIT_GONE ? "--wait-gone" : NULL;
}

/* Returns the option that only a listing of the kernel has; NULL: there is none. */
const char *common_kernel_option(const struct common *common);

/* True if the form of output is metrics, which have names and labels instead of columns. */
bool common_is_metrics(const struct common *common);

/* True if rows are counted, by columns or all rows together. */
bool common_counts(const struct common *common);

/* True if an option asks for columns instead of the personality's own layout. */
bool common_uses_columns(const struct common *common);

/* A page: text on stdout that is not a listing, such as help, versions, columns, completions. It is
 * collected in memory first, because stdio does not wait if stdout is non-blocking. */
struct page {
    FILE *stream;
    char *text;
    size_t size;
};

/* Begins a page. Returns the stream to print to. */
FILE *page_open(struct page *page);
/* Writes the page to stdout. Returns the exit status. */
int page_finish(struct page *page, const char *program);

/* Reports that memory is exhausted. Returns the exit status. */
int no_memory_status(const char *program);

/* Reports `error`, the result of writing to stdout (0 or -errno). Returns the exit status. */
int output_status(const char *program, int error);

#endif
