/* SPDX-License-Identifier: MIT */
/* The fields of the counters of one processor. */
#include "fastnet/kernel_abi.h"

#include "format/fields/fields.h"

/* In the set that the field belongs to: a record has the counters of flows or of expectations. */
static struct value of_flows(const struct cell *cell)
{
    return cell->record->statistics.expectations ? unknown : number_member(cell);
}

static struct value of_expectations(const struct cell *cell)
{
    return cell->record->statistics.expectations ? number_member(cell) : unknown;
}

/* clang-format off */
#define COUNTED(id, function, attribute, ...)                                                      \
    COMPUTED(id, VALUE_NUMBER, function, UINT64_C(1) << (attribute), __VA_ARGS__, .counter = true, \
             MEMBER(statistics.counters[attribute]))
/* clang-format on */

/* In the order in which --columns=help lists them. Names and meanings stay once released. */
static const struct field fields[] = {
    NUMBER(cpu, statistics.cpu, 0, "number of the processor", .key = true),
    COUNTED(searched, of_flows, CTA_STATS_SEARCHED, "lookups (no longer counted)"),
    COUNTED(found, of_flows, CTA_STATS_FOUND,
            "lookups that found a flow (today only lookups by NAT)"),
    COUNTED(new, of_flows, CTA_STATS_NEW, "flows that did not exist before (no longer counted)"),
    COUNTED(invalid, of_flows, CTA_STATS_INVALID, "packets that could not be tracked",
            .unit = UNIT_PACKETS),
    COUNTED(ignore, of_flows, CTA_STATS_IGNORE,
            "packets that were tracked already (no longer counted)", .unit = UNIT_PACKETS),
    COUNTED(delete, of_flows, CTA_STATS_DELETE, "flows that were removed (no longer counted)"),
    COUNTED(delete_list, of_flows, CTA_STATS_DELETE_LIST,
            "flows that were put on the list of dying flows (no longer counted)"),
    COUNTED(insert, of_flows, CTA_STATS_INSERT, "flows that were inserted"),
    COUNTED(insert_failed, of_flows, CTA_STATS_INSERT_FAILED,
            "flows not inserted because the same flow existed already"),
    COUNTED(drop, of_flows, CTA_STATS_DROP,
            "packets dropped by a helper, or because no flow could be made for them",
            .unit = UNIT_PACKETS),
    COUNTED(early_drop, of_flows, CTA_STATS_EARLY_DROP, "flows dropped to make room for new ones"),
    COUNTED(error, of_flows, CTA_STATS_ERROR, "packets with errors", .unit = UNIT_PACKETS),
    COUNTED(search_restart, of_flows, CTA_STATS_SEARCH_RESTART,
            "lookups that started again: the table was resized or an entry moved"),
    COUNTED(clash_resolve, of_flows, CTA_STATS_CLASH_RESOLVE,
            "flows merged with the same flow, which existed already"),
    COUNTED(chaintoolong, of_flows, CTA_STATS_CHAIN_TOOLONG,
            "flows not inserted because their bucket was too full"),
    COUNTED(expect_new, of_expectations, CTA_STATS_EXP_NEW,
            "flows that were expected when they began"),
    COUNTED(expect_create, of_expectations, CTA_STATS_EXP_CREATE,
            "expectations that were inserted"),
    COUNTED(expect_delete, of_expectations, CTA_STATS_EXP_DELETE, "expectations that were removed"),
};

const struct kind kind_flow_statistics = {
    .name = "counters of flows",
    .metric = "conntrack_stat",
    .size = RECORD_SIZE(statistics),
    FIELDS(fields),
};
