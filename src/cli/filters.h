/* SPDX-License-Identifier: MIT */
/* Options that choose rows by their columns: --where, and short forms of it. */
#ifndef CLI_FILTERS_H
#define CLI_FILTERS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/misuse.h"
#include "cli/options.h"
#include "cli/where/where.h"

enum { OPTION_FILTER = 2000 }; /* the id of all of them */

/* The short forms are those that rows have columns for. */
extern const struct option_table filters_of_sockets, filters_of_flows, filters_of_neighbours,
    filters_of_findings, filters_of_drops, filters_of_traffic;

/* What was typed. All filters must hold. Zeroed: none. */
enum { FILTERS_MAX = 32 };
struct filters {
    struct {
        const struct option *option;
        const char *text;
    } typed[FILTERS_MAX];
    size_t count;
};

/*
 * Of a word that is no option: the short form that was probably meant, as it is typed. False if
 * there is none, or rows of this kind have no column for it.
 */
enum { FILTERS_MEANT = TYPED_MAX + 32 };
bool filters_meant(const struct kind *kind, const char *word, char meant[FILTERS_MEANT]);
/* Says that a word is no option, and what was meant; returns the exit status. */
struct common;
int filters_misuse_operand(const struct common *common, const struct kind *kind, const char *word);

/* What was typed last for the option of this name; NULL: it was not typed. */
const char *filters_typed(const struct filters *filters, const char *name);

/* Whether this is a filter; with an argument only, if it may be typed without one. */
bool filters_are(const struct option *option, const char *argument);

/* Takes a filter. Returns false if there are too many. */
bool filters_take(struct filters *filters, const struct option *option, const char *argument);

/*
 * Makes them into a predicate that also wants what *all (or NULL) wants, and puts it there. Returns
 * NULL, or the name of the option that is wrong: where->message says how.
 */
const char *filters_resolve(const struct filters *filters, struct where *where,
                            const struct kind *kind, const struct predicate **all);

#endif
