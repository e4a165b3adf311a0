/* Completion scripts for shells, made from the tables of options that parse command lines. */
#ifndef CLI_COMPLETION_COMPLETION_H
#define CLI_COMPLETION_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/options.h"
#include "fastnet/record.h"

/* What an option lists in place of what is listed without it. */
struct listed {
    int id; /* of the option */
    const struct kind *kind;
    const char *argument; /* with this one only; NULL: whatever it is */
};

/* What can be typed after the name of a personality. */
struct grammar {
    const char *name; /* as it is run by, or the first word after fastnet */
    const char *help; /* a few words: what it lists */
    const struct option_table *const *tables;
    size_t table_count;
    const struct kind *kind; /* whose columns are offered, but for ... */
    const struct listed *listed;
    size_t listed_count;
};

/*
 * Writes a script for "bash", "zsh" or "fish" that completes grammar->name; or, where there are
 * words, "fastnet": what can follow each of these first words, and grammar without one. Returns -1
 * for another shell.
 */
int completion_print(const struct grammar *grammar, const struct grammar *const words[],
                     size_t word_count, const char *shell, FILE *stream);

/* --- What the shells share -------------------------------------------------------------------- */

/* Where a script goes, and what it completes. */
struct script {
    FILE *stream;
    const struct grammar *const *grammars; /* each that is in it */
    size_t count;
    const char *command;       /* its name */
    const struct grammar *own; /* what follows it without a word */
    bool has_words;
};

void completion_bash(const struct script *script);
void completion_zsh(const struct script *script);
void completion_fish(const struct script *script);

/* Calls fn for each option that --help has. */
typedef void (*completion_fn)(const struct option *option, const struct grammar *grammar,
                              const struct script *script);
void completion_each_option(const struct grammar *grammar, completion_fn fn,
                            const struct script *script);

/* How the words that complete an argument stand in it. */
enum completion_form {
    COMPLETION_NONE,   /* there are no such words */
    COMPLETION_WORD,   /* one of them */
    COMPLETION_LIST,   /* some, separated by commas */
    COMPLETION_SIGNED, /* one, perhaps behind '-' */
};
enum completion_form completion_form(const struct option *option);
/* Whether these words are the columns of what is listed. */
bool completion_of_columns(const struct option *option);

/* The names of a kind's columns, separated by blanks. */
void completion_put_columns(const struct kind *kind, FILE *stream);
/*
 * An extended regular expression: whether an option is among words that are separated, and
 * preceded, by blanks.
 */
void completion_put_pattern(const struct grammar *grammar, const struct listed *listed,
                            FILE *stream);
/* Text as it can stand between single quotes, and as a description in a specification of zsh. */
void completion_put_quoted(const char *text, FILE *stream);
/* The names of the grammars, separated by blanks; but not the one of script->own if that is so. */
void completion_put_names(const struct script *script, bool others, FILE *stream);

#endif
