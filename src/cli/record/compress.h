/* SPDX-License-Identifier: MIT */
/* Compresses a segment by zstd(1) or gzip(1), if one of them is installed. */
#ifndef CLI_RECORD_COMPRESS_H
#define CLI_RECORD_COMPRESS_H

#include "cli/record/segments.h"

/* Starts a child that compresses the segment, and then replaces its file. If the child ends early,
 * the file stays as it was. Returns the child; 0: no program is installed, or no child could be
 * started. */
pid_t compress_start(const struct record_segments *segments, const struct recording_segment *raw);

/* The file that such a child writes. */
#define COMPRESS_TEMPORARY ".fastnet-compressed"

#endif
