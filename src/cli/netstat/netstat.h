/* SPDX-License-Identifier: MIT */
/* netstat: its command line, parsed, and what it lists. */
#ifndef CLI_NETSTAT_NETSTAT_H
#define CLI_NETSTAT_NETSTAT_H

#include <stdbool.h>

#include "cli/common.h"
#include "fastnet/engine.h"
#include "fastnet/layouts.h"

struct netstat_options {
    struct common common;
    struct netstat_layout layout; /* what the options say of it, for other tables, too */
    bool all, listening, verbose, numeric;
    bool tcp, udp, udplite, raw, sctp;                                       /* protocols */
    bool inet, inet6, unix_sockets, bluetooth, ipx, ax25, x25, netrom, rose; /* families */
    unsigned named_protocols; /* how many tables were asked for by name; 0: all there are */
    bool all_protocols; /* a family was named without protocols: missing tables are not an error */
    unsigned other_tables; /* how many of -r -i -M -s were given */
    unsigned extend;       /* how often -e was given */
    bool cache, fib, symbolic, wide;
    const char *operands[2]; /* the first ones, or NULL */
    const char *interface;   /* of -I, or NULL */
    bool too_many_families;  /* for afname; said once */
    char afname[256]; /* the families that were named, joined by commas, as net-tools keeps them */
    const struct kind *kind; /* of the last of these tables, or of -g; else of sockets */
};

/* Address families that net-tools knows. */
struct netstat_family {
    const char *afname; /* as net-tools keeps it */
    const char *names;  /* of -A, separated by blanks */
    size_t member;      /* of struct netstat_options: it was named; 0: it has no sockets here */
    /* Of sockets that few kernels have: their file below the proc root, and how they are called. */
    const char *file, *sockets;
    /* What -r says of a family without routes, and its exit status; or NULL. */
    const char *unrouted;
    int status;
};
enum { NETSTAT_FAMILIES = 12 };
extern const struct netstat_family netstat_families[NETSTAT_FAMILIES];

/* They list a table, and return the exit status. */
int netstat_routes(const struct netstat_options *options);
int netstat_interfaces(const struct netstat_options *options);
int netstat_statistics(const struct netstat_options *options);
int netstat_masquerade(const struct netstat_options *options);

/* As common_parse(). */
int netstat_parse(struct netstat_options *options, int argc, char *const argv[]);

/* Judges the operands: 0, or the exit status after a line on stderr. */
int netstat_operands(const struct netstat_options *options);

/*
 * Sets the predicates of tables of sockets, in the caller's space; NULL: all are shown. netstat
 * goes by the remote end, not by the state. Its files have no sockets that are BOUND_INACTIVE:
 * `inactive` lists them, too.
 */
void netstat_choose_rows(struct listing_table tables[], size_t count, struct predicate where[][2],
                         enum show show, bool inactive);

/* Whether it asks for sockets that are BOUND_INACTIVE, more than for those in no known state. */
bool netstat_wants_inactive(const struct predicate *where);

#endif
