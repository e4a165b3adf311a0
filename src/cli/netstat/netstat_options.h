/* netstat's command line, parsed. */
#ifndef CLI_NETSTAT_NETSTAT_OPTIONS_H
#define CLI_NETSTAT_NETSTAT_OPTIONS_H

#include <stdbool.h>

#include "cli/common.h"

/* Address families that -A names beside inet, inet6 and unix. */
enum netstat_family {
    FAMILY_IPX,
    FAMILY_AX25,
    FAMILY_X25,
    FAMILY_NETROM,
    FAMILY_ROSE,
};

/* The table that is listed, by the option that names it; sockets without such an option. */
enum netstat_table {
    NETSTAT_SOCKETS,
    NETSTAT_ROUTES,
    NETSTAT_INTERFACES,
    NETSTAT_GROUPS,
    NETSTAT_STATISTICS,
    NETSTAT_MASQUERADE,
};

struct netstat_options {
    struct common common;
    bool all, listening, extended, programs, timers, verbose;
    bool numeric, numeric_hosts, numeric_ports, numeric_users;
    bool continuous;
    unsigned interval_ms;              /* 0: not continuous */
    bool tcp, udp, udplite, raw, sctp; /* protocols */
    bool inet, inet6, unix_sockets, bluetooth;
    unsigned families;        /* bits (1 << enum netstat_family) */
    unsigned named_protocols; /* how many tables were asked for by name; 0: all there are */
    bool all_protocols; /* a family was named without protocols: missing tables are not an error */
    unsigned other_tables;    /* how many of -r -i -M -s were given */
    enum netstat_table table; /* the last of them, or -g */
    unsigned extend;          /* how often -e was given */
    bool cache, fib, symbolic, wide, delta;
    const char *interface;  /* of -I, or NULL */
    bool too_many_families; /* for afname; said once */
    char afname[256]; /* the families that were named, joined by commas, as net-tools keeps them */
};

/* Lists a table other than the sockets'; returns the exit status. */
typedef int (*netstat_table_fn)(struct netstat_options *options);
int netstat_routes(struct netstat_options *options);
int netstat_interfaces(struct netstat_options *options);
int netstat_groups(struct netstat_options *options);
int netstat_statistics(struct netstat_options *options);
int netstat_masquerade(struct netstat_options *options);

/* As common_parse(). */
int netstat_parse(struct netstat_options *options, int argc, char *const argv[], bool *done);

#endif
