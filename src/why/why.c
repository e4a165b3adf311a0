/* SPDX-License-Identifier: MIT */
#include "fastnet/why.h"

#include <stdlib.h>

#include "why/server.h"

struct why {
    const struct why_options *options;
    struct why_summary summary;
};

struct why *why_create(const struct why_options *options)
{
    struct why *why = calloc(1, sizeof *why);

    if (why)
        why->options = options;
    return why;
}

void why_destroy(struct why *why)
{
    free(why);
}

void why_begin(void *maker)
{
    struct why *why = maker;

    why->summary = (struct why_summary){.ending = ENDING_UNKNOWN};
}

int why_explain(void *maker, const struct query *query, record_fn fn, void *arg)
{
    struct why *why = maker;
    struct record record;

    if (!why->options->host)
        return server_explain(why->options, query->report, fn, arg, &why->summary);
    record_begin(&record, &kind_step, sizeof record.step);
    record.has = STEP_ENDING;
    record.step = (struct step_record){.step = STEP_ANSWER,
                                       .ending = why->summary.ending,
                                       .result = as_text("not known"),
                                       .cause = as_text("unknown"),
                                       .advice = as_text(""),
                                       .command = as_text(""),
                                       .source = as_text("")};
    return fn(&record, arg);
}

const struct why_summary *why_summary(const struct why *why)
{
    return &why->summary;
}
