/* SPDX-License-Identifier: MIT */
/* A reading: the numbers that rules need from all tables, collected row by row. It keeps totals and
 * the few worst rows, never all rows: there may be a million sockets. */
#ifndef DOCTOR_READING_H
#define DOCTOR_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "doctor/accepts.h"
#include "doctor/attempts.h"
#include "doctor/busiest.h"
#include "doctor/nat.h"
#include "doctor/neighbours.h"
#include "doctor/nic_queues.h"
#include "doctor/paths.h"
#include "doctor/storms.h"
#include "fastnet/connect_failures.h"
#include "fastnet/descriptors.h"
#include "fastnet/hash_table.h"
#include "fastnet/kernel_number.h"
#include "fastnet/record.h"

/* Tables, or parts of tables, that a rule may need. */
#define READS_COUNTERS   (1u << 0) /* protocol counters, sockstat */
#define READS_TCP        (1u << 1)
#define READS_TCP_INFO   (1u << 2) /* TCP fields that no file has: struct tcp_info, backlogs */
#define READS_UDP        (1u << 3) /* with the drops of each socket */
#define READS_UNIX       (1u << 4)
#define READS_FLOWS      (1u << 5) /* number and limit of entries, and counters */
#define READS_NEIGHBOURS (1u << 6) /* number and limit of neighbours */
#define READS_INTERFACES (1u << 7)
#define READS_SOFTNET    (1u << 8)
#define READS_PROCESSES  (1u << 9)  /* descriptors of processes */
#define READS_MACHINE    (1u << 10) /* about the whole machine: tried in one netns only */
#define READS_ROUTES     (1u << 11) /* neighbours that do not answer, and routes through them */
#define READS_REFUSED    (1u << 12) /* TCP sockets that are destroyed between two readings */
#define READS_QUERIES    (1u << 13) /* flows to port 53, if the kernel tracks flows */
#define READS_LINKS      (1u << 14) /* interface data that no file has: addresses, queues */
#define READS_DROPS      (1u << 15) /* dropped packets, if rights allow it */
#define READS_HELD       (1u << 16) /* sockets of processes that no table lists */
#define READS_DNS        (1u << 17) /* queries of DNS and their answers, if rights allow it */
#define READS_LOSS       (1u << 18) /* segments and round-trip times of each peer */
#define READS_ARP        (1u << 19) /* ARP packets of others, if rights allow it */
#define READS_SCANS      (1u << 20) /* packets to closed ports, by source */
#define READS_CHANGES    (1u << 21) /* events of neighbours */
#define READS_NAT        (1u << 22) /* UDP flows with a translated destination that is silent */
#define READS_QUEUES     (1u << 24) /* queues of network cards */

/* --- Sockets ---------------------------------------------------------------------------------- */

/* A row that may become part of a finding. */
struct suspect {
    uint64_t inode;
    uint64_t value;       /* what waits or was lost: the higher, the worse */
    uint64_t limit;       /* limit of the queue or buffer */
    uint64_t dropped;     /* for a listener: connections dropped since the reading before */
    bool was_full;        /* for a listener: its queue was full in the reading before, too */
    bool accepted;        /* for a unix listener: another socket waits first than before */
    bool multicast;       /* bound to a multicast address */
    uint32_t retransmits; /* retransmissions of the packet that is not acknowledged */
    bool large;           /* large segments are not acknowledged */
    bool is_probed; /* keepalive probes have no answer; `value` and `retransmits` count them */
    struct endpoint local, remote;
    uint8_t route_prefix;  /* for a peer: prefix length of the route to it */
    size_t silent_gateway; /* 1 + index in reading.silent of that route's gateway; 0: it answers */
    uint32_t given_up;     /* attempts that a program gave up; 0: the suspect is a socket */
    uint32_t pid;          /* the process that gave up last, and its name */
    char process[16];
    uint8_t path_length;
    char path[SOCKET_PATH_MAX]; /* path of a unix socket */
};

/* The worst suspects, and the number of all suspects. */
enum { SUSPECTS_MAX = 8 };
struct suspects {
    uint64_t count;
    size_t kept;
    struct suspect worst[SUSPECTS_MAX]; /* the worst first */
};

enum suspicion {
    ACCEPT_QUEUES,  /* TCP listeners whose queue is full */
    BURSTS,         /* TCP listeners whose queue is not full now, but which dropped connections */
    UNIX_QUEUES,    /* unix listeners whose queue is full */
    UDP_DROPS,      /* UDP sockets whose counter of drops grew */
    SILENT_PEERS,   /* peers that acknowledge nothing */
    LARGE_SEGMENTS, /* peers that acknowledge only small segments */
    LARGE_SILENCE,  /* silent peers that have never acknowledged a large segment */
    CLOSED_WINDOWS, /* peers whose program does not read */
    NO_ANSWERS,     /* SYNs without an answer */
    FULL_BUFFERS,   /* sockets whose program does not read received data */
    SUSPICIONS
};

