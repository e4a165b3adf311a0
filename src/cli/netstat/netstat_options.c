/* SPDX-License-Identifier: MIT */
#include "cli/netstat/netstat.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/personality.h"
#include "fastnet/array.h"
#include "fastnet/proc_tree.h"

enum {
    OPTION_FAMILY = 256, /* --inet and similar options */
    OPTION_SUMMARY,
    OPTION_QUEUES,
    OPTION_QDISC,
};

enum { WHICH, SHOW, TABLES, OTHER, COMPATIBILITY };
static const char *const groups[] = {"Which sockets", "How they are shown",
                                     "Other tables of netstat", "About fastnet", "Compatibility"};

enum { FORM_FAMILY = FORM_OWN };
#define OF_FAMILY(name)    .form = FORM_FAMILY, .value = (name)
#define FAMILY(name)       LONG(OPTION_FAMILY, name, 0, NULL, OF_FAMILY(name))
#define MEMBER(of_netstat) offsetof(struct netstat_options, of_netstat)
#define SETS(of_netstat)   .member = MEMBER(of_netstat)

/* In net-tools' order, because the message about an ambiguous abbreviation shows this order. */
static const struct option options_table[] = {
    /* clang-format off */
    FAMILY("ax25"), FAMILY("x25"), FAMILY("ip"), FAMILY("ipx"), FAMILY("appletalk"),
    FAMILY("netrom"), FAMILY("inet"), FAMILY("inet6"), FAMILY("ddp"), FAMILY("rose"),
    FAMILY("unix"), FAMILY("bluetooth"), FAMILY("tcpip"),
    /* clang-format on */
    OPTION('V', "version", OTHER, "version and build options"),
    OPTION('i', NULL, TABLES, "interfaces"),
    OPTION('I', "interfaces", TABLES, "one interface, -I=eth0", .argument = ARGUMENT_ATTACHED,
           .metavar = "IF", OF(CHOICES_INTERFACES)),
    HELP_OPTIONS(OTHER),
    OPTION('r', "route", TABLES, "routing tables"),
    OPTION('M', "masquerade", TABLES, "masqueraded connections, from connection tracking"),
    OPTION('A', "protocol", COMPATIBILITY, "by address family: inet, inet6, unix ...",
           TAKES("FAMILY,..."), OF("inet inet6 unix"), OF_FAMILY(NULL)),
    OPTION('4', NULL, WHICH, "IPv4 only", OF_FAMILY("inet")),
    OPTION('6', NULL, WHICH, "IPv6 only", OF_FAMILY("inet6")),
    OPTION('t', "tcp", WHICH, "TCP", SETS(tcp)),
    OPTION('S', "sctp", COMPATIBILITY, "SCTP", SETS(sctp)),
    OPTION('u', "udp", WHICH, "UDP", SETS(udp)),
    OPTION('U', "udplite", COMPATIBILITY, "UDP-Lite", SETS(udplite)),
    OPTION('w', "raw", WHICH, "raw sockets", SETS(raw)),
    OPTION('x', "unix", WHICH, "unix sockets", OF_FAMILY("unix")),
    OPTION('2', "l2cap", COMPATIBILITY, "Bluetooth L2CAP", SETS(bluetooth)),
    OPTION('f', "rfcomm", COMPATIBILITY, "Bluetooth RFCOMM", SETS(bluetooth)),
    OPTION('l', "listening", WHICH, "listening sockets only (default: connected)", SETS(listening)),
    OPTION('a', "all", WHICH, "all sockets, listening and connected", SETS(all)),
    OPTION('o', "timers", SHOW, "timers", SETS(layout.timers)),
    SECONDS_OPTION(SHOW),
    OPTION('e', "extend", SHOW, "user and inode"),
    OPTION('p', "programs", SHOW, "process and program name", SETS(layout.programs)),
    OPTION('v', "verbose", SHOW, "report address families that the kernel lacks", SETS(verbose)),
    OPTION('s', "statistics", TABLES, "counters of the protocols"),
    OPTION('W', "wide", COMPATIBILITY, "no effect: addresses are never cut", SETS(wide)),
    OPTION('n', "numeric", SHOW, "no names for hosts, ports and users", SETS(numeric)),
    LONG(THIS_ROW, "numeric-hosts", SHOW, "no names for hosts", SETS(layout.numeric_hosts)),
    LONG(THIS_ROW, "numeric-ports", SHOW, "no names for ports", SETS(layout.numeric_ports)),
    LONG(THIS_ROW, "numeric-users", SHOW, "no names for users", SETS(layout.numeric_users)),
    OPTION('N', "symbolic", COMPATIBILITY, "routes: the same as -n", SETS(symbolic)),
    OPTION('C', "cache", COMPATIBILITY, "routes: exceptions learned from routers", SETS(cache)),
    OPTION('F', "fib", COMPATIBILITY, "routes: the forwarding table", SETS(fib)),
    OPTION('g', "groups", TABLES, "multicast groups that interfaces are in"),
    OPTION('Z', "context", COMPATIBILITY, "SELinux contexts (not supported)"),
    OPTION('d', NULL, 0, NULL),
};

