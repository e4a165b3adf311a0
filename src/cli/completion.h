/* SPDX-License-Identifier: MIT */
/* Completion of words in shells. The script for a shell has a few lines, which pass the typed words
 * to this program, so that its offers always fit this version. */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/personality.h"

/* Writes the script for `command`. Returns false unless `shell` is "bash", "zsh" or "fish". */
bool completion_put_script(const char *shell, const char *command, FILE *stream);

/* True if such a script runs the program: fastnet --complete -- WORD... */
bool completion_is_asked(int argc, char *const argv[]);

/* Writes possible completions of the last of `words`; the first word is the command, and `grammar`
 * is its grammar. If `commands`, the names of `grammars` (which NULL ends) are offered, too.
 *
 * The first line says how to complete: "word", "part" (more may follow without a space), "file" or
 * "directory"; then a tab, and the beginning of the last word that stays as it is. Each other line
 * is a word, and after a tab its meaning; or '!' and a command that prints words, written so that
 * sh(1), zsh and fish understand it. Only words that begin like the rest of the last word are
 * written. */
void completion_offer(const struct grammar *grammar, const struct grammar *const grammars[],
                      bool commands, int count, char *const words[], FILE *stream);

#endif
