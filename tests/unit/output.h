/* SPDX-License-Identifier: MIT */
/* What a sink writes, as text. */
#ifndef UNIT_OUTPUT_H
#define UNIT_OUTPUT_H

#include "fastnet/layouts.h"

struct output {
    struct writer writer;
    int fd;
};

/* The writer that the sink is to be made with. */
struct writer *output_begin(struct output *output);

/* Destroys the sink; returns all that it wrote, terminated, until the next call. */
const char *output_end(struct output *output, struct sink *sink);

/* All that a sink writes for a section's heading (below 0: none) and rows, until the next call. */
const char *output_of(const struct sink_ops *ops, const void *layout, const struct context *context,
                      int section, const struct record *records, size_t count);

#endif
