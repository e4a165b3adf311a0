#include "cli/netstat/netstat_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/personality.h"
#include "fastnet/array.h"
#include "fastnet/proc_tree.h"

enum {
    OPTION_FAMILY = 256, /* --inet and its kin: the option's name is the family's */
    OPTION_NUMERIC_HOSTS,
    OPTION_NUMERIC_PORTS,
    OPTION_NUMERIC_USERS,
    OPTION_DELTA,
};

enum { GROUP_WHICH, GROUP_SHOW, GROUP_OTHER, GROUP_TABLES };
static const char *const groups[] = {"Which sockets", "How they are shown", "About fastnet",
                                     "Other tables of netstat"};

#define FAMILY(name)     LONG(OPTION_FAMILY, name, 0, NULL)
#define SETS(of_netstat) .member = offsetof(struct netstat_options, of_netstat)

/* In net-tools' order: it shows in the message about an ambiguous abbreviation. */
static const struct option options_table[] = {
    FAMILY("ax25"),
    FAMILY("x25"),
    FAMILY("ip"),
    FAMILY("ipx"),
    FAMILY("appletalk"),
    FAMILY("netrom"),
    FAMILY("inet"),
    FAMILY("inet6"),
    FAMILY("ddp"),
    FAMILY("rose"),
    FAMILY("unix"),
    FAMILY("bluetooth"),
    FAMILY("tcpip"),
    OPTION('V', "version", GROUP_OTHER, "version and build options"),
    OPTION('i', NULL, GROUP_TABLES, "interfaces"),
    OPTION('I', "interfaces", GROUP_TABLES, "one interface, -I=eth0", .argument = ARGUMENT_ATTACHED,
           .metavar = "IF"),
    OPTION('h', "help", GROUP_OTHER, "this help"),
    OPTION('r', "route", GROUP_TABLES, "routing tables"),
    OPTION('M', "masquerade", GROUP_TABLES, "masqueraded connections, from connection tracking"),
    OPTION('A', "protocol", GROUP_WHICH, "by address family: inet, inet6, unix ...",
           TAKES("FAMILY,..."), OF("inet inet6 unix")),
    OPTION('4', NULL, GROUP_WHICH, "IPv4 only"),
    OPTION('6', NULL, GROUP_WHICH, "IPv6 only"),
    OPTION('t', "tcp", GROUP_WHICH, "TCP", SETS(tcp)),
    OPTION('S', "sctp", GROUP_WHICH, "SCTP", SETS(sctp)),
    OPTION('u', "udp", GROUP_WHICH, "UDP", SETS(udp)),
    OPTION('U', "udplite", GROUP_WHICH, "UDP-Lite", SETS(udplite)),
    OPTION('w', "raw", GROUP_WHICH, "raw sockets", SETS(raw)),
    OPTION('x', "unix", GROUP_WHICH, "unix sockets"),
    OPTION('2', "l2cap", GROUP_WHICH, "Bluetooth L2CAP", SETS(bluetooth)),
    OPTION('f', "rfcomm", GROUP_WHICH, "Bluetooth RFCOMM", SETS(bluetooth)),
    OPTION('l', "listening", GROUP_WHICH, "listening sockets only (default: connected)",
           SETS(listening)),
    OPTION('a', "all", GROUP_WHICH, "all sockets, listening and connected", SETS(all)),
    OPTION('o', "timers", GROUP_SHOW, "timers", SETS(timers)),
    OPTION('c', "continuous", GROUP_SHOW, "repeat every second, or every SECONDS",
           .argument = ARGUMENT_INTERVAL, .metavar = "[SECONDS]"),
    OPTION('e', "extend", GROUP_SHOW, "user and inode"),
    OPTION('p', "programs", GROUP_SHOW, "process and program name", SETS(programs)),
    OPTION('v', "verbose", GROUP_SHOW, "say which families the kernel lacks", SETS(verbose)),
    OPTION('s', "statistics", GROUP_TABLES, "counters of the protocols"),
    OPTION('W', "wide", GROUP_SHOW, "accepted, no effect (addresses are never cut)", SETS(wide)),
    OPTION('n', "numeric", GROUP_SHOW, "no names for hosts, ports and users", SETS(numeric)),
    LONG(OPTION_NUMERIC_HOSTS, "numeric-hosts", GROUP_SHOW, "no names for hosts",
         SETS(numeric_hosts)),
    LONG(OPTION_NUMERIC_PORTS, "numeric-ports", GROUP_SHOW, "no names for ports",
         SETS(numeric_ports)),
    LONG(OPTION_NUMERIC_USERS, "numeric-users", GROUP_SHOW, "no names for users",
         SETS(numeric_users)),
    OPTION('N', "symbolic", GROUP_TABLES, "routes: the same as -n", SETS(symbolic)),
    OPTION('C', "cache", GROUP_TABLES, "routes: exceptions learned from routers", SETS(cache)),
    OPTION('F', "fib", GROUP_TABLES, "routes: the forwarding table", SETS(fib)),
    OPTION('g', "groups", GROUP_TABLES, "multicast groups that interfaces are in"),
    OPTION('Z', "context", GROUP_SHOW, "SELinux contexts (not supported)"),
    OPTION('d', NULL, 0, NULL),
};

