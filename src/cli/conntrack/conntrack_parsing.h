/* SPDX-License-Identifier: MIT */
/* A command line of conntrack while it is parsed, as the files that take its options share it. */
#ifndef CLI_CONNTRACK_CONNTRACK_PARSING_H
#define CLI_CONNTRACK_CONNTRACK_PARSING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/conntrack/conntrack_options.h"
#include "cli/options.h"

/* Ids of options that mean more than their rows say. */
enum {
    OPTION_MASK_SRC = 256,
    OPTION_MASK_DST,
    OPTION_USAGE,
    OPTION_CHANGE, /* those that would change the table */
};

/* Forms of arguments. Without a field, a number is the size of the buffer, and a network a mask. */
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

/* Protocols whose options share a name, as bits. */
enum { P_PORTS = 1, P_TCP = 2, P_SCTP = 4, P_DCCP = 8, P_ICMP = 16, P_ICMPV6 = 32, P_GRE = 64 };

/* --- Words ------------------------------------------------------------------------------------ */

/* Calls fn for each word of a list separated by commas; stops at a result other than 0. */
int conntrack_words(const char *list, int (*fn)(const char *word, size_t length, void *arg),
                    void *arg);

/* Whether the whole begins with this word, in any case of letters. */
bool conntrack_begins(const char *whole, const char *word, size_t length);

/* --- While a command line is parsed ----------------------------------------------------------- */

enum { GIVEN_MAX = 96 }; /* more than there are options */

struct conntrack_parsing {
    struct conntrack_options *options;
    const struct option *option; /* the one that is taken */
    const struct field *field;   /* what it is about, or NULL */
    const char *state;           /* as typed: its names depend on the protocol, which may follow */
    struct address masks[2];     /* of OPTION_MASK_SRC and _DST; AF_UNSPEC: not given */
    struct labels *labels;
    bool has_command;
    const struct option *given[GIVEN_MAX]; /* each once */
    size_t given_count;
};

/* Takes an option about which flows are wanted, or how events are read. Returns 0 or a status. */
int conntrack_take_form(struct conntrack_parsing *parsing, const char *argument);

/* Says what is wrong, and where help is. Returns STATUS_PARAMETER. */
#define conntrack_fail(parsing, ...)                                                               \
    common_complain(&(parsing)->options->common, HELP_OWN, __VA_ARGS__)

/* The same for an option's argument, which stands where `wrong` has a %s (struct misuse). */
int conntrack_fail_argument(const struct conntrack_parsing *parsing, const char *option,
                            const char *takes, const char *wrong, const char *typed);

/* Checks that the options go together, and sets what depends on several. Returns 0 or a status. */
int conntrack_check_filter(struct conntrack_parsing *parsing);

#endif
