/* SPDX-License-Identifier: MIT */
/* The layout of conntrack-tools 1.4.7, which prints with libnetfilter_conntrack 1.0.9. Texts that
 * others chose are escaped, and nothing is cut. */
#include "format/flow/layout_conntrack_forms.h"

static void conntrack_row(struct sink *sink, const struct record *record)
{
    struct conntrack_sink *conntrack = (struct conntrack_sink *)sink;
    const bool xml = conntrack->layout.xml, save = conntrack->layout.save;
    row_fn *const put_flow = save ? save_flow : xml ? xml_flow : line_flow;
    row_fn *const put_expectation = xml ? xml_expectation : line_expectation;
    const struct flow_row from = {conntrack, record};
    char *dst;

    /* the declaration and root element of an XML document, before the first row */
    if (xml && !conntrack->root &&
        (record->kind == &kind_flow || record->kind == &kind_expectation)) {
        conntrack->root = record->kind == &kind_flow ? "conntrack" : "expect";
        writer_puts(sink->writer, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<");
        writer_puts(sink->writer, conntrack->root);
        writer_puts(sink->writer, ">\n");
    }
    dst = writer_reserve(sink->writer, ROW_MAX);
    if (record->kind == &kind_flow)
        dst = PUT(put_flow(dst, &from), "\n");
    else if (record->kind == &kind_expectation)
        dst = PUT(put_expectation(dst, &from), "\n");
    else if (record->kind == &kind_flow_statistics)
        dst = line_statistics(dst, record);
    else if (record->kind == &kind_flow_usage)
        dst = block_usage(dst, record);
    writer_commit(sink->writer, dst);
}

static void conntrack_begin(struct sink *sink)
{
    ((struct conntrack_sink *)sink)->root = NULL;
}

static void conntrack_end(struct sink *sink)
{
    const struct conntrack_sink *conntrack = (const struct conntrack_sink *)sink;

    if (!conntrack->root)
        return;
    writer_puts(sink->writer, "</");
    writer_puts(sink->writer, conntrack->root);
    writer_puts(sink->writer, ">\n");
}

const struct sink_ops sink_conntrack = {
    .size = sizeof(struct conntrack_sink),
    .layout_size = sizeof(struct conntrack_layout),
    .begin = conntrack_begin,
    .row = conntrack_row,
    .end = conntrack_end,
};
