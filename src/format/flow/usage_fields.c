/* The columns of how full the table of flows is. */
#include "fastnet/array.h"
#include "format/fields/columns.h"
#include "format/fields/values.h"
#include "format/flow/usage.h"

static struct value percent_full(const struct column *column, const struct record *record,
                                 const struct context *context)
{
    (void)context;
    if (!is_filled(column, record) || record->usage.maximum == 0)
        return unknown;
    return decimal(usage_percent(record));
}

static struct value average_chain(const struct column *column, const struct record *record,
                                  const struct context *context)
{
    (void)context;
    if (!is_filled(column, record) || record->usage.buckets == 0)
        return unknown;
    return decimal(usage_average_chain(record));
}

/* Where it cannot be read it is estimated, so these are not unknown for want of it. */
static struct value entry_size(const struct column *column, const struct record *record,
                               const struct context *context)
{
    (void)column;
    (void)context;
    return number(usage_entry_size(record));
}

static struct value entry_size_estimated(const struct column *column, const struct record *record,
                                         const struct context *context)
{
    (void)column;
    (void)context;
    return number((record->has & USAGE_ENTRY_SIZE) ? 0 : 1);
}

static struct value memory(const struct column *column, const struct record *record,
                           const struct context *context)
{
    (void)column;
    (void)context;
    const uint64_t fields = USAGE_ENTRIES | USAGE_BUCKETS;

    return (record->has & fields) == fields ? number(usage_memory(record)) : unknown;
}

static struct value limit(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)column;
    (void)record;
    (void)context;
    return string(USAGE_SYSCTL);
}

/* In the order in which --columns=help lists them. Names and meanings stay once released. */
static const struct column columns[] = {
    {.name = "entries",
     .heading = "ENTRIES",
     .help = "flows in the table",
     .needs = USAGE_ENTRIES,
     .type = VALUE_NUMBER,
     MEMBER(usage.entries),
     .value = member_number},
    {.name = "maximum",
     .heading = "MAXIMUM",
     .help = "how many there may be; 0 is no limit",
     .needs = USAGE_MAXIMUM,
     .type = VALUE_NUMBER,
     MEMBER(usage.maximum),
     .value = member_number},
    {.name = "percent_full",
     .heading = "PERCENT_FULL",
     .help = "entries in percent of the maximum",
     .needs = USAGE_ENTRIES | USAGE_MAXIMUM,
     .type = VALUE_DECIMAL,
     .value = percent_full},
    {.name = "buckets",
     .heading = "BUCKETS",
     .help = "size of the hash table",
     .needs = USAGE_BUCKETS,
     .type = VALUE_NUMBER,
     MEMBER(usage.buckets),
     .value = member_number},
    {.name = "average_chain",
     .heading = "AVERAGE_CHAIN",
     .help = "entries in a bucket; each flow is in two, one a direction",
     .needs = USAGE_ENTRIES | USAGE_BUCKETS,
     .type = VALUE_DECIMAL,
     .value = average_chain},
    {.name = "entry_size",
     .heading = "ENTRY_SIZE",
     .help = "bytes of a flow",
     .needs = USAGE_ENTRY_SIZE,
     .type = VALUE_NUMBER,
     .value = entry_size},
    {.name = "entry_size_estimated",
     .heading = "ENTRY_SIZE_ESTIMATED",
     .help = "1 where slabinfo(5) did not say it, else 0",
     .needs = USAGE_ENTRY_SIZE,
     .type = VALUE_NUMBER,
     .value = entry_size_estimated},
    {.name = "memory",
     .heading = "MEMORY",
     .help = "bytes of entries and buckets",
     .needs = USAGE_ENTRIES | USAGE_BUCKETS | USAGE_ENTRY_SIZE,
     .type = VALUE_NUMBER,
     .value = memory},
    {.name = "drop",
     .heading = "DROP",
     .help = "packets dropped because no flow could be made for them",
     .needs = USAGE_DROPS,
     .type = VALUE_NUMBER,
     MEMBER(usage.drop),
     .value = member_number},
    {.name = "early_drop",
     .heading = "EARLY_DROP",
     .help = "flows dropped to make room for new ones",
     .needs = USAGE_DROPS,
     .type = VALUE_NUMBER,
     MEMBER(usage.early_drop),
     .value = member_number},
    {.name = "sysctl",
     .heading = "SYSCTL",
     .help = "what limits the entries",
     .type = VALUE_TEXT,
     .value = limit},
};

const struct column_table columns_flow_usage = {
    .kind = RECORD_FLOW_USAGE,
    .columns = columns,
    .count = COUNT(columns),
};
