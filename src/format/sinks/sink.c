/* What all sinks share. */
#include "fastnet/sink.h"

void sink_destroy(struct sink *sink)
{
    if (sink)
        sink->ops->destroy(sink);
}
