/* SPDX-License-Identifier: MIT */
/*
 * A reading: what the rules need of all tables, gathered row by row. It keeps numbers and the worst
 * few rows, never all of them: there may be a million sockets.
 */
#ifndef DOCTOR_READING_H
#define DOCTOR_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "doctor/busiest.h"
#include "fastnet/connect_failures.h"
#include "fastnet/hash_table.h"
#include "fastnet/kernel_number.h"
#include "fastnet/record.h"

/* Tables that a rule may need. */
#define READS_COUNTERS   (1u << 0) /* of the protocols, sockstat */
#define READS_TCP        (1u << 1)
#define READS_TCP_INFO   (1u << 2) /* ... and what no file tells: struct tcp_info, backlogs */
#define READS_UDP        (1u << 3) /* with the drops of sockets */
#define READS_UNIX       (1u << 4)
#define READS_FLOWS      (1u << 5) /* how full the table is, and its counters */
#define READS_NEIGHBOURS (1u << 6) /* how full their tables are */
#define READS_INTERFACES (1u << 7)
#define READS_SOFTNET    (1u << 8)
#define READS_PROCESSES  (1u << 9)  /* descriptors of processes */
#define READS_ROUTES     (1u << 11) /* neighbours that do not answer, and routes over them */
#define READS_REFUSED    (1u << 12) /* TCP sockets that are destroyed between two readings */
#define READS_QUERIES    (1u << 13) /* tracked flows to port 53, where there are flows */
#define READS_LINKS      (1u << 14) /* of interfaces what no file tells: addresses, queues */
#define READS_DROPS      (1u << 15) /* packets that are dropped, where they may be seen */
#define READS_MACHINE    (1u << 10) /* ... and what is the same in all network namespaces */

/* --- Sockets ---------------------------------------------------------------------------------- */

/* A row that may be part of a finding. */
struct suspect {
    uint64_t inode;
    uint64_t value;   /* how bad it is: what waits, or was lost */
    uint64_t limit;   /* of a queue or buffer */
    uint64_t dropped; /* of a listener: attempts to connect since the reading before */
    bool stood;       /* the first reading had it, too, as bad */
    bool multicast;   /* bound to an address of a group */
    bool large;       /* large segments are not acknowledged */
    struct endpoint local, remote;
    uint8_t route_prefix;  /* of a peer: bits of the route to it ... */
    size_t silent_gateway; /* ... whose gateway this is, from 1 on, of reading.silent; 0: none */
    uint8_t path_length;
    char path[SOCKET_PATH_MAX]; /* of a unix socket */
};

/* The worst of them, and how many there are. */
enum { SUSPECTS_MAX = 8 };
struct suspects {
    uint64_t count;
    size_t kept;
    struct suspect worst[SUSPECTS_MAX]; /* the worst first */
};

enum suspicion {
    ACCEPT_QUEUES,  /* TCP listeners whose queue is full */
    BURSTS,         /* ... whose queue is not full now, but whose counter of drops moved */
    UNIX_QUEUES,    /* unix listeners whose queue is full */
    UDP_DROPS,      /* the counter of drops moved */
    SILENT_PEERS,   /* nothing is acknowledged */
    LARGE_SEGMENTS, /* ... but small segments come through */
    LARGE_SILENCE,  /* nothing is acknowledged, and only large segments were sent */
    CLOSED_WINDOWS, /* the peer's program does not read */
    NO_ANSWERS,     /* SYNs */
    FULL_BUFFERS,   /* received data that the program does not read */
    SUSPICIONS
};

/* Numbers of one socket in the reading before. */
struct watched {
    uint64_t cookie, number;
};

/* For each local port: half-open connections, and how many its listeners allow. */
struct half_open_queue {
    uint32_t count, backlog;
};

/* Sockets whose holders a rule looks for. */
struct orphan_socket {
    uint64_t inode;
    struct endpoint remote;
};
struct held_sockets {
    struct orphan_socket *list;
    size_t count, capacity;
};

enum { HEARD_BITS = 65536, REFUSED_SLOTS = 16, DNS_PORT = 53, DNS_CLIENTS = 256 };

/* An address that asks DNS, as connection tracking sees it. */
struct dns_client {
    struct address address, server; /* server: that does not answer */
    uint64_t waiting;               /* queries without an answer, which the reading before had */
    bool answered;                  /* others were */
};

/* The process whose connection an address refused last; its name is empty if that is not known. */
struct refused {
    uint32_t pid;
    char process[16];
};

