/* SPDX-License-Identifier: MIT */
/* The query that the engine sends to a backend, and what a backend promises. */
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
struct held_query;
struct netns;
struct saved_source;

/* A table of the kernel: the rows of one dump. Tables are constants, compared by address. */
struct table {
    const char *name; /* for messages: name of its file ("tcp6"), or of its rows */
    const char *file; /* below /proc/net; NULL: the table is not a file */
    const struct kind *kind;
    uint8_t family;    /* AF_* */
    uint16_t protocol; /* IPPROTO_*, PROTOCOL_*; 0: the family has only one table */
    /* partner: a table that the same dump can list. joint: one table for this table and its
     * partner. */
    const struct table *partner, *joint;
    /* Joint tables: true if a row belongs to the second table. NULL in other tables. */
    bool (*is_second)(const struct record *record);
    /* For joint tables: another table that only counts the rows. Each of its records stands for
     * many rows (record.rows), and has the fields that the backends of that table fill. NULL: rows
     * can only be listed. */
    const struct table *counted;
    unsigned rights;     /* bits 1 << enum right: rights that reading may need */
    uint64_t privileged; /* only these fields need the rights; 0: all rows need them */
    /* A stream of events, which does not end by itself. No row repeats another row. */
    bool endless;
    /* The kernel may move all rows during a dump, which then loses some rows and repeats others. */
    bool resizes;
    /* One dump lists some rows twice, far apart: the engine compares with all rows of the table. */
    bool repeats;
    /* The table has at most one row, which query.key identifies. */
    bool single;
    /* The kernel keeps the rows of all network namespaces together, and each dump walks over all of
     * them. */
    bool shared;
    /* A row is an event: several events of one object have its identity, and are no repeats. */
    bool recurs;
    /* Rows come and go without an identity, and no flag shows that a dump missed a row. */
    bool unidentified;
};

extern const struct table table_tcp, table_tcp6, table_udp, table_udp6, table_udplite,
    table_udplite6, table_raw, table_raw6, table_unix, table_tcp_both, table_mptcp, table_mptcp6,
    table_sctp, table_sctp6, table_packet, table_netlink, table_vsock, table_xdp, table_tipc;

/* Sockets that processes hold and that no table of the kernel lists (held_sockets.h). */
extern const struct table table_unlisted;
/* Ping sockets: SOCK_DGRAM with IPPROTO_ICMP or IPPROTO_ICMPV6. Only files list them. The protocol
 * of both tables is IPPROTO_ICMP, as both tables of raw sockets have one protocol. */
extern const struct table table_icmp, table_icmp6;

/* Counts of the sockets of table_tcp_both, by state. */
extern const struct table table_tcp_states;

/* Events: TCP and UDP sockets that are destroyed. */
extern const struct table table_socket_events;
/* Events of TCP connections as they happen (enum connect_event of connects.h). */
extern const struct table table_socket_trace;
/* Returns the bit of query_events.kinds for sockets of this family and protocol; 0: the kernel does
 * not report their end. */
unsigned socket_end_kind(uint8_t family, uint16_t protocol);
/* Returns what to note about sockets of these kinds (connects_begin()). */
unsigned socket_end_notes(unsigned kinds);

/* Connection tracking. Tables with a single row find the row by the tuple in query.key. */
extern const struct table table_flows, table_flows_zeroed, table_flows_dying,
    table_flows_unconfirmed, table_flow_one, table_flow_events, table_flow_count, table_flow_usage,
    table_flow_statistics, table_expectations, table_expectation_one, table_expectation_events,
    table_expectation_count, table_expectation_statistics;

/* Neighbours of IPv4 and IPv6, with proxies: addresses for which this machine answers. table_arp
 * has the rows of /proc/net/arp: IPv4, proxies last. */
extern const struct table table_neighbours, table_neighbours4, table_neighbours6, table_arp;

/* Sizes of the tables of neighbours: one row for each address family of the kernel. */
extern const struct table table_neighbour_usage;

/* Counters of protocols over IPv4 and over IPv6, and multicast groups. */
extern const struct table table_counters, table_counters6, table_groups, table_groups6;

/* Received packets by CPU (/proc/net/softnet_stat), as counters of protocols Cpu0, Cpu1 ...:
 * SoftnetProcessed, SoftnetDropped (the CPU's queue was full), SoftnetSqueezed (the CPU's time was
 * over), SoftnetReceivedRps, SoftnetFlowLimited. They have 32 bits. */
extern const struct table table_softnet;

/* Numbers of sockets as counters, which ss -s shows. */
extern const struct table table_sockstat;

