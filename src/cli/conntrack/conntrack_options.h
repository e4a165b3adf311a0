/* The options of conntrack-tools conntrack that only read, and the common ones. */
#ifndef CLI_CONNTRACK_CONNTRACK_OPTIONS_H
#define CLI_CONNTRACK_CONNTRACK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/common.h"
#include "fastnet/flow_filter.h"
#include "fastnet/sink.h"

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

/* What was typed. */
struct conntrack_options {
    struct common common;
    enum conntrack_command command;
    enum conntrack_table table;
    struct flow_filter filter;
    struct conntrack_layout layout;
    bool zero;
    unsigned events; /* one bit (1 << enum flow_event) a kind */
    size_t buffer_size;
};

/* A wrong word or combination exits so: conntrack's PARAMETER_PROBLEM. */
enum { STATUS_PARAMETER = 2 };

extern const struct grammar conntrack_grammar;

/*
 * Returns 0, or an exit status after a line on stderr. *done is set when the answer was printed
 * already (--help, --version, --completion).
 */
int conntrack_parse(struct conntrack_options *options, int argc, char *const argv[], bool *done);

#endif
