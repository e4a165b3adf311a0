#include "cli/netstat/netstat_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/personality.h"
#include "cli/run.h"
#include "fastnet/array.h"

enum {
    OPTION_FAMILY = 256, /* --inet and its kin: the option's name is the family's */
    OPTION_NUMERIC_HOSTS,
    OPTION_NUMERIC_PORTS,
    OPTION_NUMERIC_USERS,
    OPTION_DELTA,
};

enum { GROUP_WHICH, GROUP_SHOW, GROUP_OTHER, GROUP_TABLES };
static const char *const groups[] = {"Which sockets", "What is shown of them", "About fastnet",
                                     "Other tables of netstat"};

/* In net-tools' order: it shows in the message about an ambiguous abbreviation. */
static const struct option options_table[] = {
    {OPTION_FAMILY, 0, "ax25", ARGUMENT_NONE, NULL, NULL, NULL, 0},
    {OPTION_FAMILY, 0, "x25", ARGUMENT_NONE, NULL, NULL, NULL, 0},
    {OPTION_FAMILY, 0, "ip", ARGUMENT_NONE, NULL, NULL, NULL, 0},
    {OPTION_FAMILY, 0, "ipx", ARGUMENT_NONE, NULL, NULL, NULL, 0},
    {OPTION_FAMILY, 0, "appletalk", ARGUMENT_NONE, NULL, NULL, NULL, 0},
    {OPTION_FAMILY, 0, "netrom", ARGUMENT_NONE, NULL, NULL, NULL, 0},
    {OPTION_FAMILY, 0, "inet", ARGUMENT_NONE, NULL, NULL, NULL, 0},
    {OPTION_FAMILY, 0, "inet6", ARGUMENT_NONE, NULL, NULL, NULL, 0},
    {OPTION_FAMILY, 0, "ddp", ARGUMENT_NONE, NULL, NULL, NULL, 0},
    {OPTION_FAMILY, 0, "rose", ARGUMENT_NONE, NULL, NULL, NULL, 0},
    {OPTION_FAMILY, 0, "unix", ARGUMENT_NONE, NULL, NULL, NULL, 0},
    {OPTION_FAMILY, 0, "bluetooth", ARGUMENT_NONE, NULL, NULL, NULL, 0},
    {OPTION_FAMILY, 0, "tcpip", ARGUMENT_NONE, NULL, NULL, NULL, 0},
    {'V', 'V', "version", ARGUMENT_NONE, NULL, NULL, "version and build options", GROUP_OTHER},
    {'i', 'i', NULL, ARGUMENT_NONE, NULL, NULL, "interfaces", GROUP_TABLES},
    {'I', 'I', "interfaces", ARGUMENT_ATTACHED, "IF", NULL, "the same, or one of them",
     GROUP_TABLES},
    {'h', 'h', "help", ARGUMENT_NONE, NULL, NULL, "this help", GROUP_OTHER},
    {'r', 'r', "route", ARGUMENT_NONE, NULL, NULL, "routing tables", GROUP_TABLES},
    {'M', 'M', "masquerade", ARGUMENT_NONE, NULL, NULL,
     "masqueraded connections, from connection tracking", GROUP_TABLES},
    {'A', 'A', "protocol", ARGUMENT_REQUIRED, "FAMILY,...", "inet inet6 unix",
     "by address family: inet, inet6, unix ...", GROUP_WHICH},
    {'4', '4', NULL, ARGUMENT_NONE, NULL, NULL, "IPv4 only", GROUP_WHICH},
    {'6', '6', NULL, ARGUMENT_NONE, NULL, NULL, "IPv6 only", GROUP_WHICH},
    {'t', 't', "tcp", ARGUMENT_NONE, NULL, NULL, "TCP", GROUP_WHICH},
    {'S', 'S', "sctp", ARGUMENT_NONE, NULL, NULL, "SCTP", GROUP_WHICH},
    {'u', 'u', "udp", ARGUMENT_NONE, NULL, NULL, "UDP", GROUP_WHICH},
    {'U', 'U', "udplite", ARGUMENT_NONE, NULL, NULL, "UDP-Lite", GROUP_WHICH},
    {'w', 'w', "raw", ARGUMENT_NONE, NULL, NULL, "raw sockets", GROUP_WHICH},
    {'x', 'x', "unix", ARGUMENT_NONE, NULL, NULL, "unix sockets", GROUP_WHICH},
    {'2', '2', "l2cap", ARGUMENT_NONE, NULL, NULL, "Bluetooth L2CAP", GROUP_WHICH},
    {'f', 'f', "rfcomm", ARGUMENT_NONE, NULL, NULL, "Bluetooth RFCOMM", GROUP_WHICH},
    {'l', 'l', "listening", ARGUMENT_NONE, NULL, NULL,
     "listening sockets only (default: connected)", GROUP_WHICH},
    {'a', 'a', "all", ARGUMENT_NONE, NULL, NULL, "all sockets, listening and connected",
     GROUP_WHICH},
    {'o', 'o', "timers", ARGUMENT_NONE, NULL, NULL, "timers", GROUP_SHOW},
    {'c', 'c', "continuous", ARGUMENT_INTERVAL, "[SECONDS]", NULL,
     "repeat every second, or every SECONDS", GROUP_SHOW},
    {'e', 'e', "extend", ARGUMENT_NONE, NULL, NULL, "user and inode", GROUP_SHOW},
    {'p', 'p', "programs", ARGUMENT_NONE, NULL, NULL, "process and program name", GROUP_SHOW},
    {'v', 'v', "verbose", ARGUMENT_NONE, NULL, NULL, "say which families the kernel lacks",
     GROUP_SHOW},
    {'s', 's', "statistics", ARGUMENT_NONE, NULL, NULL, "counters of the protocols", GROUP_TABLES},
    {'W', 'W', "wide", ARGUMENT_NONE, NULL, NULL, "addresses in full, as they always are",
     GROUP_SHOW},
    {'n', 'n', "numeric", ARGUMENT_NONE, NULL, NULL, "no names for hosts, ports and users",
     GROUP_SHOW},
    {OPTION_NUMERIC_HOSTS, 0, "numeric-hosts", ARGUMENT_NONE, NULL, NULL, "no names for hosts",
     GROUP_SHOW},
    {OPTION_NUMERIC_PORTS, 0, "numeric-ports", ARGUMENT_NONE, NULL, NULL, "no names for ports",
     GROUP_SHOW},
    {OPTION_NUMERIC_USERS, 0, "numeric-users", ARGUMENT_NONE, NULL, NULL, "no names for users",
     GROUP_SHOW},
    {'N', 'N', "symbolic", ARGUMENT_NONE, NULL, NULL, "of routes: the same as -n", GROUP_TABLES},
    {'C', 'C', "cache", ARGUMENT_NONE, NULL, NULL, "of routes: what was learnt of paths",
     GROUP_TABLES},
    {'F', 'F', "fib", ARGUMENT_NONE, NULL, NULL, "of routes: the forwarding table", GROUP_TABLES},
    {'g', 'g', "groups", ARGUMENT_NONE, NULL, NULL, "multicast groups that interfaces are in",
     GROUP_TABLES},
    {'Z', 'Z', "context", ARGUMENT_NONE, NULL, NULL, "SELinux contexts (not supported)",
     GROUP_SHOW},
    {'d', 'd', NULL, ARGUMENT_NONE, NULL, NULL, NULL, 0},
};

