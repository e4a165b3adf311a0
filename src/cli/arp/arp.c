/* SPDX-License-Identifier: MIT */
/* The listing side of net-tools' arp: parses its command line, chooses the entries, and returns its
 * exit statuses. format/neighbour/layout_arp.c writes its lines and messages. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "cli/arp/arp.h"
#include "cli/command.h"
#include "cli/personality.h"
#include "fastnet/array.h"
#include "fastnet/hosts.h"
#include "fastnet/layouts.h"
#include "fastnet/networks.h"
#include "fastnet/rights.h"

enum { WHICH, SHOW, OTHER, COMPATIBILITY };
static const char *const groups[] = {"Which neighbours", "How they are shown", "About fastnet",
                                     "Compatibility"};

#define HARDWARE "ether netrom ax25 arcnet dlci eui64 rose x25 fddi hippi ash irda"

#define SETS(of_arp) .member = offsetof(struct arp_options, of_arp)

/* Options whose names begin alike keep net-tools' order, because the message about an ambiguous
 * option lists them in this order. */
static const struct option options_table[] = {
    OPTION('v', "verbose", SHOW, "also print how many entries exist and match", SETS(verbose)),
    OPTION('V', "version", OTHER, "version and build options"),
    OPTION('a', "all", SHOW, "in BSD style, without a heading", SETS(all)),
    OPTION('d', "delete", COMPATIBILITY, "delete an entry (refused)"),
    OPTION('f', "file", COMPATIBILITY, "add entries from a file (refused)"),
    OPTION('n', "numeric", SHOW, "no names for hosts", SETS(numeric)),
    OPTION('s', "set", COMPATIBILITY, "add an entry (refused)"),
    OPTION('i', "device", WHICH, "only neighbours on this interface", TAKES("IF"),
           OF(CHOICES_INTERFACES), SETS(device)),
    OPTION('H', "hw-type", WHICH, "by hardware type: ether, ax25 ...", TAKES("TYPE"), OF(HARDWARE)),
    OPTION_ROW('H', 't', NULL, COMPATIBILITY, "the same as -H", TAKES("TYPE"), OF(HARDWARE)),
    OPTION('A', "protocol", COMPATIBILITY, "by address family: inet", TAKES("FAMILY"), OF("inet")),
    OPTION_ROW('A', 'p', NULL, COMPATIBILITY, "the same as -A", TAKES("FAMILY"), OF("inet")),
    HELP_OPTIONS(OTHER),
    OPTION('D', "use-device", COMPATIBILITY, "add with an interface's address (refused)"),
    OPTION('N', "symbolic", COMPATIBILITY, "not supported, as in arp"),
    OPTION('e', NULL, SHOW, "in Linux style, the default", SETS(linux_style)),
};

static const struct example examples[] = {
    {"-n", "IPv4 neighbours, as numbers"},
    {"-an", "the same, a sentence for each"},
    {"-n -i eth0", "neighbours on one interface"},
    {"-n 192.0.2.1", "one neighbour"},
    {"-n --host=192.0.2.0/24", "neighbours in one network"},
    {"--count-by=interface", "count of neighbours"},
    {"-n --json", "everything, for programs"},
    {NULL, NULL},
};

const struct grammar arp_grammar = {
    .name = "arp",
    .help = "IPv4 neighbours, as arp lists them",
    .tables = {OPTION_TABLE(groups, options_table), &filters_of_neighbours, &common_options,
               &threshold_options},
    .kind = &kind_neighbour,
    .usage = "[OPTION]... [HOST]",
    .about = "The IPv4 neighbours of this machine, as arp lists them; fastnet neigh lists all.",
    .important = "n a i H v where host json columns sort",
    .examples = examples,
    .version = "output as in arp of net-tools 2.10; backends: rtnetlink, /proc/net/arp",
    .manner = {.status = STATUS_MISUSE},
};

/* Checks the argument of -A. Debian's net-tools knows all these families; arp lists only inet. */
static int arp_take_family(const char *name)
{
    const bool other = text_among("inet6 unix unspec ipx ax25 netrom ddp ec x25 rose ash", name);

    if (strcmp(name, "inet") == 0)
        return 0;
    if (strchr(name, ','))
        fprintf(stderr, "Please don't supply more than one address family.\n");
    fprintf(stderr, "arp: %s: %s.\n", TYPED(name),
            other ? "kernel only supports 'inet'" : "unknown address family");
    return STATUS_ARP_FAILURE;
}

static int take_hardware(struct arp_options *options, const char *name)
{
    options->hardware = hardware_by_net_tools(name);
    if (!options->hardware) {
        fprintf(stderr, "arp: %s: unknown hardware type.\n", TYPED(name));
        return STATUS_ARP_FAILURE;
    }
    if (!options->hardware->arp) {
        fprintf(stderr, "arp: %s: hardware type without ARP support.\n", name);
        return STATUS_ARP_FAILURE;
    }
    return 0;
}