/* A counter of a socket, kept so that the next reading can compare it. */
struct remembered_socket {
    uint64_t cookie, number;
};

/* A local port: its half-open connections, and how many its listeners allow. */
struct half_open_queue {
    uint32_t count : 31;
    uint32_t may_be_full : 1; /* connections wait for a listener whose limit is not known */
    uint32_t deferred;        /* those that only wait for data: TCP_DEFER_ACCEPT */
    uint32_t backlog;
};

/* A socket whose owner a rule looks for. */
struct doctor_socket {
    uint64_t inode;
    struct endpoint end; /* the remote end; of a server of DNS: the local end */
    uint8_t state;       /* enum dns_connection, if it leads to a server of DNS */
    /* In CLOSE_WAIT: */
    uint64_t cookie;
    uint16_t service; /* a hash of the port that is used here, or at the other end */
    bool is_old;      /* the other end has sent nothing for a minute */
    bool is_kept;     /* it was in CLOSE_WAIT in the reading before, and is silent since then */
    uint32_t silence; /* ms since the other end has sent something */
    uint64_t closed;  /* connections of its service that were closed between the readings */
    bool is_older;    /* it is kept, and has waited longer than any of these can have */
};
struct doctor_sockets {
    struct doctor_socket *list;
    size_t count, capacity;
};

enum {
    HEARD_BITS = 65536,
    ANSWERED_BITS = 4096,
    ANSWERED_LEAST = 100,
    REFUSED_SLOTS = 16,
    DNS_CLIENTS = 256,
    CONNECTING_SLOTS = 32
};

/* An address that sends DNS queries, as connection tracking sees it. */
struct dns_client {
    struct address address, server; /* server: the first that does not answer */
    uint64_t waiting;               /* queries to it without an answer since the reading before */
    bool answered;                  /* other queries were answered */
    bool is_translated;             /* NAT leads them to another address */
};

/* Ports of DNS: by UDP and TCP, and by TLS (RFC 7858). */
enum { DNS_PORT = 53, DNS_TLS_PORT = 853 };

/* A connection to one of these ports. */
enum dns_connection {
    DNS_WAITS, /* its SYN or a query had no answer for 1 s */
    DNS_HANGS, /* its SYN or a query had no answer for 3 s */
    DNS_ANSWERED,
    DNS_ENDED,        /* it had an answer, and has ended since this reading */
    DNS_QUERIES_WAIT, /* no connection: a UDP socket on port 53 has unread data */
};

/* The last process that could not connect to an address, or got no answer from it. Its name is
 * empty if it is unknown. */
struct refused_process {
    uint32_t pid;
    char process[16];
};

/* A listener of this machine, and how many connections it has dropped since it was made. */
struct noted_listener {
    struct endpoint local; /* port 0: not noted */
    uint64_t inode;
    uint32_t drops;
};

/* A TCP connection that has received many segments. */
enum { RECEIVERS = 4 };
struct busy_receiver {
    uint64_t cookie;
    uint32_t segments;
};

