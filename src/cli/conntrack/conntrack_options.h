/* The options of conntrack-tools conntrack that only read, and the common ones. */
#ifndef CLI_CONNTRACK_CONNTRACK_OPTIONS_H
#define CLI_CONNTRACK_CONNTRACK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/common.h"
#include "cli/conntrack/conntrack_filter.h"
#include "fastnet/layouts.h"

enum conntrack_command {
    COMMAND_NONE, /* -L, too */
    COMMAND_LIST,
    COMMAND_GET,
    COMMAND_EVENT,
    COMMAND_COUNT,
    COMMAND_STATISTICS,
    COMMAND_USAGE,
};

enum conntrack_table { TABLE_CONNTRACK, TABLE_EXPECT, TABLE_DYING, TABLE_UNCONFIRMED };

/* The command line. */
struct conntrack_options {
    struct common common;
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
int conntrack_parse(struct conntrack_options *options, int argc, char *const argv[], bool *done);

#endif
