#include "format/counter/counter_names.h"
#include "fastnet/array.h"

#include <linux/netfilter/nfnetlink_conntrack.h>

#define NAME(string)                                                                               \
    {                                                                                              \
        .data = (string), .length = sizeof string - 1                                              \
    }

/* linux/netfilter/nfnetlink_conntrack.h; the last four are for kernels to come, as in conntrack. */
static const struct text names[] = {
    [CTA_STATS_SEARCHED] = NAME("searched"),
    [CTA_STATS_FOUND] = NAME("found"),
    [CTA_STATS_NEW] = NAME("new"),
    [CTA_STATS_INVALID] = NAME("invalid"),
    [CTA_STATS_IGNORE] = NAME("ignore"),
    [CTA_STATS_DELETE] = NAME("delete"),
    [CTA_STATS_DELETE_LIST] = NAME("delete_list"),
    [CTA_STATS_INSERT] = NAME("insert"),
    [CTA_STATS_INSERT_FAILED] = NAME("insert_failed"),
    [CTA_STATS_DROP] = NAME("drop"),
    [CTA_STATS_EARLY_DROP] = NAME("early_drop"),
    [CTA_STATS_ERROR] = NAME("error"),
    [CTA_STATS_SEARCH_RESTART] = NAME("search_restart"),
    [CTA_STATS_CLASH_RESOLVE] = NAME("clash_resolve"),
    [CTA_STATS_CHAIN_TOOLONG] = NAME("chaintoolong"),
    [CTA_STATS_CHAIN_TOOLONG + 1] = NAME("unknown1"),
    [CTA_STATS_CHAIN_TOOLONG + 2] = NAME("unknown2"),
    [CTA_STATS_CHAIN_TOOLONG + 3] = NAME("unknown3"),
    [CTA_STATS_CHAIN_TOOLONG + 4] = NAME("unknown4"),
};

static const struct text expectation_names[] = {
    [CTA_STATS_EXP_NEW] = NAME("expect_new"),
    [CTA_STATS_EXP_CREATE] = NAME("expect_create"),
    [CTA_STATS_EXP_DELETE] = NAME("expect_delete"),
};

const struct counter_names *counter_names_of(bool expectations)
{
    static const struct counter_names counters = {names, COUNT(names)};
    static const struct counter_names of_expectations = {expectation_names,
                                                         COUNT(expectation_names)};

    return expectations ? &of_expectations : &counters;
}
