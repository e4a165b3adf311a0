/* SPDX-License-Identifier: MIT */
/* The files of a recording (recording.h): writes segments, removes old segments, and compresses
 * those that are complete. */
#ifndef CLI_RECORD_SEGMENTS_H
#define CLI_RECORD_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fastnet/recording.h"
#include "fastnet/writer.h"

/* The directory. */
struct record_segments {
    int directory, lock;               /* descriptors */
    uint64_t keep_bytes, keep_seconds; /* what to keep; UINT64_MAX: no limit */
    uint64_t last;                     /* number of the newest segment */
    uint64_t dropped;                  /* segments that were removed because the disk was full */
    pid_t compressor;                  /* a child that compresses a segment, or 0 */
    uint64_t compressed;               /* number of the segment that was compressed last */
};

/* Opens the directory, and makes it, with mode 0700, if it is missing. Returns 0, or -errno;
 * -EWOULDBLOCK: another recorder uses the directory. */
int segments_open(struct record_segments *segments, const char *directory);
/* Ends the child. Accepts a struct whose segments_open() failed. */
void segments_close(struct record_segments *segments);

/* Removes segments that are too old, or too large together; the newest stays. Then compresses the
 * oldest segment that is complete and not compressed yet. now: ns since 1970. */
void segments_tidy(struct record_segments *segments, uint64_t now);

/* --- Compression (compress.c) ----------------------------------------------------------------- */

/* Starts a child that compresses the segment by zstd(1) or gzip(1), and then replaces its file. If
 * the child ends early, the file stays as it was. Returns the child; 0: no program is installed, or
 * no child could be started. */
pid_t compress_start(const struct record_segments *segments, const struct recording_segment *raw);

/* The file that such a child writes. */
#define COMPRESS_TEMPORARY ".fastnet-compressed"

/* --- A segment -------------------------------------------------------------------------------- */

/* A segment that is being written. All of it goes through `writer`, is kept, and is written by
 * segment_commit(). */
struct segment {
    struct record_segments *segments;
    struct writer writer;
    int fd; /* -1: closed */
    struct recording_segment name;
    char *kept; /* bytes that were not written yet */
    size_t length, capacity;
    uint64_t size;         /* bytes of the file up to the last commit */
    uint64_t rows, marked; /* rows in all, and up to the last mark */
};

/* Creates the file of a new segment, with mode 0600. Returns 0 or -errno. */
int segment_create(struct segment *segment, struct record_segments *segments, uint64_t now);
/* Writes all that was kept, by one write(2) unless it is large. If the disk is full, removes the
 * oldest segment and tries again, once. After a failure, the file ends at the last commit. Returns
 * 0 or -errno. */
int segment_commit(struct segment *segment);
/* Accepts a zeroed struct. */
void segment_close(struct segment *segment);

#endif