/* In a table of their own, so that no abbreviation of netstat's options becomes ambiguous. */
static const char *const own_groups[] = {NULL};
static const struct option own_options[] = {
    DELTA_OPTION(0, "with -c and one of -i, -s, -M: rates per second"),
    NONZERO_OPTION(0),
    STRICT_INTERVAL_OPTION(0),
    LONG(OPTION_SUMMARY, "summary", 0, SUMMARY_HELP, .newer = true),
    LONG(OPTION_QUEUES, "queues", 0, "with -i: queues of network cards", SETS(queues),
         .newer = true),
    LONG(OPTION_QDISC, "qdisc", 0, "with -i: queueing disciplines, as tc -s qdisc", SETS(qdisc),
         .newer = true),
};

static const struct listed listed[] = {
    {'r', &kind_route, NULL},
    {'i', &kind_interface, NULL},
    {'I', &kind_interface, NULL},
    {'g', &kind_group, NULL},
    {'s', &kind_counter, NULL},
    {'M', &kind_flow, NULL},
    {OPTION_SUMMARY, &kind_summary, NULL},
    {OPTION_QUEUES, &kind_queue, NULL},
    {OPTION_QDISC, &kind_qdisc, NULL},
    {0, NULL, NULL},
};
static const struct example examples[] = {
    {"-tulpn", "listeners and their programs"},
    {"-tnp", "connections and programs"},
    {"-tn --count-by=state", "count of sockets by state"},
    {"-rn", "routes"},
    {"-tn --remote-port=443", "connections to port 443"},
    {"-tn --where='recv_q > 0'", "programs that read too slowly"},
    {"-tn --sort=-send_q", "longest send queues first"},
    {"-tn --count-by=remote_address", "count of sockets by peer"},
    {"-atnp --json", "everything, for programs"},
    {"-i --delta -c 5", "packets per second, every 5 s"},
    {"-i --qdisc", "queueing disciplines"},
    {"-s", "counters of the kernel"},
    {"--summary", "number and memory of sockets"},
    {NULL, NULL},
};

const struct grammar netstat_grammar = {
    .name = "netstat",
    .help = "sockets, and the other tables of netstat",
    .tables = {OPTION_TABLE(groups, options_table), OPTION_TABLE(own_groups, own_options),
               &filters_of_sockets, &common_options, &common_options_of_owners, &threshold_options},
    .kind = &kind_socket,
    .listed = listed,
    .about = "The sockets of this machine, as netstat lists them.",
    .important = "t u x l a n p r i where",
    .examples = examples,
    .notes = "fastnet netstat is the same as fastnet, but leaves spaces in names as they are.",
    .page = "fastnet",
    .version = "output as in netstat of net-tools 2.10; backends: sock_diag netlink, /proc/net",
    .manner = {.status = STATUS_MISUSE},
};

/* Appends a family's name to afname: routes and counters use all names, in their order. */
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

#define ABSENT           " not configured in this system."
#define NO_ROUTING(name) "No routing for address family `" name "'."

const struct netstat_family netstat_families[NETSTAT_FAMILIES] = {
    {"inet", "inet ip tcpip", MEMBER(inet), NULL, NULL, NULL, 0},
    {"inet6", "inet6 ip6", MEMBER(inet6), NULL, NULL, NULL, 0},
    {"unix", "unix", MEMBER(unix_sockets), NULL, NULL, NO_ROUTING("unix"), STATUS_MISUSE},
    {"bluetooth", "bluetooth", MEMBER(bluetooth), NULL, NULL,
     "Address family `bluetooth' not supported.", STATUS_MISUSE},
    {"ddp", "ddp appletalk", 0, NULL, NULL, "DDP (AppleTalk) not configured on this system.",
     STATUS_FAILURE},
    {"ec", "econet", 0, NULL, NULL, NO_ROUTING("ec"), STATUS_MISUSE},
    {"ash", "ash", 0, NULL, NULL, NO_ROUTING("ash"), STATUS_MISUSE},
    {"ipx", "ipx", MEMBER(ipx), "net/ipx", "AF IPX",
     "IPX routing not in file /proc/net/ipx/route or /proc/net/ipx_route found.", STATUS_FAILURE},
    {"ax25", "ax25", MEMBER(ax25), "net/ax25", "AF AX25", "AX.25" ABSENT, STATUS_FAILURE},
    {"x25", "x25", MEMBER(x25), "net/x25", "AF X25", "X.25" ABSENT, STATUS_FAILURE},
    {"netrom", "netrom", MEMBER(netrom), "net/nr", "AF NETROM", "NET/ROM" ABSENT, STATUS_FAILURE},
    {"rose", "rose", MEMBER(rose), "net/rose", "AF ROSE", "ROSE" ABSENT, STATUS_FAILURE},
};

