/* SPDX-License-Identifier: MIT */

#include "cli/command.h"
#include "fastnet/layouts.h"
#include "fastnet/rights.h"

int summary_list(const struct common *common, bool chosen)
{
    const struct listing_table table = {
        .table = &table_summary,
        .missing = "cannot count sockets: the kernel has no /proc/net/sockstat",
        .if_missing = MISSING_ENDS};
    const struct summary_layout layout = {.header = !common->no_header,
                                          .colour = command_colour(common)};
    /* A subject is written once, above all its rows, so sorted or filtered rows are columns. */
    const bool columns = common->sort || common->limit || common->filters.count;
    struct listing_command command = {
        .common = common,
        .kind = &kind_summary,
        .listing = {.tables = &table, .table_count = 1, .unlisted = UNLISTED_COUNTED},
        .rights = 1u << RIGHT_OWNERS | 1u << RIGHT_BPF,
        .layout_ops = columns ? NULL : &sink_summary,
        .layout = &layout,
        .layout_needs.fields = UINT64_MAX,
        .drop = "sysctl pressure_bytes",
        .whole = "subject name",
    };

    if (chosen)
        return common_misuse(common,
                             "--summary counts all sockets, so it cannot be combined with filters");
    return command_run(&command);
}
