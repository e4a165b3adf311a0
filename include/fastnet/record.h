/*
 * What backends hand on: one record a row, whatever it was read from.
 *
 * A record lives on the stack of the decoder that fills it. What it borrows is in the receive
 * buffer and dies when the callback that got the record returns.
 */
#ifndef FASTNET_RECORD_H
#define FASTNET_RECORD_H

#include <stdint.h>

#include "fastnet/record/counter.h"
#include "fastnet/record/flow.h"
#include "fastnet/record/group.h"
#include "fastnet/record/interface.h"
#include "fastnet/record/neighbour.h"
#include "fastnet/record/route.h"
#include "fastnet/record/socket.h"

/* A group of --count-by, made by the engine; its fields depend on the columns counted by. */
struct count_record {
    const struct value *values; /* one for each column that was counted by, borrowed */
    uint64_t count;
};

extern const struct kind kind_count;

struct record {
    const struct kind *kind;
    uint64_t has;      /* which fields are filled: bits of the kind */
    uint64_t identity; /* the same in two rows for one object (the socket cookie); 0: unknown */
    union {
        struct socket_record socket;
        struct flow_record flow;
        struct expectation_record expectation;
        struct flow_statistics_record statistics;
        struct flow_usage_record usage;
        struct neighbour_record neighbour;
        struct counter_record counter;
        struct group_record group;
        struct route_record route;
        struct interface_record interface;
        struct count_record count;
    };
};

#endif
