/* SPDX-License-Identifier: MIT */
/*
 * Layouts: sinks that print rows as netstat, arp and conntrack do. They have no columns.
 */
#ifndef FASTNET_LAYOUTS_H
#define FASTNET_LAYOUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/bpf_map.h"
#include "fastnet/predicate.h"
#include "fastnet/sink.h"

/* Which sockets a netstat listing shows. Its title depends on this. */
enum show { SHOW_CONNECTED, SHOW_LISTENING, SHOW_ALL };

/* The sections of a netstat listing. */
enum { SECTION_INTERNET, SECTION_UNIX, SECTION_GROUPS };

/* The layout of net-tools 2.10 netstat -W. */
struct netstat_layout {
    enum show show;
    bool extended; /* -ee and -e: user and inode */
    bool programs; /* -p */
    bool timers;   /* -o */
    bool numeric_hosts, numeric_ports, numeric_users;
    /* Blanks in names are escaped, and an empty argv[0] is replaced by comm; false: as netstat. */
    bool one_word_names;
    bool header;
    bool colour;
};

/* The counters of net-tools 2.10 netstat -s. */
struct statistics_layout {
    bool header;
    /*
     * Which counters are shown; NULL: all. The sink gets the others, too, because they decide how
     * the next counters are indented.
     */
    const struct predicate *where;
};

/* The masqueraded connections of net-tools 2.10 netstat -M. */
struct masquerade_layout {
    bool numeric_hosts, numeric_ports;
    bool extended; /* -e: how sequence numbers are changed */
    bool header;
};

/*
 * How conntrack prints flows and expectations (conntrack-tools 1.4.7, -o). Each record of
 * connection tracking, of any kind, is one line or one XML element.
 */
struct conntrack_layout {
    bool extended; /* the network layer's protocol in front */
    bool id;
    bool timestamp;  /* of events: when they were received */
    bool ktimestamp; /* start and stop */
    bool labels;
    bool xml, save;
};

/* For the totals below arp's rows. */
struct arp_totals {
    size_t skipped; /* rows that the filter left out */
};

/* The layouts of net-tools 2.10 arp, except that nothing is cut short. */
struct arp_layout {
    bool bsd; /* -a: a line of words; else a table with a heading */
    bool numeric, header;
    bool verbose; /* -v: the totals */
    /* For the message that nothing was found. */
    bool chosen;      /* a host, -i or -H was given */
    const char *host; /* as typed, or NULL */
    uint8_t host_address[4];
    const struct arp_totals *totals; /* borrowed; read when the listing ends */
};

/* The sections of a listing of routes: one table of one family each. */
enum { ROUTE_SECTIONS_MAX = 16 };
struct route_section {
    uint8_t family; /* AF_INET, AF_INET6 */
    bool cache;
};

/* The layout of net-tools 2.10 netstat -r. */
struct route_layout {
    struct route_section sections[ROUTE_SECTIONS_MAX];
    unsigned extended; /* 0: MSS, window and irtt; 1: metric, references and use; 2: all of them */
    bool numeric;
    bool header;
};

/* The layout of net-tools 2.10 netstat -i: a line for each interface, or as ifconfig has it. */
struct interface_layout {
    bool extended;
    bool header;
};

/* The layout of ss of iproute2 7.1: a row for each socket, of any family. */
struct ss_layout {
    bool netid, state, queues, processes; /* which columns there are */
    bool extended;                        /* -e */
    bool timers;                          /* -o */
    bool memory;                          /* -m */
    bool info;                            /* -i */
    bool tos, cgroup, options;            /* --tos, --cgroup, --inet-sockopt */
    bool filters;                         /* -b: of packet sockets */
    bool storages;                        /* --bpf-maps */
    const struct bpf_values *maps;        /* ... by these types; of other maps as bytes */
    size_t map_count;
    bool tipc;    /* --tipcinfo */
    bool threads; /* -T */
    bool numeric; /* -n: no names of services and protocols, plain rates */
    bool resolve; /* -r: names of hosts */
    bool header;
    bool one_line;  /* -O */
    unsigned width; /* columns of the terminal; 0: no terminal, so no line is broken or spread */
};

/* The summary of ss of iproute2 7.1 (-s): how many sockets there are. */
struct ss_summary_layout {
    /* Set at the end: there are TCP sockets that may be those of other network namespaces. */
    bool *mixed;
};

/* The number that ss has a name for, as it shows the protocols of these sockets; -1: none. */
int ss_ether_protocol(const char *name); /* in any case of letters */
int ss_netlink_protocol(const char *name);

/* What the layout needs of each socket. */
struct needs ss_layout_needs(const struct ss_layout *layout);

/* Findings: sentences for people. The numbers are read when the listing ends. */
struct findings_layout {
    bool colour;
    bool header;    /* a last line with their number */
    bool verbose;   /* the sources, too */
    unsigned width; /* of the terminal; 0: lines are as long as they are */
    /* Numbers of all findings, by severity, also of findings that a filter leaves out. */
    const uint64_t *counts;
    const uint64_t *rules;        /* how many rules were tried */
    const uint64_t *milliseconds; /* that this took */
    const bool *partial;          /* not all could be looked at */
};

/* Metrics of the same: fastnet_doctor_*, which are there although nothing is found. */
void findings_metrics(struct writer *writer, const void *findings_layout);

/* The summary: a line for each row of interest. */
struct summary_layout {
    bool colour;
    bool header;
};

/* What sink_create() makes of struct NAME_layout. */
extern const struct sink_ops sink_findings, sink_findings_line, sink_netstat, sink_statistics,
    sink_masquerade, sink_conntrack, sink_arp, sink_route, sink_interface, sink_ss, sink_ss_summary,
    sink_summary;

/*
 * The messages themselves that sockets were read from, in the form of TCPDIAG_FILE (ss(8)). It has
 * no layout, and rows must bring SOCKET_MESSAGE.
 */
extern const struct sink_ops sink_diag;

#endif
