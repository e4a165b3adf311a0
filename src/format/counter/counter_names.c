/* SPDX-License-Identifier: MIT */
#include "format/counter/counter_names.h"
#include "fastnet/array.h"
#include "fastnet/kernel_abi.h"

/* linux/netfilter/nfnetlink_conntrack.h; the last four are for later kernels, as in conntrack. */
static const struct text names[] = {
    [CTA_STATS_SEARCHED] = TEXT_LITERAL("searched"),
    [CTA_STATS_FOUND] = TEXT_LITERAL("found"),
    [CTA_STATS_NEW] = TEXT_LITERAL("new"),
    [CTA_STATS_INVALID] = TEXT_LITERAL("invalid"),
    [CTA_STATS_IGNORE] = TEXT_LITERAL("ignore"),
    [CTA_STATS_DELETE] = TEXT_LITERAL("delete"),
    [CTA_STATS_DELETE_LIST] = TEXT_LITERAL("delete_list"),
    [CTA_STATS_INSERT] = TEXT_LITERAL("insert"),
    [CTA_STATS_INSERT_FAILED] = TEXT_LITERAL("insert_failed"),
    [CTA_STATS_DROP] = TEXT_LITERAL("drop"),
    [CTA_STATS_EARLY_DROP] = TEXT_LITERAL("early_drop"),
    [CTA_STATS_ERROR] = TEXT_LITERAL("error"),
    [CTA_STATS_SEARCH_RESTART] = TEXT_LITERAL("search_restart"),
    [CTA_STATS_CLASH_RESOLVE] = TEXT_LITERAL("clash_resolve"),
    [CTA_STATS_CHAIN_TOOLONG] = TEXT_LITERAL("chaintoolong"),
    [CTA_STATS_CHAIN_TOOLONG + 1] = TEXT_LITERAL("unknown1"),
    [CTA_STATS_CHAIN_TOOLONG + 2] = TEXT_LITERAL("unknown2"),
    [CTA_STATS_CHAIN_TOOLONG + 3] = TEXT_LITERAL("unknown3"),
    [CTA_STATS_CHAIN_TOOLONG + 4] = TEXT_LITERAL("unknown4"),
};

static const struct text expectation_names[] = {
    [CTA_STATS_EXP_NEW] = TEXT_LITERAL("expect_new"),
    [CTA_STATS_EXP_CREATE] = TEXT_LITERAL("expect_create"),
    [CTA_STATS_EXP_DELETE] = TEXT_LITERAL("expect_delete"),
};

const struct counter_names *counter_names_of(bool expectations)
{
    static const struct counter_names counters = {names, COUNT(names)};
    static const struct counter_names of_expectations = {expectation_names,
                                                         COUNT(expectation_names)};

    return expectations ? &of_expectations : &counters;
}
