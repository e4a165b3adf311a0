/* SPDX-License-Identifier: MIT */
/* ss -s: the kernel's counters of sockets, so that the time does not depend on how many there are.
 */
#include "cli/ss/ss.h"

#include <unistd.h>

#include "fastnet/layouts.h"

/* As ss does, the summary adds numbers that the kernel counts for a namespace and for all of them.
 */
static void note_mixture(const void *arg, struct report *report)
{
    if (*(const bool *)arg && isatty(STDERR_FILENO))
        report_note(
            report,
            "TCP's total, closed and orphaned count all network namespaces of this machine");
}

int ss_summary(const struct ss_options *options)
{
    const struct listing_table table = {.table = &table_sockstat,
                                        .missing = "the kernel does not count its sockets: no "
                                                   "/proc/net/sockstat",
                                        .if_missing = MISSING_ENDS};
    struct common common = options->common;
    bool mixed = false;
    const struct ss_summary_layout layout = {&mixed};

    if (options->listed) /* the filters are those of the sockets */
        common.filters.count = 0;
    struct listing_command command = {
        .common = &common,
        .kind = &kind_counter,
        .columns = {"protocol name value scope"},
        .listing = {.tables = &table,
                    .table_count = 1,
                    .needs.fields = COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE},
        /* sorted, limited or filtered counters are shown in columns, because the layout needs all
         */
        .layout_ops = common.sort || common.limit || common.filters.count ? NULL : &sink_ss_summary,
        .layout = &layout,
        .another = options->listed,
        .after_each_pass = note_mixture,
        .arg = &mixed,
    };

    return command_run(&command);
}
