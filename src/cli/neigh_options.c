#include "cli/neigh_options.h"

#include <linux/neighbour.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/personality.h"
#include "cli/run.h"
#include "fastnet/array.h"

enum { OPTION_STATE = 256, OPTION_PROXY, OPTION_MASTER };

enum { GROUP_WHICH, GROUP_OTHER };
static const char *const groups[] = {"Which neighbours", "About fastnet"};

static const struct option options_table[] = {
    {'4', '4', NULL, ARGUMENT_NONE, NULL, NULL, "IPv4 only", GROUP_WHICH},
    {'6', '6', NULL, ARGUMENT_NONE, NULL, NULL, "IPv6 only", GROUP_WHICH},
    {'i', 'i', "device", ARGUMENT_REQUIRED, "IF", NULL, "of this interface", GROUP_WHICH},
    {OPTION_STATE, 0, "state", ARGUMENT_REQUIRED, "A,B,...",
     "REACHABLE STALE DELAY PROBE FAILED INCOMPLETE PERMANENT NOARP NONE", "in one of these states",
     GROUP_WHICH},
    {OPTION_PROXY, 0, "proxy", ARGUMENT_NONE, NULL, NULL,
     "proxies only: addresses this machine answers for", GROUP_WHICH},
    {OPTION_MASTER, 0, "master", ARGUMENT_REQUIRED, "DEV", NULL,
     "of interfaces that belong to DEV (bridge, bond, VRF)", GROUP_WHICH},
    {'n', 'n', "numeric", ARGUMENT_NONE, NULL, NULL, "no names for addresses: there never are",
     GROUP_WHICH},
    {'h', 'h', "help", ARGUMENT_NONE, NULL, NULL, "this help", GROUP_OTHER},
    {'V', 'V', "version", ARGUMENT_NONE, NULL, NULL, "version and build options", GROUP_OTHER},
};

static const struct option_table neigh_table = {groups, COUNT(groups), options_table,
                                                COUNT(options_table)};

static const struct option_table *const tables[] = {&neigh_table, &common_options};
enum { TABLE_COUNT = COUNT(tables) };

const struct grammar neigh_grammar = {.name = "neigh",
                                      .help = "all neighbours, IPv4 and IPv6, in every state",
                                      .tables = tables,
                                      .table_count = TABLE_COUNT,
                                      .kind = &kind_neighbour};

struct parsing {
    struct neigh_options *options;
    const char *program;
};

static bool take_state(struct neigh_options *options, const char *name, size_t length)
{
    static const struct {
        const char *name;
        uint16_t state;
    } states[] = {
        {"REACHABLE", NUD_REACHABLE}, {"STALE", NUD_STALE},   {"DELAY", NUD_DELAY},
        {"PROBE", NUD_PROBE},         {"FAILED", NUD_FAILED}, {"INCOMPLETE", NUD_INCOMPLETE},
        {"PERMANENT", NUD_PERMANENT}, {"NOARP", NUD_NOARP},   {"NONE", NUD_NONE},
    };

    for (size_t i = 0; i < COUNT(states); i++) {
        if (strlen(states[i].name) != length || strncasecmp(states[i].name, name, length) != 0)
            continue;
        options->states |= states[i].state;
        options->none |= states[i].state == NUD_NONE;
        return true;
    }
    return false;
}

static int take_states(struct neigh_options *options, const char *names, const char *program)
{
    char text[TYPED_MAX];

    options->has_states = true;
    for (;;) {
        size_t length = strcspn(names, ",");
        if (!take_state(options, names, length)) {
            fprintf(stderr, "%s: --state: no such state: '%s'\n", program,
                    options_typed(text, names, length));
            return STATUS_MISUSE;
        }
        if (!names[length])
            return 0;
        names += length + 1;
    }
}

static void print_help(const char *program)
{
    fprintf(cli_stdout(),
            "Usage: %sneigh [OPTION]...\n"
            "The neighbours of this machine, IPv4 and IPv6, in every state.\n",
            strcmp(program, "neigh") == 0 ? "" : "fastnet ");
    for (size_t i = 0; i < TABLE_COUNT; i++)
        options_help(tables[i], cli_stdout());
    fprintf(cli_stdout(), "\nSee fastnet-neigh(8) for more, fastnet-output(5) for the columns.\n");
}

static void print_version(void)
{
    fprintf(cli_stdout(), "fastnet " FASTNET_VERSION "\n"
                          "backends: rtnetlink, /proc/net/arp\n"
                          "built with libmnl and libcap\n");
}

/* An operand that were ignored would look like a filter that found everything. */
static int refuse_operand(const char *operand, const char *program)
{
    char text[TYPED_MAX];

    fprintf(stderr, "%s: neigh takes options only, not '%s'\n", program,
            options_typed(text, operand, strlen(operand)));
    return STATUS_MISUSE;
}

static int take_option(const struct option *option, const char *argument, void *arg)
{
    struct parsing *parsing = arg;
    struct neigh_options *options = parsing->options;
    bool taken;
    int status = common_take(&options->common, option, argument, parsing->program, &taken);

    if (taken)
        return status;
    switch (option->id) {
    case OPTION_OPERAND:
        return refuse_operand(argument, parsing->program);
    case OPTION_STATE:
        return take_states(options, argument, parsing->program);
    case OPTION_PROXY:
        options->proxies = true;
        return 0;
    case OPTION_MASTER:
        options->master = argument;
        return 0;
    case 'i':
        options->device = argument;
        return 0;
    case 'n':
        return 0;
    case 'h':
        print_help(parsing->program);
        return OPTIONS_ANSWERED;
    case 'V':
        print_version();
        return OPTIONS_ANSWERED;
    default:
        options->inet |= option->id == '4';
        options->inet6 |= option->id == '6';
        return 0;
    }
}

int neigh_parse(struct neigh_options *options, int argc, char *const argv[], bool *done)
{
    struct parsing parsing = {options, argv[0]};
    char message[OPTIONS_MESSAGE];
    int status = options_parse(tables, TABLE_COUNT, argc, argv, take_option, &parsing, message);

    if (status == OPTIONS_MISUSE) {
        fprintf(stderr, "%s: %s\n", argv[0], message);
        return STATUS_MISUSE;
    }
    *done = status == OPTIONS_ANSWERED;
    if (status)
        return *done ? STATUS_OK : status;
    if (options->common.completion) {
        *done = true;
        return common_complete(&options->common, &neigh_grammar, false, argv[0]);
    }
    if (options->proxies && options->has_states) {
        fprintf(stderr, "%s: --proxy and --state exclude each other: proxies have no state\n",
                argv[0]);
        return STATUS_MISUSE;
    }
    return 0;
}
