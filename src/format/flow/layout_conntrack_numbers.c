/* SPDX-License-Identifier: MIT */
/* Counters of the processors, the number of entries, and how full the table is. */
#include "fastnet/field.h"
#include "fastnet/kernel_abi.h"
#include "format/flow/layout_conntrack_forms.h"
#include "format/flow/usage.h"

/* The columns have the names of conntrack's counters, and are in their order. */
char *line_statistics(char *dst, const struct record *record)
{
    const struct flow_statistics_record *statistics = &record->statistics;
    enum { LATER = 4 }; /* counters of later kernels, as in conntrack */

    dst = PUT(dst, "cpu=");
    dst = PUT(text_pad(text_u64(dst, statistics->cpu), dst, 4), "\t");
    for (size_t i = 0; i < kind_flow_statistics.field_count; i++) {
        const struct field *field = &kind_flow_statistics.fields[i];
        const struct value value = field_value(field, record, NULL);
        if (field->counter && value.type == VALUE_NUMBER)
            dst = put_number(PUT(put_string(dst, field->name), "="), value.number);
    }
    for (unsigned i = 1; i <= LATER && !statistics->expectations; i++)
        if (record->has >> (CTA_STATS_CHAIN_TOOLONG + i) & 1) {
            dst = PUT(text_u64(PUT(dst, "unknown"), i), "=");
            dst = put_number(dst, statistics->counters[CTA_STATS_CHAIN_TOOLONG + i]);
        }
    return PUT(dst, "\n");
}

enum { NAME_WIDTH = 15 };

/* The name of a line (a literal) and blanks. */
#define PUT_LABEL(dst, name) text_pad(PUT(dst, name), dst, NAME_WIDTH)

/* A number, or a dash if it is not known, and the line end. */
static char *end_number(char *dst, bool known, uint64_t number)
{
    return PUT(known ? text_u64(dst, number) : PUT(dst, "-"), "\n");
}

/* The same for thousandths. */
static char *end_ratio(char *dst, bool known, uint64_t thousandths)
{
    return PUT(known ? put_hundredths(dst, thousandths) : PUT(dst, "-"), "\n");
}

static char *put_memory(char *dst, const struct record *record)
{
    const uint64_t fields = USAGE_ENTRIES | USAGE_BUCKETS;

    dst = PUT_LABEL(dst, "memory");
    if ((record->has & fields) != fields)
        return PUT(dst, "-\n");
    dst = put_size(dst, usage_memory(record), false);
    return (record->has & USAGE_ENTRY_SIZE) ? PUT(dst, "\n") : PUT(dst, ", estimated\n");
}

static char *put_maximum(char *dst, const struct record *record)
{
    dst = PUT_LABEL(dst, "maximum");
    if ((record->has & USAGE_MAXIMUM) && record->usage.maximum == 0)
        return PUT(dst, "unlimited\n");
    return end_number(dst, record->has & USAGE_MAXIMUM, record->usage.maximum);
}

char *block_usage(char *dst, const struct record *record)
{
    const struct flow_usage_record *usage = &record->usage;
    const bool entries = record->has & USAGE_ENTRIES;
    const bool limited = (record->has & USAGE_MAXIMUM) && usage->maximum != 0;
    const bool buckets = (record->has & USAGE_BUCKETS) && usage->buckets != 0;
    const uint64_t nearly_full = usage->maximum / 10 * 9 + usage->maximum % 10 * 9 / 10;
    const uint64_t percent = entries && limited ? usage_percent(record) : 0;

    if (record->has == USAGE_ENTRIES)
        return end_number(dst, true, usage->entries);
    dst = end_number(PUT_LABEL(dst, "entries"), entries, usage->entries);
    dst = put_maximum(dst, record);
    dst = end_ratio(PUT_LABEL(dst, "percent full"), entries && limited, percent);
    dst = end_number(PUT_LABEL(dst, "buckets"), record->has & USAGE_BUCKETS, usage->buckets);
    dst = end_ratio(PUT_LABEL(dst, "average chain"), entries && buckets,
                    buckets ? usage_average_chain(record) : 0);
    dst = put_memory(dst, record);
    dst = end_number(PUT_LABEL(dst, "dropped"), record->has & USAGE_DROPS, usage->drop);
    dst = end_number(PUT_LABEL(dst, "dropped early"), record->has & USAGE_DROPS, usage->early_drop);
    dst = PUT(PUT_LABEL(dst, "sysctl"), USAGE_SYSCTL "\n");
    if (!entries || !limited || usage->entries <= nearly_full)
        return dst;
    if (usage->entries >= usage->maximum)
        return PUT(dst, "The table is full: new connections are dropped. Raise the sysctl.\n");
    dst = put_hundredths(PUT(dst, "The table is "), percent);
    return PUT(dst, " % full. When it is full, new connections are dropped. Raise the sysctl.\n");
}
