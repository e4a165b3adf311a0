/* SPDX-License-Identifier: MIT */
/* The query of the engine to a backend, and the promises of a backend. */
#ifndef FASTNET_QUERY_H
#define FASTNET_QUERY_H

#include <stdbool.h>

#include "fastnet/record.h"

struct report;
struct netlink;
struct predicate;
struct interface;
struct cgroups;
struct socket_pass;
struct connects;

/* A kernel table: what one dump lists. Tables are constants, compared by address. */
struct table {
    const char *name; /* for messages: the name of its file ("tcp6") or of its rows */
    const char *file; /* below /proc/net; NULL if it is not one file */
    const struct kind *kind;
    uint8_t family;    /* AF_* */
    uint16_t protocol; /* IPPROTO_*, PROTOCOL_*; 0 if the family has only one table */
    /* partner: a table that the same dump can list. joint: this table and its partner in one. */
    const struct table *partner, *joint;
    /* Joint tables: whether a row is of the second table. NULL in other tables. */
    bool (*is_second)(const struct record *record);
    /*
     * Joint tables: the same rows, counted. A record stands for many of them (record.rows), and the
     * backends of this table tell its fields. NULL: they can only be listed.
     */
    const struct table *counted;
    unsigned rights;     /* bits 1 << enum right: rights that reading may need */
    uint64_t privileged; /* only these fields need the rights; 0: every row does */
    /* A stream of events: it does not end by itself, and no row repeats another. */
    bool endless;
    /* The kernel may move all rows during a dump, which then loses and repeats some. */
    bool resizes;
    /* One dump lists some rows twice, far apart: repeats are recognised over the whole table. */
    bool repeats;
    /* It has one row at most, which query.key identifies. */
    bool single;
    /* The kernel keeps its rows with those of all network namespaces, and a dump walks them all. */
    bool shared;
    /* Rows come and go without identity, and no flag shows that a dump missed one. */
    bool unidentified;
};

extern const struct table table_tcp, table_tcp6, table_udp, table_udp6, table_udplite,
    table_udplite6, table_raw, table_raw6, table_unix, table_tcp_both, table_mptcp, table_mptcp6,
    table_sctp, table_sctp6, table_packet, table_netlink, table_vsock, table_xdp, table_tipc;

/* The sockets of table_tcp_both, counted by their states. */
extern const struct table table_tcp_states;

/* Sockets of TCP and UDP that are destroyed. */
extern const struct table table_socket_events;
/* The bit of query_events.kinds of such sockets; 0: no ends of them are told. */
unsigned socket_end_kind(uint8_t family, uint16_t protocol);

/* Connection tracking. Tables of one row find it by the tuple in query.key. */
extern const struct table table_flows, table_flows_zeroed, table_flows_dying,
    table_flows_unconfirmed, table_flow_one, table_flow_events, table_flow_count, table_flow_usage,
    table_flow_statistics, table_expectations, table_expectation_one, table_expectation_events,
    table_expectation_count, table_expectation_statistics;

/*
 * Neighbours of IPv4 and IPv6, with proxies: addresses for which this machine answers. table_arp
 * has the rows of /proc/net/arp: IPv4, proxies last.
 */
extern const struct table table_neighbours, table_neighbours4, table_neighbours6, table_arp;

/* How full the tables of neighbours are: a row for each family that the kernel has. */
extern const struct table table_neighbour_usage;

/* Counters of the protocols, over IPv4 and over IPv6, and multicast groups. */
extern const struct table table_counters, table_counters6, table_groups, table_groups6;

/*
 * What each processor did with received packets (/proc/net/softnet_stat), as counters of the
 * protocols Cpu0, Cpu1 ...: SoftnetProcessed, SoftnetDropped (its queue was full), SoftnetSqueezed
 * (its time was over), SoftnetReceivedRps, SoftnetFlowLimited. They have 32 bits.
 */
extern const struct table table_softnet;

/* How many sockets there are, as counters: what ss -s shows. */
extern const struct table table_sockstat;

