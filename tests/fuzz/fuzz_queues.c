/* SPDX-License-Identifier: MIT */
/*
 * Queues of network cards and queueing disciplines as their backends list them. The first byte says
 * which; then come datagrams, each behind two bytes of length, as in the recorded dumps. Each dump
 * is answered with all of them: the sequence number of a message says which one it is for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/queue/decode.h"
#include "datagrams.h"
#include "fastnet/array.h"
#include "fastnet/field.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fuzz.h"

/* Each value must be written within the bound that it names. */
static void check_fields(const struct record *record)
{
    static const struct context none = {0};

    for (size_t i = 0; i < record->kind->field_count; i++) {
        const struct field *field = &record->kind->fields[i];
        const struct value value = field_value(field, record, &none);
        const size_t bound = value_bound(&value);
        char *text = malloc(bound + 1);
        require(text != NULL);
        require((size_t)(value_write(text, &value, NULL) - text) <= bound);
        free(text);
    }
}

static bool is_hexadecimal(const char *text)
{
    const size_t length = strlen(text);

    return length && length < QDISC_HANDLE && strspn(text, "0123456789abcdef:") == length &&
           strchr(text, ':') && strchr(text, ':') == strrchr(text, ':');
}

static int take_queue(const struct record *record, void *arg)
{
    (void)arg;
    require(record->kind == &kind_queue && record->identity == 0);
    require(!(record->has & ~(QUEUE_COUNTER(QUEUE_COUNTERS) - 1) & ~(QUEUE_NAPI | QUEUE_IRQ)));
    require(record->queue.direction <= QUEUE_TX);
    check_fields(record);
    return 0;
}

static int take_qdisc(const struct record *record, void *arg)
{
    (void)arg;
    require(record->kind == &kind_qdisc && record->identity == 0);
    require(!(record->has & ~(QDISC_KIND | QDISC_BASIC | QDISC_QUEUE)));
    require(is_hexadecimal(record->qdisc.handle));
    require(strcmp(record->qdisc.parent, "root") == 0 || is_hexadecimal(record->qdisc.parent));
    check_fields(record);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        const struct backend *backend;
        const struct table *table;
        record_fn take;
        uint64_t needs;
    } listings[] = {{&backend_queues, &table_queues, take_queue, UINT64_MAX},
                    {&backend_queues, &table_queues, take_queue, 0},
                    {&backend_qdiscs, &table_qdiscs, take_qdisc, UINT64_MAX}};
    const size_t which = size ? data[0] % COUNT(listings) : 0;
    struct datagrams datagrams = {data + 1, size - 1, 0, false};
    const struct netlink_peer peer = datagrams_peer(&datagrams);
    struct report report = {.partial = false};

    if (size == 0)
        return 0;
    struct query query = {.table = listings[which].table,
                          .needs = listings[which].needs,
                          .proc_root = "/nonexistent",
                          .netlink = netlink_create(&peer),
                          .report = &report};
    require(query.netlink != NULL);
    const int result = listings[which].backend->dump(&query, listings[which].take, NULL);
    require(result <= 0 && result != -EOPNOTSUPP);
    netlink_destroy(query.netlink);
    return 0;
}
