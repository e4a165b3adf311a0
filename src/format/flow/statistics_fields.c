/* The columns of the counters of one processor. */
#include <linux/netfilter/nfnetlink_conntrack.h>

#include "fastnet/array.h"
#include "format/fields/columns.h"
#include "format/fields/values.h"

/* The counter whose bit the column needs; in the set that it belongs to. */
static struct value counter_of(const struct column *column, const struct record *record,
                               bool expectations)
{
    const int index = __builtin_ctzll(column->needs);

    if (!is_filled(column, record) || record->statistics.expectations != expectations)
        return unknown;
    return number(record->statistics.counters[index]);
}

static struct value counter(const struct column *column, const struct record *record,
                            const struct context *context)
{
    (void)context;
    return counter_of(column, record, false);
}

static struct value expectation_counter(const struct column *column, const struct record *record,
                                        const struct context *context)
{
    (void)context;
    return counter_of(column, record, true);
}

#define BIT(attribute) (UINT64_C(1) << (attribute))

/* In the order in which --columns=help lists them. Names and meanings stay once released. */
static const struct column columns[] = {
    {.name = "cpu",
     .heading = "CPU",
     .help = "number of the processor",
     .type = VALUE_NUMBER,
     MEMBER(statistics.cpu),
     .value = member_number},
    {.name = "searched",
     .heading = "SEARCHED",
     .help = "lookups (no longer counted)",
     .needs = BIT(CTA_STATS_SEARCHED),
     .type = VALUE_NUMBER,
     .value = counter},
    {.name = "found",
     .heading = "FOUND",
     .help = "lookups (today: for NAT) that found a flow",
     .needs = BIT(CTA_STATS_FOUND),
     .type = VALUE_NUMBER,
     .value = counter},
    {.name = "new",
     .heading = "NEW",
     .help = "flows that were not there before (no longer counted)",
     .needs = BIT(CTA_STATS_NEW),
     .type = VALUE_NUMBER,
     .value = counter},
    {.name = "invalid",
     .heading = "INVALID",
     .help = "packets that could not be tracked",
     .needs = BIT(CTA_STATS_INVALID),
     .type = VALUE_NUMBER,
     .value = counter},
    {.name = "ignore",
     .heading = "IGNORE",
     .help = "packets that were tracked already (no longer counted)",
     .needs = BIT(CTA_STATS_IGNORE),
     .type = VALUE_NUMBER,
     .value = counter},
    {.name = "delete",
     .heading = "DELETE",
     .help = "flows that were removed (no longer counted)",
     .needs = BIT(CTA_STATS_DELETE),
     .type = VALUE_NUMBER,
     .value = counter},
    {.name = "delete_list",
     .heading = "DELETE_LIST",
     .help = "flows that were put on the dying list (no longer counted)",
     .needs = BIT(CTA_STATS_DELETE_LIST),
     .type = VALUE_NUMBER,
     .value = counter},
    {.name = "insert",
     .heading = "INSERT",
     .help = "flows that were inserted",
     .needs = BIT(CTA_STATS_INSERT),
     .type = VALUE_NUMBER,
     .value = counter},
    {.name = "insert_failed",
     .heading = "INSERT_FAILED",
     .help = "flows that were there already when they were inserted",
     .needs = BIT(CTA_STATS_INSERT_FAILED),
     .type = VALUE_NUMBER,
     .value = counter},
    {.name = "drop",
     .heading = "DROP",
     .help = "packets dropped because no flow could be made for them",
     .needs = BIT(CTA_STATS_DROP),
     .type = VALUE_NUMBER,
     .value = counter},
    {.name = "early_drop",
     .heading = "EARLY_DROP",
     .help = "flows dropped to make room for new ones",
     .needs = BIT(CTA_STATS_EARLY_DROP),
     .type = VALUE_NUMBER,
     .value = counter},
    {.name = "error",
     .heading = "ERROR",
     .help = "packets with errors",
     .needs = BIT(CTA_STATS_ERROR),
     .type = VALUE_NUMBER,
     .value = counter},
    {.name = "search_restart",
     .heading = "SEARCH_RESTART",
     .help = "lookups begun anew because the table was resized",
     .needs = BIT(CTA_STATS_SEARCH_RESTART),
     .type = VALUE_NUMBER,
     .value = counter},
    {.name = "clash_resolve",
     .heading = "CLASH_RESOLVE",
     .help = "clashes at insertion that could be resolved",
     .needs = BIT(CTA_STATS_CLASH_RESOLVE),
     .type = VALUE_NUMBER,
     .value = counter},
    {.name = "chaintoolong",
     .heading = "CHAINTOOLONG",
     .help = "flows not inserted because their chain was too long",
     .needs = BIT(CTA_STATS_CHAIN_TOOLONG),
     .type = VALUE_NUMBER,
     .value = counter},
    {.name = "expect_new",
     .heading = "EXPECT_NEW",
     .help = "flows that had been expected when they began",
     .needs = BIT(CTA_STATS_EXP_NEW),
     .type = VALUE_NUMBER,
     .value = expectation_counter},
    {.name = "expect_create",
     .heading = "EXPECT_CREATE",
     .help = "expectations that were inserted",
     .needs = BIT(CTA_STATS_EXP_CREATE),
     .type = VALUE_NUMBER,
     .value = expectation_counter},
    {.name = "expect_delete",
     .heading = "EXPECT_DELETE",
     .help = "expectations that were removed",
     .needs = BIT(CTA_STATS_EXP_DELETE),
     .type = VALUE_NUMBER,
     .value = expectation_counter},
};

const struct column_table columns_flow_statistics = {
    .kind = RECORD_FLOW_STATISTICS,
    .columns = columns,
    .count = COUNT(columns),
};
