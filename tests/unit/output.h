/* SPDX-License-Identifier: MIT */
/* What a sink writes, as text. */
#ifndef UNIT_OUTPUT_H
#define UNIT_OUTPUT_H

#include "fastnet/layouts.h"

struct output {
    struct writer writer;
    int fd;
    struct sink *sink; /* of output_columns() */
};

/* The writer that the sink is to be made with. */
struct writer *output_begin(struct output *output);

/* Destroys the sink; returns all that it wrote, terminated, until the next call. */
const char *output_end(struct output *output, struct sink *sink);

/* Begins a listing of columns: the writer is the output's, and the context has no names unless
 * there is one. */
void output_columns(struct output *output, sink_create_fn create, struct sink_options options);
void output_row(struct output *output, const struct record *record);
/* Ends it; the text as above. */
const char *output_text(struct output *output);

/* All that a sink writes for a section's heading (below 0: none) and rows, until the next call. */
const char *output_of(const struct sink_ops *ops, const void *layout, const struct context *context,
                      int section, const struct record *records, size_t count);

#endif
