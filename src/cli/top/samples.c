/* SPDX-License-Identifier: MIT */
/* Samples of sockets: which counters are remembered, and how often all sockets are sampled. */
#include "cli/netstat/netstat.h"
#include "cli/top/top.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/socket_tracker.h"

static void add_rate(struct top *top, const struct field *field)
{
    struct listing *listing = top->listing;
    const struct field *counter = field && field->rate ? field->of : field;

    if (!counter || !counter->counter || field->pair || listing->rate_count == COUNT(top->rates))
        return; /* all samples have both counters of a pair */
    for (size_t i = 0; i < listing->rate_count; i++)
        if (top->rates[i] == counter)
            return;
    top->rates[listing->rate_count++] = counter;
    needs_add(&listing->needs, field_needs(counter));
}

static void add_rates_of(struct top *top, const struct predicate *where)
{
    if (!where)
        return;
    if (where->field && where->field->rate)
        add_rate(top, where->field);
    for (const struct predicate *part = where->parts; part; part = part->next)
        add_rates_of(top, part);
}

/* Chooses counters and rows. Sockets that are BOUND_INACTIVE are left out unless the filter asks
 * for them: they do not move, and the kernel walks a separate table for them, a tenth of a dump. */
void top_choose(struct top *top)
{
    const struct listing_command *command = top->command;
    const struct listing *counted = &command->listing;
    struct listing *listing = top->listing;

    listing->rates = top->rates;
    listing->rate_count = 0;
    add_rate(top, field_named(&kind_socket, "bytes_sent"));
    add_rate(top, field_named(&kind_socket, "bytes_received"));
    for (size_t i = 0; i < command->shown_count; i++)
        if (command->shown[i]->rate)
            add_rate(top, command->shown[i]);
    for (size_t i = 0; i < counted->sum_count; i++)
        if (counted->sum[i]->rate)
            add_rate(top, counted->sum[i]);
    for (size_t i = 0; i < counted->aggregate_count; i++)
        if (counted->aggregates[i].field->rate)
            add_rate(top, counted->aggregates[i].field);
    if (top->view.order.field && top->view.order.field->rate)
        add_rate(top, top->view.order.field);
    add_rates_of(top, listing->where);
    top->inactive = netstat_wants_inactive(listing->where);
    netstat_choose_rows(top->tables, listing->table_count, top->where, SHOW_ALL, top->inactive);
}

/* --- Budget ----------------------------------------------------------------------------------- */

bool top_may_sample(struct top *top)
{
    struct budget *budget = &top->budget;
    const struct pace_time now = pace_now();
    const double most = budget->share * top->interval_ms * (double)CLOCK_MILLISECOND;

    budget->credit += budget->share * (double)(now.clock - budget->last.clock) -
                      (double)(now.processor - budget->last.processor);
    if (budget->credit > most)
        budget->credit = most;
    budget->last = now;
    return budget->credit >= 0;
}

int top_sample(struct top *top, bool all, struct report *report)
{
    const int ends = live_read_ends(top->live, report);

    if (ends < 0)
        return ends;
    top->budget.since_all++;
    if (!(all || top_may_sample(top)) && !ends) {
        if (top->budget.every <= top->budget.since_all)
            top->budget.every = top->budget.since_all + 1;
        return top->grouped ? 0 : live_refresh(top->live, report);
    }
    top->budget.every = top->budget.since_all;
    top->budget.since_all = 0;
    return live_sample(top->live, report);
}

void top_start_budget(struct top *top)
{
    top->budget.last = pace_now();
    top->budget.credit = 0;
}

int top_begin(struct top *top, struct sink *stream, struct report *report)
{
    int error;

    if (!top->budget.every)
        counts_begin(top->listing, top->counted, report);
    top_choose(top);
    top->live = live_create(top->engine, top->listing, &socket_tracker, stream,
                            stream_kinds(top->tables, top->listing->table_count), &error);
    if (!top->live)
        return error;
    if (top->grouped)
        live_stream_all(top->live);
    top->view.interval = top->interval_ms * CLOCK_MILLISECOND;
    live_set_view(top->live, &top->view);
    error = top_sample(top, true, report);
    top_start_budget(top);
    return error;
}