static const struct option_table netstat_table = {groups, COUNT(groups), options_table,
                                                  COUNT(options_table)};

/* In a table of its own, so that no abbreviation of netstat's own options becomes ambiguous. */
static const char *const own_groups[] = {"Of interfaces and counters"};
static const struct option own_options[] = {
    LONG(OPTION_DELTA, "delta", 0, "with -c: rates per second", SETS(delta)),
};
static const struct option_table own_table = {own_groups, 1, own_options, COUNT(own_options)};

static const struct option_table *const tables[] = {&netstat_table, &own_table, &common_options};

static const struct listed listed[] = {
    {'r', &kind_route, NULL}, {'i', &kind_interface, NULL}, {'I', &kind_interface, NULL},
    {'g', &kind_group, NULL}, {'s', &kind_counter, NULL},   {'M', &kind_flow, NULL},
};
const struct grammar netstat_grammar = {
    .name = "netstat",
    .help = "sockets, and the other tables of netstat",
    .tables = tables,
    .table_count = COUNT(tables),
    .kind = &kind_socket,
    .listed = listed,
    .listed_count = COUNT(listed),
    .usage = "[OPTION]...",
    .about = "What this machine is talking to: its sockets, as netstat lists them.",
    .notes = "fastnet arp, neigh and conntrack list neighbours and flows: see their --help.\n"
             "fastnet netstat is the same as fastnet, but leaves blanks in names as they are.\n"
             "ss is not part of this version.",
    .page = "fastnet(8)",
    .version = "lists as netstat of net-tools 2.10 does; backends: sock_diag netlink, /proc/net",
};

/* For routes and counters all names count, in their order. */
static void remember_family(struct netstat_options *options, const char *name)
{
    size_t length = strlen(options->afname), room = sizeof options->afname;

    if (length + strlen(name) + 1 < room) {
        snprintf(options->afname + length, room - length, "%s%s", length ? "," : "", name);
        return;
    }
    if (!options->too_many_families)
        fprintf(stderr, "Too much address family arguments.\n");
    options->too_many_families = true;
}

/* The names by which net-tools knows the families; each stands for all that is counted under it. */
static bool take_family(struct netstat_options *options, const char *name, size_t length)
{
    static const struct {
        const char *name;
        int family;         /* enum netstat_family, or one of these */
        const char *afname; /* what it is an alias of, or NULL */
    } families[] = {
        {"inet", -1, NULL},          {"ip", -1, "inet"},        {"tcpip", -1, "inet"},
        {"inet6", -2, NULL},         {"ip6", -2, "inet6"},      {"unix", -3, NULL},
        {"bluetooth", -4, NULL},     {"appletalk", -5, "ddp"},  {"ddp", -5, NULL},
        {"econet", -5, "ec"},        {"ash", -5, NULL},         {"ipx", FAMILY_IPX, NULL},
        {"ax25", FAMILY_AX25, NULL}, {"x25", FAMILY_X25, NULL}, {"netrom", FAMILY_NETROM, NULL},
        {"rose", FAMILY_ROSE, NULL},
    };

    for (size_t i = 0; i < COUNT(families); i++) {
        if (strlen(families[i].name) != length || memcmp(families[i].name, name, length) != 0)
            continue;
        remember_family(options, families[i].afname ? families[i].afname : families[i].name);
        options->inet |= families[i].family == -1;
        options->inet6 |= families[i].family == -2;
        options->unix_sockets |= families[i].family == -3;
        options->bluetooth |= families[i].family == -4;
        if (families[i].family >= 0) /* -5: netstat knows the name, but lists nothing for it */
            options->families |= 1u << families[i].family;
        return true;
    }
    return false;
}

