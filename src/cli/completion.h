/* SPDX-License-Identifier: MIT */
/*
 * What shells complete. The script for a shell is a few lines, which give the program the words
 * that were typed, so what is offered is what this program understands.
 */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/personality.h"

/* Writes the script for "bash", "zsh" or "fish", for this command. Returns false for other shells.
 */
bool completion_put_script(const char *shell, const char *command, FILE *stream);

/* How the scripts ask: fastnet --complete -- WORD... */
bool completion_is_asked(int argc, char *const argv[]);

/*
 * Writes what can stand in place of the last of these words, of which the first is the command.
 * grammar: of these words. commands: the names of `grammars` (NULL behind the last) are offered,
 * too.
 *
 * The first line is how to complete, a tab, and the beginning of the last word that stays as it is:
 * "word", "part" (more may follow without a blank), "file" or "directory". Each other line is a
 * word and, behind a tab, what it means; or behind '!' a command of sh(1), zsh and fish alike that
 * prints words. Words are only those with which the rest of the last word begins.
 */
void completion_offer(const struct grammar *grammar, const struct grammar *const grammars[],
                      bool commands, int count, char *const words[], FILE *stream);

#endif
