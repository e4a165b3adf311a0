/* SPDX-License-Identifier: MIT */
/* A text to search for, as a condition of --where. */
#ifndef CLI_TERMINAL_SEARCH_H
#define CLI_TERMINAL_SEARCH_H

#include "fastnet/kind.h"

/* Returns the condition for a word that has no operator or parenthesis of --where, or for a text in
 * quotes: a row passes if the text occurs in its owners, addresses, state, unit, container or in
 * one of the columns, ignoring case, or if it is a port or a process id of the row. A '!' before
 * the word negates the condition. The caller frees the condition. Returns NULL if `typed` is
 * neither such a word nor such a text, or if memory is short. */
char *search_condition(const struct kind *kind, const struct field *const *columns, size_t count,
                       const char *typed);

#endif
