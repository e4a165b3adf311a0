/* SPDX-License-Identifier: MIT */
/* The fields of the counters of one CPU. */
#include "fastnet/kernel_abi.h"

#include "model/fields/fields.h"

/* field->index: the set that the field belongs to. A record has counters of flows or of
 * expectations. */
enum { OF_FLOWS, OF_EXPECTATIONS };
static struct value of_set(const struct cell *cell)
{
    return cell->record->statistics.expectations == cell->field->index ? number_member(cell)
                                                                       : unknown;
}

/* clang-format off */
#define COUNTED(id, set, attribute, ...)                                                           \
    COMPUTED(id, VALUE_NUMBER, of_set, UINT64_C(1) << (attribute), __VA_ARGS__, .counter = true,   \
             MEMBER(statistics.counters[attribute]), .index = (set))
/* clang-format on */

/* The order of --columns=help. Names and meanings never change after a release. */
static const struct field fields[] = {
    NUMBER(cpu, statistics.cpu, 0, "number of the CPU", .key = true),
    COUNTED(searched, OF_FLOWS, CTA_STATS_SEARCHED, "lookups (no longer counted)"),
    COUNTED(found, OF_FLOWS, CTA_STATS_FOUND,
            "lookups that found a flow (today only lookups by NAT)"),
    COUNTED(new, OF_FLOWS, CTA_STATS_NEW, "flows that did not exist before (no longer counted)"),
    COUNTED(invalid, OF_FLOWS, CTA_STATS_INVALID, "packets that could not be tracked",
            .unit = UNIT_PACKETS),
    COUNTED(ignore, OF_FLOWS, CTA_STATS_IGNORE,
            "packets that were tracked already (no longer counted)", .unit = UNIT_PACKETS),
    COUNTED(delete, OF_FLOWS, CTA_STATS_DELETE, "flows that were removed (no longer counted)"),
    COUNTED(delete_list, OF_FLOWS, CTA_STATS_DELETE_LIST,
            "flows that were put on the list of dying flows (no longer counted)"),
    COUNTED(insert, OF_FLOWS, CTA_STATS_INSERT, "flows that were inserted"),
    COUNTED(insert_failed, OF_FLOWS, CTA_STATS_INSERT_FAILED,
            "flows not inserted because the same flow existed already"),
    COUNTED(drop, OF_FLOWS, CTA_STATS_DROP,
            "packets dropped by a helper, or because no flow could be made for them",
            .unit = UNIT_PACKETS),
    COUNTED(early_drop, OF_FLOWS, CTA_STATS_EARLY_DROP, "flows dropped to make room for new ones"),
    COUNTED(error, OF_FLOWS, CTA_STATS_ERROR, "packets with errors", .unit = UNIT_PACKETS),
    COUNTED(search_restart, OF_FLOWS, CTA_STATS_SEARCH_RESTART,
            "lookups that started again: the table was resized or an entry moved"),
    COUNTED(clash_resolve, OF_FLOWS, CTA_STATS_CLASH_RESOLVE,
            "flows merged with the same flow, which existed already"),
    COUNTED(chaintoolong, OF_FLOWS, CTA_STATS_CHAIN_TOOLONG,
            "flows not inserted because their bucket was too full"),
    COUNTED(expect_new, OF_EXPECTATIONS, CTA_STATS_EXP_NEW,
            "flows that were expected when they began"),
    COUNTED(expect_create, OF_EXPECTATIONS, CTA_STATS_EXP_CREATE,
            "expectations that were inserted"),
    COUNTED(expect_delete, OF_EXPECTATIONS, CTA_STATS_EXP_DELETE, "expectations that were removed"),
};

const struct kind kind_flow_statistics = {
    .name = "counters of flows",
    .metric = "conntrack_stat",
    .size = RECORD_SIZE(statistics),
    FIELDS(fields),
};