struct sockets_reading {
    struct suspects suspects[SUSPICIONS];
    struct hash_table watched; /* struct watched: of rows that are suspects, or may become some */
    uint64_t connections, half_open_count; /* connections: those that may be suspects */
    struct half_open_queue *half_open;     /* by port */
    uint64_t heard[HEARD_BITS / 64];    /* bits: hashes of the addresses that were heard lately */
    struct held_sockets unclosed;       /* connections that the peer has ended long ago */
    struct held_sockets queries;        /* that have waited for DNS since the reading before */
    struct held_sockets resolvers;      /* of UDP, bound to port 53 */
    bool only_queries;                  /* rows are only watched for them */
    struct busy *busiest;               /* which destinations take most ports: BUSIEST_SLOTS */
    struct busy refused[REFUSED_SLOTS]; /* which addresses refuse most since this reading */
    struct refused whose[REFUSED_SLOTS];
    uint32_t uncounted;                     /* attempts that failed, and that AttemptFails lacks */
    uint32_t failed[CONNECT_ERRNOS];        /* ... that it has: by errno, as far as that is known */
    struct dns_client clients[DNS_CLIENTS]; /* by hash of the address: the first of each */
};

/* --- The rest --------------------------------------------------------------------------------- */

struct interface_reading {
    uint32_t index;
    char name[INTERFACE_TEXT_MAX];
    uint64_t received, sent; /* packets */
    uint64_t lost;           /* packets that were not received because of the machine */
    uint64_t broken;         /* ... or came with errors; or were not sent */
    uint32_t queue_drops;    /* ... or were dropped by the queue that they waited in */
    bool has_queue_drops;
    struct network duplicate; /* an address that another machine has, too; AF_UNSPEC: none */
};

/* A neighbour that packets are for, but that does not answer. */
struct silent_neighbour {
    struct address address;
    uint32_t interface;         /* index */
    uint64_t used_ms;           /* when the last packet was for it: milliseconds ago */
    uint64_t since;             /* CLOCK_MONOTONIC: when it was first asked; 0: it is FAILED */
    bool is_gateway;            /* a route leads over it ... */
    struct network destination; /* ... to here: the first of them */
};

struct reading {
    uint64_t at;                  /* CLOCK_MONOTONIC, nanoseconds; 0: there is no reading */
    const struct reading *before; /* while rows are taken: that knows some of them, or NULL */
    unsigned read;                /* READS_*: tables that were read */
    unsigned cut;                 /* ... but perhaps not all rows of it */
    unsigned lacking;             /* ... but rows lacked needed fields: they came from a file */
    struct kernel_counts counts;
    uint64_t ports_reserved; /* ephemeral ports only */
    struct sockets_reading sockets;
    size_t processors; /* that have counters of softnet_stat: those that are online */
    size_t interface_count, interface_capacity;
    struct interface_reading *interfaces;
    size_t silent_count, silent_capacity;
    struct silent_neighbour *silent;
    struct network route; /* that came last, and its metric */
    uint32_t metric;
};

/* --- Gathering -------------------------------------------------------------------------------- */

struct doctor_options;
struct engine;
struct report;

/*
 * Reads what `needs` asks for (READS_*). before: the reading before this one, or NULL. Returns 0 or
 * -errno; what cannot be read is reported.
 */
int reading_take(struct reading *reading, const struct reading *before, struct engine *engine,
                 const struct doctor_options *options, unsigned needs, struct report *report);
/*
 * Adds to an older reading. READS_UDP: the sockets that ask DNS now, because few resolvers wait for
 * an answer as long as the time between two readings. READS_REFUSED: which connections are refused
 * until `stop` can be read. Returns 0 or -errno.
 */
int reading_add(struct reading *reading, unsigned reads, int stop, struct engine *engine,
                const struct doctor_options *options, struct report *report);
void reading_finish(struct reading *reading);

/* Frees what only rules about this reading use, but no comparison with it: more than a megabyte. */
void reading_trim(struct reading *reading);

/* Takes one row of TCP, UDP or unix sockets (sockets.c). Returns 0 or -ENOMEM. */
int sockets_take(struct reading *reading, const struct record *record);

/* Takes a flow to port 53. Returns 0 or -ENOMEM. */
int sockets_take_query(struct reading *reading, const struct record *record);

/* Takes a socket that is destroyed. */
void sockets_take_destroyed(struct sockets_reading *sockets, const struct record *record);

/*
 * True if a connection to the address has heard of it lately. Other addresses have the same bit:
 * one in 65,536.
 */
bool sockets_heard(const struct sockets_reading *sockets, const struct address *address);

/* True if the kernel chooses this port for connections. */
static inline bool is_chosen_port(const struct reading *reading, uint16_t port)
{
    return port >= reading->counts.numbers[PORT_FIRST] &&
           port <= reading->counts.numbers[PORT_LAST];
}

#endif