struct sockets_reading {
    struct noted_listener unanswering; /* gets the SYNs of the worst of NO_ANSWERS */
    struct suspects suspects[SUSPICIONS];
    struct waiting_listeners waiting;      /* listeners with connections that wait for accept(2) */
    struct hash_table remembered;          /* suspects, and sockets that may become suspects */
    uint64_t connections, half_open_count; /* connections: how many may become suspects */
    struct half_open_queue *half_open;     /* index: the port */
    uint64_t heard[HEARD_BITS / 64];       /* bit n: an address with the hash n was heard lately */
    /* Bit n: an address with the hash n answered a connection of this machine that has ended since
     * this reading; or has not answered the SYNs of a connection. */
    uint64_t answered[ANSWERED_BITS / 64], unanswered[ANSWERED_BITS / 64];
    /* Bit n: a connection to an address and port with the hash n failed since this reading. */
    uint64_t refusing[ANSWERED_BITS / 64];
    struct doctor_sockets unclosed;        /* connections that the peer closed: CLOSE_WAIT */
    struct doctor_sockets queries;         /* sockets that still wait for DNS */
    struct doctor_sockets resolvers;       /* UDP sockets that are bound to port 53 */
    struct doctor_sockets dns_connections; /* TCP: the first of them */
    bool only_queries;                     /* only remember the sockets that ask DNS */
    bool may_ask;         /* a UDP socket may ask servers of DNS again: see sockets.c */
    struct busy *busiest; /* destinations that use most ports: BUSIEST_SLOTS */
    struct busy refused[REFUSED_SLOTS];        /* addresses that refuse most since this reading */
    struct busy_receiver receivers[RECEIVERS]; /* connections that received most segments */
    struct refused_process refused_processes[REFUSED_SLOTS];
    /* Connections to servers of DNS that programs gave up since this reading, after 1 s without an
     * answer. */
    struct busy given_up[REFUSED_SLOTS];
    struct refused_process given_up_processes[REFUSED_SLOTS];
    /* So, too, before the first SYN was repeated: a program may take the first server that
     * answers. */
    struct busy cut_short[REFUSED_SLOTS];
    struct refused_process cut_short_processes[REFUSED_SLOTS];
    uint32_t uncounted;                       /* failed attempts that AttemptFails lacks */
    uint32_t failed[CONNECT_ERRNOS];          /* by errno: attempts that AttemptFails counts */
    struct dns_client clients[DNS_CLIENTS];   /* by hash of the address */
    uint64_t dns_answers[ANSWERED_BITS / 64]; /* bit n: a server with the hash n answers clients */
    struct storms *storms;                    /* NULL: no connection in TIME_WAIT was counted */
    struct ended_connections ended;
    struct attempts attempts; /* that ended since this reading */
    struct paths_reading paths;
    /* Some of the sockets in SYN_SENT, by the hash of the peer's address. */
    struct doctor_socket connecting[CONNECTING_SLOTS];
};

/* --- Sockets that no table lists ---------------------------------------------------------------
 */

/* Processes with fewer such sockets are not counted. */
enum { LEAK_LEAST = 100, LEAK_SAMPLES = 3 };

/* A process, and the number of its sockets that no table lists. */
struct leak {
    struct process_descriptors process;
    uint64_t sockets[LEAK_SAMPLES]; /* in the last samples, the latest first */
    unsigned samples;               /* how many of these are known */
    bool denied; /* this user may not see its sockets: the numbers are those of its descriptors */
};
struct leaks {
    struct leak *list;
    size_t count, capacity;
    size_t denied; /* number of processes whose descriptors this user may not even count */
    bool sampled;  /* the processes were looked at: this network namespace may have such sockets */
    bool hidden;   /* /proc does not list all processes */
};

/* --- The rest --------------------------------------------------------------------------------- */

struct interface_reading {
    uint32_t index;
    char name[INTERFACE_TEXT_MAX];
    uint64_t received, sent; /* packets */
    uint64_t lost;           /* received packets that this machine had no room for */
    uint64_t broken;         /* packets with errors, received or sent */
    uint32_t queue_drops;    /* packets that the queue for sending dropped */
    bool has_queue_drops;
    uint8_t mac[MAC_SIZE];    /* zeroes: none, or not of Ethernet */
    struct network duplicate; /* an address that another machine has, too; AF_UNSPEC: none */
};

/* The kernel asks for a neighbour once a second (net.ipv4.neigh.default.retrans_time_ms), so
 * ASKED_MS after the first packet it has asked twice. */
enum { ASKED_MS = 1500 };

/* A neighbour that packets wait for, but that does not answer. */
struct silent_neighbour {
    struct address address;
    uint32_t interface;         /* index */
    uint64_t used_ms;           /* milliseconds since the last packet for it */
    uint64_t since;             /* CLOCK_MONOTONIC, ns: when the kernel first asked; 0: FAILED */
    bool is_new;                /* it had no entry in the reading before */
    bool is_unknown;            /* no machine has answered for it in the last minute, at least */
    bool is_gateway;            /* a route leads through it */
    struct network destination; /* the destination of the first such route */
};

struct reading {
    uint64_t at;                  /* CLOCK_MONOTONIC, ns; 0: no reading was taken */
    const struct reading *before; /* while rows are taken: the reading before, or NULL */
    unsigned read;                /* READS_*: tables that were read */
    unsigned cut;                 /* READS_*: tables that may lack rows */
    unsigned lacking;             /* READS_*: tables whose rows lack needed fields (files) */
    struct kernel_counts counts;
    uint64_t ports_reserved; /* number of reserved ports in the ephemeral range */
    uint64_t listed;         /* number of sockets with an inode that the tables listed */
    struct sockets_reading sockets;
    struct leaks leaks;
    size_t cpus; /* online CPUs: those with counters in softnet_stat */
    size_t interface_count, interface_capacity;
    struct interface_reading *interfaces;
    bool may_have_cards; /* there are other interfaces than loopback and veth */
    struct nic_queues queues;
    size_t silent_count, silent_capacity;
    struct silent_neighbour *silent;
    struct neighbour_watch *watch; /* between the readings; NULL: nothing is watched */
    struct neighbours_reading neighbours;
    struct nat_flows nat;
    bool takes_nat;       /* the flows that come are for `nat` */
    struct network route; /* the route that came last, and its metric */
    uint32_t metric;
};

