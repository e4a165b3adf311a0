/* SPDX-License-Identifier: MIT */
/* The options that all personalities have: parses command lines, and prints --help and
 * --version. */
#include "cli/common.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/completion.h"
#include "cli/foreign.h"
#include "cli/form.h"
#include "cli/recorded.h"
#include "cli/saved.h"
#include "cli/thresholds.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/namespace.h"
#include "fastnet/proc_tree.h"
#include "fastnet/rights.h"

enum {
    OPTION_OUTPUT = 1000,
    OPTION_FROM,
    OPTION_WAIT,
    OPTION_WAIT_GONE,
    OPTION_FORMAT,           /* first of a range: OPTION_FORMAT + FORMAT_* */
    OPTION_SHORT_HELP = 'h', /* this and the next are in the personalities' tables */
    OPTION_VERSION = 'V',
};

enum { EXAMPLE_WIDTH = 48, PAGE_NAME = 32, FROM_MAX = 1024 };

enum { OUTPUT, SOURCE };
static const char *const groups[] = {"Output", "Source"};

#define SETS(of_common) .member = offsetof(struct common, of_common)
#define FORMAT_OPTION(its, letter, name, its_newer, create, help)                                  \
    OPTION_ROW(OPTION_FORMAT + FORMAT_##its, letter, name, OUTPUT, help, SETS(format),             \
               .number = FORMAT_##its, .newer = (its_newer)),

/* No personality uses these letters, and neither does any program that a personality imitates. */
static const struct option options[] = {
    OUTPUT_FORMATS(FORMAT_OPTION) /* the macro adds the commas */
    LONG(OPTION_OUTPUT, "output", OUTPUT, "write complete listings to FILE, replacing it",
         TAKES("FILE"), .newer = true),
    LONG(THIS_ROW, "save", OUTPUT, "write rows to FILE for --from and fastnet diff", TAKES("FILE"),
         SETS(save), .newer = true),
    OPTION_ROW(THIS_ROW, 'k', "columns", OUTPUT, "show these columns; +A adds, -A removes; or help",
               TAKES("A,B,..."), OF(CHOICES_SHOWN), SETS(columns)),
    LONG(THIS_ROW, "no-header", OUTPUT, "no titles and no heading line", SETS(no_header)),
    OPTION_ROW(THIS_ROW, 'y', "sort", OUTPUT, "sort by columns: A,-B; - is descending",
               TAKES("[-]COLUMN"), OF(CHOICES_COLUMNS), SETS(sort)),
    LONG(THIS_ROW, "limit", OUTPUT, "show only the first COUNT rows", TAKES("COUNT"), SETS(limit),
         .form = FORM_COUNT, .newer = true),
    OPTION_ROW(THIS_ROW, 'Y', "count-by", OUTPUT, "count the rows with each value, largest first",
               TAKES("A,B,..."), OF(CHOICES_COLUMNS), SETS(count_by)),
    LONG(THIS_ROW, "sum", OUTPUT, "sums of these columns, by --count-by or of all",
         TAKES("A,B,..."), OF(CHOICES_NUMBERS), SETS(sum), .newer = true),
    LONG(THIS_ROW, "avg", OUTPUT, "averages of these columns: RTT_AVG", TAKES("A,B,..."),
         OF(CHOICES_MEASURES), SETS(avg), .newer = true),
    LONG(THIS_ROW, "min", OUTPUT, "smallest values: RTT_MIN", TAKES("A,B,..."),
         OF(CHOICES_MEASURES), SETS(min), .newer = true),
    LONG(THIS_ROW, "max", OUTPUT, "largest values: RTT_MAX", TAKES("A,B,..."), OF(CHOICES_MEASURES),
         SETS(max), .newer = true),
    LONG(THIS_ROW, "median", OUTPUT, "values in the middle: RTT_MEDIAN", TAKES("A,B,..."),
         OF(CHOICES_MEASURES), SETS(median), .newer = true),
    LONG(THIS_ROW, "quantile", OUTPUT, "quantiles: rtt:0.95 is RTT_P95", TAKES("A:Q,..."),
         OF(CHOICES_MEASURES), SETS(quantile), .newer = true),
    LONG(THIS_ROW, "unknown", OUTPUT, "rows without a value: RTT_UNKNOWN", TAKES("A,B,..."),
         OF(CHOICES_MEASURES), SETS(unknown), .newer = true),
    LONG(THIS_ROW, "percent", OUTPUT, "with --count-by: percent of the total", SETS(percent),
         .newer = true),
    LONG(THIS_ROW, "human", OUTPUT, "a table with short sizes and times: 1.2M, 3h05m", SETS(human),
         .newer = true),
    LONG(THIS_ROW, "color", OUTPUT, "colour states: auto, always or never", TAKES("WHEN"),
         OF("auto always never"), SETS(color), .form = FORM_WORD, .newer = true),
    LONG(OPTION_FROM, "from", SOURCE, "list rows of --save, --json or --ndjson", TAKES("FILE"),
         .newer = true),
    LONG(THIS_ROW, "exact", SOURCE, "read twice, to miss no row that stays", SETS(exact)),
    LONG(THIS_ROW, "explain", SOURCE, "show the filter, and which part the kernel applies",
         SETS(explain)),
    LONG(THIS_ROW, "backend", SOURCE, "use only netlink or proc; default auto", TAKES("NAME"),
         OF("auto netlink proc"), SETS(backend), .form = FORM_WORD),
    LONG(THIS_ROW, "netns", SOURCE, "list another network namespace: name, pid or path",
         TAKES("NETNS"), SETS(netns), .newer = true),
    LONG(THIS_ROW, "all-netns", SOURCE, "list all network namespaces, one after another",
         SETS(all_netns), .newer = true),
    LONG(THIS_ROW, "proc-root", SOURCE, "read a captured tree instead of /proc", TAKES("DIR"),
         SETS(proc_root)),
    LONG(THIS_ROW, "completion", OUTPUT, "print completions for bash, zsh or fish", TAKES("SHELL"),
         OF("bash zsh fish"), SETS(completion)),
    LONG(OPTION_WAIT, "wait", OUTPUT, "list when there is a row; for ever, or for 30s, 5m",
         .argument = ARGUMENT_ATTACHED, .metavar = "TIME", .form = FORM_SECONDS, .newer = true),
    LONG(OPTION_WAIT_GONE, "wait-gone", OUTPUT, "the same, when there is no row any more",
         .argument = ARGUMENT_ATTACHED, .metavar = "TIME", .form = FORM_SECONDS, .newer = true),
    /* the last option: common_options_without_quiet */
    OPTION_ROW(THIS_ROW, 'q', "quiet", OUTPUT, QUIET_HELP, SETS(quiet), .newer = true),
};

const struct option_table common_options = {groups, COUNT(groups), options, COUNT(options)};
const struct option_table common_options_without_quiet = {groups, COUNT(groups), options,
                                                          COUNT(options) - 1};

/* No title: in --help these options follow the group before. */
static const char *const untitled[] = {NULL};
static const struct option owners_options[] = {
    LONG(THIS_ROW, "owners", 0, "how to find owners: bpf or proc; default auto", TAKES("NAME"),
         OF("auto bpf proc"), SETS(owners), .form = FORM_WORD),
};

const struct option_table common_options_of_owners = {untitled, COUNT(untitled), owners_options,
                                                      COUNT(owners_options)};

/* --- Answers: help, version, completion ------------------------------------------------------- */

static void common_put_usage(const struct common *common, FILE *stream)
{
    char command[COMMON_COMMAND];

    fprintf(stream, "Usage: %s %s\n%s\n", common_command(common, command),
            common->words            ? "[COMMAND] [OPTION]..."
            : common->grammar->usage ? common->grammar->usage
                                     : "[OPTION]...",
            common->grammar->about);
}

/* Writes a line for each command, after `fastnet` alone. */
static void put_commands(const struct common *common, FILE *stream)
{
    const struct grammar *const *words = common->words;

    for (fputs("Commands: (without a command, fastnet lists sockets as netstat does)\n", stream);
         *words; words++) {
        char names[PAGE_NAME];
        snprintf(names, sizeof names, "%s%s%s", (*words)->alias ? (*words)->alias : "",
                 (*words)->alias ? ", " : "", (*words)->name);
        fprintf(stream, "  %-10s  %s\n", names, (*words)->help);
    }
}

static const char *page_of(const struct grammar *grammar, char page[PAGE_NAME])
{
    snprintf(page, PAGE_NAME, "fastnet-%s", grammar->name);
    return grammar->page ? grammar->page : page;
}

static void put_examples(const struct common *common, size_t most, FILE *stream)
{
    const struct example *example = common->grammar->examples;
    char command[COMMON_COMMAND], line[80];

    /* 14 commands, four examples and the prompt fill a screen. */
    fprintf(stream, "%sExamples:\n", common->words && most == EXAMPLES_SHORT ? "" : "\n");
    for (size_t i = 0; i < most && example[i].words; i++) {
        snprintf(line, sizeof line, "  %s%s%s", common_command(common, command),
                 *example[i].words ? " " : "", example[i].words);
        fprintf(stream, "%-*s  %s\n", EXAMPLE_WIDTH, line, example[i].help);
    }
}

static void put_short_help(const struct common *common, FILE *stream)
{
    char command[COMMON_COMMAND], page[PAGE_NAME];

    if (common->words) { /* commands and options do not both fit a screen */
        fprintf(stream, "Usage: %s [COMMAND] [OPTION]...\n", common_command(common, command));
        put_commands(common, stream);
    } else {
        common_put_usage(common, stream);
        fputs("\n", stream);
        options_help_some(common->grammar->tables, common->grammar->important, stream);
    }
    put_examples(common, EXAMPLES_SHORT, stream);
    fprintf(stream, "%sAll options: %s --help. More: man %s%s.\n", common->words ? "" : "\n",
            common_command(common, command), page_of(common->grammar, page),
            common->words ? ", fastnet help WORD" : "");
}

static void common_put_help(const struct common *common, FILE *stream)
{
    const struct grammar *grammar = common->grammar;
    const struct option_table *first = grammar->tables[0];
    const struct option *help = first->options;
    char page[PAGE_NAME];

    while (help->id != OPTION_HELP) /* the group of --help, and later groups, are printed last */
        help++;
    common_put_usage(common, stream);
    if (common->words)
        put_commands(common, stream);
    options_help(first, 0, help->group, grammar->important, grammar->refused, stream);
    for (size_t i = 1; grammar->tables[i]; i++)
        options_help(grammar->tables[i], 0, grammar->tables[i]->group_count, grammar->important,
                     grammar->refused, stream);
    options_help(first, help->group, first->group_count - help->group, grammar->important,
                 grammar->refused, stream);
    if (grammar->notes)
        fprintf(stream, "\n%s\n", grammar->notes);
    put_examples(common, SIZE_MAX, stream);
    fprintf(stream, "\nMore: man %s. A column, state, rule or filter: fastnet help WORD.\n",
            page_of(grammar, page));
}

static void put_version(const struct common *common, FILE *stream)
{
    fprintf(stream, "fastnet " FASTNET_VERSION);
    if (common->commit)
        fprintf(stream, " (commit %s)", common->commit);
    fprintf(stream, "\n%s\nbuilt with libmnl and libcap\n", common->grammar->version);
}

/* Prints a page. An option_fn can return the result. */
static int common_answer(const struct common *common,
                         void (*put)(const struct common *common, FILE *stream))
{
    struct page page;
    int status;

    put(common, page_open(&page));
    status = page_finish(&page, common->program);
    return status ? status : OPTIONS_ANSWERED;
}

int common_help(const struct common *common)
{
    return common_answer(common, common_put_help);
}

/* Prints the completion script for this personality's name, or for fastnet with all its words. */
static int common_complete(const struct common *common)
{
    struct page page;
    const bool known = completion_put_script(
        common->completion, common->words ? "fastnet" : common->grammar->name, page_open(&page));
    const int status = page_finish(&page, common->program);

    return known
               ? status
               : common_misuse_typed(common, "--completion", "expected bash, zsh or fish, not '%s'",
                                     as_text(common->completion));
}

/* --- Parsing ---------------------------------------------------------------------------------- */

struct parsing {
    struct common *common;
    option_fn take;
    void *arg;
    /* The list that the last word belongs to, or NULL. is_sort: it is the list of --sort. */
    const char **list;
    bool is_sort;
    bool after_from; /* the last option was --from, which further names of files may follow */
};

/* Adds the word to the list before it: after a comma, or `desc` or `asc` to a column of --sort.
 * Returns OPTIONS_WORD if the word belongs to no list, else 0 or an exit status. */
static int common_continue_list(struct parsing *parsing, const char *word)
{
    struct common *common = parsing->common;
    const char *list = parsing->list ? *parsing->list : "", *last = strrchr(list, ',');
    const bool is_open = *list && list[strlen(list) - 1] == ',';
    const size_t length = strcspn(word, ",");
    const bool down = length == 4 && strncasecmp(word, "desc", length) == 0;
    const bool up = length == 3 && strncasecmp(word, "asc", length) == 0;
    const bool ordered = parsing->is_sort && (down || up) && *list && !is_open;
    char *joined = common->lists + common->lists_used;
    const size_t size = sizeof common->lists - common->lists_used;

    if (!parsing->list || (!ordered && *word != ',' && !is_open))
        return OPTIONS_WORD;
    last = last ? last + 1 : list;
    const int used =
        snprintf(joined, size, "%.*s%s%s%s", (int)(last - list), list, down && ordered ? "-" : "",
                 last + (ordered && *last == '-'), ordered ? word + length : word);
    if (used < 0 || (size_t)used >= size)
        return common_misuse(common, "the list before '%s' is too long; write it without spaces",
                             TYPED(word));
    common->lists_used += (size_t)used + 1;
    *parsing->list = joined;
    return 0;
}

/* Remembers the list of an option that was taken, which the next word may continue. */
static void common_begin_list(struct parsing *parsing, const struct option *option)
{
    struct filters *filters = &parsing->common->filters;
    const bool is_common = option >= options && option < options + COUNT(options);
    const bool is_list =
        option->metavar && (strstr(option->metavar, ",...") || *option->metavar == '[');

    parsing->is_sort = false;
    parsing->list = NULL;
    if (is_list && is_common && option->member && option->argument == ARGUMENT_REQUIRED) {
        parsing->list = (const char **)(void *)((char *)parsing->common + option->member);
        parsing->is_sort = parsing->list == &parsing->common->sort;
    } else if (is_list && filters_are(option, "") && filters->count) {
        parsing->list = &filters->typed[filters->count - 1].text;
    }
}

/* Stores the index of `argument` among the words that the option offers. */
static int common_take_word(struct common *common, const struct option *option,
                            const char *argument)
{
    unsigned *number = (unsigned *)((char *)common + option->member);
    const char *words = option->choices;
    char all[80] = "";

    *number = 0;
    for (struct text word; text_next(&words, ' ', &word); ++*number) {
        if (strlen(argument) == word.length && strncasecmp(word.data, argument, word.length) == 0)
            return 0;
        text_list(all, sizeof all, words ? ", " : " or ", word);
    }
    return common_misuse(common, "--%s: %s, not '%s'", option->name, all, TYPED(argument));
}

/* Stores the interval between two samples. `time` NULL: one second. */
static int take_interval(struct common *common, const struct option *option, const char *time)
{
    const bool units = option->argument == ARGUMENT_DURATION;
    double interval = 1;

    if (time && (!form_seconds(time, FORM_SECONDS_MAX, &interval) || interval < 0.001))
        return common_misuse_typed(
            common, "-c",
            units ? "expected a time, 0.001 to 1000000 seconds, such as 2, 500ms or 1m, not '%s'"
                  : "an interval is 0.001 to 1000000 seconds, not '%s'",
            as_text(time));
    common->interval_ms = (unsigned)(interval * 1000);
    return 0;
}

static int take_seconds(const struct common *common, const struct option *option,
                        const char *argument, unsigned *milliseconds)
{
    double seconds;

    if (!form_seconds(argument, FORM_SECONDS_MAX, &seconds))
        return common_misuse_typed(
            common, "--for",
            "expected a time, 0 to 1000000 seconds, such as 30, 500ms or 5m, not '%s'",
            as_text(argument));
    *milliseconds = (unsigned)(seconds * 1000 + 0.999);
    return *milliseconds || !option->value
               ? 0
               : common_misuse(common, "--for=0 shows nothing: %s", option->value);
}

/* Takes --wait or --wait-gone. `time` NULL: no limit. */
static int take_wait(struct common *common, const struct option *option, const char *time)
{
    const enum wait_for wait = option->id == OPTION_WAIT ? WAIT_ROW : WAIT_GONE;
    double seconds;

    if (common->wait && common->wait != wait)
        return common_misuse(common, "--wait and --wait-gone cannot be combined");
    common->wait = wait;
    common->wait_most = UINT64_MAX;
    if (!time)
        return 0;
    if (!form_seconds(time, FORM_SECONDS_MAX, &seconds))
        return common_misuse_typed(
            common, common_wait_option(common),
            "expected a time, 0 to 1000000 seconds, such as 30, 500ms or 5m, not '%s'",
            as_text(time));
    common->wait_most = (uint64_t)(seconds * CLOCK_SECOND);
    return 0;
}

static int take_count(const struct common *common, const struct option *option,
                      const char *argument, uint64_t *count)
{
    const uint64_t most = option->number ? option->number : UINT64_MAX;

    if (form_digits(argument, count) && *count && *count <= most)
        return 0;
    if (!option->number)
        return common_misuse(common, "--%s: expected a number of rows, such as 20, not '%s'",
                             option->name, TYPED(argument));
    return common_misuse(common, "--%s: expected a number from 1 to %" PRIu64 ", not '%s'",
                         option->name, most, TYPED(argument));
}

/* The option for a form of output that other programs call by this name; length 0: none. */
static struct text option_of_form(const char *name)
{
    /* Each text: an option, then other words for it. */
    static const char *const forms[] = {"json yaml yml xml", "ndjson jsonl",     "csv tsv",
                                        "human table text",  "columns=all wide", "prometheus",
                                        "openmetrics"};
    char word[12] = "";

    snprintf(word, sizeof word, "%s", name);
    for (char *letter = word; *letter; letter++)
        *letter = (char)tolower((unsigned char)*letter);
    for (size_t i = 0; i < COUNT(forms) && strlen(name) < sizeof word; i++)
        if (text_among(forms[i], word))
            return (struct text){forms[i], strcspn(forms[i], " ")};
    return (struct text){NULL, 0};
}

/* Takes the argument of --output, a file. In other programs this option takes a form such as json,
 * so the name of a form is refused; ./json is the file of that name. */
int common_output(struct common *common, const char *file)
{
    const struct text form = option_of_form(file);

    if (!*file)
        return common_misuse(common, "--output: needs the name of a file");
    if (form.length)
        return common_misuse(common, "--output takes a file, not '%s'; did you mean --%.*s?", file,
                             (int)form.length, form.data);
    common->output = strcmp(file, "-") == 0 ? NULL : file;
    return 0;
}

/* Takes the argument of --from, a file or a directory. The option may be repeated. */
static int take_from(struct common *common, const char *file)
{
    static const char *files[FROM_MAX]; /* there is only one command line */

    if (!*file)
        return common_misuse(common, "--from: needs the name of a file");
    if (common->from_count == FROM_MAX)
        return common_misuse(common, "--from: more than %d files (try a directory)", FROM_MAX);
    files[common->from_count++] = file;
    common->from = files;
    return 0;
}

/* True if the word ends as names of saved files do: a shell may put several names after --from. */
static bool is_saved_name(const char *word)
{
    const char *end = strrchr(word, '.');

    return end && text_among(".json .ndjson .zst .gz", end);
}

/* Reports an option of another program, and what can be typed here. */
static int misuse_instead(const struct common *common, const struct option *option,
                          const char *argument)
{
    const char *word = argument ? argument + (*argument == '=') : option->metavar; /* -I=eth0 */
    const struct text form = option_of_form(word);
    char meant[2 * FILTERS_MEANT] = "";

    if (option->value)
        misuse_put_words(option->value, TYPED(word), meant, sizeof meant);
    else
        snprintf(meant, sizeof meant, "--%.*s", form.length ? (int)form.length : 4,
                 form.length ? form.data : "json");
    return common_misuse_of(
        common, .wrong = option->name ? "unrecognized option '--%s'" : "invalid option -- '%s'",
        .typed = option->name ? as_text(option->name) : (struct text){&option->letter, 1},
        .meant = as_text(meant));
}

/* Handles an option that does more than to set a member of struct common. */
static int common_take_other(const struct parsing *parsing, const struct option *option,
                             const char *argument)
{
    struct common *common = parsing->common;

    if (option->form == FORM_INSTEAD)
        return misuse_instead(common, option, argument);
    if (filters_are(option, argument))
        return filters_take(&common->filters, option, argument)
                   ? 0
                   : common_misuse(common, "--%s: more than %d filters", option->name, FILTERS_MAX);
    if (option->argument == ARGUMENT_INTERVAL || option->argument == ARGUMENT_DURATION)
        return take_interval(common, option, argument);
    switch (option->id) {
    case OPTION_OUTPUT:
        return common_output(common, argument ? argument : "");
    case OPTION_FROM:
        return take_from(common, argument ? argument : "");
    case OPTION_WAIT:
    case OPTION_WAIT_GONE:
        return take_wait(common, option, argument);
    case OPTION_SHORT_HELP:
        return common_answer(common, put_short_help);
    case OPTION_HELP:
        return common_help(common);
    case OPTION_VERSION:
        return common_answer(common, put_version);
    default:
        return parsing->take ? parsing->take(option, argument, parsing->arg) : OPTIONS_WORD;
    }
}

/* Reports an option that the personality cannot use. Returns 0 if it can. */
static int common_refuse_option(const struct common *common, const struct option *option,
                                const char *argument)
{
    const struct refused *refused = options_refused(common->grammar->refused, option);

    if (!refused || !refused->why || (argument && text_among(refused->accepted, argument)))
        return 0;
    return refused->accepted && argument
               ? common_misuse(common, "--%s=%s cannot be used here: %s", option->name,
                               TYPED(argument), refused->why)
               : common_misuse(common, "--%s cannot be used here: %s", option->name, refused->why);
}

static int common_take_member(const struct option *option, const char *argument,
                              const struct parsing *parsing)
{
    struct common *common = parsing->common;
    const char *text = argument ? argument : "";
    void *member = (char *)common + option->member;
    const int refused = common_refuse_option(common, option, argument);

    if (refused)
        return refused;
    if (!option->member)
        return common_take_other(parsing, option, argument);
    if (option->form == FORM_WORD)
        return common_take_word(common, option, text);
    if (option->form == FORM_SECONDS)
        return take_seconds(common, option, text, member);
    if (option->form == FORM_COUNT)
        return take_count(common, option, text, member);
    if (option->number)
        *(unsigned *)member = option->number;
    else if (option->argument == ARGUMENT_NONE)
        *(bool *)member = true;
    else
        *(const char **)member = argument;
    return 0;
}

static int common_take_option(const struct option *option, const char *argument, void *arg)
{
    struct parsing *parsing = arg;
    struct common *common = parsing->common;
    int result =
        option->id == OPTION_OPERAND ? common_continue_list(parsing, argument) : OPTIONS_WORD;

    if (option->id == OPTION_OPERAND && parsing->after_from && is_saved_name(argument))
        return take_from(common, argument);
    parsing->after_from = option->id == OPTION_FROM;
    if (result != OPTIONS_WORD)
        return result;
    result = common_take_member(option, argument, parsing);
    common_begin_list(parsing, option);
    if (result != OPTIONS_WORD)
        return result;
    return filters_take(&common->filters, &filters_word, argument)
               ? 0
               : common_misuse(common, "more than %d filters", FILTERS_MAX);
}

/* Handles the words that are not filters: names of options, and filters of other programs. */
static int common_take_words(struct parsing *parsing, char *const argv[])
{
    struct filters *filters = &parsing->common->filters;
    int status = foreign_refuse(parsing->common, argv);

    for (size_t i = 0; i < filters->count && !status; i++) {
        const struct option *option =
            filters->typed[i].option == &filters_word
                ? options_of_word(parsing->common->grammar->tables, filters->typed[i].text)
                : NULL;
        if (!option)
            continue;
        memmove(&filters->typed[i], &filters->typed[i + 1],
                (--filters->count - i) * sizeof filters->typed[0]);
        i--;
        message_append(filters->options, sizeof filters->options, "%s--%s",
                       *filters->options ? " " : "", option->name);
        status = common_take_member(option, NULL, parsing);
    }
    return status;
}

/* A suffix for errors: why a network namespace cannot be opened or entered. */
static const char *hint_at_rights(int error)
{
    if (error != -EPERM)
        return error == -EACCES ? rights_advice() : "";
    return rights_have(1u << RIGHT_NAMESPACES) ? " in spite of CAP_SYS_ADMIN (" REFUSED_BY ")"
           : *rights_advice()                  ? ": needs CAP_SYS_ADMIN (try sudo)"
                                               : ": needs CAP_SYS_ADMIN";
}

/* Reports an error in the words of ss and ip. opened: the namespace was opened, but not entered. */
static int fail_netns(const struct common *common, const char *name, bool opened, int error)
{
    fprintf(stderr, "%s: %s network namespace \"%s\"%s: %s%s\n", common->program,
            opened ? "setting the" : "Cannot open", TYPED(name), opened ? " failed" : "",
            strerror(-error), hint_at_rights(error));
    return STATUS_FAILURE;
}

static bool is_own_netns(int netns)
{
    struct stat file;

    return fstat(netns, &file) == 0 && file.st_ino == namespace_own_id();
}

/* Enters a network namespace and stores the own netns in common->own_netns. Does nothing if it is
 * the own netns. Call this before anything is looked up or read. Sets *opened if the network
 * namespace could be opened. Returns 0 or -errno. */
static int enter_other_netns(struct common *common, const char *name, bool *opened)
{
    const int target = namespace_open(name);
    int own, error;

    *opened = target >= 0;
    if (target < 0 || is_own_netns(target)) {
        if (target >= 0)
            close(target);
        return target < 0 ? target : 0;
    }
    own = namespace_open_own();
    error = own < 0 ? own : namespace_enter(target);
    close(target);
    if (!error)
        common->own_netns = own;
    else if (own >= 0)
        close(own);
    return error;
}

/* Owners of sockets are searched in this proc file system, unless /proc has the same processes. */
static void common_take_processes(struct common *common, const struct procfs *procfs)
{
    if (!procfs->own)
        common->processes = *procfs->root ? procfs->root : procfs->process;
}

/* --proc-root names a proc file system, or a process in one: enters the network namespace of
 * process 1 or of that process. If this is not permitted, reads the namespace's files instead,
 * because every user may read them. */
static int enter_procfs(struct common *common, struct procfs *procfs)
{
    const int found = procfs_find(common->proc_root, procfs);
    char path[PROCFS_PATH_MAX + 8];
    bool opened;

    common->typed_root = common->proc_root;
    if (found == -ENAMETOOLONG)
        return common_misuse(common, "--proc-root: '%s': %s", TYPED(common->proc_root),
                             strerror(-found));
    if (found <= 0) /* a captured tree, or an error, which the listing reports */
        return 0;
    common_take_processes(common, procfs);
    common->proc_root = NULL;
    if (procfs->own && procfs->is_root)
        return 0;
    snprintf(path, sizeof path, "%s/ns/net", procfs->process);
    const int error = enter_other_netns(common, path, &opened);
    if (!error)
        return 0;
    if ((error != -EACCES && error != -EPERM) || !proc_tree_has(procfs->process, "net/dev"))
        return fail_netns(common, path, opened, error);
    fprintf(stderr,
            "%s: cannot enter network namespace \"%s\": %s%s; only its files in %s/net are read\n",
            common->program, TYPED(path), strerror(-error), hint_at_rights(error),
            TYPED(procfs->process));
    common->proc_root = procfs->process;
    common->processes = procfs->own ? "/proc" : common->processes;
    return 0;
}

static int enter_netns(struct common *common)
{
    static struct procfs procfs; /* *common points to its texts; there is only one command line */
    bool opened;
    int error;

    if ((common->all_netns || common->netns) && common->proc_root)
        return common_misuse(common, "%s: cannot be combined with --proc-root",
                             common->netns ? "--netns" : "--all-netns");
    if (!common->proc_root && !common->all_netns && !common->netns &&
        common->backend != BACKEND_NETLINK)
        common->proc_root = common->usual_root;
    if (common->proc_root)
        return enter_procfs(common, &procfs);
    if (!common->netns)
        return 0;
    if (strchr(common->netns, '/') && procfs_find_namespace(common->netns, &procfs) > 0)
        common_take_processes(common, &procfs);
    error = enter_other_netns(common, common->netns, &opened);
    return error ? fail_netns(common, common->netns, opened, error) : 0;
}

/* True if each row that the filter allows belongs to a named container or pod. */
static bool needs_container(const struct predicate *where)
{
    const bool any = where->operation == PREDICATE_OR;
    const struct predicate *part = where->parts;

    if (where->field)
        return where->operation != PREDICATE_KNOWN && where->field->lookups & NEED_CGROUPS &&
               (strncmp(where->field->name, "container", strlen("container")) == 0 ||
                strncmp(where->field->name, "pod", strlen("pod")) == 0);
    if (where->operation == PREDICATE_NOT)
        return false;
    while (part && needs_container(part) == any)
        part = part->next;
    return any ? !part : part != NULL;
}

/* True if a filter may name a container or pod. Does not parse filters, which would cost time. */
static bool mentions_container(const struct filters *filters)
{
    bool mentions = false;

    for (size_t i = 0; i < filters->count && !mentions; i++) {
        const char *columns = filters->typed[i].option->columns;
        const char *text = columns ? columns : filters->typed[i].text;
        mentions = strstr(text, "container") || strstr(text, "pod");
    }
    return mentions;
}

/* Lists all network namespaces if a filter names a container or pod, and the user may enter them.
 * Only without options that choose where rows are read. */
static void common_imply_netns(struct common *common)
{
    const struct grammar *grammar = common->grammar;
    struct where where = {.parts = NULL};
    const struct predicate *typed = NULL;

    if (!grammar->containers_anywhere || common->all_netns || common->netns || common->proc_root ||
        common->delta || !mentions_container(&common->filters) ||
        (!recorded_is_wanted(common) && !rights_have(RIGHTS_OF_NAMESPACES)))
        return;
    /* an error is reported later */
    if (!filters_resolve(&common->filters, &where, grammar->kind, &typed) && typed)
        common->all_netns = common->netns_implied = needs_container(typed);
    where_finish(&where);
}

int common_parse(struct common *common, const struct grammar *grammar, int argc, char *const argv[],
                 option_fn take, void *arg)
{
    struct parsing parsing = {.common = common, .take = take, .arg = arg};
    char message[OPTIONS_MESSAGE];
    int status;

    common->program = argv[0];
    common->grammar = grammar;
    common->typed = argv + (argc > 0);
    status = options_parse(grammar->tables, argc, argv, common_take_option, &parsing, message);
    if (status == OPTIONS_MISUSE)
        return common_misuse_of(common, .wrong = message, .help = HELP_OWN);
    if (status)
        return status == OPTIONS_ANSWERED ? STATUS_OK : status;
    if (common->completion)
        return common_complete(common);
    status = common_take_words(&parsing, argv);
    if (status)
        return status;
    if (common->all_netns && common->netns)
        return common_misuse(common, "--all-netns and --netns cannot be combined");
    status = saved_check(common);
    if (!status)
        status = thresholds_check(common);
    if (!status)
        status = recorded_check(common);
    if (status)
        return status;
    if (!common->from)
        common_imply_netns(common);
    if (!common_is_saved(common)) /* saved rows are not in a network namespace of this machine */
        status = enter_netns(common);
    return status ? status : PARSED;
}
