/* SPDX-License-Identifier: MIT */
/* fastnet why: its command line, and the listing of its steps. */
#include "fastnet/why.h"

#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/form.h"
#include "cli/personality.h"
#include "cli/progress.h"
#include "cli/why/target.h"
#include "fastnet/array.h"
#include "fastnet/attempt.h"
#include "fastnet/layouts.h"
#include "fastnet/rights.h"
#include "why/verdicts.h"

_Static_assert((int)ATTEMPT_WRONG <= (int)MESSAGE_TEXT_MAX, "one buffer for all messages");

enum { WORDS_MAX = 4, BYTES_MAX = 65536, PROBE_MS = 3000 };

struct why_command {
    struct common common; /* must be first */
    const char *words[WORDS_MAX];
    size_t word_count;
    const char *as_text;   /* argument of --as, or NULL */
    unsigned milliseconds; /* --for */
    uint64_t bytes;
    uint32_t mark;
    bool has_mark, probe, udp, ipv4, ipv6, verbose, list;
    struct why_target target;
    struct attempt_as as;
    bool *listed; /* set as soon as all steps were written */
};

/* Exit statuses; 2 is misuse. */
enum { STATUS_ENDS = 1, STATUS_UNKNOWN = 3 };

enum { OPTION_MARK = 256 };

enum { WHAT, SHOW, OTHER };
static const char *const groups[] = {"What to explain", "How it is shown", "About fastnet"};

#define SETS(of_command) .member = offsetof(struct why_command, of_command)

static const struct option options_table[] = {
    LONG(THIS_ROW, "probe", WHAT, "open a connection, and close it", SETS(probe)),
    FOR_OPTION(WHAT, "longest time to wait: 10, 500ms (with --probe 3)", SETS(milliseconds)),
    LONG(THIS_ROW, "as", WHAT, "as pid:N, unit:U, container:C, netns:N, user:U", TAKES("WHO"),
         SETS(as_text), .newer = true),
    LONG(OPTION_MARK, "mark", WHAT, "with this mark (SO_MARK of socket(7))", TAKES("N")),
    LONG(THIS_ROW, "bytes", WHAT, "with --probe: also send N zero bytes to the server", TAKES("N"),
         SETS(bytes), .form = FORM_COUNT, .number = BYTES_MAX),
    OPTION('u', "udp", WHAT, "UDP instead of TCP", SETS(udp)),
    OPTION('4', "ipv4", WHAT, "only addresses of IPv4", SETS(ipv4)),
    OPTION('6', "ipv6", WHAT, "only addresses of IPv6", SETS(ipv6)),
    LONG(THIS_ROW, "list", WHAT, "list the causes, explain nothing", SETS(list), .newer = true),
    OPTION('v', "verbose", SHOW, "also show which tables a step comes from", SETS(verbose)),
    HABIT_OPTIONS(SHOW, "processes are always shown", .newer = true),
    ABOUT_OPTIONS(OTHER),
    MISTAKEN_OPTIONS,
    INSTEAD('z', NULL, "", "--probe"),
    INSTEAD('w', NULL, "TIME", "--for=%s"),
    INSTEAD(0, "timeout", "TIME", "--for=%s"),
};

static const struct operands operands[] = {{NULL, "", CHOICES_SERVICES}};

static const struct example examples[] = {
    {"192.0.2.2:5432", "without a packet"},
    {"--probe https://192.0.2.2/", "open and close a connection"},
    {"--probe --as user:root 192.0.2.2 22", "as another user would"},
    {"5432", "who listens here"},
    {"-u 192.0.2.2:53", "UDP"},
    {"--for 10 192.0.2.2:443", "watch others for 10 s"},
    {"--list", "the causes"},
    {NULL, NULL},
};

static const struct refused refused[] = {
    {"all-netns", NULL, "all network namespaces are always searched; --netns is where it starts"},
    {"proc-root", NULL, "the kernel of this machine is asked"},
    {"backend", "auto", "the kernel of this machine is asked"},
    {"wait wait-gone", NULL, "the exit status says whether a connection can be made"},
    {NULL, NULL, NULL},
};

