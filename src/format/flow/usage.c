#include "format/flow/usage.h"

/* a * factor / b, for any a. */
static uint64_t ratio(uint64_t a, uint64_t factor, uint64_t b)
{
    return a > UINT64_MAX / factor ? a / b * factor : a * factor / b;
}

uint64_t usage_percent(const struct record *record)
{
    return ratio(record->usage.entries, UINT64_C(100) * 1000, record->usage.maximum);
}

uint64_t usage_average_chain(const struct record *record)
{
    return ratio(record->usage.entries, UINT64_C(2) * 1000, record->usage.buckets);
}

uint64_t usage_entry_size(const struct record *record)
{
    return (record->has & USAGE_ENTRY_SIZE) ? record->usage.entry_size : FLOW_ENTRY_ESTIMATE;
}

uint64_t usage_memory(const struct record *record)
{
    return record->usage.entries * usage_entry_size(record) +
           record->usage.buckets * FLOW_BUCKET_SIZE;
}
