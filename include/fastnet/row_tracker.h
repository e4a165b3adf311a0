/* SPDX-License-Identifier: MIT */
/* What the live store (live.h) needs from a backend: to read single rows, and to learn when rows
 * end, in the network namespace that the thread was in when create() was called. */
#ifndef FASTNET_ROW_TRACKER_H
#define FASTNET_ROW_TRACKER_H

#include "fastnet/query.h"

struct connects;
struct netlink_peer;

/* Identifies a row. Only the tracker that wrote the bytes reads them. */
struct row_id {
    uint8_t bytes[50];
    uint8_t state; /* state of the row; does not identify it */
    uint64_t identity;
};

struct row_tracker_ops {
    /* Creates a tracker. kinds: ends to report (struct query_events); 0: no ends. peer: as in
     * netlink_create(). Returns NULL and sets *error to -errno on failure. */
    void *(*create)(unsigned kinds, const struct netlink_peer *peer, int *error);
    void (*destroy)(void *tracker);
    /* Returns a descriptor that is readable when rows have ended; -1: ends are not reported. */
    int (*descriptor)(const void *tracker);

    /* Stores what the record has in `id`; members that the record lacks (any more) keep their
     * value. */
    void (*take_id)(struct row_id *id, const struct record *record);
    /* Fills members that the record lacks, from `id`: all members of an empty record, or those that
     * the kernel does not report when a row ends. */
    void (*fill_record)(const struct row_id *id, struct record *record);
    /* True if the row has ended and is still listed. */
    bool (*is_over)(const struct record *record);
    /* True if the kernel can be asked for this row alone. */
    bool (*asks)(const struct row_id *id);
    /* True if the kernel reports the end of this row. Its message can come after the row is
     * gone. */
    bool (*reports_end)(const void *tracker, const struct row_id *id);

    /* Passes the rows that still exist to `fn`, with the needed fields. `count` has no limit.
     * Returns 0, -errno, or fn's value. */
    int (*ask)(void *tracker, const struct row_id ids[], size_t count, uint64_t needs, record_fn fn,
               void *arg, struct report *report);
    /* Remembers a row that other rows come from (a listener), until forget(). Returns 0 or
     * -ENOMEM. */
    int (*note)(void *tracker, const struct record *row);
    void (*forget)(void *tracker);
    /* Passes the rows that have ended since the last call to `fn`, with their last counters and
     * their origin (record.origin). connects: who made them, or NULL. Returns 0, -ENOBUFS if some
     * ends are missing, another -errno, or fn's value. */
    int (*ended)(void *tracker, struct connects *connects, record_fn fn, void *arg,
                 struct report *report);
};

#endif
