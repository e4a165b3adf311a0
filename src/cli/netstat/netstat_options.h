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

/* What is listed: one of the options that name a table, or none of them. */
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
    bool is_fastnet; /* and not netstat, which the names of programs and completions differ for */
    bool all, listening, extended, programs, timers, verbose;
    bool numeric_hosts, numeric_ports, numeric_users;
    bool continuous;
    unsigned interval_ms;
    bool tcp, udp, udplite, raw, sctp; /* protocols */
    bool inet, inet6, unix_sockets, bluetooth;
    unsigned families;        /* bits (1 << enum netstat_family) */
    unsigned named_protocols; /* how many tables were asked for by name; 0: all there are */
    bool all_protocols;       /* of a family that was named: those that are missing are no matter */
    unsigned other_tables;    /* how many of -r -i -M -s were given */
    enum netstat_table table; /* the last of them, or -g */
    unsigned extend;          /* how often -e was given */
    bool cache, fib, symbolic, wide, delta;
    const char *interface;  /* of -I, or NULL */
    bool too_many_families; /* for afname; said once */
    char afname[256]; /* the families that were named, joined by commas, as net-tools keeps them */
};

extern const struct grammar netstat_grammar;

/* Lists a table other than the sockets'; returns the exit status. */
typedef int (*netstat_table_fn)(struct netstat_options *options, const char *program);
int netstat_routes(struct netstat_options *options, const char *program);
int netstat_interfaces(struct netstat_options *options, const char *program);
int netstat_groups(struct netstat_options *options, const char *program);
int netstat_statistics(struct netstat_options *options, const char *program);
int netstat_masquerade(struct netstat_options *options, const char *program);

/*
 * Returns 0, or an exit status after a line on stderr. *done is set when the answer was printed
 * already (--help, --version, --completion).
 */
int netstat_parse(struct netstat_options *options, int argc, char *const argv[], bool *done);

#endif
