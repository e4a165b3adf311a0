/* The forms of conntrack's layout: each writes one row. */
#ifndef FORMAT_FLOW_LAYOUT_CONNTRACK_H
#define FORMAT_FLOW_LAYOUT_CONNTRACK_H

#include "format/flow/layout_conntrack_row.h"

/* dst has room for ROW_MAX bytes. Each returns the end of the row, without a line end. */
char *line_flow(const struct conntrack_sink *conntrack, char *dst, const struct record *record);
char *line_expectation(const struct conntrack_sink *conntrack, char *dst,
                       const struct record *record);
char *xml_flow(const struct conntrack_sink *conntrack, char *dst, const struct record *record);
char *xml_expectation(const struct conntrack_sink *conntrack, char *dst,
                      const struct record *record);
char *save_flow(char *dst, const struct record *record);

/* With their line ends. */
char *line_statistics(char *dst, const struct record *record);
char *block_usage(char *dst, const struct record *record);

#endif
