/* SPDX-License-Identifier: MIT */
/* The parsed command line of netstat, and its listings. */
#ifndef CLI_NETSTAT_NETSTAT_H
#define CLI_NETSTAT_NETSTAT_H

#include <stdbool.h>

#include "cli/common.h"
#include "fastnet/engine.h"
#include "fastnet/layouts.h"

struct netstat_options {
    struct common common;
    struct netstat_layout layout; /* options of the layout; other tables use them, too */
    bool all, listening, verbose, numeric;
    bool tcp, udp, udplite, raw, sctp;                                       /* protocols */
    bool inet, inet6, unix_sockets, bluetooth, ipx, ax25, x25, netrom, rose; /* families */
    unsigned named_protocols; /* number of tables that options name; 0: all tables */
    bool all_protocols; /* a family was named without protocols: missing tables are not an error */
    unsigned other_tables; /* number of options among -r -i -I -M -s --summary */
    unsigned extend;       /* how often -e was given */
    bool cache, fib, symbolic, wide;
    bool queues, qdisc;      /* with -i: list queues of network cards, or queueing disciplines */
    const char *operands[2]; /* the first two, or NULL */
    bool no_options;         /* all words of the command line are operands */
    const char *interface;   /* argument of -I, or NULL */
    bool too_many_families;  /* afname is full, and this was reported */
    char afname[256];        /* names of the given families with commas, as net-tools keeps them */
    const struct kind *kind; /* kind that the last such option lists (also -g); else kind_socket */
};

/* An address family that net-tools knows. */
struct netstat_family {
    const char *afname; /* the name that net-tools keeps */
    const char *names;  /* names that -A accepts, separated by spaces */
    size_t member;      /* offset in struct netstat_options: flag that it was named; 0: no flag */
    /* For families that few kernels have: the file below the proc root, a name for messages. */
    const char *file, *sockets;
    /* The message of -r for a family without routes, and its exit status; or NULL. */
    const char *unrouted;
    int status;
};
enum { NETSTAT_FAMILIES = 12 };
extern const struct netstat_family netstat_families[NETSTAT_FAMILIES];

/* Each lists a table and returns the exit status. */
int netstat_routes(const struct netstat_options *options);
int netstat_interfaces(const struct netstat_options *options);
int netstat_queues(const struct netstat_options *options);
int netstat_statistics(const struct netstat_options *options);
int netstat_masquerade(const struct netstat_options *options);

/* Parses a command line of netstat. Returns PARSED or an exit status. */
int netstat_parse(struct netstat_options *options, int argc, char *const argv[]);

/* Checks the operands. Returns 0, or an exit status after a line on stderr. */
int netstat_operands(const struct netstat_options *options);

/* Sets tables[].where, with memory in `where`; NULL: the table shows all rows. A TCP socket listens
 * by its state, other sockets if they have no remote end. netstat's files have no sockets in
 * BOUND_INACTIVE; with `inactive` they are listed, too. */
void netstat_choose_rows(struct listing_table tables[], size_t count, struct predicate where[][2],
                         enum show show, bool inactive);

/* True if `where` accepts BOUND_INACTIVE sockets more surely than sockets in an unknown state. */
bool netstat_wants_inactive(const struct predicate *where);

#endif
