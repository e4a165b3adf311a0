/* SPDX-License-Identifier: MIT */
/* The segments of a recording (recording.h): their files, in the order of their numbers. */
#ifndef BACKEND_SAVED_SEGMENT_FILES_H
#define BACKEND_SAVED_SEGMENT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/saved/decompress.h"
#include "fastnet/recording.h"
#include "fastnet/report.h"
#include "text/json.h"

enum { SEGMENT_FILES_MAX = 1 << 20 };

struct segment_file {
    struct recording_segment segment;
    uint64_t size;             /* bytes */
    char name[RECORDING_NAME]; /* the file that was opened last */
};

struct segment_files {
    int directory; /* descriptor */
    struct segment_file *list;
    size_t count, capacity;
    struct decompress decompress;
};

/* Reads the names of the segments in a directory, and starts what decompresses them. Returns 0 or
 * -errno. */
int segment_files_init(struct segment_files *segments, const char *directory);
void segment_files_finish(struct segment_files *segments);

/* True if the next segment has the next number. The recorder leaves out a number if the clock was
 * set back, so false means that the times of both segments may overlap. */
bool segment_files_continue(const struct segment_files *segments, size_t i);

/* True if the segment may have rows of the span. Only the start of each segment is known; a segment
 * ends where the next segment begins, unless the clock was set back. */
bool segment_files_cover(const struct segment_files *segments, size_t i, uint64_t from,
                         uint64_t to);

/* An open segment. */
struct segment_reader {
    const struct segment_file *segment;
    struct row_file bytes;
    char broken[128]; /* problem of the last row, not yet reported */
    uint64_t line;    /* the line of that problem; 0: none */
};

/* Opens segment number `i` of the list. Returns 0 or -errno after a report. */
int segment_reader_open(struct segment_reader *reader, struct segment_files *segments, size_t i,
                        struct report *report);
/* Returns 1 with the next row, or 0 at the end of what can be read. Broken rows are reported,
 * except after the last complete row: the recorder may be writing there, or ended there. */
int segment_reader_next(struct segment_reader *reader, struct json_row *row, struct report *report);
/* complete: the segment was read to its end. */
void segment_reader_close(struct segment_reader *reader, bool complete, struct report *report);

/* Returns the time between two ticks that a head says, or that is usual, in ns. */
uint64_t recording_interval(const struct json_row *head);

#endif
