/* SPDX-License-Identifier: MIT */
/* The filter language of ss, made into a predicate:
 *
 *     dport = :443 and ( src 10.0.0.0/8 or not dev eth0 )
 *
 * fastnet-ss(8) describes it. */
#ifndef CLI_SS_SS_FILTER_H
#define CLI_SS_SS_FILTER_H

#include "cli/personality.h"
#include "cli/ss/ss_selection.h"
#include "cli/ss/ss_words.h"
#include "cli/where/where.h"

/* A function like hosts_addresses(), which tests replace. */
typedef int (*ss_resolve_fn)(const char *name, uint8_t family, int netns, unsigned milliseconds,
                             struct address addresses[], size_t most);

struct ss_filter {
    struct where *where;            /* owns the predicates; its message describes the error */
    struct ss_selection *selection; /* a family before an address limits it */
    struct ss_words *words;
    ss_resolve_fn resolve;
    int own_netns; /* descriptor of the netns in which hosts are looked up; 0: the current */
    bool foreign;  /* compare names: indexes may be of another machine or netns */
    bool saved;    /* rows come from a file; as in ss, a mark that the file lacks is 0 */
    /* Set by ss_filter_parse(). */
    bool mixed;  /* an `and` follows an `or` without parentheses */
    bool failed; /* the filter has an error */
    bool wrong;  /* the error is in a value: an address, a port, an interface, a mark, a group */
};

/* Words of the language, and of states before it, for completions. */
extern const struct operands ss_operands[];

/* Returns NULL if the filter is empty or has an error. */
const struct predicate *ss_filter_parse(struct ss_filter *filter);

#endif
