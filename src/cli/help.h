/* SPDX-License-Identifier: MIT */
/* fastnet help WORD: what a column, a rule of the doctor, a reason of drops, a state, or a part of
 * the language of filters means. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/personality.h"

/* Prints the meanings of `word`. grammars: all commands; NULL ends. Returns the exit status: if the
 * word has no meaning, the message names the nearest word. */
int help_word(const struct grammar *const grammars[], const char *word);

/* Calls fn() with each word that help_word() knows, and what it is; names of commands are not
 * among them. A word can come several times. */
typedef void help_word_fn(const char *word, const char *help, void *arg);
void help_each_word(const struct grammar *const grammars[], help_word_fn *fn, void *arg);

#endif