/* Routes as in /proc/net/route and ipv6_route (IPv4: the main table; IPv6: all tables), the
 * exceptions to them that the kernel has learnt, and interfaces. */
extern const struct table table_route, table_route6, table_route_cache, table_route6_cache,
    table_interfaces;

/* Queues of network cards, with the counters of their drivers, and queueing disciplines (tc(8)). */
extern const struct table table_queues, table_qdiscs;

/* The route that the kernel takes to the destination in query.key. */
extern const struct table table_route_taken, table_route6_taken;
/* Addresses of this machine: routes of the types local, broadcast and anycast. */
extern const struct table table_route_local, table_route6_local;

/* Use of sockets, memory and tables, with their limits. */
extern const struct table table_summary;

/* Findings about the network of this machine (doctor.h). */
extern const struct table table_findings;

/* Steps that explain why a connection can or cannot be made (why.h). */
extern const struct table table_steps;

/* Packets that the kernel dropped while a probe counted (drops.h). */
extern const struct table table_drops;

/* Packets that passed an interface while a probe counted, by flow (traffic.h). */
extern const struct table table_traffic;

/* Takes one row. Returns 0 to continue; a negative value stops the dump, which then returns it. */
typedef int (*record_fn)(const struct record *record, void *arg);

struct query;

/* Makes the rows of a table that is computed. make() is like backend.dump(). begin() is called once
 * before each listing, for all of its network namespaces, by the process that stays: make() may run
 * in a child that ends with the listing. */
struct maker {
    void (*begin)(void *maker);
    int (*make)(void *maker, const struct query *query, record_fn fn, void *arg);
    void *maker;
};

struct query {
    const struct table *table;
    uint64_t needs;        /* fields that will be used; a backend need not ask for others */
    const char *proc_root; /* "/proc", or a captured tree */
    const char *diag_file; /* file of saved answers about TCP sockets (BACKEND_FILE), or NULL */
    struct saved_source *saved; /* for BACKEND_SAVED: rows that were printed before; or NULL */
    const int *maps;            /* descriptors of BPF maps: list their storages; NULL: list all */
    size_t map_count;
    struct netlink *netlink; /* for netlink backends; lives as long as the engine */
    struct report *report;   /* takes skipped lines and lost rows */
    bool exclusive;          /* no other backend may be used, not even for single fields */
    bool repeatable; /* the table may be read twice, so the engine drops every row that repeats */
    const struct predicate *where; /* rows that `where` refuses may be left out; NULL: none */
    struct cgroups *cgroups; /* the groups that `where` compares; NULL: it compares no groups */
    /* For a table of one row: a record with the fields that identify the row (record.has). */
    const struct record *key;
    const struct query_events *events; /* for endless tables */
    struct connects *connects;         /* for tables of events of sockets; NULL: BPF is not used */
    const struct maker *maker;         /* for BACKEND_MADE */
    const struct socket_pass *pass;    /* for BACKEND_PASS, or NULL */
    const struct held_query *held;     /* for table_unlisted */
    uint64_t
        netns; /* for BACKEND_PASS and table_unlisted: inode of the network namespace to list */
};

/* What the engine does with the network namespaces whose events a backend reads. `arg` is
 * query_events.idle_arg. */
struct netns_hooks {
    /* Enters a network namespace (own: this thread is in it) and reads what rows of it need.
     * Returns an index for the other functions, or -errno: no events are wanted from there. */
    int (*enter)(void *arg, const struct netns *netns, bool own);
    /* Returns to the own netns, after any number of calls of enter(). Reports which could not be
     * entered. Returns 0 or -errno. */
    int (*leave)(void *arg, const struct netns *own, struct report *report);
    /* The rows that follow are of this namespace, which is returned. */
    const struct netns *(*use)(void *arg, int index);
    void (*rename)(void *arg, int index, const struct netns *netns);
    /* No row of it will follow. */
    void (*forget)(void *arg, int index);
};

/* How to read a stream of events. */
struct query_events {
    int stop;           /* an eventfd(2): if it is readable, the dump returns 0 */
    int interval;       /* socket events: longest time between calls of idle(), ms; 0: endless */
    size_t buffer_size; /* bytes of the receive buffer of the socket; 0: the default */
    /* Wanted kinds: bits 1 << enum flow_event; for sockets bits 1 << (SKNLGRP_* - 1) of
     * linux/sock_diag.h. */
    unsigned kinds;
    /* Called when nothing is left to read, so that the rows so far can be shown. A negative result
     * ends the dump, which returns it. */
    int (*idle)(void *arg);
    /* Called when new sockets with owners have appeared; or NULL. */
    void (*appeared)(void *arg);
    void *idle_arg;                  /* first argument of idle(), appeared() and the hooks */
    const struct netns_hooks *netns; /* read all network namespaces; NULL: only this thread's */
};

