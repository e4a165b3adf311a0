/* ss of iproute2: its filter, its columns, and how a listing is carried out. */
#include "cli/ss/ss.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/personality.h"
#include "cli/ss/ss_dump.h"
#include "cli/ss/ss_events.h"
#include "cli/ss/ss_filter.h"
#include "cli/ss/ss_namespace.h"
#include "cli/ss/ss_summary.h"
#include "cli/ss/ss_tables.h"
#include "fastnet/layouts.h"
#include "fastnet/lookup.h"

struct ss {
    struct ss_options options;
    struct ss_tables tables;
    struct ss_layout layout;
    struct ss_words words;
    struct where where; /* of the filter */
};

/* --- The filter ------------------------------------------------------------------------------- */

static int fail_file(const struct ss_options *options, int error)
{
    const char *path = options->filter_file;
    char typed[TYPED_MAX];

    return common_misuse(&options->common, "-F: '%s': %s", options_typed(typed, path, strlen(path)),
                         strerror(-error));
}

static int read_words(struct ss *ss)
{
    const struct ss_options *options = &ss->options;
    int error = 0;

    ss->words = (struct ss_words){.arguments = options->words, .count = options->word_count};
    if (options->filter_file)
        error = ss_words_read(&ss->words, options->filter_file);
    return error < 0 ? fail_file(options, error) : 0;
}

/* What ss would do without a word, and what its users would not expect. */
static void note_surprises(const struct ss *ss, const struct ss_filter *filter)
{
    const char *program = ss->options.common.program;

    if (filter->mixed)
        fprintf(stderr,
                "%s: as ss does, the filter is read from left to right: 'a or b and c' is "
                "'( a or b ) and c'\n",
                program);
}

static int parse_filter(struct ss *ss, const struct predicate **predicate)
{
    struct ss_filter filter = {.where = &ss->where,
                               .selection = &ss->options.selection,
                               .words = &ss->words,
                               .resolve = hosts_addresses};
    int status = read_words(ss);

    if (status)
        return status;
    *predicate = ss_filter_parse(&filter);
    if (filter.failed) {
        status = common_misuse(&ss->options.common, "%s", ss->where.message);
        return filter.wrong ? STATUS_FAILURE : status;
    }
    note_surprises(ss, &filter);
    return 0;
}

/* --- Columns ---------------------------------------------------------------------------------- */

static bool has_several(uint32_t bits)
{
    return bits & (bits - 1);
}

/* A line of a terminal is filled, as ss does it; elsewhere lines are as long as they are. */
static unsigned terminal_width(void)
{
    struct winsize size;

    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
        return 0;
    return size.ws_col;
}

static struct ss_layout layout_of(const struct ss_options *options)
{
    return (struct ss_layout){
        .netid = has_several(options->selection.tables),
        .state = has_several(options->selection.states),
        .queues = !options->no_queues,
        .processes = options->processes || options->threads,
        .extended = options->extended,
        .timers = options->timers || options->extended || options->filters,
        .memory = options->memory,
        .info = options->info,
        .tos = options->tos,
        .cgroup = options->cgroup,
        .options = options->sockopts,
        .filters = options->filters,
        .storages = options->storages,
        .tipc = options->tipcinfo,
        .threads = options->threads,
        .numeric = options->numeric,
        .resolve = options->resolve,
        .header = !options->common.no_header,
        .one_line = options->one_line,
        .width = terminal_width(),
    };
}

static bool has_family(const struct ss_selection *selection, uint64_t families)
{
    return selection->families & families;
}

/* The names of what the layout would show. */
static void choose_columns(struct listing_command *command, const struct ss *ss)
{
    const struct ss_selection *selection = &ss->options.selection;
    const struct ss_layout *layout = &ss->layout;
    const uint64_t inet = ss_family(AF_INET) | ss_family(AF_INET6);
    const char *const columns[] = {
        ss->options.events ? "received" : NULL,
        "protocol family state",
        layout->queues ? "recv_q send_q" : NULL,
        has_family(selection, inet) ? "local_address local_port remote_address remote_port" : NULL,
        has_family(selection, ss_family(AF_UNIX)) ? "type path" : NULL,
        layout->extended ? "uid inode cookie interface" : NULL,
        layout->timers ? "timer expires retransmits probes" : NULL,
        layout->processes ? "pid process processes" : NULL,
    };

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        command->columns[i] = columns[i];
}

/* --- Listing ---------------------------------------------------------------------------------- */

/* The filter may limit the families; -E and -D the tables. *done: there is nothing to list. */
static int choose_rows(struct ss *ss, struct listing_command *command, bool *done)
{
    int status = parse_filter(ss, &command->listing.where);

    if (!status && ss->options.events)
        status = ss_events_choose(&ss->options);
    else if (!status && ss->options.dump)
        status = ss_dump_choose(&ss->options, done);
    if (status || *done)
        return status;
    ss_choose_tables(&ss->tables, &ss->options);
    command->listing.tables = ss->tables.tables;
    command->listing.table_count = ss->tables.count;
    return 0;
}

static int list(struct ss *ss)
{
    struct listing_command command = {.common = &ss->options.common,
                                      .kind = &kind_socket,
                                      .layout_ops = &sink_ss,
                                      .layout = &ss->layout};
    bool done = false;
    int status = 0, summarised = 0;

    if (ss->options.listed)
        status = choose_rows(ss, &command, &done);
    if (!status && ss->options.summary)
        summarised = ss_summary(&ss->options);
    if (status || done || !ss->options.listed)
        return status ? status : summarised;
    ss->layout = layout_of(&ss->options);
    command.layout_needs = ss_layout_needs(&ss->layout);
    choose_columns(&command, ss);
    if (ss->options.events)
        return ss_events(&ss->options, &command);
    if (ss->options.dump)
        return ss_dump(&ss->options, &command);
    command.listing.diag_file = ss_diag_file(&ss->options.common);
    status = command_run(&command);
    return status ? status : summarised;
}

int ss_run(int argc, char *const argv[])
{
    struct ss ss = {.options.numeric = false};
    bool done = false;
    int status = ss_parse(&ss.options, argc, argv, &done);

    if (!status && !done)
        status = ss_enter_namespace(&ss.options);
    if (!status && !done)
        status = list(&ss);
    where_finish(&ss.where);
    ss_words_finish(&ss.words);
    ss_options_finish(&ss.options);
    return status;
}
