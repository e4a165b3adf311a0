/* SPDX-License-Identifier: MIT */
/*
 * What live.h needs of a backend: rows that are looked at one by one, and that are told when they
 * end, in the network namespace that the thread was in when the watch began.
 */
#ifndef FASTNET_ROW_TRACKER_H
#define FASTNET_ROW_TRACKER_H

#include "fastnet/query.h"

struct connects;
struct netlink_peer;

/* What a row is found by, as its source has put it there; only that reads the bytes. */
struct row_id {
    uint8_t bytes[50];
    uint8_t state; /* of the row: it is not found by that */
    uint64_t identity;
};

struct row_tracker_ops {
    /*
     * kinds: of ends that are told (struct query_events); 0: none. peer: as in netlink_create().
     * Returns NULL and sets *error, to -errno.
     */
    void *(*create)(unsigned kinds, const struct netlink_peer *peer, int *error);
    void (*destroy)(void *tracker);
    /* Can be read when rows have ended; -1: none are told. */
    int (*descriptor)(const void *tracker);

    /* Sets the id to that of a row; what the row lacks (any more) stays. */
    void (*take_id)(struct row_id *id, const struct record *record);
    /* Adds what the id tells and the record lacks: all, or what an end has not. */
    void (*tell_id)(const struct row_id *id, struct record *record);
    /* Whether a row has ended, and is still listed. */
    bool (*is_over)(const struct record *record);
    /* Whether such a row can be asked for alone. */
    bool (*asks)(const struct row_id *id);
    /* Whether the kernel tells its end. The message can come after the row is gone. */
    bool (*reports_end)(const void *tracker, const struct row_id *id);

    /*
     * Passes the rows that are still there, of any number, to fn, with the fields that are needed.
     * Returns 0, -errno, or what fn returned.
     */
    int (*ask)(void *tracker, const struct row_id ids[], size_t count, uint64_t needs, record_fn fn,
               void *arg, struct report *report);
    /* Remembers a row that others come from, until forget(). Returns 0 or -ENOMEM. */
    int (*note)(void *tracker, const struct record *row);
    void (*forget)(void *tracker);
    /*
     * Passes the rows that have ended since the last call to fn, with their last counters and where
     * they come from (record.origin; connects: who made them, or NULL). Returns 0, -ENOBUFS if some
     * are missing, another -errno, or what fn returned.
     */
    int (*ended)(void *tracker, struct connects *connects, record_fn fn, void *arg,
                 struct report *report);
};

#endif
