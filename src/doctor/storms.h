/* SPDX-License-Identifier: MIT */
/* Destinations to which this machine opens and ends many connections. Each connection that this
 * machine ends keeps its local port for a minute in TIME_WAIT. */
#ifndef DOCTOR_STORMS_H
#define DOCTOR_STORMS_H

#include <stdbool.h>
#include <stdint.h>

#include "doctor/busiest.h"
#include "fastnet/record.h"

/* TIME_WAIT_S: TCP_TIMEWAIT_LEN of the kernel's net/tcp.h. STORM_SECONDS: the last seconds, of each
 * of which the number of connections is known. */
enum { STORM_SLOTS = 1024, STORM_SECONDS = 15, TIME_WAIT_S = 60, ENDED_SLOTS = 16 };

/* How many connections ended in each second, the latest second first. */
struct storm {
    uint32_t ended[STORM_SECONDS];
};

/* Connections in TIME_WAIT that keep a port of the ephemeral range. */
struct storms {
    struct busy slots[STORM_SLOTS];
    struct storm of[STORM_SLOTS]; /* that destination's numbers, by slot */
    struct storm all;             /* the sum for all destinations */
};

void storms_take(struct storms *storms, const struct destination *to, uint64_t timer_ms);

/* A program whose connections to a destination ended. */
struct ended_process {
    char name[16];
    uint32_t pid;   /* process of this name whose connection ended last */
    bool several;   /* several processes of this name had connections */
    uint64_t count; /* connections; fewer if programs with other names connect there, too */
};

/* Connections that this machine opened, and that ended since the reading. Slots have no local
 * address. */
struct ended_connections {
    struct busy slots[ENDED_SLOTS];
    struct ended_process of[ENDED_SLOTS];
    bool missed; /* others ended, too: their events were lost or not read */
};

void storms_take_ended(struct ended_connections *ended, const struct endpoint *peer,
                       const struct socket_origin *origin);

/* Returns the program with most of these connections, or NULL. */
const struct ended_process *storms_process(const struct ended_connections *ended,
                                           const struct endpoint *peer);

#endif
