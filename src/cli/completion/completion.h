/* Completion scripts for shells, made from the tables of options that parse command lines. */
#ifndef CLI_COMPLETION_COMPLETION_H
#define CLI_COMPLETION_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/grammar.h"

/*
 * Writes a script for "bash", "zsh" or "fish". Without words it completes grammar->name; with
 * words it completes "fastnet": the options of each of these first words, and those of grammar
 * without such a word. Returns -1 for another shell.
 */
int completion_print(const struct grammar *grammar, const struct grammar *const words[],
                     size_t word_count, const char *shell, FILE *stream);

/* --- Shared by the shells --------------------------------------------------------------------- */

/* A script: its destination, and the command lines that it completes. */
struct script {
    FILE *stream;
    const struct grammar *const *grammars; /* all that are in it */
    size_t count;
    const char *command;       /* its name */
    const struct grammar *own; /* its options without a first word */
    bool has_words;
};

void completion_bash(const struct script *script);
void completion_zsh(const struct script *script);
void completion_fish(const struct script *script);

/* Calls fn for each option that --help shows. */
typedef void (*completion_fn)(const struct option *option, const struct grammar *grammar,
                              const struct script *script);
void completion_each_option(const struct grammar *grammar, completion_fn fn,
                            const struct script *script);

/* How the words that complete an argument are combined in it. */
enum completion_form {
    COMPLETION_NONE,   /* there are no such words */
    COMPLETION_WORD,   /* one of them */
    COMPLETION_LIST,   /* some, separated by commas */
    COMPLETION_SIGNED, /* one, perhaps after '-' */
};
enum completion_form completion_form(const struct option *option);
/* Whether these words are columns. */
bool completion_of_columns(const struct option *option);

/* The names of a kind's columns, separated by blanks. */
void completion_put_columns(const struct kind *kind, FILE *stream);
/*
 * An extended regular expression that finds an option among words, each with a blank before it.
 */
void completion_put_pattern(const struct grammar *grammar, const struct listed *listed,
                            FILE *stream);
/* Text that is safe between single quotes, and as a description in a specification of zsh. */
void completion_put_quoted(const char *text, FILE *stream);
/* The names of the grammars, separated by blanks; `others`: without that of script->own. */
void completion_put_names(const struct script *script, bool others, FILE *stream);

#endif
