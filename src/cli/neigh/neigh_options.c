#include "cli/neigh/neigh_options.h"

#include <linux/neighbour.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/neighbour_names.h"

enum { OPTION_STATE = 256, OPTION_PROXY, OPTION_MASTER };

enum { GROUP_WHICH, GROUP_OTHER };
static const char *const groups[] = {"Which neighbours", "About fastnet"};

#define SETS(of_neigh) .member = offsetof(struct neigh_options, of_neigh)

static const struct option options_table[] = {
    OPTION('4', NULL, GROUP_WHICH, "IPv4 only", SETS(inet)),
    OPTION('6', NULL, GROUP_WHICH, "IPv6 only", SETS(inet6)),
    OPTION('i', "device", GROUP_WHICH, "of this interface", TAKES("IF"), SETS(device)),
    LONG(OPTION_STATE, "state", GROUP_WHICH, "in one of these states", TAKES("A,B,..."),
         OF("REACHABLE STALE DELAY PROBE FAILED INCOMPLETE PERMANENT NOARP NONE")),
    LONG(OPTION_PROXY, "proxy", GROUP_WHICH, "proxies only: addresses this machine answers for",
         SETS(proxies)),
    LONG(OPTION_MASTER, "master", GROUP_WHICH,
         "of interfaces that belong to DEV (bridge, bond, VRF)", TAKES("DEV"), SETS(master)),
    OPTION('n', "numeric", GROUP_WHICH, "accepted, no effect", SETS(numeric)),
    OPTION('h', "help", GROUP_OTHER, "this help"),
    OPTION('V', "version", GROUP_OTHER, "version and build options"),
};

static const struct option_table neigh_table = {groups, COUNT(groups), options_table,
                                                COUNT(options_table)};

static const struct option_table *const tables[] = {&neigh_table, &common_options};

const struct grammar neigh_grammar = {
    .name = "neigh",
    .help = "all neighbours, IPv4 and IPv6, in every state",
    .tables = tables,
    .table_count = COUNT(tables),
    .kind = &kind_neighbour,
    .usage = "[OPTION]...",
    .about = "The neighbours of this machine, IPv4 and IPv6, in every state.",
    .page = "fastnet-neigh(8)",
    .version = "backends: rtnetlink, /proc/net/arp",
};

static bool take_state(struct neigh_options *options, const char *name, size_t length)
{
    const int state = neighbour_state_number(name, length);

    if (state < 0)
        return false;
    options->states |= (uint16_t)state;
    options->none |= state == NUD_NONE;
    return true;
}

static int take_states(struct neigh_options *options, const char *names)
{
    options->has_states = true;
    for (;;) {
        size_t length = strcspn(names, ",");
        if (!take_state(options, names, length))
            return common_misuse_typed(&options->common, "--state", "no such state:", names,
                                       length);
        if (!names[length])
            return 0;
        names += length + 1;
    }
}

static int take_option(const struct option *option, const char *argument, void *arg)
{
    struct neigh_options *options = arg;
    char text[TYPED_MAX];

    if (option->id == OPTION_STATE)
        return take_states(options, argument);
    /* an operand: if it were ignored, it would look like a filter that found everything */
    return common_misuse(&options->common, "neigh takes options only, not '%s'",
                         options_typed(text, argument, strlen(argument)));
}

int neigh_parse(struct neigh_options *options, int argc, char *const argv[], bool *done)
{
    int status =
        common_parse(&options->common, &neigh_grammar, argc, argv, take_option, options, done);

    if (!status && !*done && options->proxies && options->has_states)
        return common_misuse(&options->common,
                             "--proxy and --state exclude each other: proxies have no state");
    return status;
}
