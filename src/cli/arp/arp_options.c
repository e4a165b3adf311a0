#include "cli/arp/arp_options.h"

#include <stdio.h>
#include <string.h>

#include "cli/personality.h"
#include "fastnet/array.h"

enum { GROUP_WHICH, GROUP_SHOW, GROUP_OTHER, GROUP_CHANGES };
static const char *const groups[] = {"Which neighbours", "How they are shown", "About fastnet",
                                     "Changes (refused: use ip neigh)"};

#define HARDWARE "ether netrom ax25 arcnet dlci eui64 rose x25 fddi hippi ash irda"

#define SETS(of_arp) .member = offsetof(struct arp_options, of_arp)

/* In net-tools' order: it shows in the message about an ambiguous abbreviation. */
static const struct option options_table[] = {
    OPTION('v', "verbose", GROUP_SHOW, "how many there are and were shown", SETS(verbose)),
    OPTION('V', "version", GROUP_OTHER, "version and build options"),
    OPTION('a', "all", GROUP_SHOW, "in BSD style", SETS(all)),
    OPTION('d', "delete", GROUP_CHANGES, "delete an entry"),
    OPTION('f', "file", GROUP_CHANGES, "add entries from a file"),
    OPTION('n', "numeric", GROUP_SHOW, "no names for hosts", SETS(numeric)),
    OPTION('s', "set", GROUP_CHANGES, "add an entry"),
    OPTION('A', "protocol", GROUP_WHICH, "by address family: inet", TAKES("FAMILY"), OF("inet")),
    OPTION_ROW('A', 'p', NULL, GROUP_WHICH, "the same", TAKES("FAMILY"), OF("inet")),
    OPTION('H', "hw-type", GROUP_WHICH, "by hardware type: ether, ax25 ...", TAKES("TYPE"),
           OF(HARDWARE)),
    OPTION_ROW('H', 't', NULL, GROUP_WHICH, "the same", TAKES("TYPE"), OF(HARDWARE)),
    OPTION('i', "device", GROUP_WHICH, "of this interface", TAKES("IF"), SETS(device)),
    OPTION('h', "help", GROUP_OTHER, "this help"),
    OPTION('D', "use-device", GROUP_CHANGES, "add with an interface's address"),
    OPTION('N', "symbolic", 0, NULL),
    OPTION('e', NULL, GROUP_SHOW, "in Linux style, the default", SETS(linux_style)),
};

static const struct option_table arp_table = {groups, COUNT(groups), options_table,
                                              COUNT(options_table)};

static const struct option_table *const tables[] = {&arp_table, &common_options};

const struct grammar arp_grammar = {
    .name = "arp",
    .help = "IPv4 neighbours, as arp lists them",
    .tables = tables,
    .table_count = COUNT(tables),
    .kind = &kind_neighbour,
    .usage = "[OPTION]... [HOST]",
    .about = "The IPv4 neighbours of this machine, as arp lists them. 'fastnet neigh' lists all.",
    .page = "fastnet-arp(8)",
    .version = "lists as arp of net-tools 2.10 does; backends: rtnetlink, /proc/net/arp",
};

/* The families that Debian's net-tools knows by these names; arp lists only one of them. */
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

static int take_option(const struct option *option, const char *argument, void *arg)
{
    struct arp_options *options = arg;

    switch (option->id) {
    case OPTION_OPERAND:
        if (!options->host)
            options->host = argument;
        return 0;
    case 'A':
        return take_family(argument);
    case 'H':
        return take_hardware(options, argument);
    case 'N':
        fprintf(stderr, "arp: -N not yet supported.\n");
        return 0;
    default:
        return refuse(option, options->common.program);
    }
}

int arp_parse(struct arp_options *options, int argc, char *const argv[], bool *done)
{
    return common_parse(&options->common, &arp_grammar, argc, argv, take_option, options, done);
}
