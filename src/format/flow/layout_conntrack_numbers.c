/* SPDX-License-Identifier: MIT */
/* Counters per CPU, the number of entries, and how full the table is. */
#include "fastnet/field.h"
#include "fastnet/kernel_abi.h"
#include "format/flow/layout_conntrack_forms.h"

/* Writes the counters of a CPU, with conntrack's names and in its order. */
char *line_statistics(char *dst, const struct record *record)
{
    const struct flow_statistics_record *statistics = &record->statistics;
    enum { LATER = 4 }; /* counters of later kernels: "unknown1" to "unknown4" */

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

/* Writes a field of the table's usage. zero: text for the number 0; NULL: write 0. */
static char *conntrack_put_usage(char *dst, const char *name, const char *zero,
                                 const struct record *record)
{
    const struct field *field = field_named(&kind_flow_usage, name);
    const struct value value = field_value(field, record, NULL);

    if (value.type == VALUE_UNKNOWN)
        return PUT(dst, "-");
    if (value.type == VALUE_TEXT)
        return put_text(dst, value.text);
    if (value.type == VALUE_DECIMAL)
        return put_hundredths(dst, value.number);
    if (zero && value.number == 0)
        return put_string(dst, zero);
    if (field->unit != UNIT_BYTES)
        return text_u64(dst, value.number);
    dst = put_size(dst, value.number, false);
    return (record->has & USAGE_ENTRY_SIZE) ? dst : PUT(dst, ", estimated");
}

char *block_usage(char *dst, const struct record *record)
{
    static const struct {
        const char *label, *field, *zero;
    } lines[] = {{"entries", "entries", NULL},
                 {"maximum", "maximum", "unlimited"},
                 {"percent full", "percent_full", NULL},
                 {"buckets", "buckets", NULL},
                 {"average chain", "average_chain", NULL},
                 {"memory", "memory", NULL},
                 {"dropped", "drop", NULL},
                 {"dropped early", "early_drop", NULL},
                 {"sysctl", "sysctl", NULL}};
    const struct flow_usage_record *usage = &record->usage;
    const uint64_t nearly_full = usage->maximum / 10 * 9 + usage->maximum % 10 * 9 / 10;
    const uint64_t both = USAGE_ENTRIES | USAGE_MAXIMUM;

    if (record->has == USAGE_ENTRIES)
        return PUT(text_u64(dst, usage->entries), "\n");
    for (size_t i = 0; i < COUNT(lines); i++) {
        dst = put_padded(dst, lines[i].label, 15);
        dst = PUT(conntrack_put_usage(dst, lines[i].field, lines[i].zero, record), "\n");
    }
    if ((record->has & both) != both || !usage->maximum || usage->entries <= nearly_full)
        return dst;
    if (usage->entries >= usage->maximum)
        return PUT(dst, "The table is full: new connections are dropped. Raise the sysctl.\n");
    dst = conntrack_put_usage(PUT(dst, "The table is "), "percent_full", NULL, record);
    return PUT(dst, " % full. When it is full, new connections are dropped. Raise the sysctl.\n");
}
