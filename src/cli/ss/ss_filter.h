/* SPDX-License-Identifier: MIT */
/*
 * The filter language of ss, made into a predicate:
 *
 *     dport = :443 and ( src 10.0.0.0/8 or not dev eth0 )
 *
 * fastnet-ss(8) describes it.
 */
#ifndef CLI_SS_SS_FILTER_H
#define CLI_SS_SS_FILTER_H

#include "cli/personality.h"
#include "cli/ss/ss_selection.h"
#include "cli/ss/ss_words.h"
#include "cli/where/where.h"

/* As hosts_addresses() of lookup.h. */
typedef int (*ss_resolve_fn)(const char *name, uint8_t family, int home, unsigned milliseconds,
                             struct address addresses[], size_t most);

struct ss_filter {
    struct where *where;            /* owns the predicates; its message says what is wrong */
    struct ss_selection *selection; /* a family in front of an address limits it */
    struct ss_words *words;
    ss_resolve_fn resolve;
    int home;     /* the network namespace that names of hosts are resolved in; 0: this one */
    bool foreign; /* an index is not that of an interface here: names are compared */
    bool saved;   /* rows are those of a file, where a mark that it lacks is 0, as in ss */
    /* Set by ss_filter_parse(). */
    bool mixed;  /* an `and` follows an `or` without parentheses */
    bool failed; /* something is wrong ... */
    bool wrong;  /* ... with a value: an address, a port, an interface, a mark, a group */
};

/* The words of the language, and those in front of it. */
extern const struct operands ss_operands[];

/* Returns NULL if there is nothing to compare, or if it failed. */
const struct predicate *ss_filter_parse(struct ss_filter *filter);

#endif