static int take_families(struct netstat_options *options, const char *names)
{
    char text[TYPED_MAX];

    for (;;) {
        size_t length = strcspn(names, ",");
        if (!take_family(options, names, length)) {
            fprintf(stderr, "Unknown address family `%s'.\n", options_typed(text, names, length));
            return STATUS_FAILURE;
        }
        if (!names[length])
            return 0;
        names += length + 1;
    }
}

static int take_interval(struct netstat_options *options, const char *seconds)
{
    double interval = seconds ? strtod(seconds, NULL) : 1;

    options->continuous = true;
    if (interval < 0.001 || interval > 1000000)
        return common_misuse(&options->common,
                             "-c: an interval is 0.001 to 1000000 seconds, not '%s'", seconds);
    options->interval_ms = (unsigned)(interval * 1000);
    return 0;
}

static int take_other_table(struct netstat_options *options, const struct option *option)
{
    static const struct {
        int id;
        enum netstat_table table;
    } tables_of[] = {
        {'r', NETSTAT_ROUTES}, {'i', NETSTAT_INTERFACES}, {'I', NETSTAT_INTERFACES},
        {'g', NETSTAT_GROUPS}, {'s', NETSTAT_STATISTICS}, {'M', NETSTAT_MASQUERADE},
    };

    if (option->id == 'g' && options->other_tables) /* -g gives way to the others */
        return 0;
    /* -i says nothing new after -I=lo */
    options->other_tables += option->id != 'g' && !(option->id == 'i' && options->interface);
    for (size_t i = 0; i < COUNT(tables_of); i++)
        if (tables_of[i].id == option->id)
            options->table = tables_of[i].table;
    return 0;
}

/* -Ilo, -I=lo and --interfaces=lo name one interface; without a name all are listed. */
static int take_interface(struct netstat_options *options, const struct option *option,
                          const char *name)
{
    if (name && *name == '=')
        name++;
    if (name && *name) {
        options->interface = name;
        options->other_tables -= options->table == NETSTAT_INTERFACES; /* it may follow -i */
    }
    return take_other_table(options, option);
}

/* In netstat's words where it would say them. Where it shows contexts, fastnet cannot. */
static int refuse_contexts(const char *program)
{
    if (proc_tree_has("/sys/fs", "selinux/enforce"))
        fprintf(stderr, "%s: --context is not supported\n", program);
    else
        fprintf(stderr, "SELinux is not enabled on this machine.\n");
    return STATUS_FAILURE;
}

static int take_option(const struct option *option, const char *argument, void *arg)
{
    struct netstat_options *options = arg;

    switch (option->id) {
    case OPTION_FAMILY:
        return take_families(options, option->name);
    case 'A':
        return take_families(options, argument);
    case '4':
        return take_families(options, "inet");
    case '6':
        return take_families(options, "inet6");
    case 'x':
        return take_families(options, "unix");
    case 'c':
        return take_interval(options, argument);
    case 'e':
        options->extended = true;
        options->extend++;
        return 0;
    case 'I':
        return take_interface(options, option, argument);
    case 'g':
    case 'i':
    case 'M':
    case 'r':
    case 's':
        return take_other_table(options, option);
    case 'Z':
        return refuse_contexts(options->common.program);
    default:
        return 0; /* operands, and what changes nothing here */
    }
}

/* A family without a protocol means all of its protocols, a protocol without one both families. */
static void complete(struct netstat_options *options)
{
    bool protocols =
        options->tcp || options->sctp || options->udp || options->udplite || options->raw;
    bool multicast = options->table == NETSTAT_GROUPS;

    options->numeric_hosts |= options->numeric;
    options->numeric_ports |= options->numeric;
    options->numeric_users |= options->numeric;
    if ((options->inet || options->inet6) && !protocols) {
        options->all_protocols = protocols = true;
        options->tcp = options->sctp = options->udp = options->udplite = options->raw = true;
    }
    if ((protocols || multicast) && !options->inet && !options->inet6)
        options->inet = options->inet6 = true;
    options->named_protocols =
        (unsigned)(options->tcp + options->sctp + options->udp + options->udplite + options->raw +
                   options->unix_sockets + options->bluetooth + multicast) +
        (unsigned)__builtin_popcount(options->families);
}

int netstat_parse(struct netstat_options *options, int argc, char *const argv[], bool *done)
{
    const struct common *common = &options->common;
    int status =
        common_parse(&options->common, &netstat_grammar, argc, argv, take_option, options, done);

    if (status || *done)
        return status;
    if (options->other_tables > 1)
        return common_misuse(common, "-r, -i, -M and -s exclude one another");
    if (options->delta && !options->continuous)
        return common_misuse(common, "--delta needs -c");
    complete(options);
    return 0;
}