static int arp_refuse(const struct option *option, const char *program)
{
    const char *command = option->letter == 'd'   ? "ip neigh del ADDR dev DEV"
                          : option->letter == 'D' ? "ip neigh add proxy ADDR dev DEV"
                          : option->letter == 'f' ? "ip -batch FILE"
                                                  : "ip neigh replace ADDR lladdr LLADDR dev DEV";

    fprintf(stderr, "%s: arp -%c changes the table, which fastnet only reads: use '%s'\n", program,
            option->letter, command);
    return STATUS_REFUSED;
}

static int arp_take_option(const struct option *option, const char *argument, void *arg)
{
    struct arp_options *options = arg;

    switch (option->id) {
    case OPTION_OPERAND:
        if (!options->host)
            options->host = argument;
        return 0;
    case 'A':
        return arp_take_family(argument);
    case 'H':
        return take_hardware(options, argument);
    case 'N':
        fprintf(stderr, "arp: -N not yet supported.\n");
        return 0;
    default:
        return arp_refuse(option, options->common.program);
    }
}

int arp_parse(struct arp_options *options, int argc, char *const argv[])
{
    return common_parse(&options->common, &arp_grammar, argc, argv, arp_take_option, options);
}

/* Choosing the host */

static int refuse_host(const char *name, const char *why)
{
    fprintf(stderr, "%s: %s\n", TYPED(name), why);
    return STATUS_ARP_FAILURE;
}

/* Finds the address of the host that was typed. Names of networks come first, as in net-tools.
 * Rights are dropped before a name is looked up, because a lookup needs no rights. */
static int find_host(const char *name, uint8_t host[4])
{
    struct in_addr address = {.s_addr = INADDR_ANY};
    int error, result;

    if (!name || strcmp(name, "default") == 0 || inet_aton(name, &address)) {
        memcpy(host, &address, sizeof address);
        return 0;
    }
    rights_drop();
    if (networks_find(NULL, name, host))
        return 0;
    result = hosts_find(name, HOSTS_MILLISECONDS, host, &error, common_waiting());
    if (result == -ENOENT)
        return refuse_host(name, hstrerror(error));
    if (result == -ETIMEDOUT) {
        char late[64];
        snprintf(late, sizeof late, "no answer after %d seconds", HOSTS_MILLISECONDS / 1000);
        return refuse_host(name, late);
    }
    return result < 0 ? refuse_host(name, strerror(-result)) : 0;
}

/* Choosing the rows */

static const struct field *arp_field_of(const char *name)
{
    return field_named(&kind_neighbour, name);
}

/* Adds the conditions of -i, -H and the host. -i "*" and -H unspec match unknown values. */
static void arp_choose_rows(struct predicate_tree *where, const struct arp_options *options,
                            const char *device, const struct address *host)
{
    const struct hardware *hardware = options->hardware;
    struct predicate *whole = &where->whole;

    if (options->host)
        predicate_tree_add(where, whole, predicate_address(arp_field_of("address"), host));
    if (strcmp(device, "*") == 0)
        predicate_tree_refuse(where, whole, predicate_known(arp_field_of("interface")));
    else if (*device)
        predicate_tree_add(where, whole, predicate_text(arp_field_of("interface"), device));
    if (hardware && hardware->type == HARDWARE_UNSPECIFIED)
        predicate_tree_refuse(where, whole, predicate_known(arp_field_of("hardware")));
    else if (hardware)
        predicate_tree_add(where, whole,
                           predicate_number(arp_field_of("hardware"), (uint64_t)hardware->type));
}

static int arp_list(const struct arp_options *options)
{
    char device[IFNAMSIZ]; /* -i, cut to the length of a name; empty: all */
    struct arp_totals totals = {0};
    struct arp_layout layout = {
        .bsd = options->all && !options->linux_style,
        .numeric = options->numeric,
        .header = !options->common.no_header,
        .verbose = options->verbose,
        .chosen = options->hardware || options->host || (options->device && *options->device),
        .host = options->all ? NULL : options->host,
        .totals = &totals,
    };
    const int status = find_host(options->host, layout.host_address);
    const struct address host = address_make(AF_INET, layout.host_address);
    struct predicate_tree where = {.count = 0};
    const struct listing_table table = {
        .table = &table_arp, .missing = "this system has no ARP table", .if_missing = MISSING_ENDS};

    if (status)
        return status;
    snprintf(device, sizeof device, "%s", options->device ? options->device : "");
    arp_choose_rows(&where, options, device, &host);
    struct listing_command command = {
        .common = &options->common,
        .kind = &kind_neighbour,
        .columns = {"address hardware lladdr state flags interface"},
        .listing = {.tables = &table,
                    .table_count = 1,
                    .where = predicate_of(&where),
                    .refused = &totals.skipped,
                    .needs = {.fields = NEIGHBOUR_STATE, .lookups = NEED_INTERFACES}},
        .layout_ops = &sink_arp,
        .layout = &layout,
        .layout_needs.lookups = options->numeric ? 0 : NEED_HOSTS,
    };
    return command_run(&command);
}

int arp_run(int argc, char *const argv[])
{
    struct arp_options options = {.all = false};
    const int status = arp_parse(&options, argc, argv);

    return status != PARSED ? status : arp_list(&options);
}
