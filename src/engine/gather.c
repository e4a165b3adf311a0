/* SPDX-License-Identifier: MIT */
#include "fastnet/engine.h"

#include "fastnet/sink.h"
#include "fastnet/writer.h"

struct gathering {
    struct sink sink;
    record_fn fn;
    void *arg;
    int error;
};

static void gather_take_row(struct sink *sink, const struct record *record)
{
    struct gathering *gathering = (struct gathering *)sink;
    const int error = gathering->fn(record, gathering->arg);

    gathering->error = gathering->error ? gathering->error : error;
}

int engine_gather(struct engine *engine, const struct listing *listing, record_fn fn, void *arg,
                  struct report *report)
{
    static const struct sink_ops ops = {.row = gather_take_row};
    struct writer nowhere = {.fd = -1};
    struct gathering gathering = {
        .sink = {.ops = &ops, .writer = &nowhere, .context = engine_context(engine)},
        .fn = fn,
        .arg = arg};
    const int error = engine_run(engine, listing, &gathering.sink, report);

    return error ? error : gathering.error;
}
