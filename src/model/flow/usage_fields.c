/* SPDX-License-Identifier: MIT */
/* Fields that say how full the table of flows is. */
#include "model/fields/fields.h"

static struct value flow_usage_percent_full(const struct cell *cell)
{
    const struct flow_usage_record *usage = &cell->record->usage;

    return usage->maximum ? decimal(percent_of(usage->entries, usage->maximum)) : unknown;
}

/* The average length of a chain. An entry is in two chains, one for each direction. */
static struct value average_chain(const struct cell *cell)
{
    const struct flow_usage_record *usage = &cell->record->usage;

    return usage->buckets ? decimal(proportion(usage->entries, UINT64_C(2) * 1000, usage->buckets))
                          : unknown;
}

/* The kernel's size of an entry, or an estimate if the kernel does not report the size. */
static struct value entry_size(const struct cell *cell)
{
    return number((cell->record->has & USAGE_ENTRY_SIZE) ? cell->record->usage.entry_size
                                                         : FLOW_ENTRY_ESTIMATE);
}

static struct value entry_size_estimated(const struct cell *cell)
{
    return boolean(!(cell->record->has & USAGE_ENTRY_SIZE));
}

static struct value memory(const struct cell *cell)
{
    const struct flow_usage_record *usage = &cell->record->usage;

    return number(usage->entries * entry_size(cell).number + usage->buckets * FLOW_BUCKET_SIZE);
}

static struct value flow_usage_sysctl(const struct cell *cell)
{
    (void)cell;
    return string("net.netfilter.nf_conntrack_max");
}

/* The order of --columns=help. Names and meanings never change after a release. */
static const struct field fields[] = {
    GAUGE(entries, usage.entries, USAGE_ENTRIES, "flows in the table"),
    GAUGE(maximum, usage.maximum, USAGE_MAXIMUM, "limit of entries; 0 means no limit"),
    COMPUTED(percent_full, VALUE_DECIMAL, flow_usage_percent_full, USAGE_ENTRIES | USAGE_MAXIMUM,
             "part of the maximum that is in use", .gauge = true, .unit = UNIT_PERCENT),
    GAUGE(buckets, usage.buckets, USAGE_BUCKETS, "size of the hash table"),
    COMPUTED(average_chain, VALUE_DECIMAL, average_chain, USAGE_ENTRIES | USAGE_BUCKETS,
             "average entries in a bucket; each flow is in two, one per direction", .gauge = true),
    COMPUTED(entry_size, VALUE_NUMBER, entry_size, 0, "bytes that a flow takes",
             .optional = USAGE_ENTRY_SIZE, .gauge = true, .unit = UNIT_BYTES, .exact = true),
    COMPUTED(entry_size_estimated, VALUE_BOOLEAN, entry_size_estimated, 0,
             "whether slabinfo(5) could not be read", .optional = USAGE_ENTRY_SIZE),
    COMPUTED(memory, VALUE_NUMBER, memory, USAGE_ENTRIES | USAGE_BUCKETS,
             "bytes that entries and buckets take", .optional = USAGE_ENTRY_SIZE, .gauge = true,
             .unit = UNIT_BYTES),
    COUNTER(drop, usage.drop, USAGE_DROPS,
            "packets dropped by a helper, or because no flow could be made for them",
            .unit = UNIT_PACKETS),
    COUNTER(early_drop, usage.early_drop, USAGE_DROPS, "flows dropped to make room for new ones"),
    COMPUTED(sysctl, VALUE_TEXT, flow_usage_sysctl, 0, "name of the sysctl that sets the maximum",
             .key = true, .constant = true),
};

const struct kind kind_flow_usage = {
    .name = "usage of the table of flows",
    .metric = "conntrack",
    .size = RECORD_SIZE(usage),
    FIELDS(fields),
};
