/* SPDX-License-Identifier: MIT */
/* Records: what backends deliver, one for each row. A record lives on the stack of the decoder that
 * fills it, and borrows from the receive buffer. Both are valid only until the callback that got
 * the record returns. */
#ifndef FASTNET_RECORD_H
#define FASTNET_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fastnet/record/counter.h"
#include "fastnet/record/drop.h"
#include "fastnet/record/finding.h"
#include "fastnet/record/flow.h"
#include "fastnet/record/group.h"
#include "fastnet/record/interface.h"
#include "fastnet/record/neighbour.h"
#include "fastnet/record/queue.h"
#include "fastnet/record/route.h"
#include "fastnet/record/socket.h"
#include "fastnet/record/step.h"
#include "fastnet/record/summary.h"
#include "fastnet/record/traffic.h"

struct saved_row;

/* A group of --count-by, made by the engine. Its fields depend on the columns of --count-by. */
struct count_record {
    /* Borrowed: the values of the columns of --count-by, then the sums of --sum, then with
     * --percent the shares, then the aggregates. */
    const struct value *values;
    uint64_t count;
    uint8_t level; /* enum level */
};

#define COUNT_LEVEL (UINT64_C(1) << 0) /* the level is known */
/* Always set. Conditions use this bit of a computed number, values[index], to treat it as
 * undecided if its value is unknown. */
#define COUNT_NUMBER(index) (UINT64_C(2) << (index) % 62)

/* How bad a group is, by --warn and --crit: a worse level is a larger number. */
enum level { LEVEL_OK, LEVEL_UNKNOWN, LEVEL_WARNING, LEVEL_CRITICAL, LEVELS };

extern const struct kind kind_count;

struct record {
    const struct kind *kind;
    uint64_t has; /* presence bits of the kind: the filled fields */
    /* The fields that the filter compares, that this backend lacks, and that another backend
     * has. */
    uint64_t unavailable;
    uint64_t identity; /* equal in two rows of one object (the socket cookie); 0: unknown */
    /* --delta: the same row in the run before, borrowed, and the nanoseconds since; or NULL. */
    const struct record *before;
    uint64_t elapsed;
    /* The number of equal rows that this record stands for, when rows are counted: sockets of a
     * state, packets of a drop. 0 means 1, as in nearly all records. NO_ROWS means 0. */
    uint64_t rows;
    uint64_t netns_index; /* the engine's index of the row's network namespace, or 0 */
    /* A row that fastnet printed before (saved.h): its columns, borrowed; NULL: any other row. */
    const struct saved_row *saved;
    union {
        struct socket_record socket;
        struct flow_record flow;
        struct expectation_record expectation;
        struct flow_statistics_record statistics;
        struct flow_usage_record usage;
        struct neighbour_record neighbour;
        struct neighbour_usage_record neighbour_usage;
        struct counter_record counter;
        struct group_record group;
        struct route_record route;
        struct interface_record interface;
        struct queue_record queue;
        struct qdisc_record qdisc;
        struct count_record count;
        struct finding_record finding;
        struct drop_record drop;
        struct step_record step;
        struct summary_record summary;
        struct traffic_record traffic;
    };
};

#define NO_ROWS UINT64_MAX

/* Returns the number of rows that the record stands for. */
static inline uint64_t record_rows(const struct record *record)
{
    return record->rows == NO_ROWS ? 0 : record->rows ? record->rows : 1;
}

/* Zeroes the members before the union, for decoders that fill the whole member of the kind. */
static inline void record_reset(struct record *record, const struct kind *kind)
{
    memset(record, 0, offsetof(struct record, socket));
    record->kind = kind;
}

/* Begins an empty record: members without a presence bit are 0. size: bytes of the kind's member, a
 * constant, so that the compiler can inline the clearing. */
static inline void record_begin(struct record *record, const struct kind *kind, size_t size)
{
    memset(record, 0, offsetof(struct record, socket) + size);
    record->kind = kind;
}

#endif