/* Handles one name of a family. Several names can mean the same family. */
static bool netstat_take_family(struct netstat_options *options, struct text name)
{
    for (size_t i = 0; i < NETSTAT_FAMILIES; i++) {
        const struct netstat_family *family = &netstat_families[i];
        const char *names = family->names;
        for (struct text known; text_next(&names, ' ', &known);) {
            if (!text_equal(known, name))
                continue;
            remember_family(options, family->afname);
            if (family->member)
                *(bool *)((char *)options + family->member) = true;
            return true;
        }
    }
    return false;
}

static int take_families(struct netstat_options *options, const char *names)
{
    for (struct text name; text_next(&names, ',', &name);)
        if (!netstat_take_family(options, name)) {
            fprintf(stderr, "Unknown address family `%s'.\n", TYPED_BYTES(name.data, name.length));
            return STATUS_FAILURE;
        }
    return 0;
}

/* Handles options that list another table; ignores all other options. */
static int take_other_table(struct netstat_options *options, int id)
{
    size_t i = 0;

    while (listed[i].kind && listed[i].id != id)
        i++;
    if (!listed[i].kind || (id == 'g' && options->other_tables)) /* then -g is ignored */
        return 0;
    /* -i adds nothing after -I=lo */
    options->other_tables += id != 'g' && !(id == 'i' && options->interface);
    options->kind = listed[i].kind;
    return 0;
}

static int netstat_take_option(const struct option *option, const char *argument, void *arg)
{
    struct netstat_options *options = arg;

    if (option->form == FORM_FAMILY)
        return take_families(options, argument ? argument : option->value);
    switch (option->id) {
    case 'e':
        options->layout.extended = true;
        options->extend++;
        return 0;
    case 'I': /* -Ilo, -I=lo and --interfaces=lo name an interface; without a name all are listed */
        if (argument && *argument == '=')
            argument++;
        if (argument && *argument) {
            options->interface = argument;
            options->other_tables -= options->kind == &kind_interface; /* counts -i -I=lo once */
        }
        return take_other_table(options, 'I');
    case 'Z':
        if (proc_tree_has("/sys/fs", "selinux/enforce"))
            fprintf(stderr, "%s: --context is not supported\n", options->common.program);
        else /* in netstat's words */
            fprintf(stderr, "SELinux is not enabled on this machine.\n");
        return STATUS_FAILURE;
    case OPTION_OPERAND:
        options->operands[options->operands[0] != NULL] = argument;
        return 0;
    default:
        return take_other_table(options, option->id);
    }
}

/* A family without protocols means all its protocols; a protocol without families means both. */
static void netstat_complete(struct netstat_options *options)
{
    struct netstat_layout *layout = &options->layout;
    /* a filter already says which sockets are wanted */
    const bool all = options->all || options->common.filters.count;
    const bool multicast = options->kind == &kind_group;
    bool protocols =
        options->tcp || options->sctp || options->udp || options->udplite || options->raw;

    layout->show = options->listening && !options->all ? SHOW_LISTENING
                   : all                               ? SHOW_ALL
                                                       : SHOW_CONNECTED;
    layout->numeric_hosts |= options->numeric;
    layout->numeric_ports |= options->numeric;
    layout->numeric_users |= options->numeric;
    layout->one_word_names = options->common.words;
    layout->header = !options->common.no_header;
    layout->colour = command_colour(&options->common);
    if ((options->inet || options->inet6) && !protocols) {
        options->all_protocols = protocols = true;
        options->tcp = options->sctp = options->udp = options->udplite = options->raw = true;
    }
    if ((protocols || multicast) && !options->inet && !options->inet6)
        options->inet = options->inet6 = true;
    options->named_protocols =
        (unsigned)(options->tcp + options->sctp + options->udp + options->udplite + options->raw +
                   options->unix_sockets + options->bluetooth + options->ipx + options->ax25 +
                   options->x25 + options->netrom + options->rose + multicast);
}

/* Chooses the kind of --queues and --qdisc, which mean -i, too. Returns 0 or an exit status. */
static int netstat_complete_queues(struct netstat_options *options)
{
    if (!options->queues && !options->qdisc)
        return 0;
    if (options->other_tables && options->kind != &kind_interface)
        return common_misuse(&options->common, "%s can be combined only with -i",
                             options->queues ? "--queues" : "--qdisc");
    if (options->queues && options->qdisc)
        return common_misuse(&options->common, "--queues and --qdisc cannot be combined");
    options->kind = options->queues ? &kind_queue : &kind_qdisc;
    return 0;
}

int netstat_parse(struct netstat_options *options, int argc, char *const argv[])
{
    const struct common *common = &options->common;
    int status;

    options->kind = &kind_socket;
    options->no_options = true;
    for (int i = 1; i < argc; i++)
        options->no_options &= *argv[i] != '-';
    status =
        common_parse(&options->common, &netstat_grammar, argc, argv, netstat_take_option, options);

    if (status != PARSED)
        return status;
    status = netstat_operands(options);
    if (status)
        return status;
    if (options->other_tables > 1)
        return common_misuse(common, "-r, -i, -M, -s and --summary cannot be combined");
    status = netstat_complete_queues(options);
    if (status)
        return status;
    netstat_complete(options);
    return PARSED;
}
