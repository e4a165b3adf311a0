/* SPDX-License-Identifier: MIT */
/* fastnet diff: compares a saved listing with another, or with the same listing of now. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/diff/now.h"
#include "cli/diff/question.h"
#include "fastnet/array.h"
#include "fastnet/differences.h"
#include "fastnet/report.h"

enum { OLD, NOW, LISTINGS };
enum { COLUMNS_MAX = 8192 };

/* Exit statuses; 2 is misuse. */
enum { STATUS_DIFFERS = 1, STATUS_UNKNOWN = 3 };

struct diff_command {
    struct common common; /* must be first */
    const char *files[LISTINGS];
    size_t count;
    struct saved_source *sources[LISTINGS];
    bool incomplete[LISTINGS];                  /* rows may be missing before the first row */
    struct question questions[LISTINGS], other; /* other: of a further head */
    struct now_listing now;
    struct saved_source *differences;
    uint64_t listed; /* differences that the filters want */
    char columns[COLUMNS_MAX];
};

enum { SHOW, OTHER };
static const char *const groups[] = {"How it is shown", "About fastnet"};

static const struct option options_table[] = {
    HABIT_OPTIONS(SHOW, "processes are always shown", .newer = true),
    ABOUT_OPTIONS(OTHER),
    MISTAKEN_OPTIONS,
};

static const struct operands operands[] = {{NULL, "", "!ls"}};

static const struct example examples[] = {
    {"base", "since s -l --save=base"},
    {"monday tuesday", "between two saved listings"},
    {"base --where 'change != replaced'", "restarts do not count"},
    {"base --columns +recv_q", "also compare the queues"},
    {"base --ndjson", "for programs"},
    {NULL, NULL},
};

static const struct refused refused[] = {
    {"from", NULL, "the words after diff are the saved listings"},
    {"netns", NULL, "the listing is repeated as it was made"},
    {"all-netns", NULL, "the listing is repeated as it was made"},
    {"proc-root", NULL, "the listing is repeated as it was made"},
    {"backend", "auto", "the listing is repeated as it was made"},
    {"exact", NULL, "the listing is repeated as it was made"},
    {"wait wait-gone", NULL, "the listing is repeated as it was made"},
    {"explain", NULL, "rows that were saved are compared"},
    {NULL, NULL, NULL},
};

const struct grammar diff_grammar = {
    .name = "diff",
    .help = "what has changed since a listing was saved",
    .tables = {OPTION_TABLE(groups, options_table), &filters_of_differences, &common_options},
    .refused = refused,
    .kind = &kind_socket,
    .operands = operands,
    .usage = "[OPTION]... OLD [NEW]",
    .about = "Compares two listings that --save wrote; without NEW, OLD with now.\n"
             "Exit status: 0 same, 1 different, 2 misuse, 3 not known: a listing is incomplete.",
    .important = "where columns sort limit count-by json ndjson output",
    .examples = examples,
    .version = "backends: those of the saved listing",
};

/* --- Which listings --------------------------------------------------------------------------- */

static int diff_take_option(const struct option *option, const char *argument, void *arg)
{
    struct diff_command *command = arg;

    (void)option;
    if (command->count == LISTINGS)
        return common_misuse_of(&command->common,
                                .wrong = "diff compares two listings; what is '%s'?",
                                .typed = as_text(argument));
    command->files[command->count++] = argument;
    return 0;
}

static int diff_parse(struct diff_command *command, int argc, char *const argv[])
{
    struct common *common = &command->common;
    const int status = common_parse(common, &diff_grammar, argc, argv, diff_take_option, command);
    const bool help = common->columns && strcmp(common->columns, "help") == 0;

    if (status != PARSED)
        return status;
    if (!command->count && !help)
        return common_misuse(common, "diff needs a saved listing (try fastnet s -l --save=FILE)");
    if (command->count == LISTINGS && strcmp(command->files[OLD], "-") == 0 &&
        strcmp(command->files[NOW], "-") == 0)
        return common_misuse(common, "only one of the two listings can be stdin");
    return PARSED;
}