/* --- Gathering -------------------------------------------------------------------------------- */

struct doctor_options;
struct clock_progress;
struct engine;
struct report;

/* Reads the tables that `needs` names (READS_*). before: the reading before this, or NULL. watch:
 * events of neighbours since then, or NULL. Reports tables that cannot be read. Returns 0 or
 * -errno. */
int reading_take(struct reading *reading, const struct reading *before, struct engine *engine,
                 const struct doctor_options *options, unsigned needs,
                 struct neighbour_watch *watch, struct report *report);

/* A wait, which ctrl-C ends. */
struct reading_wait {
    int timer;                             /* a timerfd(2): can be read when the wait is over */
    const struct clock_progress *progress; /* or NULL */
    void (*pause)(void *arg);              /* called at least once a second */
    void *arg;
};

/* Adds to an older reading. READS_UDP: the sockets that ask DNS now, because few resolvers wait for
 * an answer as long as the time between two readings; wait: NULL. READS_REFUSED: connections that
 * are refused until the wait is over. Returns 0 or -errno. */
int reading_add(struct reading *reading, unsigned reads, const struct reading_wait *wait,
                struct engine *engine, const struct doctor_options *options, struct report *report);
void reading_finish(struct reading *reading);

/* Frees more than a megabyte that rules need, but that is not compared with the next reading. */
void reading_trim(struct reading *reading);

/* Takes a sample of the processes of this network namespace that hold many sockets which no table
 * lists. before: the sample before, or NULL. The caller frees leaks->list. Returns 0 or -errno. */
int leaks_take(struct leaks *leaks, const struct leaks *before, struct engine *engine,
               const struct doctor_options *options, struct report *report);

/* Replaces the sample by a new sample, if the old sample has a process. Returns 0 or -errno. */
int leaks_take_again(struct leaks *leaks, struct engine *engine,
                     const struct doctor_options *options, struct report *report);

/* Returns whether the reading has the socket in CLOSE_WAIT. */
bool sockets_have_unclosed(const struct sockets_reading *sockets, uint64_t cookie);

/* Returns whether the UDP socket has ever received data, or is not known to have received none.
 * Received data leaves memory reserved, even after it was read (udp_rmem_release() of
 * net/ipv4/udp.c). */
bool socket_has_received(const struct record *record);

/* Takes a row of TCP, UDP or unix sockets (sockets.c). Returns 0 or -ENOMEM. */
int sockets_take(struct reading *reading, const struct record *record);

/* Takes a flow to port 53. Returns 0 or -ENOMEM. */
int sockets_take_query(struct reading *reading, const struct record *record);

/* Returns whether the server of DNS answers a client; false positives are possible, as in a Bloom
 * filter. */
bool sockets_dns_answers(const struct sockets_reading *sockets, const struct address *server);

/* Takes a flow whose destination NAT replaces by a neighbour that does not answer (rules_nat.c).
 * Returns 0 or -ENOMEM. */
int nat_take(struct reading *reading, const struct record *record);

/* Takes the attempts to connect that programs have given up since the reading before, after all TCP
 * sockets. */
void sockets_take_attempts(struct sockets_reading *sockets, const struct sockets_reading *before);

/* Returns whether this machine connects to very many other machines: ANSWERED_LEAST of them have
 * answered connections that ended since the reading. */
bool sockets_have_many(const struct sockets_reading *sockets);

/* Takes a TCP socket that was destroyed. */
void sockets_take_destroyed(struct reading *reading, const struct record *record);

/* Returns whether a connection received something from the address lately. Also true for one in
 * 65,536 other addresses, which has the same bit. */
bool sockets_heard(const struct sockets_reading *sockets, const struct address *address);

/* Returns whether the kernel may choose this port for a connection. */
static inline bool is_ephemeral_port(const struct reading *reading, uint16_t port)
{
    return port >= reading->counts.numbers[PORT_FIRST] &&
           port <= reading->counts.numbers[PORT_LAST];
}

#endif