static const struct option_table netstat_table = {groups, COUNT(groups), options_table,
                                                  COUNT(options_table)};

/* What netstat has not got must not make an abbreviation of its own ambiguous. */
static const char *const own_groups[] = {"Of interfaces and counters"};
static const struct option own_options[] = {
    {OPTION_DELTA, 0, "delta", ARGUMENT_NONE, NULL, NULL,
     "with -c: the change a second in place of totals", 0},
};
static const struct option_table own_table = {own_groups, 1, own_options, COUNT(own_options)};

static const struct option_table *const tables[] = {&netstat_table, &own_table, &common_options};
enum { TABLE_COUNT = COUNT(tables) };

static const struct listed listed[] = {
    {'r', &kind_route, NULL}, {'i', &kind_interface, NULL}, {'I', &kind_interface, NULL},
    {'g', &kind_group, NULL}, {'s', &kind_counter, NULL},   {'M', &kind_flow, NULL},
};
const struct grammar netstat_grammar = {.name = "netstat",
                                        .help = "sockets, and the other tables of netstat",
                                        .tables = tables,
                                        .table_count = TABLE_COUNT,
                                        .kind = &kind_socket,
                                        .listed = listed,
                                        .listed_count = COUNT(listed)};

struct parsing {
    struct netstat_options *options;
    const char *program;
};

/* What net-tools calls the families; each name stands for what is counted under it. */
static void take_family_bit(struct netstat_options *options, enum netstat_family family)
{
    options->families |= 1u << family;
}

/* Routes and counters go by all the names together. */
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
        if (families[i].family >= 0) /* -5: netstat knows the name, and lists nothing under it */
            take_family_bit(options, (enum netstat_family)families[i].family);
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

static int take_interval(struct netstat_options *options, const char *seconds, const char *program)
{
    double interval = seconds ? strtod(seconds, NULL) : 1;

    options->continuous = true;
    if (interval < 0.001 || interval > 1000000) {
        fprintf(stderr, "%s: -c: an interval is 0.001 to 1000000 seconds, not '%s'\n", program,
                seconds);
        return STATUS_MISUSE;
    }
    options->interval_ms = (unsigned)(interval * 1000);
    return 0;
}