const struct grammar why_grammar = {
    .name = "why",
    .help = "why a connection cannot be made, step by step",
    .tables = {OPTION_TABLE(groups, options_table), &filters_of_steps, &common_options,
               &common_options_of_owners},
    .refused = refused,
    .kind = &kind_step,
    .operands = operands,
    .usage = "[OPTION]... HOST:PORT|HOST PORT|URL|PORT",
    .about = "Explains why a connection can or cannot be made, step by step, and what to do.\n"
             "PORT alone: who listens here. Sends nothing without --probe.\n"
             "Exit status: 0 open, 1 it ends somewhere, 3 not known, 2 wrong command line.",
    .important = "probe for as mark bytes u 4 6 netns json",
    .examples = examples,
    .version = "backends: sock_diag, rtnetlink, ctnetlink, BPF",
};

/* --- The command line ------------------------------------------------------------------------- */

static int why_take_option(const struct option *option, const char *argument, void *arg)
{
    struct why_command *command = arg;
    uint64_t mark;

    if (option->id == OPTION_OPERAND) {
        if (command->word_count < WORDS_MAX)
            command->words[command->word_count++] = argument;
        return 0;
    }
    if (!form_is_number(argument, UINT32_MAX, &mark))
        return common_misuse(&command->common,
                             "--mark: expected a number, such as 7 or 0x7, not "
                             "'%s'",
                             TYPED(argument));
    command->mark = (uint32_t)mark;
    command->has_mark = true;
    return 0;
}

/* Returns why these options cannot be combined; NULL: they can. */
static const char *why_conflict(const struct why_command *command)
{
    const bool is_here = !*command->target.host, sends = command->probe;
    const bool is_ipv6 = strchr(command->target.host, ':') != NULL;
    const bool is_ipv4 =
        !is_here && !command->target.host[strspn(command->target.host, "0123456789.")];

    return command->ipv4 && command->ipv6 ? "-4 and -6 cannot be combined"
           : command->ipv4 && is_ipv6     ? "-4: the address is IPv6"
           : command->ipv6 && is_ipv4     ? "-6: the address is IPv4"
           : is_here && (command->ipv4 || command->ipv6)
               ? "-4 and -6 need a host (try localhost:PORT)"
           : is_here && sends                ? "--probe needs a host (try localhost:PORT)"
           : is_here && command->as_text     ? "--as needs a host (try localhost:PORT)"
           : is_here && command->has_mark    ? "--mark needs a host (try localhost:PORT)"
           : sends && !command->milliseconds ? "--for=0 cannot be combined with --probe"
           : command->bytes && !sends        ? "--bytes needs --probe: the server gets the bytes"
           : command->bytes && command->udp  ? "--bytes cannot be combined with --udp"
           : command->as_text && command->common.netns && command->as.netns
               ? "--netns cannot be combined with this --as, which has a network namespace"
               : NULL;
}

/* The message quotes the word that was typed. */
static int why_refuse_as(const struct common *common, const char *wrong)
{
    char shown[ESCAPE_FACTOR * ATTEMPT_WRONG + 1];

    *escape_text(shown, wrong, strnlen(wrong, ATTEMPT_WRONG), NULL) = '\0';
    return common_misuse_bare(common, "--as: %s", shown);
}

static int why_parse(struct why_command *command, int argc, char *const argv[])
{
    const struct common *common = &command->common;
    char wrong[MESSAGE_TEXT_MAX];
    const char *conflict;
    int status;

    command->milliseconds = UINT_MAX; /* replaced below if no option sets it */
    status = common_parse(&command->common, &why_grammar, argc, argv, why_take_option, command);
    const bool is_help = common->columns && strcmp(common->columns, "help") == 0;
    if (status == PARSED && command->list && common->format != FORMAT_PLAIN)
        return common_misuse(common, "--list cannot be combined with JSON and CSV");
    if (status != PARSED || command->list || (is_help && !command->word_count))
        return status;
    if (common->from)
        return command->word_count
                   ? common_misuse(common,
                                   "--from lists a file of saved steps; did you mean --as=%s?",
                                   TYPED(common->from[0]))
                   : PARSED;
    if (target_parse(&command->target, command->words, command->word_count, NULL,
                     command->udp ? "udp" : "tcp", wrong) < 0)
        return common_misuse_bare(common, "%s", wrong);
    if (command->as_text && attempt_as_find(&command->as, command->as_text, "/proc", wrong) < 0)
        return why_refuse_as(common, wrong);
    if (command->milliseconds == UINT_MAX)
        command->milliseconds = command->probe ? PROBE_MS : 0;
    conflict = why_conflict(command);
    return conflict ? common_misuse(common, "%s", conflict) : PARSED;
}

