/* SPDX-License-Identifier: MIT */
/*
 * Netfilter's files in /proc: flows, expectations, counters and the line of slabinfo(5). The first
 * byte says which of them the rest is.
 */
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/flow/decode.h"
#include "backend/flow/flow_usage.h"
#include "backend/proc/lines.h"
#include "backend/proc/stat_file.h"
#include "fuzz.h"
#include "written.h"

static struct written written;

static void check_text(const struct text *text, const struct line *line)
{
    require(text->data >= line->data && text->data + text->length <= line->data + line->length);
}

/* What was not in the line must not be in the record, nor what says nothing. */
static void check_flow(const struct record *record, const struct line *line)
{
    const struct flow_record *flow = &record->flow;

    require(record->kind == &kind_flow && record->identity != 0);
    require(!(record->has & ~backend_fields(&backend_proc_conntrack, &table_flows)));
    require((record->has & (FLOW_ORIG | FLOW_REPLY | FLOW_STATUS | FLOW_USE)) ==
            (FLOW_ORIG | FLOW_REPLY | FLOW_STATUS | FLOW_USE));
    for (size_t i = 0; i < FLOW_WAYS; i++) {
        require_address(&flow->way[i].tuple.src, flow->family);
        require_address(&flow->way[i].tuple.dst, flow->family);
    }
    require(flow->way[WAY_ORIG].tuple.protocol == flow->way[WAY_REPLY].tuple.protocol);
    require(flow->state < 10 && (flow->status & IPS_CONFIRMED));
    require(!(record->has & FLOW_ZONE) == !flow->zone);
    require(!(record->has & FLOW_ORIG_ZONE) == !flow->way[WAY_ORIG].zone);
    require(!(record->has & FLOW_REPLY_ZONE) == !flow->way[WAY_REPLY].zone);
    if (record->has & FLOW_SECCTX)
        check_text(&flow->secctx, line);
}

/* A word that nobody knows behind all others changes nothing, unless it joins a context. */
static void check_longer(const struct record *record, const struct line *line)
{
    static const char word[] = " later=[ASSURED]";
    struct line longer = {.data = malloc(line->length + sizeof word)};
    struct record other;

    require(longer.data != NULL);
    memcpy(longer.data, line->data, line->length);
    memcpy(longer.data + line->length, word, sizeof word);
    longer.length = line->length + sizeof word - 1;
    require(proc_conntrack_decode_flow(&longer, &other) == 0);
    require(other.has == record->has && other.identity == record->identity);
    require(other.flow.status == record->flow.status);
    free(longer.data);
}

/* With single blanks much is read at once: word by word it is the same. */
static void compare_ways(struct record *record, const struct line *line, int result)
{
    struct line longer = {.data = malloc(2 * line->length + 1), .cut = line->cut};
    struct record other;

    require(longer.data != NULL);
    for (size_t i = 0; i < line->length; i++) {
        longer.data[longer.length++] = line->data[i];
        if (line->data[i] == ' ')
            longer.data[longer.length++] = ' ';
    }
    memset(&other, 0xa5, sizeof other);
    require(proc_conntrack_decode_flow(&longer, &other) == result);
    other.flow.secctx = record->flow.secctx;
    require(result < 0 || memcmp((const char *)&other, (const char *)record, sizeof other) == 0);
    free(longer.data);
}

static void decode_flow(const struct line *line)
{
    struct record record;
    int result;

    memset(&record, 0xa5, sizeof record);
    result = proc_conntrack_decode_flow(line, &record);
    require(result == 0 || result == -EBADMSG);
    require(result < 0 || !line->cut);
    compare_ways(&record, line, result);
    if (result < 0)
        return;
    check_flow(&record, line);
    written_row(&written, &record);
    if (!(record.has & FLOW_SECCTX))
        check_longer(&record, line);
}

static void decode_expectation(const struct line *line)
{
    const struct expectation_record *expectation;
    struct record record;
    int result;

    memset(&record, 0xa5, sizeof record);
    result = proc_conntrack_decode_expectation(line, &record);
    require(result == 0 || result == -EBADMSG);
    require(result < 0 || !line->cut);
    if (result < 0)
        return;
    expectation = &record.expectation;
    require(record.kind == &kind_expectation && record.identity == 0);
    require(!(record.has & ~backend_fields(&backend_proc_conntrack, &table_expectations)));
    require_address(&expectation->orig.src, expectation->family);
    require_address(&expectation->orig.dst, expectation->family);
    require(expectation->flags <= 7); /* all of PERMANENT, INACTIVE, USERSPACE */
    if (record.has & FLOW_HELPER)
        check_text(&expectation->helper, line);
    written_row(&written, &record);
}

static void decode_counters(const struct line *line, size_t number, struct stat_columns *columns)
{
    static const struct table *const tables[] = {&table_flow_statistics,
                                                 &table_expectation_statistics};
    struct flow_counters counters;
    struct stat_values values;
    uint64_t bits = 0;

    if (number == 1) {
        if (stat_heading(&flow_stat_file, line, columns) < 0)
            columns->count = 0;
        require(columns->count <= STAT_COLUMNS_MAX);
        return;
    }
    memset(&values, 0xa5, sizeof values);
    if (stat_decode(&flow_stat_file, line, columns, &values) < 0)
        return;
    memset(&counters, 0xa5, sizeof counters);
    flow_counters_take(&values, &counters);
    for (size_t set = 0; set < 2; set++)
        require(!(counters.has[set] & ~backend_fields(&backend_proc_conntrack, tables[set])));
    for (size_t set = 0; set < COUNTERS_SETS; set++) {
        bits |= counters.has[set];
        for (size_t i = 0; i < FLOW_COUNTERS; i++)
            require((counters.has[set] >> i & 1) || !counters.values[set][i]);
    }
    require(!columns->count == !bits);
}

static void decode_slab(const struct line *line)
{
    uint64_t size = 0;

    if (flow_slab_decode(line, &size) == 0)
        require(size > 0 && size <= UINT32_MAX && !line->cut);
    else
        require(size == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct context no_names;
    static const struct conntrack_layout layout = {.extended = true, .id = true, .labels = true};
    struct stat_columns columns = {.count = 0};
    struct lines lines;
    struct line line;
    int result, fd;

    if (size == 0)
        return 0;
    fd = memfd_create("file", 0);
    require(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)(size - 1));
    require(lseek(fd, 0, SEEK_SET) == 0 && lines_init(&lines, fd) == 0);
    written_begin(&written,
                  sink_create(&sink_conntrack, &layout, written_writer(&written), &no_names), "\t",
                  true);
    while ((result = lines_next(&lines, &line)) > 0) {
        switch (data[0] & 3) {
        case 0:
            decode_flow(&line);
            break;
        case 1:
            decode_expectation(&line);
            break;
        case 2:
            decode_counters(&line, lines.number, &columns);
            break;
        default:
            decode_slab(&line);
            break;
        }
    }
    require(result == 0);
    written_end(&written);
    lines_close(&lines);
    return 0;
}
