/* SPDX-License-Identifier: MIT */
/* The fields of a summary's rows. */
#include "model/fields/fields.h"

bool summary_percent(const struct record *record, uint64_t *thousandths)
{
    const struct summary_record *summary = &record->summary;
    const uint64_t numbers = SUMMARY_VALUE | SUMMARY_LIMIT,
                   bytes = SUMMARY_BYTES | SUMMARY_LIMIT_BYTES;

    if ((record->has & numbers) == numbers && summary->limit)
        *thousandths = percent_of(summary->value, summary->limit);
    else if ((record->has & bytes) == bytes && summary->limit_bytes)
        *thousandths = percent_of(summary->bytes, summary->limit_bytes);
    else
        return false;
    return true;
}

static struct value summary_percent_full(const struct cell *cell)
{
    uint64_t thousandths;

    return summary_percent(cell->record, &thousandths) ? decimal(thousandths) : unknown;
}

static bool summary_is_of_machine(const struct record *record)
{
    return record->summary.machine;
}

/* The order of --columns=help. Names and meanings never change after a release. */
static const struct field fields[] = {
    TEXT(subject, summary.subject, 0, "tcp, udp, unix, frag6, flows, files ...", .key = true,
         .any_case = true),
    TEXT(name, summary.name, 0, "kind of number: sockets, a state, memory ...", .key = true,
         .any_case = true),
    GAUGE(value, summary.value, SUMMARY_VALUE, "how many there are"),
    GAUGE(limit, summary.limit, SUMMARY_LIMIT, "how many there can be"),
    GAUGE(bytes, summary.bytes, SUMMARY_BYTES, "memory that is used", .unit = UNIT_BYTES),
    GAUGE(limit_bytes, summary.limit_bytes, SUMMARY_LIMIT_BYTES, "limit of that memory",
          .unit = UNIT_BYTES),
    GAUGE(pressure_bytes, summary.pressure_bytes, SUMMARY_PRESSURE,
          "memory from which on sockets get less of it", .unit = UNIT_BYTES),
    COMPUTED(percent_full, VALUE_DECIMAL, summary_percent_full, 0,
             "part of the limit that is in use",
             .optional = SUMMARY_VALUE | SUMMARY_LIMIT | SUMMARY_BYTES | SUMMARY_LIMIT_BYTES,
             .gauge = true, .unit = UNIT_PERCENT),
    WORD(scope, summary.machine, machine_scope_name, 0,
         "scope of the number: this network namespace or the machine"),
    TEXT(sysctl, summary.sysctl, SUMMARY_SYSCTL, "name of the sysctl that sets the limit"),
};

static const struct borrowed borrowed[] = {
    BORROWED_TEXT(summary.subject, 0),
    BORROWED_TEXT(summary.name, 0),
    BORROWED_TEXT(summary.sysctl, SUMMARY_SYSCTL),
};

const struct kind kind_summary = {
    .name = "rows of the summary",
    .metric = "resource",
    .is_of_machine = summary_is_of_machine,
    .size = RECORD_SIZE(summary),
    FIELDS(fields),
    BORROWED(borrowed),
};
