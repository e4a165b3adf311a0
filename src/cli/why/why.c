/* SPDX-License-Identifier: MIT */
/* fastnet why: its command line, and the listing of its steps. */
#include "fastnet/why.h"

#include "cli/command.h"
#include "cli/personality.h"

struct why_command {
    struct common common; /* must be first */
    struct why *why;
};

enum { OTHER };
static const char *const groups[] = {"About fastnet"};

static const struct option options_table[] = {
    ABOUT_OPTIONS(OTHER),
    MISTAKEN_OPTIONS,
};

static const struct operands operands[] = {{NULL, "", NULL}};

static const struct example examples[] = {
    {"10.9.2.2:5432", "what can be known without a packet"},
    {NULL, NULL},
};

const struct grammar why_grammar = {
    .name = "why",
    .help = "why a connection cannot be made: step by step, to where it ends",
    .tables = {OPTION_TABLE(groups, options_table), &common_options},
    .kind = &kind_step,
    .operands = operands,
    .usage = "[OPTION]... HOST:PORT|HOST PORT|PORT",
    .about = "Explains why a connection can or cannot be made.",
    .important = "json",
    .examples = examples,
    .version = "backends: sock_diag, rtnetlink, ctnetlink, BPF",
};

int why_run(int argc, char *const argv[])
{
    struct why_command command = {.why = NULL};
    const int status = common_parse(&command.common, &why_grammar, argc, argv, NULL, NULL);
    const struct why_options options = {.proc_root = "/proc"};

    if (status != PARSED)
        return status;
    command.why = why_create(&options);
    if (!command.why)
        return no_memory_status(command.common.program);
    const struct maker maker = {why_begin, why_explain, command.why};
    const struct listing_table table = {.table = &table_steps};
    struct listing_command listing = {
        .common = &command.common,
        .kind = &kind_step,
        .columns = {"step result"},
        .listing = {.tables = &table, .table_count = 1, .maker = &maker},
    };
    const int result = command_run(&listing);
    why_destroy(command.why);
    return result;
}
