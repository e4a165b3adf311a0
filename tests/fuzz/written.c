/* SPDX-License-Identifier: MIT */
#include "written.h"

#include <fcntl.h>
#include <string.h>

#include "fuzz.h"

/* Bytes above 0x7f are in UTF-8 sequences that may be shown, or else escaped. */
static void check(struct written *written, bool row)
{
    struct writer *writer = &written->writer;

    require(!writer->error && writer->length <= WRITER_CAPACITY);
    for (size_t i = 0; i < writer->length; i++) {
        const unsigned char byte = (unsigned char)writer->buffer[i];
        require((byte >= ' ' && byte != 0x7f) || byte == '\n' ||
                (byte && strchr(written->controls, byte)));
    }
    require(!row || !written->lines || !writer->length ||
            writer->buffer[writer->length - 1] == '\n');
    writer->length = 0;
}

struct writer *written_writer(struct written *written)
{
    static int nowhere = -1;

    if (nowhere < 0)
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    require(nowhere >= 0 && writer_init(&written->writer, nowhere) == 0);
    return &written->writer;
}

void written_begin(struct written *written, struct sink *sink, const char *controls, bool lines)
{
    require(sink != NULL);
    written->sink = sink;
    written->controls = controls;
    written->lines = lines;
    sink_begin(sink);
    if (sink->ops->section)
        sink->ops->section(sink, 0);
    check(written, false);
}

void written_row(struct written *written, const struct record *record)
{
    written->sink->ops->row(written->sink, record);
    check(written, true);
}

void written_end(struct written *written)
{
    sink_end(written->sink);
    check(written, false);
    sink_destroy(written->sink);
    writer_finish(&written->writer);
}
