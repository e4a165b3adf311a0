/* SPDX-License-Identifier: MIT */
/* Layouts: sinks that print rows in the form of netstat, ss, arp and conntrack. They have no
 * columns that users choose. */
#ifndef FASTNET_LAYOUTS_H
#define FASTNET_LAYOUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/bpf_map.h"
#include "fastnet/predicate.h"
#include "fastnet/sink.h"

/* The sockets that a netstat listing shows; its title depends on them. */
enum show { SHOW_CONNECTED, SHOW_LISTENING, SHOW_ALL };

/* The sections of a netstat listing. */
enum { SECTION_INTERNET, SECTION_UNIX, SECTION_GROUPS };

/* The layout of netstat -W (net-tools 2.10). */
struct netstat_layout {
    enum show show;
    bool extended; /* -e and -ee: user and inode */
    bool programs; /* -p: owners */
    bool timers;   /* -o: timers */
    bool numeric_hosts, numeric_ports, numeric_users;
    /* true: spaces in names are escaped, and comm replaces an empty argv[0]; false: as netstat. */
    bool one_word_names;
    bool header;
    bool colour;
};

/* The layout of netstat -s (net-tools 2.10): counters. */
struct statistics_layout {
    bool header;
    /* The counters to show; NULL: all. The sink also gets the other counters, because they decide
     * how the next counters are indented. */
    const struct predicate *where;
};

/* The layout of netstat -M (net-tools 2.10): masqueraded connections. */
struct masquerade_layout {
    bool numeric_hosts, numeric_ports;
    bool extended; /* -e: changes of sequence numbers */
    bool header;
};

/* The layout of conntrack -o (conntrack-tools 1.4.7) for flows and expectations. Each record of
 * connection tracking, of any kind, is one line or one XML element. */
struct conntrack_layout {
    bool extended; /* lines begin with the protocol of the network layer */
    bool id;
    bool timestamp;  /* events: the time when they were received */
    bool ktimestamp; /* begin and end of a flow */
    bool labels;
    bool xml, save;
};

/* For the totals after arp's rows. */
struct arp_totals {
    size_t skipped; /* rows that the filter refused */
};

/* The layouts of arp (net-tools 2.10). Values are never cut. */
struct arp_layout {
    bool bsd; /* -a: a line of words; false: a table with a heading */
    bool numeric, header;
    bool verbose; /* -v: write totals */
    /* The next members are for the message that no entry was found. */
    bool chosen;      /* the user gave a host, -i or -H */
    const char *host; /* as the user typed it, or NULL */
    uint8_t host_address[4];
    const struct arp_totals *totals; /* borrowed; read when the listing ends */
};

/* The sections of a listing of routes. Each section is one table of one family. */
enum { ROUTE_SECTIONS_MAX = 16 };
struct route_section {
    uint8_t family; /* AF_INET, AF_INET6 */
    bool cache;
};

/* The layout of netstat -r (net-tools 2.10). */
struct route_layout {
    struct route_section sections[ROUTE_SECTIONS_MAX];
    unsigned extended; /* 0: MSS, window and irtt; 1: metric, references and use; 2: all */
    bool numeric;
    bool header;
};

/* The layout of netstat -i (net-tools 2.10): a line for each interface, or the form of ifconfig. */
struct interface_layout {
    /* -e: prints in the form of ifconfig */
    bool extended;
    bool header;
};

/* The layout of ss (iproute2 7.1): a row for each socket, of any family. */
struct ss_layout {
    bool netid, state, queues, processes; /* columns to show */
    bool extended;                        /* -e: user, inode, cookie */
    bool timers;                          /* -o: timers of sockets */
    bool memory;                          /* -m: memory of sockets */
    bool info;                            /* -i: data of the protocol */
    bool tos, cgroup, options;            /* --tos, --cgroup, --inet-sockopt */
    bool filters;                         /* -b: filters of packet sockets */
    bool storages;                        /* --bpf-maps: BPF storages of sockets */
    const struct bpf_values *maps; /* types of values; values of other maps are shown as bytes */
    size_t map_count;
    bool tipc;    /* --tipcinfo: data of TIPC sockets */
    bool threads; /* -T: owners are threads */
    bool numeric; /* -n: no names of services and protocols, rates without units */
    bool resolve; /* -r: names of hosts */
    bool header;
    bool one_line;  /* -O: one line for each socket */
    unsigned width; /* columns of the terminal; 0: no terminal, so lines keep their length */
};

/* The layout of ss -s (iproute2 7.1): numbers of sockets. */
struct ss_summary_layout {
    /* Set at the end: true if TCP sockets of other network namespaces may be counted, too. */
    bool *mixed;
};

/* Return the number of a protocol by the name that ss shows for packet and netlink sockets; -1 if
 * ss has no such name. */
int ss_ether_protocol(const char *name); /* ignores case */
int ss_netlink_protocol(const char *name);

/* Returns the needs of a listing with this layout. */
struct needs ss_layout_needs(const struct ss_layout *layout);

/* Findings as sentences for people. The numbers are read when the listing ends. */
struct findings_layout {
    bool colour;
    bool header;    /* write a last line with the number of findings */
    bool verbose;   /* write the sources, too */
    unsigned width; /* columns of the terminal; 0: lines are not broken */
    /* For the last line. Numbers of all findings by severity, also of findings that a filter
     * refuses. */
    const uint64_t *counts;
    const uint64_t *rules;        /* number of rules that were tried */
    const uint64_t *milliseconds; /* duration of the examination */
    const bool *partial;          /* rows or whole tables could not be read */
    /* Counts the findings that are written; 0 again after the last line. Several sinks can share a
     * number, as when findings are shown before all are known. NULL: not counted. */
    uint64_t *shown;
};

/* Writes metrics of findings, fastnet_doctor_*, also if no problem was found. findings_layout: a
 * struct findings_layout. */
void findings_metrics(struct writer *writer, const void *findings_layout);

/* Steps of fastnet why: a line for each, and after the answer what to do. */
struct steps_layout {
    bool colour;
    bool header;    /* write the heading */
    bool verbose;   /* write the sources, too */
    unsigned width; /* columns of the terminal; 0: lines are not broken */
};

/* The layout of --summary: a line for each row with a value or a limit. */
struct summary_layout {
    bool colour;
    bool header;
};

/* Sinks for sink_create() with struct NAME_layout. */
extern const struct sink_ops sink_findings, sink_findings_line, sink_netstat, sink_statistics,
    sink_masquerade, sink_conntrack, sink_arp, sink_route, sink_interface, sink_ss, sink_ss_summary,
    sink_summary, sink_steps;

/* Writes the kernel's messages about sockets in the form of TCPDIAG_FILE (ss(8)). There is no
 * struct for this sink; rows must have SOCKET_MESSAGE. */
extern const struct sink_ops sink_diag;

#endif