/* Opens a saved listing. kind: NULL if the file says it. Returns 0 or an exit status. */
static int diff_open(struct diff_command *command, size_t which, const char *file,
                     const struct kind *kind)
{
    struct report report = {.partial = false};
    struct saved_source *source = saved_files_open(&file, 1, kind, &report);
    const struct saved_head *head = source ? source->head : NULL;

    report_print(&report, stderr, command->common.program);
    command->incomplete[which] = report.partial;
    if (!source)
        return STATUS_REFUSED;
    command->sources[which] = source;
    question_read(&command->questions[which], head ? head->arguments : NULL);
    if (head && head->counted)
        return common_misuse_bare(&command->common, "%s has groups of --count-by, not rows",
                                  TYPED(file));
    if (command->questions[which].is_limited)
        return common_misuse_bare(&command->common, "%s was listed with --limit, so it lacks rows",
                                  TYPED(file));
    return 0;
}

/* Opens the listing of now, which a child makes. */
static int diff_open_now(struct diff_command *command)
{
    const struct common *common = &command->common;
    const struct question *question = &command->questions[OLD];

    if (!question->lister || question->is_refused)
        return common_misuse_bare(common, "%s cannot be compared with now: %s (try: diff %s NEW)",
                                  TYPED(command->files[OLD]), question->message,
                                  TYPED_SHORT(command->files[OLD]));
    const int error = now_begin(&command->now, question);
    if (error) {
        fprintf(stderr, "%s: cannot list now: %s\n", common->program, strerror(-error));
        return STATUS_UNKNOWN;
    }
    /* if the old listing is stdin, it was opened already, with a descriptor of its own */
    if (dup2(command->now.rows, STDIN_FILENO) < 0)
        return STATUS_UNKNOWN;
    return diff_open(command, NOW, "-", command->sources[OLD]->kind);
}

/* Says that the listing of another machine is compared with this machine. */
static void diff_note_hosts(const struct diff_command *command)
{
    const struct saved_head *old = command->sources[OLD]->head, *now = command->sources[NOW]->head;

    if (command->count < LISTINGS && old && now && *old->host && strcmp(old->host, now->host) != 0)
        fprintf(stderr, "%s: %s was listed on %s, but now is listed on %s\n",
                command->common.program, TYPED(command->files[OLD]), TYPED_SHORT(old->host),
                TYPED_SHORT(now->host));
}

static int diff_open_both(struct diff_command *command)
{
    const struct common *common = &command->common;
    int status = diff_open(command, OLD, command->files[OLD], NULL);

    if (status)
        return status;
    status = command->count == LISTINGS
                 ? diff_open(command, NOW, command->files[NOW], command->sources[OLD]->kind)
                 : diff_open_now(command);
    if (status)
        return status;
    diff_note_hosts(command);
    if (command->sources[OLD]->kind != command->sources[NOW]->kind)
        return common_misuse_bare(common, "%s has %s, but %s has %s", TYPED(command->files[OLD]),
                                  command->sources[OLD]->kind->name,
                                  TYPED(command->count == LISTINGS ? command->files[NOW] : "now"),
                                  command->sources[NOW]->kind->name);
    if (command->questions[OLD].lister && command->questions[NOW].lister &&
        !question_is_same(&command->questions[OLD], &command->questions[NOW]))
        return common_misuse_bare(
            common, "the two listings have different filters or options, so rows that only one of "
                    "them has prove nothing");
    return 0;
}

/* For difference_options: refuses a further head that asks for other rows. */
static const char *diff_refuses(void *arg, const struct saved_head *head)
{
    struct diff_command *command = arg;
    struct question *question = &command->other;

    question_read(question, head->arguments);
    if (head->counted)
        return "one of the listings has groups of --count-by, not rows";
    return question->lister && command->questions[OLD].lister &&
                   !question_is_same(question, &command->questions[OLD])
               ? "the listings have different filters or options"
               : NULL;
}

/* --- The listing ------------------------------------------------------------------------------ */

