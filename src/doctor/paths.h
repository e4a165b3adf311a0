/* SPDX-License-Identifier: MIT */
/* The paths to other machines, as the kernel measured them for each TCP connection: segments that
 * were sent and lost between two readings, and round-trip times. */
#ifndef DOCTOR_PATHS_H
#define DOCTOR_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/address.h"
#include "fastnet/hash_table.h"
#include "fastnet/kernel_info.h"

struct reading;

/* The limits of both tables below: beyond them, the first sockets of a reading are a sample. The
 * kernel lists sockets in the order of a hash, which is the same in the next reading. */
enum { SENDERS_MAX = 65536, PATHS_MAX = 32768 };

/* What a connection had sent and lost in the reading before. */
struct sender {
    uint64_t cookie;
    uint32_t sent, lost; /* segments with data */
    uint32_t repeated;   /* all that were retransmitted, lost or not */
    uint16_t timeouts, recoveries;
    uint8_t retransmits; /* timeouts in a row, up to the reading */
};

/* A peer, and the port of the service that it uses here or offers there. */
struct path_key {
    struct address peer;
    bool is_client; /* the peer connected to `port` of this machine; otherwise we connect to it */
    uint16_t port;  /* host byte order; 0: only connections that have ended */
};

/* Numbers of all connections of a path. Segments are those with data. */
struct path_counts {
    uint64_t sent, lost;               /* between the readings */
    uint64_t unsure;                   /* retransmitted by silent connections: maybe lost */
    uint64_t outage;                   /* lost in one time in which nothing passed, which is over */
    uint64_t unanswered;               /* retransmitted since nothing is acknowledged any more */
    uint64_t sent_before, lost_before; /* in the first reading, by the connections in both */
    uint32_t lossy;                    /* connections that lost segments */
    uint32_t seconds; /* bit n: the n-th second, in which a lossy connection ended */
    uint32_t steady;  /* lossy connections that lost more than two windows: not in one moment */
    uint32_t heard;   /* connections whose peer has just acknowledged something */
    uint32_t silent;  /* connections over which nothing passed for a time, or since a time */
};

struct path {
    struct path_key key;
    struct path_counts counts;
    uint32_t timed; /* connections with a round-trip time that is more than a first guess */
    uint32_t rtt;   /* their shortest, in microseconds; 0: timed is 0 */
};

struct paths_reading {
    bool is_wanted;            /* a rule needs these tables */
    bool is_only;              /* there is no other reading */
    bool knows_ended;          /* all connections that ended since this reading are counted in it */
    struct hash_table senders; /* struct sender */
    struct hash_table paths;   /* struct path */
};

/* Takes a TCP connection of a reading. Returns 0 or -ENOMEM. */
int paths_take(struct reading *reading, const struct record *record,
               const struct kernel_tcp_info *info);

/* Takes a connection that ended after the reading, at `now` (ns). Without memory, it is not
 * counted. */
void paths_take_ended(struct paths_reading *paths, const struct record *record,
                      const struct kernel_tcp_info *info, uint64_t now);

/* Frees the paths, which the next reading does not need. */
void paths_trim(struct paths_reading *paths);
void paths_finish(struct paths_reading *paths);

#endif