/* --- The listing ------------------------------------------------------------------------------ */

static int why_print_causes(const struct why_command *command)
{
    struct page page;
    FILE *stream = page_open(&page);

    if (!command->common.no_header)
        fprintf(stream, "%-20s %s\n", "CAUSE", "MEANS");
    for (uint64_t cause = 0; cause_name(cause); cause++)
        fprintf(stream, "%-20s %s\n", cause_name(cause), cause_meaning(cause));
    return page_finish(&page, command->common.program);
}

static void why_note(const void *arg, struct report *report)
{
    const struct why_command *command = arg;

    *command->listed = true;
    if (command->bytes)
        report_note(report, "%s got up to %" PRIu64 " zero bytes from fastnet (--bytes)",
                    TYPED(command->target.host), command->bytes);
}

/* The answer decides the exit status, but only if it could be written. */
static int why_status(const struct why_summary *summary, bool listed, int status)
{
    static const int statuses[ENDINGS] = {
        [ENDING_OPEN] = STATUS_OK, [ENDING_ENDS] = STATUS_ENDS, [ENDING_UNKNOWN] = STATUS_UNKNOWN};

    if (!listed)
        return status == STATUS_FAILURE ? STATUS_UNKNOWN : status;
    return summary->partial ? STATUS_UNKNOWN : statuses[summary->ending];
}

static int why_list(struct why_command *command, struct why *why)
{
    const struct common *common = &command->common;
    const struct maker maker = {why_begin, why_explain, why};
    const struct listing_table table = {.table = &table_steps};
    const struct steps_layout layout = {
        .colour = command_colour(common),
        .header = !common->no_header,
        .verbose = command->verbose,
        .width = command_width(common),
    };
    struct listing_command listing = {
        .common = common,
        .kind = &kind_step,
        .columns = {common->format == FORMAT_PLAIN ? "step result" : NULL},
        .table = {"step result"},
        .shorten = "result",
        .listing = {.tables = &table, .table_count = 1, .maker = &maker},
        .layout_ops = &sink_steps,
        .layout = &layout,
        .rights = RIGHTS_OF_NAMESPACES | 1u << RIGHT_CONTAINERS |
                  (command->probe ? RIGHTS_OF_ATTEMPTS : 0),
        .own_status = true,
        .after_each_run = why_note,
        .arg = command,
    };

    const int status = command_run(&listing);
    return why_status(why_summary(why), *command->listed, status);
}

static int why_run_answer(struct why_command *command)
{
    const struct why_target *target = &command->target;
    struct progress_line line;
    const char *doing = MESSAGE_TEXT(command->probe ? "trying %s:%u" : "watching attempts to %s:%u",
                                     TYPED_SHORT(target->host), target->port);
    const struct why_options options = {
        .host = *target->host ? target->host : NULL,
        .port = target->port,
        .service = *target->service ? target->service : NULL,
        .protocol = command->udp ? IPPROTO_UDP : IPPROTO_TCP,
        .family = command->ipv4   ? AF_INET
                  : command->ipv6 ? AF_INET6
                                  : AF_UNSPEC,
        .probe = command->probe,
        .milliseconds = command->milliseconds,
        .mark = command->mark,
        .bytes = (size_t)command->bytes,
        .as = command->as_text ? &command->as : NULL,
        .netns = command->common.netns,
        .proc_root = "/proc",
        .owners = command->common.owners,
        .progress = progress_begin(&line, &command->common, doing, command->milliseconds,
                                   "shows the answer now"),
    };
    struct why *why = why_create(&options);

    if (!why) {
        (void)no_memory_status(command->common.program);
        return STATUS_UNKNOWN;
    }
    const int status = why_list(command, why);
    why_destroy(why);
    return status;
}

int why_run(int argc, char *const argv[])
{
    bool listed = false;
    struct why_command command = {.listed = &listed};
    int status = why_parse(&command, argc, argv);

    if (status == PARSED)
        status = command.list ? why_print_causes(&command) : why_run_answer(&command);
    attempt_as_finish(&command.as);
    return status;
}