/* Notes rows of which it is not known whether they differ. */
static void diff_after_run(const void *arg, struct report *report)
{
    static const char *const lacking[LISTINGS] = {
        [OLD] =
            "that only the old listing has: not known whether they were closed, because the new "
            "listing is incomplete",
        [NOW] =
            "that only the new listing has: not known whether they were opened, because the old "
            "listing is incomplete",
    };
    struct diff_command *command = (struct diff_command *)(uintptr_t)arg;
    const struct difference_summary *summary = differences_summary(command->differences);

    command->listed = report->listed + report->unshown;
    if (summary->refused) {
        report_loss(report, "cannot compare: %s", summary->refused);
        return;
    }
    report->partial |= !command->listed && (summary->incomplete[OLD] || summary->incomplete[NOW]);
    for (size_t i = 0; i < LISTINGS; i++)
        if (summary->unknown[i])
            report_note(report, "%" PRIu64 " row%s %s", summary->unknown[i],
                        summary->unknown[i] == 1 ? "" : "s", lacking[i]);
}

/* The default columns: for people the columns that the old listing names (--columns) or else the
 * kind, for programs all that were saved. */
static const char *diff_columns(struct diff_command *command)
{
    struct saved_source *source = command->differences;
    const struct kind *kind = source->kind;
    const bool plain = command->common.format == FORMAT_PLAIN;
    const char *shown = kind->matching ? kind->matching->shown : NULL;
    const bool chosen = command->questions[OLD].has_columns;
    const struct field *field;

    if (plain && shown && !chosen)
        return shown;
    *command->columns = '\0';
    for (size_t i = 0; (field = field_at(kind, i)); i++)
        if (plain && !chosen
                ? field->key || field->coloured
                : (plain || field->type != VALUE_VIEW) && source->has(source, field->name))
            message_append(command->columns, COLUMNS_MAX, " %s", field->name);
    return command->columns;
}

static int diff_list(struct diff_command *command)
{
    struct common *common = &command->common;
    struct saved_source *source = command->differences;
    const struct table table = {.name = "differences", .kind = source->kind};
    const struct listing_table tables = {.table = &table, .unnamed = true};
    const bool plain = common->format == FORMAT_PLAIN;
    struct listing_command listing = {
        .common = common,
        .kind = source->kind,
        .columns = {"change", diff_columns(command), "what"},
        .drop = plain ? "proto state" : NULL,
        .shorten = "what owners summary subject",
        .whole = "local remote",
        .silent = true,
        .own_status = true,
        .listing = {.tables = &tables, .table_count = 1, .saved = source},
        .after_each_run = diff_after_run,
        .arg = command,
    };

    common->human |= plain && !common->columns && !common->count_by;
    return command_run(&listing);
}

/* The exit status, when the child has ended with `child`. */
static int diff_status(const struct diff_command *command, int status, int child)
{
    const struct difference_summary *summary = differences_summary(command->differences);

    if (status >= STATUS_REFUSED)
        return status;
    if (summary->refused)
        return STATUS_REFUSED;
    if (command->listed)
        return STATUS_DIFFERS;
    return status || child < 0 ? STATUS_UNKNOWN : STATUS_OK;
}

static int diff_compare(struct diff_command *command)
{
    const struct difference_options options = {
        .old = command->sources[OLD],
        .now = command->sources[NOW],
        .incomplete = {command->incomplete[OLD], command->incomplete[NOW]},
        .named = command->common.columns,
        .refuses = diff_refuses,
        .arg = command,
    };
    int status, child;

    command->differences = differences_open(&options);
    if (!command->differences)
        return no_memory_status(command->common.program);
    command->sources[OLD] = command->sources[NOW] = NULL;
    status = diff_list(command);
    child = now_finish(&command->now);
    status = diff_status(command, status, child);
    saved_source_close(command->differences);
    return status;
}

int diff_run(int argc, char *const argv[])
{
    static struct diff_command command; /* large: the questions keep their words */
    int status = diff_parse(&command, argc, argv);

    if (status != PARSED)
        return status;
    status = diff_open_both(&command);
    if (!status)
        status = diff_compare(&command);
    for (size_t i = 0; i < LISTINGS; i++)
        if (command.sources[i])
            saved_source_close(command.sources[i]);
    (void)now_finish(&command.now);
    return status;
}
