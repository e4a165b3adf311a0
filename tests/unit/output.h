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

#endif
