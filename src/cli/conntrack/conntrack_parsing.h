/* SPDX-License-Identifier: MIT */
/* A command line of conntrack while it is parsed. The files that handle its options share this. */
#ifndef CLI_CONNTRACK_CONNTRACK_PARSING_H
#define CLI_CONNTRACK_CONNTRACK_PARSING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/conntrack/conntrack_options.h"
#include "cli/options.h"

/* Ids of options that need code of their own. */
enum {
    OPTION_MASK_SRC = 256,
    OPTION_MASK_DST,
    OPTION_USAGE,
    OPTION_CHANGE, /* all options that would change the table */
};

/* Forms of arguments. If an option has no field, its FORM_NUMBER is the size of the receive buffer,
 * and its FORM_NETWORK is a mask. */
enum {
    FORM_NUMBER = FORM_OWN,
    FORM_FAMILY,
    FORM_PROTOCOL,
    FORM_NETWORK,
    FORM_NAT,
    FORM_STATUS,
    FORM_MARK,
    FORM_LABELS,
    FORM_STATE,
    FORM_ROLE,
    FORM_EVENTS,
};

/* Protocols, and groups of protocols that share names of options, as bits. */
enum { P_PORTS = 1, P_TCP = 2, P_SCTP = 4, P_DCCP = 8, P_ICMP = 16, P_ICMPV6 = 32, P_GRE = 64 };

/* Calls `fn` for each word of a list with commas, until a result is not 0. Returns that result. */
int conntrack_words(const char *list, int (*fn)(const char *word, size_t length, void *arg),
                    void *arg);

/* True if `whole` begins with this word; upper and lower case are the same. */
bool conntrack_begins(const char *whole, const char *word, size_t length);

enum { GIVEN_MAX = 96 }; /* more than the number of options */

struct conntrack_parsing {
    struct conntrack_options *options;
    const struct option *option; /* the option that is being parsed */
    const struct field *field;   /* the field that it is compared with, or NULL */
    const char *state;           /* as typed: the states depend on the protocol, which may follow */
    struct address masks[2];     /* --mask-src and --mask-dst; AF_UNSPEC: not given */
    struct labels *labels;
    bool has_command;
    const struct option *given[GIVEN_MAX]; /* each option once */
    size_t given_count;
};

/* Handles the argument of -b, -e, or an option that chooses flows. Returns 0 or an exit status. */
int conntrack_take_form(struct conntrack_parsing *parsing, const char *argument);

/* Reports an error, and where help is. Returns STATUS_PARAMETER. */
#define conntrack_fail(parsing, ...)                                                               \
    common_complain(&(parsing)->options->common, HELP_OWN, __VA_ARGS__)

/* Like conntrack_fail(), for the argument of an option: `typed` replaces %s in `wrong` (struct
 * misuse), and `takes` names the arguments that are accepted. */
int conntrack_fail_argument(const struct conntrack_parsing *parsing, const char *option,
                            const char *takes, const char *wrong, const char *typed);

/* Checks that the options fit together, and completes the filter where options depend on each
 * other. Returns 0 or an exit status. */
int conntrack_check_filter(struct conntrack_parsing *parsing);

#endif
