/* SPDX-License-Identifier: MIT */
/* --count-by: counts the records of each distinct combination of values. Without a column to count
 * by, all records are one group, which also exists without any record. */
#ifndef ENGINE_GROUPS_H
#define ENGINE_GROUPS_H

#include "engine/rows.h"
#include "fastnet/report.h"

struct groups;

/* The listing is borrowed until groups_destroy(). Returns NULL when memory is short. */
struct groups *groups_create(const struct listing *listing);
void groups_destroy(struct groups *groups);

/* Counts the rows of one record. The record's values may borrow from the context, which must
 * outlive the groups. Returns 0 or -ENOMEM. */
int groups_add(struct groups *groups, const struct record *record, const struct context *context);

/* For listing.turnover: counts what happened to the row of the record (bits 1 << enum turnover). The
 * row itself is not counted. Returns 0 or -ENOMEM. */
int groups_turn(struct groups *groups, const struct record *record, const struct context *context,
                unsigned what);

/* For listing.turnover: sets in which time (nanoseconds; 0: unknown) everything happened that
 * groups_turn() has counted since the last groups_finish(). known: the bits that it counts. */
void groups_set_time(struct groups *groups, uint64_t time, unsigned known);

/* Adds a record of kind_count for each group to rows, largest first: by the first sum, or by the
 * number of rows if there are no sums. Equal groups are in the order of their values. The records
 * borrow from the groups, to which rows can still be added. Returns 0 or -ENOMEM. */
int groups_finish(struct groups *groups, struct rows *rows);

/* Passes the records of groups_finish() to the sink, in the order of listing.sort if that is set,
 * at most listing.most; report->unshown is the number of others. Returns 0 or -errno. */
int groups_emit(struct groups *groups, struct sink *sink, struct report *report);

/* Notes how many rows the aggregates leave out, for each of their columns. */
void groups_report(const struct groups *groups, struct report *report);

#endif
