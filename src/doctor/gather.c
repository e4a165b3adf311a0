/* SPDX-License-Identifier: MIT */
#include "doctor/gather.h"

struct gathering {
    struct sink sink;
    record_fn fn;
    void *arg;
    int error;
};

static void take_row(struct sink *sink, const struct record *record)
{
    struct gathering *gathering = (struct gathering *)sink;
    const int error = gathering->fn(record, gathering->arg);

    gathering->error = gathering->error ? gathering->error : error;
}

int gather(struct engine *engine, const struct listing *listing, record_fn fn, void *arg,
           struct report *report)
{
    static const struct sink_ops ops = {.row = take_row};
    struct writer nowhere = {.fd = -1};
    struct gathering gathering = {
        .sink = {.ops = &ops, .writer = &nowhere, .context = engine_context(engine)},
        .fn = fn,
        .arg = arg};
    const int error = engine_run(engine, listing, &gathering.sink, report);

    return error ? error : gathering.error;
}

void report_hand_on(struct report *report, const struct report *losses)
{
    for (size_t i = 0; i < losses->count && losses->partial; i++)
        report_loss(report, "%s", losses->lines[i]);
}
