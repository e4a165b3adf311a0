/* SPDX-License-Identifier: MIT */
/* Declarations of fastnet record. record.c has the options, recorder.c takes the samples,
 * segments.c has the files, marks.c writes marks, findings.c runs the doctor, unseen.c counts. */
#ifndef CLI_RECORD_RECORD_H
#define CLI_RECORD_RECORD_H

#include "cli/command.h"
#include "cli/counts.h"
#include "cli/record/segments.h"
#include "cli/stream.h"
#include "cli/which.h"
#include "fastnet/live.h"

struct record_command {
    struct common common; /* must be first */
    const char *directory;
    char *const *arguments; /* for heads; ends with NULL */
    struct which which;
    uint64_t keep_bytes, keep_seconds; /* UINT64_MAX: no limit */
    bool kept;                         /* --keep was given */
    bool no_remote, no_doctor, no_bytes, list;
    unsigned interval_ms;
    struct listing_table tables[WHICH_TABLES];
    struct record_segments segments;
};

/* Records until the user stops it. Returns the exit status. For listing_command.run_endless; its
 * arg is the struct record_command. */
int recorder_run(struct listing_command *command, struct engine *engine, struct sink *sink);

/* The columns of a row. --no-remote leaves out those of the peer. */
#define RECORD_COLUMNS_OF_PEER "remote_address remote_port"
#define RECORD_COLUMNS                                                                             \
    "event time netns_id cookie netns protocol family state local_address "                        \
    "local_port " RECORD_COLUMNS_OF_PEER " interface recv_q send_q backlog uid inode pid process " \
    "processes owner_by unit cgroup container container_name pod pod_name type path peer_inode "   \
    "bytes_sent bytes_received bytes_retrans total_retrans rtt drops age age_at_least ended "      \
    "ended_by reset_reason connect_time connect_error"

/* --- Marks (marks.c) -------------------------------------------------------------------------- */

struct mark {
    const char *name;
    uint64_t time; /* ns since 1970 */
    uint64_t rows;
    bool complete;
    const char *more; /* further members, each after a comma */
};

/* Begins a segment. */
void mark_put_head(struct segment *segment, const struct record_command *command);
void mark_put(struct segment *segment, const struct mark *mark);

/* --- Findings (findings.c) -------------------------------------------------------------------- */

/* The doctor's child, and the rows that it printed so far. Zeroed: no child. */
struct findings {
    pid_t child;
    int pipe;
    uint64_t next; /* CLOCK_MONOTONIC, ns: when to run it again */
    char *rows;
    size_t length;
};

/* Starts the doctor if it is time. */
void findings_start(struct findings *findings, const struct record_command *command);
/* Reads rows. When the doctor has ended, writes them into the segment, with their mark. */
void findings_read(struct findings *findings, struct segment *segment);
void findings_finish(struct findings *findings);

/* --- Unseen connections (unseen.c) ------------------------------------------------------------ */

/* Counts connections that came and went between two samples, if the kernel does not report ends:
 * the growth of TCP's counters ActiveOpens and PassiveOpens, without the connections that samples
 * had. Only of the own network namespace, because its counters count no other. */
struct unseen {
    struct engine *engine;
    bool counts;             /* false: the kernel reports ends, or the filter refuses rows */
    uint64_t before, now;    /* the sum of the counters; 0: unknown */
    uint64_t opened, unseen; /* sums since the start */
};

/* The listing is that of the live store. */
void unseen_begin(struct unseen *unseen, struct engine *engine, const struct listing *listing);
/* Reads the counters. Call it right before a sample, so that it never counts a connection that only
 * the next sample has. */
void unseen_read(struct unseen *unseen, const struct live *live);
/* Returns the number of connections that no sample had, since the last call. opened: connections
 * that were new to samples since the last call. */
uint64_t unseen_take(struct unseen *unseen, uint64_t opened);

/* True if the counters count the socket. */
bool unseen_counts(const struct record *record);

#endif
