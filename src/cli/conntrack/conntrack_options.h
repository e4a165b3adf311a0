/* SPDX-License-Identifier: MIT */
/* The options of conntrack-tools' conntrack that only read, and the common options. */
#ifndef CLI_CONNTRACK_CONNTRACK_OPTIONS_H
#define CLI_CONNTRACK_CONNTRACK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/common.h"
#include "fastnet/layouts.h"
#include "fastnet/predicate.h"

/* An option of NAT: how an end was translated. Without address and port: any translation. */
struct conntrack_nat {
    bool given, has_address, has_port;
    struct address address;
    uint16_t port; /* host byte order */
};

/* Options of NAT: source, destination, or one of both. */
enum conntrack_nat_option { NAT_SOURCE, NAT_DESTINATION, NAT_ANY, NAT_OPTIONS };

enum { FILTER_PARTS_MAX = 32 }; /* more than the number of fields that options compare */

/* The filter of the command line. Its predicates point at each other, so it cannot be copied. */
struct conntrack_filter {
    uint8_t family;                           /* AF_UNSPEC: any */
    struct predicate parts[FILTER_PARTS_MAX]; /* comparisons of fields with values of options */
    size_t count;
    struct conntrack_nat nat[NAT_OPTIONS];
    struct predicate_tree where; /* -n, -g and -f together take 9 of its parts */
    struct record key;           /* the flow or expectation that -G asks for */
};

/* Returns the predicate for rows of this kind; NULL: all rows. Expectations have only the
 * family. */
const struct predicate *conntrack_filter_where(struct conntrack_filter *filter,
                                               const struct kind *kind);

/* Returns the record that describes the one row of -G. */
const struct record *conntrack_filter_key(struct conntrack_filter *filter, const struct kind *kind);

/* True if the filter compares more than the family. */
bool conntrack_filter_given(const struct conntrack_filter *filter);

enum conntrack_command {
    COMMAND_LIST,
    COMMAND_GET,
    COMMAND_EVENT,
    COMMAND_COUNT,
    COMMAND_STATISTICS,
    COMMAND_USAGE,
};

enum conntrack_table { TABLE_CONNTRACK, TABLE_EXPECT, TABLE_DYING, TABLE_UNCONFIRMED };

/* What a command lists: flows or expectations. */
struct conntrack_task {
    const struct table *table;
    const char *columns; /* default columns */
    const char *counted; /* name of the rows in conntrack's last line; NULL: no such line */
};

struct conntrack_options {
    struct common common;
    const struct conntrack_task *task;
    enum conntrack_command command;
    enum conntrack_table table;
    struct conntrack_filter filter;
    struct conntrack_layout layout;
    bool zero;
    unsigned events; /* bits 1 << enum flow_event: events to show */
    size_t buffer_size;
};

/* The exit status for a wrong command line: conntrack's PARAMETER_PROBLEM. */
enum { STATUS_PARAMETER = 2 };

/* Parses a command line of conntrack. Returns PARSED or an exit status. */
int conntrack_parse(struct conntrack_options *options, int argc, char *const argv[]);

#endif
