/* SPDX-License-Identifier: MIT */
/* Attempts to connect that got no answer before their program gave up. No listing has them, because
 * many programs wait for an answer for less time than lies between two listings. */
#ifndef DOCTOR_ATTEMPTS_H
#define DOCTOR_ATTEMPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "doctor/busiest.h"
#include "fastnet/record.h"

enum { ATTEMPT_SLOTS = 64, ATTEMPT_ENDS = 4096, ATTEMPT_PORTS = 65536 };

/* The attempts to connect to one destination. */
struct given_up {
    uint32_t pid;        /* the process that gave up last; 0: it is unknown */
    char process[16];    /* its name */
    uint32_t repeats;    /* repeated SYNs */
    uint32_t patient;    /* attempts that waited for a second, until the SYN is repeated */
    uint64_t waited_ms;  /* how long these waited together */
    struct address from; /* the local address of the last attempt */
};

/* Slots have no local address. */
struct attempts {
    struct busy slots[ATTEMPT_SLOTS];
    struct given_up of[ATTEMPT_SLOTS];
    uint64_t answered[ATTEMPT_ENDS / 64]; /* bit n: a destination with the hash n answered */
    uint64_t ports[ATTEMPT_PORTS / 64];   /* bit n: port n of any machine answered */
};

/* Takes a TCP socket that was destroyed. */
void attempts_take_ended(struct attempts *attempts, const struct record *record,
                         const struct socket_origin *origin);

/* Returns how long the patient attempts waited together for the destination, which never answered,
 * in milliseconds. */
uint64_t attempts_waited(const struct attempts *attempts, const struct endpoint *to);

/* Returns whether the attempts to the destination of slot `i` show that it is silent. more: other
 * connections that exist now (attempts.ports). many: other destinations may be silent, because this
 * machine connects to very many. */
bool attempts_are_silent(const struct attempts *attempts, size_t i, const struct attempts *more,
                         bool many);

#endif
