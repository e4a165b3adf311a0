/* SPDX-License-Identifier: MIT */
/* Steps of an explanation why a connection can or cannot be made (why.h). */
#ifndef FASTNET_RECORD_STEP_H
#define FASTNET_RECORD_STEP_H

#include <stdint.h>

#include "fastnet/address.h"
#include "fastnet/kind.h"
#include "fastnet/record/socket.h"
#include "fastnet/text.h"

extern const struct kind kind_step;

/* Step, result and source are always known; cause, advice and command are known in rows of
 * STEP_ANSWER. */
#define STEP_PEER      (UINT64_C(1) << 0) /* peer */
#define STEP_ADDRESS   (UINT64_C(1) << 1) /* address */
#define STEP_INTERFACE (UINT64_C(1) << 2)
#define STEP_SOURCE    (UINT64_C(1) << 3) /* local */
#define STEP_PROCESS   (UINT64_C(1) << 4) /* process and pid */
#define STEP_NETNS     (UINT64_C(1) << 5) /* netns */
#define STEP_TIME      (UINT64_C(1) << 6) /* elapsed */
#define STEP_ENDING    (UINT64_C(1) << 7) /* ending, cause, advice and command */
#define STEP_ERRNO     (UINT64_C(1) << 8)
#define STEP_PROTOCOL  (UINT64_C(1) << 9)

/* In the order in which they are shown. */
enum step {
    STEP_NAME,
    STEP_ROUTE,
    STEP_LINK,
    STEP_NEIGHBOUR,
    STEP_TRACKING,
    STEP_ATTEMPTS, /* connections that other processes are making now */
    STEP_POLICY,   /* packets that rules of this machine dropped */
    STEP_CONNECT,  /* the connection that --probe opened */
    STEP_LISTENER,
    STEP_QUEUE,
    STEP_CLIENTS, /* connections that a listener has, and those that fail */
    STEP_ANSWER,
    STEPS
};

/* Where a connection ends. The order is that of exit statuses: 0, 1, 3. */
enum ending { ENDING_OPEN, ENDING_ENDS, ENDING_UNKNOWN, ENDINGS };

/* "name", "route" ...; NULL for any other number. */
const char *step_name(uint64_t step);
/* "open", "ends" or "unknown"; NULL for any other number. */
const char *ending_name(uint64_t ending);

struct step_record {
    uint8_t step;         /* enum step */
    uint8_t ending;       /* enum ending */
    uint8_t protocol;     /* IPPROTO_TCP or IPPROTO_UDP */
    struct endpoint peer; /* where the connection leads to */
    struct endpoint local;
    struct address address; /* the gateway, neighbour or router that the step is about */
    uint32_t interface;
    uint32_t pid;
    uint32_t error;      /* errno of the step */
    uint64_t elapsed;    /* duration of the step, nanoseconds */
    struct text result;  /* a sentence without a full stop */
    struct text cause;   /* name of the cause, as in the table of fastnet-why(8) */
    struct text advice;  /* what to do */
    struct text command; /* a command line that shows more; may be empty */
    struct text source;  /* the table, file or probe that the step was read from */
    struct text process; /* comm of the process that the step is about */
    struct text netns;   /* that the step is about, if it is not that of the connection */
};

#endif
