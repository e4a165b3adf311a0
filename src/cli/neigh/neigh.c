/* SPDX-License-Identifier: MIT */
/* fastnet neigh, which lists all neighbours: its command line, its filter, and its columns. */
#include "cli/neigh/neigh.h"

#include <stdio.h>
#include <sys/socket.h>

#include "cli/command.h"
#include "cli/personality.h"
#include "fastnet/interfaces.h"
#include "fastnet/record.h"

enum { OPTION_USAGE = 256 };

enum { WHICH, SHOW, OTHER, COMPATIBILITY };
static const char *const groups[] = {"Which neighbours", "How they are shown", "About fastnet",
                                     "Compatibility"};

#define SETS(of_neigh) .member = offsetof(struct neigh_options, of_neigh)

static const struct option options_table[] = {
    OPTION('4', NULL, WHICH, "IPv4 only", SETS(inet)),
    OPTION('6', NULL, WHICH, "IPv6 only", SETS(inet6)),
    OPTION('i', "device", WHICH, "only neighbours on this interface", TAKES("IF"),
           OF(CHOICES_INTERFACES), COMPARES("interface"), .form = FORM_TEXT),
    LONG(THIS_ROW, "proxy", WHICH, "only proxies: addresses this machine answers for",
         COMPARES("flags"), .value = "proxy"),
    LONG(THIS_ROW, "master", WHICH, "only on interfaces of DEV (bridge, bond or VRF)", TAKES("DEV"),
         OF(CHOICES_INTERFACES), SETS(master)),
    LONG(OPTION_USAGE, "usage", WHICH, "how full the tables are, and their limits", SETS(usage)),
    INTERVAL_OPTION(SHOW),
    STRICT_INTERVAL_OPTION(SHOW),
    HABIT_OPTIONS(COMPATIBILITY, "neighbours have no processes", .newer = false),
    ABOUT_OPTIONS(OTHER),
    MISTAKEN_OPTIONS,
};

static const struct listed listed[] = {{OPTION_USAGE, &kind_neighbour_usage, NULL},
                                       {0, NULL, NULL}};

static const struct operands operands[] = {{NULL, "", CHOICES_WORDS}};

static const struct example examples[] = {
    {"", "all neighbours"},
    {"-i eth0", "neighbours on one interface"},
    {"--state=FAILED,INCOMPLETE", "neighbours that do not answer"},
    {"--count-by=interface,state", "count of neighbours by state"},
    {"--host=192.0.2.0/24", "neighbours in one network"},
    {"--proxy", "proxies of this machine"},
    {"--usage", "how full the tables are"},
    {"--json", "everything, for programs"},
    {NULL, NULL},
};

const struct grammar neigh_grammar = {
    .name = "neigh",
    .help = "all neighbours, IPv4 and IPv6, in every state",
    .tables = {OPTION_TABLE(groups, options_table), &filters_of_neighbours, &common_options,
               &threshold_options},
    .kind = &kind_neighbour,
    .listed = listed,
    .operands = operands,
    .usage = "[OPTION]... [WORD]...",
    .about = "The neighbours of this machine, IPv4 and IPv6, in every state.\nWORD: a filter, such "
             "as 10.0.0.1, 10.0/8, stale or eth0; !WORD: all but it.",
    .important = "4 6 i c state host where columns usage json",
    .examples = examples,
    .version = "backends: rtnetlink, /proc/net/arp",
    .in_place = true,
};

int neigh_parse(struct neigh_options *options, int argc, char *const argv[])
{
    int status = common_parse(&options->common, &neigh_grammar, argc, argv, NULL, NULL);
    const struct filters *filters = &options->common.filters;
    const bool states = filters_typed(filters, "state"), proxies = filters_typed(filters, "proxy");

    if (status != PARSED)
        return status;
    if (proxies && states)
        return common_misuse(&options->common,
                             "--proxy and --state cannot be combined: proxies have no state");
    if (options->usage &&
        (filters_typed(filters, "device") || options->master || proxies || states))
        return common_misuse(&options->common,
                             "--usage cannot be combined with -i, --state, --proxy or --master, "
                             "because it counts whole tables");
    return PARSED;
}

/* Reports an interface of -i or --master that does not exist. *index: the master, if given. */
static int find_interfaces(const struct neigh_options *options, uint32_t *index)
{
    const struct common *common = &options->common;
    const bool asks = common->backend != BACKEND_PROC && !common->proc_root && !common->from;
    const char *const names[] = {filters_typed(&common->filters, "device"), options->master};

    for (size_t i = 0; i < COUNT(names) && asks; i++)
        if (names[i] && interfaces_find(names[i], index) < 0) {
            fprintf(stderr, "%s: no such interface: '%s'\n", common->program, TYPED(names[i]));
            return STATUS_FAILURE;
        }
    if (asks || !options->master)
        return 0;
    fprintf(stderr, "%s: --master needs netlink, not /proc or a captured tree\n", common->program);
    return STATUS_FAILURE;
}

static int neigh_list(const struct neigh_options *options)
{
    uint32_t master = 0;
    const int status = find_interfaces(options, &master);
    const struct predicate of_master = predicate_number(&field_neighbour_master, master);
    const bool plain = options->common.format == FORMAT_PLAIN;
    const struct listing_table table = {.table = options->inet == options->inet6 ? &table_neighbours
                                                 : options->inet ? &table_neighbours4
                                                                 : &table_neighbours6,
                                        .missing = "the kernel has no table for these neighbours",
                                        .if_missing = MISSING_ENDS};
    struct listing_command command = {
        .common = &options->common,
        .kind = &kind_neighbour,
        .columns = {plain ? "address lladdr interface state flags used" : NULL},
        .table = {"address lladdr interface state flags used"},
        .drop = "used flags",
        .shorten = "interface flags",
        .whole = "address lladdr",
        .listing = {.tables = &table,
                    .table_count = 1,
                    .where = options->master ? &of_master : NULL,
                    .needs.fields = NEIGHBOUR_STATE | NEIGHBOUR_INTERFACE},
    };

    return status ? status : command_run(&command);
}

static int list_usage(const struct neigh_options *options)
{
    const bool plain = options->common.format == FORMAT_PLAIN;
    const struct listing_table table = {
        .table = &table_neighbour_usage,
        .missing = "the sizes of the tables are only in /proc of the first network namespace",
        .if_missing = MISSING_ENDS};
    const struct predicate of_family = predicate_number(
        field_named(&kind_neighbour_usage, "family"), options->inet ? AF_INET : AF_INET6);
    struct listing_command command = {
        .common = &options->common,
        .kind = &kind_neighbour_usage,
        .columns = {plain ? "family entries gc_thresh1 gc_thresh2 gc_thresh3 percent_full "
                            "table_fulls forced_gc_runs"
                          : NULL},
        .drop = "forced_gc_runs gc_thresh1 gc_thresh2",
        .whole = "family",
        .listing = {.tables = &table,
                    .table_count = 1,
                    .where = options->inet != options->inet6 ? &of_family : NULL},
    };

    return command_run(&command);
}

int neigh_run(int argc, char *const argv[])
{
    struct neigh_options options = {.inet = false};
    const int status = neigh_parse(&options, argc, argv);

    if (status != PARSED)
        return status;
    return options.usage ? list_usage(&options) : neigh_list(&options);
}
