/* SPDX-License-Identifier: MIT */
/* fastnet drops: lists the packets that the kernel drops, with the reasons and the owners. */
#include "fastnet/drops.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/personality.h"
#include "cli/progress.h"
#include "cli/terminal/listing_screen.h"
#include "fastnet/drop_probe.h"
#include "fastnet/drop_reasons.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"

enum { FOR_MS = 5000 };

struct drops_command {
    struct common common; /* must be first */
    unsigned milliseconds;
    bool all;
    struct drops *drops;
};

enum { WHAT, SHOW, OTHER };
static const char *const groups[] = {"What to watch", "How it is shown", "About fastnet"};

static const struct option options_table[] = {
    FOR_OPTION(WHAT, "how long to watch: 60, 5m (default 5 seconds)",
               .member = offsetof(struct drops_command, milliseconds),
               .value = "drops are only seen while fastnet watches"),
    OPTION('a', "all", WHAT, "also harmless drops, e.g. data left at close",
           .member = offsetof(struct drops_command, all)),
    INTERVAL_OPTION(SHOW),
    HABIT_OPTIONS(SHOW, "processes are always shown", .newer = false),
    ABOUT_OPTIONS(OTHER),
    MISTAKEN_OPTIONS,
    INSTEAD('i', NULL, "IF", "--where 'interface = %s'"),
};

static const struct operands operands[] = {{NULL, "", CHOICES_WORDS}};

static const struct example examples[] = {
    {"", "packets dropped within 5 s"},
    {"--for 60 --all-netns", "for a minute, in all netns"},
    {"--where 'process != null'", "packets that processes lose"},
    {"--count-by reason", "packets for each reason"},
    {"--where 'reason = NETFILTER_DROP'", "what the firewall drops"},
    {"-c 10 --ndjson", "a listing every 10 s"},
    {NULL, NULL},
};

static const struct refused refused[] = {
    {"proc-root", NULL, "drops are only seen as they happen"},
    {"backend", "auto", "drops are only seen as they happen"},
    {"exact", NULL, NULL}, /* no effect: each drop is counted once */
    {"wait wait-gone", NULL, "drops are watched for a time (try --for=TIME)"},
    {NULL, NULL, NULL},
};

const struct grammar drops_grammar = {
    .name = "drops",
    .help = "packets that are dropped: why, where, and which process loses them",
    .tables = {OPTION_TABLE(groups, options_table), &filters_of_drops, &common_options,
               &common_options_of_owners, &threshold_options},
    .refused = refused,
    .kind = &kind_drop,
    .operands = operands,
    .usage = "[OPTION]... [WORD]...",
    .about = "Lists packets that the kernel drops: why, where, and which process loses "
             "them." FILTERS_WORD_HELP,
    .important = "for all c all-netns where columns sort count-by limit json",
    .examples = examples,
    .version = "backends: BPF at skb:kfree_skb, counters",
    .in_place = true,
    .containers_anywhere = true,
};

/* Reports packets that have no row. A program gets only the report of lost packets, because it asks
 * for all other packets that it wants. */
static void note_totals(const void *arg, struct report *report)
{
    const struct drops_command *command = arg;
    const struct drops_summary *summary = drops_summary(command->drops);

    if (summary->lost)
        report_loss(
            report,
            "%" PRIu64
            " dropped packet%s in no row: fastnet counts only a limited number of different drops",
            summary->lost, summary->lost == 1 ? " is" : "s are");
    if (command->common.format != FORMAT_PLAIN)
        return;
    if (summary->harmless)
        report_note(report,
                    "%" PRIu64
                    " harmless drop%s, such as data left in closed sockets: -a lists them",
                    summary->harmless, summary->harmless == 1 ? "" : "s");
    if (summary->unlisted)
        report_note(report, "%" PRIu64 " packet%s dropped in other network namespaces%s",
                    summary->unlisted, summary->unlisted == 1 ? " was" : "s were",
                    command->common.all_netns ? ", which are not listed"
                                              : ": --all-netns lists them");
}

static int drops_most_first(const struct record *a, const struct record *b)
{
    return (a->drop.drops < b->drop.drops) - (a->drop.drops > b->drop.drops);
}

static int drops_list_rows(const struct drops_command *command)
{
    const struct maker maker = {drops_begin, drops_list, command->drops};
    const struct listing_table table = {.table = &table_drops};
    const struct common *common = &command->common;
    const char *const table_columns =
        "drops drops_per_second reason function protocol local remote "
        "interface owners";
    const char *columns = common_is_metrics(common) ? "reason function drops drops_per_second"
                          : common->format != FORMAT_PLAIN ? NULL
                                                           : table_columns;
    struct listing_command listing = {
        .common = common,
        .kind = &kind_drop,
        /* spaces separate the columns in a pipe, and the sentences of "why" contain spaces */
        .columns = {columns, columns && command_width(common) ? "why" : NULL},
        .table = {table_columns, "why"},
        .drop = "drops_per_second function protocol interface remote local",
        .shorten = "why function owners",
        .whole = "local remote",
        .rights = RIGHTS_OF_NAMESPACES, /* senders are searched in all network namespaces */
        .listing = {.tables = &table,
                    .table_count = 1,
                    .maker = &maker,
                    .compare = drops_most_first},
        .after_each_run = note_totals,
        .arg = command,
    };

    return command_run(&listing);
}

int drops_run(int argc, char *const argv[])
{
    struct drops_command command = {.milliseconds = 0};
    const struct common *common = &command.common;
    struct drops_options options;
    struct progress_line line;
    int status;

    drop_reasons_extend(drop_probe_kernel_word);
    status = common_parse(&command.common, &drops_grammar, argc, argv, NULL, NULL);

    if (status != PARSED)
        return status;
    if (common_is_metrics(common) && !common_counts(common) && common->filters.count)
        return common_misuse(
            common, "metrics with a filter also need --count-by (such as --count-by=reason)");
    options = (struct drops_options){
        .milliseconds = command.milliseconds               ? command.milliseconds
                        : listing_screen_is_wanted(common) ? 0
                        : common->interval_ms              ? common->interval_ms
                                                           : FOR_MS,
        .all_netns = common->all_netns,
        .harmless = command.all,
        .merged = common_is_metrics(common) && !common_counts(common),
        .noted = common->owners != OWNERS_PROC && !common->processes,
        .processes = common->processes ? common->processes : "/proc",
    };
    if (common->from)
        return drops_list_rows(&command);
    command.drops = drops_create(&options);
    if (!command.drops)
        return no_memory_status(common->program);
    options.progress =
        progress_begin(&line, common, "watching", options.milliseconds, "shows the rows now");
    status = drops_list_rows(&command);
    drops_destroy(command.drops);
    return status;
}