/*
 * Routes as in /proc/net/route and ipv6_route (IPv4: the main table; IPv6: all tables), the
 * exceptions to them that the kernel has learnt, and interfaces.
 */
extern const struct table table_route, table_route6, table_route_cache, table_route6_cache,
    table_interfaces;

/* The route that the kernel takes to the destination in query.key. */
extern const struct table table_route_taken, table_route6_taken;
/* Addresses whose packets are for this machine: routes of the types local, broadcast and anycast.
 */
extern const struct table table_route_local, table_route6_local;

/* How much of sockets, memory and tables is used, beside the limits. */
extern const struct table table_summary;

/* What is wrong with this machine's network (doctor.h). */
extern const struct table table_findings;

/* Packets that the kernel dropped while somebody watched (drops.h). */
extern const struct table table_drops;

/* Packets that passed an interface while somebody watched, by flow (traffic.h). */
extern const struct table table_traffic;

/* Takes one row. Returns 0 to go on, negative to stop the dump, which then returns that value. */
typedef int (*record_fn)(const struct record *record, void *arg);

struct query;

/*
 * Makes the rows of a table that is computed. make() is like backend.dump(). begin() is called
 * before each listing, once for all of its namespaces, by the one that lists: the engine may be in
 * a process that ends with the listing.
 */
struct maker {
    void (*begin)(void *maker);
    int (*make)(void *maker, const struct query *query, record_fn fn, void *arg);
    void *maker;
};

struct query {
    const struct table *table;
    uint64_t needs;        /* fields that will be used; the others need not be asked for */
    const char *proc_root; /* "/proc", or a captured tree */
    const char *diag_file; /* saved answers about TCP sockets (BACKEND_FILE), or NULL */
    const int *maps;       /* descriptors of BPF maps: only their storages; none: of all */
    size_t map_count;
    struct netlink *netlink;       /* for the netlink backends; lives as long as the engine */
    struct report *report;         /* where skipped lines and lost rows are reported */
    bool exclusive;                /* no other backend may be asked, not even for a detail */
    bool repeatable;               /* it may be read again: all repeats of rows are dropped */
    const struct predicate *where; /* rows that it refuses may be left out; NULL: all are wanted */
    struct cgroups *cgroups;       /* that `where` compares; NULL: it compares none */
    /* For a table of one row: a record with the fields that identify the row (record.has). */
    const struct record *key;
    const struct query_events *events; /* for endless tables */
    struct connects *connects;         /* ... who connects (connects.h); NULL: BPF is not used */
    const struct maker *maker;         /* for BACKEND_MADE */
    const struct socket_pass *pass;    /* for BACKEND_PASS, or NULL */
    uint64_t netns;                    /* ... the inode of the network namespace to list */
};

/* The way to read a stream of events. */
struct query_events {
    int stop;           /* an eventfd(2): when it is readable, the dump returns 0 */
    size_t buffer_size; /* bytes of the socket's receive buffer, 0: the default */
    /* Wanted kinds: bits 1 << enum flow_event; of sockets 1 << (SKNLGRP_* - 1) of
     * linux/sock_diag.h. */
    unsigned kinds;
    /* Called when there is nothing to read for now: the rows so far can be shown. A negative result
     * ends the dump, which returns it. */
    int (*idle)(void *arg);
    /* Called when there are sockets with owners that were not there before; or NULL. */
    void (*appeared)(void *arg);
    void *idle_arg; /* of both */
};

/*
 * What a backend reads, and what --backend allows. A backend of BACKEND_AUTO reads both, and is
 * used only if --backend names neither. Of the others, which --backend does not name,
 * - BACKEND_MADE reads nothing: query.maker makes its rows;
 * - BACKEND_FILE reads query.diag_file: where there is such a file, it alone is asked for its
 *   tables;
 * - BACKEND_PASS has query.pass: it is asked first where it has all that is needed.
 */
enum backend_choice {
    BACKEND_AUTO,
    BACKEND_NETLINK,
    BACKEND_PROC,
    BACKEND_FILE,
    BACKEND_MADE,
    BACKEND_PASS
};

