/* SPDX-License-Identifier: MIT */
/* What sinks write of an input's rows: whole lines, as long as was reserved, with no control byte.
 */
#ifndef FUZZ_WRITTEN_H
#define FUZZ_WRITTEN_H

#include "fastnet/layouts.h"

struct written {
    struct writer writer;
    struct sink *sink;
    const char *controls; /* control bytes that it writes itself, besides '\n' */
    bool lines;           /* each row ends with a line */
};

/* The writer to make a sink with. */
struct writer *written_writer(struct written *written);

/* Begins a listing by this sink. */
void written_begin(struct written *written, struct sink *sink, const char *controls, bool lines);

void written_row(struct written *written, const struct record *record);

/* Ends the listing, and destroys the sink. */
void written_end(struct written *written);

#endif
