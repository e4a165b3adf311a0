/* SPDX-License-Identifier: MIT */
/* Options that choose rows by their columns: --where and its short forms. */
#ifndef CLI_FILTERS_H
#define CLI_FILTERS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/misuse.h"
#include "cli/options.h"
#include "cli/where/where.h"

enum { OPTION_FILTER = 2000 }; /* id of all these options */

/* A line of help for commands whose words are filters (words.h). */
#define FILTERS_WORD_HELP                                                                          \
    "\nWORD: a filter, such as 443, 10.0/8, established or nginx; !WORD: all but it."

/* Each table has the short forms for which its rows have columns. */
extern const struct option_table filters_of_sockets, filters_of_flows, filters_of_neighbours,
    filters_of_findings, filters_of_steps, filters_of_drops, filters_of_traffic,
    filters_of_differences;

/* The filters that the user typed. A row must match all of them. Zeroed: no filter. */
enum { FILTERS_MAX = 32 };
struct filters {
    struct {
        const struct option *option;
        const char *text;
    } typed[FILTERS_MAX];
    size_t count;
    char options[64]; /* words that were options: "--tcp --listening" */
};

/* Finds the option that the user of another command probably meant by a word, and writes it as it
 * must be typed. Returns false if rows of this kind have no such column. */
enum { FILTERS_MEANT = TYPED_MAX + 32 };
bool filters_meant(const struct kind *kind, const char *word, char meant[FILTERS_MEANT]);
/* The argument of the last option with this name; NULL: it was not typed. */
const char *filters_typed(const struct filters *filters, const char *name);

/* True if the option is a filter. An option with an optional argument is one only with argument. */
bool filters_are(const struct option *option, const char *argument);

/* Adds a filter. Returns false if there are too many. */
bool filters_take(struct filters *filters, const struct option *option, const char *argument);

/* The option of a word that is not an option itself, but a filter (words.h). Its name is empty. */
extern const struct option filters_word;

/* Makes a predicate of all filters that are options and of *all (which may be NULL), and stores it
 * in *all. Returns NULL, or the name of an option that is wrong; then where->message says why. */
const char *filters_resolve(const struct filters *filters, struct where *where,
                            const struct kind *kind, const struct predicate **all);

/* As filters_resolve(), but takes the filters that are words. captured: the rows come from a
 * captured tree. Returns false if a word is wrong; then where->message says why. */
bool filters_resolve_words(const struct filters *filters, struct where *where,
                           const struct kind *kind, bool captured, const struct predicate **all);

#endif
