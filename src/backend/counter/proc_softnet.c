/* SPDX-License-Identifier: MIT */
/* Counts of received packets for each CPU, from /proc/net/softnet_stat. Every network namespace has
 * this file, with the numbers of the whole machine. */
#include "backend/counter/decode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "backend/proc/proc_file.h"
#include "backend/proc/scan.h"
#include "fastnet/array.h"
#include "fastnet/query.h"

const struct table table_softnet = {
    .name = "softnet_stat", .file = "softnet_stat", .kind = &kind_counter};

enum {
    COLUMNS_MIN = 9,  /* columns in the oldest kernels */
    CPU_COLUMN = 12,  /* the column of the CPU's number, counted from 0 */
    COLUMNS_MAX = 64, /* limit for columns; the kernel has 15 */
};

static const struct {
    const char *name;
    size_t column;
} counters[SOFTNET_COUNTERS] = {
    {"SoftnetProcessed", 0},   {"SoftnetDropped", 1},      {"SoftnetSqueezed", 2},
    {"SoftnetReceivedRps", 9}, {"SoftnetFlowLimited", 10},
};

/* Returns how many numbers the line has; 0 if there are too many, or if a word is not a number. */
static size_t take_numbers(const struct line *line, uint64_t numbers[COLUMNS_MAX])
{
    struct scan scan = {line->data, line->data + line->length};
    size_t count = 0;

    for (scan_spaces(&scan); scan.at < scan.end; scan_spaces(&scan))
        if (count == COLUMNS_MAX || !scan_hex(&scan, &numbers[count++], 8))
            return 0;
    return count;
}

int softnet_decode(const struct line *line, size_t number, struct softnet *softnet)
{
    uint64_t numbers[COLUMNS_MAX], cpu = number - 1;
    const size_t columns = line->cut ? 0 : take_numbers(line, numbers);

    if (columns < COLUMNS_MIN)
        return -EBADMSG;
    if (columns > CPU_COLUMN)
        cpu = numbers[CPU_COLUMN];
    snprintf(softnet->name, sizeof softnet->name, "Cpu%" PRIu64, cpu);
    for (softnet->count = 0; softnet->count < COUNT(counters); softnet->count++) {
        const size_t column = counters[softnet->count].column;
        if (column >= columns)
            break;
        softnet->values[softnet->count] = (uint32_t)numbers[column];
    }
    return 0;
}

void softnet_row(const struct softnet *softnet, size_t i, struct record *record)
{
    *record = (struct record){.kind = &kind_counter,
                              .has = COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE |
                                     COUNTER_GROWS | COUNTER_SCOPE,
                              .counter = {.protocol = as_text(softnet->name),
                                          .name = as_text(counters[i].name),
                                          .magnitude = softnet->values[i],
                                          .machine = true,
                                          .first = i == 0}};
}

static int softnet_hand_on(const struct softnet *softnet, record_fn fn, void *arg)
{
    int result = 0;

    for (size_t i = 0; i < softnet->count && result >= 0; i++) {
        struct record record;
        softnet_row(softnet, i, &record);
        result = fn(&record, arg);
    }
    return result;
}

static int softnet_dump(const struct query *query, record_fn fn, void *arg)
{
    struct proc_file file = {.query = query, .name = "softnet_stat", .counters = true};
    struct softnet softnet;
    struct line line;
    int result = proc_file_open(&file);

    if (result < 0)
        return result;
    while ((result = proc_file_next(&file, &line)) > 0) {
        const size_t number = file.lines.number;
        result = 0;
        if (line.unended) /* the last number of a cut line may lack digits */
            continue;
        if (softnet_decode(&line, number, &softnet) == 0)
            result = softnet_hand_on(&softnet, fn, arg);
        else
            proc_file_malformed(&file, &line, number);
        if (result < 0)
            break;
    }
    proc_file_close(&file);
    return result;
}

const struct backend backend_proc_softnet = {
    .name = "proc",
    .source = BACKEND_PROC,
    .provides = PROVIDES({&table_softnet, COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE |
                                              COUNTER_GROWS | COUNTER_SCOPE}),
    .dump = softnet_dump,
};