/* Which rows the kernel would leave out of its answer, by the request for it. */
enum { EXPLAINED_MEMBERS_MAX = 24, EXPLAINED_TEXT_MAX = 320 };
struct explanation {
    size_t members[EXPLAINED_MEMBERS_MAX]; /* that it compares: bytes from the start of a record */
    size_t count;
    char text[EXPLAINED_TEXT_MAX]; /* details for people, joined by "; "; may be empty */
};

/* A table that a backend reads. */
struct table_fields {
    const struct table *table; /* NULL behind the last one */
    uint64_t fields;           /* that its rows can have */
};
#define PROVIDES(...)     ((const struct table_fields[]){__VA_ARGS__, {NULL, 0}})
#define THESE_TABLES(...) ((const struct table *const[]){__VA_ARGS__, NULL})

/*
 * A way to read tables. dump() hands every row of query->table that query->where wants to fn; it
 * may hand on others. It returns 0 if it read the whole table, -errno if it did not (-ENOENT: the
 * table does not exist; -ENOTDIR: the directory that it belongs to does not exist either), or what
 * fn returned. It never prints, sorts or looks anything up.
 */
struct backend {
    const char *name; /* as in --backend, if it can be chosen there */
    enum backend_choice source;
    const struct table_fields *provides; /* its tables */
    /*
     * Those of them whose dump the kernel resumes by counting rows: when a row is removed, it then
     * skips another one. Up to NULL; NULL: none.
     */
    const struct table *const *counts_rows;
    int (*dump)(const struct query *query, record_fn fn, void *arg);
    /*
     * Makes the requests that dump() would send, and describes them instead. The explanation is
     * zeroed before. NULL: the kernel leaves out nothing for it.
     */
    void (*explain)(const struct query *query, struct explanation *explanation);
    /* What dump() lacked if it returned this error: a right, a module; NULL: the errno is enough.
     */
    const char *(*remedy)(const struct table *table, int error);
};

/* 0: it is not a table of this backend. */
static inline uint64_t backend_fields(const struct backend *backend, const struct table *table)
{
    const struct table_fields *at = backend->provides;

    while (at->table && at->table != table)
        at++;
    return at->fields;
}

static inline bool backend_counts_rows(const struct backend *backend, const struct table *table)
{
    const struct table *const *at = backend->counts_rows;

    while (at && *at && *at != table)
        at++;
    return at && *at;
}

extern const struct backend backend_sock_diag, backend_unix, backend_proc_net, backend_proc_packet,
    backend_proc_netlink, backend_ctnetlink, backend_proc_conntrack, backend_neighbour,
    backend_proc_arp, backend_neighbour_usage, backend_proc_neighbour_usage, backend_proc_snmp,
    backend_proc_softnet, backend_proc_igmp, backend_route, backend_proc_route, backend_link,
    backend_proc_dev, backend_diag_file, backend_socket_events, backend_socket_states, backend_made,
    backend_drops, backend_traffic, backend_summary, backend_proc_summary, backend_socket_pass,
    backend_references;

/*
 * Passes every interface to fn: not as a row, but to complete rows. Makes one netlink dump
 * (RTM_GETLINK, rtnetlink(7)). Returns 0, -errno, or fn's result if it is negative.
 */
typedef int (*interface_fn)(const struct interface *interface, void *arg);
int links_dump(struct netlink *netlink, interface_fn fn, void *arg, struct report *report);

/*
 * Passes all sockets of the table's protocol to fn that may be the other end of one in the table:
 * their addresses, names and inodes. Returns 0, -errno, or fn's result if it is negative.
 */
int peers_dump(struct netlink *netlink, const struct table *table, record_fn fn, void *arg,
               struct report *report);

/* All backends, the preferred ones first. */
extern const struct backend *const backends[];
extern const size_t backend_count;

/* Fields of a table that some backend fills. */
uint64_t backends_fields(const struct table *table);

#endif