static void print_help(const char *program)
{
    fprintf(cli_stdout(),
            "Usage: %s [OPTION]...\n"
            "What this machine is talking to: its sockets, as netstat lists them.\n",
            program);
    for (size_t i = 0; i < TABLE_COUNT; i++)
        options_help(tables[i], cli_stdout());
    fprintf(cli_stdout(),
            "\nfastnet arp, neigh and conntrack list neighbours and flows: see their --help.\n"
            "fastnet netstat is the same as fastnet, but leaves blanks in names as they are.\n"
            "ss is not part of this version.\n");
    fprintf(cli_stdout(), "\nSee fastnet(8) for more, fastnet-output(5) for the columns.\n");
}

static void print_version(void)
{
    fprintf(cli_stdout(),
            "fastnet " FASTNET_VERSION "\n"
            "lists as netstat of net-tools 2.10 does; backends: sock_diag netlink, /proc/net\n"
            "built with libmnl and libcap\n");
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

    if (option->id == 'g' && options->other_tables) /* it goes with sockets, and after all others */
        return 0;
    /* -I=lo has said it */
    options->other_tables += option->id != 'g' && !(option->id == 'i' && options->interface);
    for (size_t i = 0; i < COUNT(tables_of); i++)
        if (tables_of[i].id == option->id)
            options->table = tables_of[i].table;
    return 0;
}

/* -Ilo, -I=lo and --interfaces=lo name one; without a name all are listed. */
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

static void take_numeric(struct netstat_options *options, int id)
{
    options->numeric_hosts |= id == 'n' || id == OPTION_NUMERIC_HOSTS;
    options->numeric_ports |= id == 'n' || id == OPTION_NUMERIC_PORTS;
    options->numeric_users |= id == 'n' || id == OPTION_NUMERIC_USERS;
}

/* Options that only set something. */
static void take_flag(struct netstat_options *options, int id)
{
    options->all |= id == 'a';
    options->listening |= id == 'l';
    options->tcp |= id == 't';
    options->udp |= id == 'u';
    options->udplite |= id == 'U';
    options->raw |= id == 'w';
    options->sctp |= id == 'S';
    options->bluetooth |= id == '2' || id == 'f';
    options->extended |= id == 'e';
    options->extend += id == 'e';
    options->cache |= id == 'C';
    options->fib |= id == 'F';
    options->symbolic |= id == 'N';
    options->wide |= id == 'W';
    options->timers |= id == 'o';
    options->delta |= id == OPTION_DELTA;
    options->programs |= id == 'p';
    options->verbose |= id == 'v';
    take_numeric(options, id);
}

/* netstat's words where it would say them; where it would show contexts, these cannot be had. */
static int refuse_contexts(const char *program)
{
    if (access("/sys/fs/selinux/enforce", F_OK) == 0)
        fprintf(stderr, "%s: --context is not supported\n", program);
    else
        fprintf(stderr, "SELinux is not enabled on this machine.\n");
    return STATUS_FAILURE;
}

static int take_option(const struct option *option, const char *argument, void *arg)
{
    struct parsing *parsing = arg;
    struct netstat_options *options = parsing->options;
    bool taken;
    int status = common_take(&options->common, option, argument, parsing->program, &taken);

    if (taken)
        return status;
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
        return take_interval(options, argument, parsing->program);
    case 'I':
        return take_interface(options, option, argument);
    case 'g':
    case 'i':
    case 'M':
    case 'r':
    case 's':
        return take_other_table(options, option);
    case 'Z':
        return refuse_contexts(parsing->program);
    case 'h':
        print_help(parsing->program);
        return OPTIONS_ANSWERED;
    case 'V':
        print_version();
        return OPTIONS_ANSWERED;
    default:
        take_flag(options, option->id);
        return 0; /* the others change nothing that is listed here */
    }
}

/* A family without a protocol means all of its protocols, a protocol without one both families. */
static void complete(struct netstat_options *options)
{
    bool protocols =
        options->tcp || options->sctp || options->udp || options->udplite || options->raw;
    bool multicast = options->table == NETSTAT_GROUPS;

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
        return common_complete(&options->common, &netstat_grammar, options->is_fastnet, argv[0]);
    }
    if (options->other_tables > 1) {
        fprintf(stderr, "%s: -r, -i, -M and -s exclude one another\n", argv[0]);
        return STATUS_MISUSE;
    }
    if (options->delta && (!options->continuous || (options->table != NETSTAT_INTERFACES &&
                                                    options->table != NETSTAT_STATISTICS))) {
        fprintf(stderr, "%s: --delta is for -i and -s, and needs -c\n", argv[0]);
        return STATUS_MISUSE;
    }
    complete(options);
    return 0;
}
