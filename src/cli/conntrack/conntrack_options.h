/* SPDX-License-Identifier: MIT */
/* The options of conntrack-tools conntrack that only read, and the common ones. */
#ifndef CLI_CONNTRACK_CONNTRACK_OPTIONS_H
#define CLI_CONNTRACK_CONNTRACK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/common.h"
#include "fastnet/layouts.h"
#include "fastnet/predicate.h"

/* --- Which flows or expectations are wanted --------------------------------------------------- */

/* The translation of an end: all of the given members, or any if neither is given. */
struct conntrack_nat {
    bool given, has_address, has_port;
    struct address address;
    uint16_t port; /* host byte order */
};

/* Options of NAT: of the source, of the destination, of one of both. */
enum conntrack_nat_option { NAT_SOURCE, NAT_DESTINATION, NAT_ANY, NAT_OPTIONS };

enum { FILTER_PARTS_MAX = 32 }; /* more than there are fields that options are about */

/* Its predicates point at each other: it cannot be copied. */
struct conntrack_filter {
    uint8_t family;                           /* AF_UNSPEC: any */
    struct predicate parts[FILTER_PARTS_MAX]; /* of the fields that options gave a value */
    size_t count;
    struct conntrack_nat nat[NAT_OPTIONS];
    struct predicate_tree where; /* -n, -g and -f at once take 9 of its parts */
    struct record key;           /* of the flow or expectation that -G asks for */
};

/*
 * What was gathered, for rows of this kind; NULL when all are wanted. Of expectations only the
 * family counts.
 */
const struct predicate *conntrack_filter_where(struct conntrack_filter *filter,
                                               const struct kind *kind);

/* The record by which -G asks for one row of this kind. */
const struct record *conntrack_filter_key(struct conntrack_filter *filter, const struct kind *kind);

/* True if it compares more than the family. */
bool conntrack_filter_given(const struct conntrack_filter *filter);

/* --- The command line ------------------------------------------------------------------------- */

enum conntrack_command {
    COMMAND_LIST,
    COMMAND_GET,
    COMMAND_EVENT,
    COMMAND_COUNT,
    COMMAND_STATISTICS,
    COMMAND_USAGE,
};

enum conntrack_table { TABLE_CONNTRACK, TABLE_EXPECT, TABLE_DYING, TABLE_UNCONFIRMED };

/* What a command lists, of flows or of expectations. */
struct conntrack_task {
    const struct table *table;
    const char *columns; /* without --columns */
    const char *counted; /* the rows that conntrack counts in its last line; NULL: no such line */
};

struct conntrack_options {
    struct common common;
    const struct conntrack_task *task;
    enum conntrack_command command;
    enum conntrack_table table;
    struct conntrack_filter filter;
    struct conntrack_layout layout;
    bool zero;
    unsigned events; /* one bit (1 << enum flow_event) for each kind */
    size_t buffer_size;
};

/* The exit status of a wrong command line: conntrack's PARAMETER_PROBLEM. */
enum { STATUS_PARAMETER = 2 };

/* As common_parse(). */
int conntrack_parse(struct conntrack_options *options, int argc, char *const argv[]);

#endif
