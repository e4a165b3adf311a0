/* SPDX-License-Identifier: MIT */
#include "cli/record/record.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

bool unseen_counts(const struct record *record)
{
    const struct socket_record *sock = &record->socket;

    return record->kind == &kind_socket && sock->protocol == IPPROTO_TCP &&
           sock->state != TCP_LISTEN && sock->state != TCP_SYN_RECV && sock->remote.port;
}

static int unseen_take_counter(const struct record *record, void *arg)
{
    const struct counter_record *counter = &record->counter;
    uint64_t *sum = arg;

    if (text_is(counter->protocol, "Tcp") &&
        (text_is(counter->name, "ActiveOpens") || text_is(counter->name, "PassiveOpens")))
        *sum += counter->magnitude;
    return 0;
}

static uint64_t unseen_sum(const struct unseen *unseen)
{
    const struct listing_table table = {.table = &table_counters};
    const struct listing listing = {
        .tables = &table,
        .table_count = 1,
        .proc_root = "/proc",
        .needs.fields = COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE,
    };
    struct report report = {.partial = false}; /* losses are not reported */
    uint64_t sum = 0;

    (void)engine_gather(unseen->engine, &listing, unseen_take_counter, &sum, &report);
    return sum;
}

void unseen_begin(struct unseen *unseen, struct engine *engine, const struct listing *listing)
{
    bool tcp = false;

    for (size_t i = 0; i < listing->table_count; i++)
        tcp |= listing->tables[i].table == &table_tcp;
    *unseen = (struct unseen){.engine = engine, .counts = tcp && !listing->where};
}

void unseen_read(struct unseen *unseen, const struct live *live)
{
    int descriptor;

    if (!unseen->counts)
        return;
    if (live_descriptors(live, &descriptor, 1) > 0) {
        unseen->counts = false;
        return;
    }
    unseen->now = unseen_sum(unseen);
    if (!unseen->before)
        unseen->before = unseen->now;
}

uint64_t unseen_take(struct unseen *unseen, uint64_t opened)
{
    const uint64_t before = unseen->unseen, grown = unseen->now - unseen->before;

    unseen->opened += opened;
    if (unseen->counts && grown > unseen->opened + before)
        unseen->unseen = grown - unseen->opened;
    return unseen->unseen - before;
}
