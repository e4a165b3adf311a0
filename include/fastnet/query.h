/* What the engine asks a backend for, and the contract of a backend. */
#ifndef FASTNET_QUERY_H
#define FASTNET_QUERY_H

#include <stdbool.h>

#include "fastnet/record.h"

struct report;
struct netlink;
struct flow_filter;
struct interface;

/* A kernel table: what one dump lists. Tables are constants, compared by address. */
struct table {
    const char *name; /* for messages: that of its file, "tcp6", or what is in it */
    const char *file; /* below /proc/net, where it is in one file; else NULL */
    const struct kind *kind;
    uint8_t family;   /* AF_* */
    uint8_t protocol; /* IPPROTO_*, 0 where the family has but one table */
    /* A table that one dump can list together with this one, and the two as one. */
    const struct table *partner, *joint;
    /* Of a joint table: whether a row is of the second of the two. NULL: of other tables. */
    bool (*is_second)(const struct record *record);
    unsigned rights; /* one bit (1 << enum right) a right that reading it may take */
    /* A stream of events: it has no end of its own, and no two rows of it are one object. */
    bool endless;
    /* The kernel may move all of its rows while they are read, and a dump lose and repeat some. */
    bool resizes;
    /* One row at most, asked for by its key. */
    bool single;
    /* Rows come and go, have no identity, and no flag tells of a dump that missed one. */
    bool unidentified;
};

extern const struct table table_tcp, table_tcp6, table_udp, table_udp6, table_udplite,
    table_udplite6, table_raw, table_raw6, table_unix, table_tcp_both;

/* Connection tracking. One by its tuple: query.flow says which. */
extern const struct table table_flows, table_flows_zeroed, table_flows_dying,
    table_flows_unconfirmed, table_flow_one, table_flow_events, table_flow_count, table_flow_usage,
    table_flow_statistics, table_expectations, table_expectation_one, table_expectation_events,
    table_expectation_count, table_expectation_statistics;

/*
 * Neighbours: IPv4 and IPv6, with those that this machine answers for (proxies). table_arp is what
 * /proc/net/arp has: IPv4, the proxies last.
 */
extern const struct table table_neighbours, table_neighbours4, table_neighbours6, table_arp;

/* Which neighbours are wanted; a kernel that cannot tell them by the first two hands on more. */
struct neighbour_filter {
    uint32_t interface; /* of this interface only, 0: of all */
    uint32_t master;    /* of interfaces that belong to this one, 0: of all */
    bool entries;       /* what is not a proxy */
    bool proxies;
};
/* Counters of the protocols, over IPv4 and over IPv6, and multicast groups. */
extern const struct table table_counters, table_counters6, table_groups, table_groups6;

/*
 * Routes as /proc/net/route and ipv6_route have them (IPv4: the main table; IPv6: all tables), the
 * exceptions to them that the kernel has learnt, and interfaces.
 */
extern const struct table table_route, table_route6, table_route_cache, table_route6_cache,
    table_interfaces;

struct query {
    const struct table *table;
    uint64_t needs;          /* fields that will be looked at; the others need not be asked for */
    uint32_t states;         /* one bit (1 << TCP_*) a state that is wanted */
    const char *proc_root;   /* "/proc", or a captured tree */
    struct netlink *netlink; /* for the netlink backends; lives as long as the engine */
    struct report *report;   /* where skipped lines and lost rows are told */
    bool exclusive;          /* no other backend may be asked, not even for a detail */
    bool remembers;          /* repeats are dropped over the whole table: it may be read again */
    /* Flows: rows that it does not match may be left out; NULL: none. */
    const struct flow_filter *flow;
    const struct query_events *events;         /* for endless tables */
    const struct neighbour_filter *neighbours; /* NULL: all of them */
};

/* How a stream of events is read. */
struct query_events {
    int stop;           /* a descriptor: when it can be read, the dump returns 0 */
    size_t buffer_size; /* bytes of the socket's receive buffer, 0: as it is */
    unsigned kinds;     /* one bit (1 << enum flow_event) a kind that is wanted */
    /* Called when there is nothing to read for now: what was handed on may be shown. Negative ends
     * the dump, which returns it. */
    int (*idle)(void *arg);
    void *idle_arg;
};

#define STATES_ALL UINT32_MAX

/* Takes one row. Returns 0 to go on, negative to stop the dump, which then returns that value. */
typedef int (*record_fn)(const struct record *record, void *arg);

/*
 * What a backend asks, and what --backend allows. A backend of BACKEND_AUTO asks both, and is
 * itself asked only where --backend names neither.
 */
enum backend_choice { BACKEND_AUTO, BACKEND_NETLINK, BACKEND_PROC };

/*
 * A way to read tables. dump() hands every row of query->table that matches query->states to fn;
 * it may hand on rows that do not match. Returns 0 when the whole table was read, -errno when it
 * was not (-ENOENT: there is no such table, -ENOTDIR: nothing that it could be in), or what fn
 * returned. It never prints, sorts or looks anything up.
 */
struct backend {
    const char *name; /* as --backend names it, where it does */
    enum backend_choice source;
    uint64_t (*fields)(const struct table *table); /* what its rows can have; 0: not its table */
    int (*dump)(const struct query *query, record_fn fn, void *arg);
    /* What is missing when dump() failed so: a right, a module; NULL: the error says it. */
    const char *(*remedy)(const struct table *table, int error);
    /*
     * Whether the kernel finds its place in the table by the number of rows before it, so that a
     * row that goes hides another. NULL: of no table.
     */
    bool (*counts_rows)(const struct table *table);
};

extern const struct backend backend_sock_diag, backend_unix, backend_proc_net, backend_ctnetlink,
    backend_proc_conntrack, backend_neighbour, backend_proc_arp, backend_proc_snmp,
    backend_proc_igmp, backend_route, backend_proc_route, backend_link, backend_proc_dev;

/*
 * Not rows, but what rows are completed with: hands every interface to fn, by one dump over netlink
 * (RTM_GETLINK, rtnetlink(7)). Returns 0, -errno, or what fn returned if that is negative.
 */
typedef int (*interface_fn)(const struct interface *interface, void *arg);
int links_dump(struct netlink *netlink, interface_fn fn, void *arg, struct report *report);

/* All of them, those that are rather asked first. */
extern const struct backend *const backends[];
extern const size_t backend_count;

#endif
