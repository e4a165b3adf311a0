/* SPDX-License-Identifier: MIT */
/* fastnet traffic: which packets pass an interface, by flow, and which process they belong to. */
#include "cli/traffic/traffic.h"

#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "cli/foreign.h"
#include "cli/personality.h"
#include "cli/progress.h"
#include "cli/terminal/terminal.h"
#include "fastnet/array.h"
#include "fastnet/live.h"
#include "fastnet/rights.h"
#include "fastnet/thread.h"

enum { FOR_MS = 5000, FLOWS = 65536, THREADS = 8 };

enum { OPTION_INTERFACE = 256 };

enum { WHAT, SHOW, OTHER };
static const char *const groups[] = {"What to watch", "How it is shown", "About fastnet"};

#define COUNT_OF(its, most)                                                                        \
    TAKES("COUNT"), .member = offsetof(struct traffic_command, its), .form = FORM_COUNT,           \
                    .number = (most)

static const struct option options_table[] = {
    FOR_OPTION(WHAT, "list once, after 60, 5m ... (5 if no terminal)",
               .member = offsetof(struct traffic_command, milliseconds),
               .value = "packets are only seen while fastnet watches"),
    OPTION_ROW(OPTION_INTERFACE, 'i', "interface", WHAT,
               "watch this interface, like the word INTERFACE", TAKES("IF"),
               OF(CHOICES_INTERFACES)),
    LONG(THIS_ROW, "flows", WHAT, "room for COUNT flows (default 65536)",
         COUNT_OF(flows, PACKET_FLOWS_MAX)),
    LONG(THIS_ROW, "threads", WHAT, "COUNT threads read packets (default: 1 per CPU)",
         COUNT_OF(threads, PACKET_THREADS_MAX)),
    INTERVAL_OPTION(SHOW),
    HABIT_OPTIONS(SHOW, "--columns=+owners shows processes", .newer = false),
    ABOUT_OPTIONS(OTHER),
    MISTAKEN_OPTIONS,
};

static const struct operands operands[] = {{NULL, "any", CHOICES_INTERFACES}};

static const struct example examples[] = {
    {"", "flows, live on a terminal"},
    {"lo --for 60 --limit 20", "flows on lo within 1 minute"},
    {"--count-by dst/24", "packets to each network"},
    {"any 443", "packets from and to a port"},
    {"--columns=owners,to,bytes", "processes of the flows"},
    {"-c 1 --ndjson", "a listing every second"},
    {NULL, NULL},
};

static const struct refused refused[] = {
    {"proc-root", NULL, "packets are only seen as they pass"},
    {"backend", "auto", "packets are only seen as they pass"},
    {"wait wait-gone", NULL, "packets are watched for a time (try --for=TIME)"},
    {"all-netns", NULL, "packets are watched in one network namespace only (try --netns=NAME)"},
    {"exact", NULL, "it reads a table twice, but a packet passes only once"},
    {NULL, NULL, NULL},
};

const struct grammar traffic_grammar = {
    .name = "traffic",
    .help = "packets that pass an interface, by flow",
    .tables = {OPTION_TABLE(groups, options_table), &filters_of_traffic, &common_options,
               &common_options_of_owners, &threshold_options},
    .refused = refused,
    .kind = &kind_traffic,
    .operands = operands,
    .usage = "[OPTION]... [INTERFACE|any [WORD]...]",
    .about = "Counts the packets that pass an interface, by flow. The payload is not read.\nOn a "
             "terminal the table is refreshed (? shows its keys) unless --for is "
             "given." FILTERS_WORD_HELP,
    .important = "for c host port where columns sort count-by limit json",
    .examples = examples,
    .version = "backends: AF_PACKET (TPACKET_V3)",
};

/* The argument of -i, or the first argument that is not an option, names an interface; other
 * arguments are filters. */
static int traffic_take_option(const struct option *option, const char *argument, void *arg)
{
    struct traffic_command *command = arg;

    if (command->interface && (option->id == OPTION_INTERFACE || if_nametoindex(argument)))
        return common_misuse_typed(&command->common, TYPED(command->interface),
                                   "expected only one interface, not also '%s'", as_text(argument));
    if (option->id != OPTION_INTERFACE &&
        (command->interface || filters_typed(&command->common.filters, filters_word.name) ||
         (foreign_begins(argument) && !if_nametoindex(argument))))
        return OPTIONS_WORD;
    command->interface = argument;
    return 0;
}

/* --- Shares ----------------------------------------------------------------------------------- */

/* Reports shares, unless the output is for programs. */
static void note_shares(const void *arg, struct report *report)
{
    enum { MOST = 8 }; /* interfaces that are reported at most */
    const struct traffic_command *command = arg;
    const struct traffic_seen *seen = traffic_seen(command->traffic);
    char text[SHARE_TEXT];

    for (size_t i = 0; i < seen->share_count && i < MOST && command->common.format == FORMAT_PLAIN;
         i++) {
        traffic_put_share(&seen->shares[i], command->listing.listing.where, text);
        report_note(report, "%s", text);
    }
}

