#include "cli/arp_options.h"

#include <stdio.h>
#include <string.h>

#include "cli/personality.h"
#include "cli/run.h"
#include "fastnet/array.h"

enum { GROUP_WHICH, GROUP_SHOW, GROUP_OTHER, GROUP_CHANGES };
static const char *const groups[] = {"Which neighbours", "How they are shown", "About fastnet",
                                     "Changes (refused: use ip neigh)"};

#define HARDWARE "ether netrom ax25 arcnet dlci eui64 rose x25 fddi hippi ash irda"

/* In net-tools' order: it shows in the message about an ambiguous abbreviation. */
static const struct option options_table[] = {
    {'v', 'v', "verbose", ARGUMENT_NONE, NULL, NULL, "how many there are and were shown",
     GROUP_SHOW},
    {'V', 'V', "version", ARGUMENT_NONE, NULL, NULL, "version and build options", GROUP_OTHER},
    {'a', 'a', "all", ARGUMENT_NONE, NULL, NULL, "in BSD style", GROUP_SHOW},
    {'d', 'd', "delete", ARGUMENT_NONE, NULL, NULL, "delete an entry", GROUP_CHANGES},
    {'f', 'f', "file", ARGUMENT_NONE, NULL, NULL, "add entries from a file", GROUP_CHANGES},
    {'n', 'n', "numeric", ARGUMENT_NONE, NULL, NULL, "no names for hosts", GROUP_SHOW},
    {'s', 's', "set", ARGUMENT_NONE, NULL, NULL, "add an entry", GROUP_CHANGES},
    {'A', 'A', "protocol", ARGUMENT_REQUIRED, "FAMILY", "inet", "by address family: inet",
     GROUP_WHICH},
    {'A', 'p', NULL, ARGUMENT_REQUIRED, "FAMILY", "inet", "the same", GROUP_WHICH},
    {'H', 'H', "hw-type", ARGUMENT_REQUIRED, "TYPE", HARDWARE, "by hardware type: ether, ax25 ...",
     GROUP_WHICH},
    {'H', 't', NULL, ARGUMENT_REQUIRED, "TYPE", HARDWARE, "the same", GROUP_WHICH},
    {'i', 'i', "device", ARGUMENT_REQUIRED, "IF", NULL, "of this interface", GROUP_WHICH},
    {'h', 'h', "help", ARGUMENT_NONE, NULL, NULL, "this help", GROUP_OTHER},
    {'D', 'D', "use-device", ARGUMENT_NONE, NULL, NULL, "add with an interface's address",
     GROUP_CHANGES},
    {'N', 'N', "symbolic", ARGUMENT_NONE, NULL, NULL, NULL, 0},
    {'e', 'e', NULL, ARGUMENT_NONE, NULL, NULL, "in Linux style, the default", GROUP_SHOW},
};

static const struct option_table arp_table = {groups, COUNT(groups), options_table,
                                              COUNT(options_table)};

static const struct option_table *const tables[] = {&arp_table, &common_options};
enum { TABLE_COUNT = COUNT(tables) };

const struct grammar arp_grammar = {.name = "arp",
                                    .help = "IPv4 neighbours, as arp lists them",
                                    .tables = tables,
                                    .table_count = TABLE_COUNT,
                                    .kind = &kind_neighbour};

struct parsing {
    struct arp_options *options;
    const char *program;
};

/* The families that Debian's net-tools knows by these names; arp lists but one of them. */
static int take_family(const char *name)
{
    static const char *const others[] = {"inet6", "unix", "unspec", "ipx",  "ax25", "netrom",
                                         "ddp",   "ec",   "x25",    "rose", "ash"};
    char text[TYPED_MAX];

    if (strcmp(name, "inet") == 0)
        return 0;
    for (size_t i = 0; i < COUNT(others); i++)
        if (strcmp(name, others[i]) == 0) {
            fprintf(stderr, "arp: %s: kernel only supports 'inet'.\n", name);
            return STATUS_ARP_FAILURE;
        }
    if (strchr(name, ','))
        fprintf(stderr, "Please don't supply more than one address family.\n");
    fprintf(stderr, "arp: %s: unknown address family.\n", options_typed(text, name, strlen(name)));
    return STATUS_ARP_FAILURE;
}

static int take_hardware(struct arp_options *options, const char *name)
{
    options->hardware = hardware_by_net_tools(name);
    if (!options->hardware) {
        char text[TYPED_MAX];
        fprintf(stderr, "arp: %s: unknown hardware type.\n",
                options_typed(text, name, strlen(name)));
        return STATUS_ARP_FAILURE;
    }
    if (!options->hardware->arp) {
        fprintf(stderr, "arp: %s: hardware type without ARP support.\n", name);
        return STATUS_ARP_FAILURE;
    }
    return 0;
}

static int refuse(const struct option *option, const char *program)
{
    fprintf(stderr, "%s: arp -%c would change the table, and fastnet only reads: use 'ip neigh'\n",
            program, option->letter);
    return STATUS_REFUSED;
}

static int take_flag(struct arp_options *options, int id)
{
    options->all |= id == 'a';
    options->linux_style |= id == 'e';
    options->numeric |= id == 'n';
    options->verbose |= id == 'v';
    if (id == 'N')
        fprintf(stderr, "arp: -N not yet supported.\n");
    return 0;
}

static void print_help(const char *program)
{
    fprintf(cli_stdout(),
            "Usage: %sarp [OPTION]... [HOST]\n"
            "The IPv4 neighbours of this machine, as arp lists them. 'fastnet neigh' lists all.\n",
            strcmp(program, "arp") == 0 ? "" : "fastnet ");
    for (size_t i = 0; i < TABLE_COUNT; i++)
        options_help(tables[i], cli_stdout());
    fprintf(cli_stdout(), "\nSee fastnet-arp(8) for more, fastnet-output(5) for the columns.\n");
}

static void print_version(void)
{
    fprintf(cli_stdout(),
            "fastnet " FASTNET_VERSION "\n"
            "lists as arp of net-tools 2.10 does; backends: rtnetlink, /proc/net/arp\n"
            "built with libmnl and libcap\n");
}

static int take_option(const struct option *option, const char *argument, void *arg)
{
    struct parsing *parsing = arg;
    struct arp_options *options = parsing->options;
    bool taken;
    int status = common_take(&options->common, option, argument, parsing->program, &taken);

    if (taken)
        return status;
    switch (option->id) {
    case OPTION_OPERAND:
        if (!options->host)
            options->host = argument;
        return 0;
    case 'A':
        return take_family(argument);
    case 'H':
        return take_hardware(options, argument);
    case 'i':
        options->device = argument;
        return 0;
    case 'd':
    case 'D':
    case 'f':
    case 's':
        return refuse(option, parsing->program);
    case 'h':
        print_help(parsing->program);
        return OPTIONS_ANSWERED;
    case 'V':
        print_version();
        return OPTIONS_ANSWERED;
    default:
        return take_flag(options, option->id);
    }
}

int arp_parse(struct arp_options *options, int argc, char *const argv[], bool *done)
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
    if (!options->common.completion)
        return 0;
    *done = true;
    return common_complete(&options->common, &arp_grammar, false, argv[0]);
}
