/* SPDX-License-Identifier: MIT */
/* Functions that all sinks share. */
#include "fastnet/sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/text.h"

struct sink *sink_create(const struct sink_ops *ops, const void *layout, struct writer *writer,
                         const struct context *context)
{
    struct sink *sink = calloc(1, ops->size);

    if (!sink)
        return NULL;
    *sink = (struct sink){ops, writer, context};
    if (ops->layout_size)
        memcpy(sink + 1, layout, ops->layout_size);
    return sink;
}

struct sink *sink_clone(struct sink *sink, struct writer *writer)
{
    return sink_create(sink->ops, sink + 1, writer, sink->context);
}

void sink_lacks_memory(struct sink *sink)
{
    if (sink->writer->error == 0)
        sink->writer->error = ENOMEM;
}

void sink_begin(struct sink *sink)
{
    if (sink->ops->begin)
        sink->ops->begin(sink);
}

void sink_heading(struct sink *sink, const char *what, const char *name, uint64_t number)
{
    enum { NAME_SIZE = 256 };
    char text[ESCAPE_FACTOR * NAME_SIZE], *end = text;

    if (sink->ops->pause)
        sink->ops->pause(sink);
    if (*name)
        end = escape_text(text, name, strnlen(name, NAME_SIZE), "");
    else
        end += snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    writer_put(sink->writer, what, strlen(what));
    writer_put(sink->writer, " ", 1);
    writer_put(sink->writer, text, (size_t)(end - text));
    writer_put(sink->writer, "\n", 1);
}

void sink_end(struct sink *sink)
{
    if (sink->ops->end)
        sink->ops->end(sink);
}

void sink_destroy(struct sink *sink)
{
    if (sink && sink->ops->destroy)
        sink->ops->destroy(sink);
    free(sink);
}
