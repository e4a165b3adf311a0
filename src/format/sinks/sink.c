/* What all sinks share. */
#include "fastnet/sink.h"

#include <stdlib.h>
#include <string.h>

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

void sink_begin(struct sink *sink)
{
    if (sink->ops->begin)
        sink->ops->begin(sink);
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