/* Where a backend reads. BACKEND_NETLINK and BACKEND_PROC are the choices of --backend. A backend
 * of BACKEND_AUTO reads both netlink and /proc, and is used only without --backend. The others
 * cannot be chosen: BACKEND_MADE reads no table, query.maker or query.held makes its rows.
 * BACKEND_FILE reads query.diag_file; if there is such a file, no other backend is asked for its
 * tables. BACKEND_PASS reads query.pass, and is asked first if it has all needed fields.
 * BACKEND_SAVED reads query.saved in place of all tables of the listing at once (saved.h). */
enum backend_choice {
    BACKEND_AUTO,
    BACKEND_NETLINK,
    BACKEND_PROC,
    BACKEND_FILE,
    BACKEND_MADE,
    BACKEND_PASS,
    BACKEND_SAVED
};

/* Which rows the kernel would leave out of its answer to a request. */
enum { EXPLAINED_MEMBERS_MAX = 24, EXPLAINED_TEXT_MAX = 320 };
struct explanation {
    size_t members[EXPLAINED_MEMBERS_MAX]; /* offsets of compared members in struct record */
    size_t count;
    char text[EXPLAINED_TEXT_MAX]; /* details for people, joined by "; "; may be empty */
};

/* A table that a backend reads. */
struct table_fields {
    const struct table *table; /* NULL after the last table */
    uint64_t fields;           /* fields that its rows can have */
};
/* Lists for backend.provides and backend.counts_rows. */
#define PROVIDES(...)     ((const struct table_fields[]){__VA_ARGS__, {NULL, 0}})
#define THESE_TABLES(...) ((const struct table *const[]){__VA_ARGS__, NULL})

/* A way to read tables. dump() passes every row of query->table that query->where wants to `fn`,
 * and may pass others. It returns 0 if it read the whole table, -errno if it did not (-ENOENT: the
 * table does not exist; -ENOTDIR: its directory does not exist either), or fn's negative value. It
 * never prints, sorts or looks anything up. */
struct backend {
    const char *name; /* as in --backend, if users can choose it there */
    enum backend_choice source;
    const struct table_fields *provides; /* its tables */
    /* Tables whose dump the kernel continues at a row number, so that it skips a row if an earlier
     * row is removed meanwhile. A list that ends with NULL; or NULL. */
    const struct table *const *counts_rows;
    int (*dump)(const struct query *query, record_fn fn, void *arg);
    /* Makes the requests that dump() would send, and describes them instead of sending them. The
     * caller zeroes the explanation. NULL: the kernel filters no rows for this backend. */
    void (*explain)(const struct query *query, struct explanation *explanation);
    /* Returns what dump() lacked if it failed with this error: a right, a module. NULL: the text of
     * the errno is enough. */
    const char *(*remedy)(const struct table *table, int error);
};

/* Returns the fields that the backend can fill; 0: it does not read the table. */
static inline uint64_t backend_fields(const struct backend *backend, const struct table *table)
{
    const struct table_fields *at = backend->provides;

    while (at->table && at->table != table)
        at++;
    return at->fields;
}

/* True if the table is in backend.counts_rows. */
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
    backend_proc_dev, backend_diag_file, backend_socket_events, backend_socket_trace,
    backend_socket_states, backend_made, backend_drops, backend_traffic, backend_why,
    backend_summary, backend_proc_summary, backend_socket_pass, backend_references,
    backend_held_sockets, backend_queues, backend_qdiscs;

/* Passes every interface to `fn`, not as a row, but to complete rows. Makes one netlink dump
 * (RTM_GETLINK, rtnetlink(7)). Returns 0, -errno, or fn's negative value. */
typedef int (*interface_fn)(const struct interface *interface, void *arg);
int links_dump(struct netlink *netlink, interface_fn fn, void *arg, struct report *report);

/* Passes all sockets of the table's protocol that may be the other end of a socket in the table:
 * their addresses, names and inodes. Returns 0, -errno, or fn's negative value. */
int peers_dump(struct netlink *netlink, const struct table *table, record_fn fn, void *arg,
               struct report *report);

/* All backends, the preferred first. */
extern const struct backend *const backends[];
extern const size_t backend_count;

/* Returns the fields that any backend fills in the table. */
uint64_t backends_fields(const struct table *table);

#endif
