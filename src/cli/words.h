/* SPDX-License-Identifier: MIT */
/* Words that are not options. Only the form of a word says which filter it is, not what runs now:
 * `5432` is a port, `10.0/8` a network, `established` a state, `https` a service, `nginx` a name.
 */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include "cli/where/where.h"

/* The filter of one word, for rows of one kind. */
struct word_filter {
    const struct kind *kind;
    bool captured; /* the rows come from a captured tree, which has no names of containers */
    char message[WHERE_MESSAGE]; /* why the word is not a filter: one line, escaped */
};

/* Writes the filter that the word means, in the language of --where. '!' before the word makes the
 * opposite; values with commas between are alternatives. Returns false if the word is not a filter
 * of this kind; then the output is useless. */
bool words_put(struct word_filter *filter, const char *word, FILE *stream);

/* True if a part of the word is a name: of a process, for example. The other words are a port, an
 * address, a state, a protocol or a service. */
bool words_have_name(const struct kind *kind, const char *word);

#endif