/* --- The listing ------------------------------------------------------------------------------ */

static int traffic_most_first(const struct record *a, const struct record *b)
{
    return (a->traffic.bytes < b->traffic.bytes) - (a->traffic.bytes > b->traffic.bytes);
}

static int traffic_list_rows(struct traffic_command *command)
{
    const struct maker maker = {traffic_begin, traffic_list, command->traffic};
    const struct listing_table table = {.table = &table_traffic, .if_missing = MISSING_ENDS};
    const bool plain = command->common.format == FORMAT_PLAIN;

    if (plain && !command->common.from &&
        !rights_have(1U << RIGHT_PACKETS)) /* no table will follow the heading */
        command->common.no_header = true;
    command->listing = (struct listing_command){
        .common = &command->common,
        .kind = &kind_traffic,
        .columns = {command->screen
                        ? "protocol from to packets_per_second bytes_per_second packets "
                          "frames bytes tcp_flags"
                    : plain ? "protocol from to packets frames bytes packets_per_second "
                              "bytes_per_second tcp_flags lost"
                            : "protocol src dst sport dport packets frames bytes "
                              "packets_per_second bytes_per_second tcp_flags lost first last "
                              "interface",
                    command->interface ? NULL : "interface"},
        .table = {"protocol from to packets frames bytes packets_per_second bytes_per_second "
                  "tcp_flags lost"},
        .drop = "lost frames tcp_flags packets_per_second bytes_per_second packets",
        .whole = "from to",
        .both_ends = "address",
        .without = command->screen ? NEED_NAMES : 0,
        .listing = {.tables = &table,
                    .table_count = 1,
                    .maker = &maker,
                    .compare = traffic_most_first},
        .run_endless = command->screen ? traffic_screen_run : NULL,
        .after_each_run = note_shares,
        .arg = command,
    };
    return command_run(&command->listing);
}

/* True if the flows go to people: in a table without --for, which a terminal refreshes. */
static bool is_for_people(const struct traffic_command *command)
{
    const struct common *common = &command->common;
    const bool help = common->columns && strcmp(common->columns, "help") == 0;

    return !command->milliseconds && common->format == FORMAT_PLAIN && !common->output &&
           !common->explain && !common->quiet && !help;
}

static int traffic_run_command(struct traffic_command *command, uint32_t interface)
{
    const struct common *common = &command->common;
    const unsigned usual = thread_cpus() < THREADS ? thread_cpus() : THREADS;
    struct traffic_options options = {
        .milliseconds = command->milliseconds ? command->milliseconds
                        : common->interval_ms ? common->interval_ms
                                              : FOR_MS,
        .screen = command->screen,
        .how = {.interface = interface,
                .threads = command->threads ? (unsigned)command->threads : usual,
                .flows = command->flows ? (size_t)command->flows : FLOWS,
                .repeats = command->screen || common->interval_ms,
                .keep_ms = command->screen ? LIVE_AGE : 0},
        .listing = &command->listing.listing,
    };
    struct progress_line line;
    int status;

    if (options.how.threads > options.how.flows)
        options.how.threads = (unsigned)options.how.flows;
    command->traffic = traffic_create(&options);
    if (!command->traffic)
        return no_memory_status(common->program);
    if (!command->screen)
        options.progress =
            progress_begin(&line, common, "watching", options.milliseconds, "shows the rows now");
    status = traffic_list_rows(command);
    const struct packet_totals *all = &traffic_seen(command->traffic)->all;
    if (!status && (all->lost || all->undescribed)) /* in at least one of the listings */
        status = STATUS_FAILURE;
    traffic_destroy(command->traffic);
    return status;
}

int traffic_run(int argc, char *const argv[])
{
    struct traffic_command command = {.interface = NULL};
    uint32_t interface;
    int status =
        common_parse(&command.common, &traffic_grammar, argc, argv, traffic_take_option, &command);
    const struct common *common = &command.common;

    if (status != PARSED)
        return status;
    if (common->from)
        return traffic_list_rows(&command);
    command.screen = is_for_people(&command) && terminal_is_there();
    if (is_for_people(&command) && terminal_is_plain() && !common->interval_ms)
        command.common.interval_ms = 1000; /* a table each second */
    if (command.screen) {
        command.tick_ms = common->interval_ms ? common->interval_ms : 1000;
        command.common.interval_ms = 0;
    }
    if (command.interface && strcmp(command.interface, "any") == 0)
        command.interface = NULL;
    interface = command.interface ? if_nametoindex(command.interface) : 0;
    if (command.interface && !interface)
        return common_misuse_of(common, .subject = traffic_grammar.name, .help = HELP_NONE,
                                .typed = as_text(command.interface),
                                .wrong =
                                    strcmp(command.interface, "help") == 0
                                        ? "there is no interface '%s' (try fastnet traffic --help)"
                                        : "there is no interface '%s' (a filter follows the "
                                          "interface: fastnet traffic any %s)");
    return traffic_run_command(&command, interface);
}
