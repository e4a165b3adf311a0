/* Completion scripts for shells, made from the tables of options that parse command lines. */
#ifndef CLI_COMPLETION_COMPLETION_H
#define CLI_COMPLETION_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/personality.h"

/*
 * Writes a script for "bash", "zsh" or "fish". Without words (NULL) it completes grammar->name;
 * with words, of which the last is NULL, it completes "fastnet": the options of each of these first
 * words, and those of grammar without such a word. Returns false for another shell.
 */
bool completion_print(const struct grammar *grammar, const struct grammar *const words[],
                      const char *shell, FILE *stream);

/* --- Shared by the shells --------------------------------------------------------------------- */

/* A script: its destination, and the command lines that it completes. */
struct script {
    FILE *stream;
    const struct grammar *const *grammars; /* all that are in it */
    size_t count;
    const char *command;       /* its name */
    const struct grammar *own; /* its options without a first word */
    bool has_words;
    const char *substitution; /* what stands before a command in parentheses */
    const char *variable;     /* what stands before the name of a set of columns */
    const char *before_text;  /* what stands before a column's text; NULL: the shell has none */
    const char *apostrophe;   /* between single quotes */
    const struct grammar *grammar; /* the one that is being written */
};

void completion_bash(struct script *script);
void completion_zsh(struct script *script);
void completion_fish(struct script *script);

/* Calls fn for each grammar of the script, or for each option of one that --help shows. */
void completion_each_grammar(struct script *script, void (*fn)(const struct script *script));
void completion_each_option(const struct script *script,
                            void (*fn)(const struct option *option, const struct script *script));

/* What completes an argument. */
enum completion_form {
    COMPLETION_NONE,
    COMPLETION_FILE,
    COMPLETION_DIRECTORY,
    COMPLETION_NAMESPACE, /* of ip-netns(8) */
    COMPLETION_WORD,      /* one of the choices */
    COMPLETION_LIST, /* some of them, separated by commas, perhaps each after '-', '+' or '!' */
    COMPLETION_EXPRESSION, /* one, which more follows without a blank */
};
enum completion_form completion_form(const struct option *option);
/* Whether the choices are sets of columns. */
bool completion_has_columns(const struct option *option);
/* Writes the choices. */
void completion_put_choices(const struct option *option, const struct script *script);
void completion_put_operands(const struct operands *operands, const struct script *script);
/* Whether one of the choices may follow in the same word, behind '='. */
bool completion_is_attached(const struct option *option);
/* Whether one of the choices may be the next word, or the argument may be missing. */
bool completion_may_follow(const struct option *option);

/* Of the columns that can be shown: all, those that hold numbers, and words that mean several. */
enum { COMPLETION_COLUMNS, COMPLETION_NUMBERS, COMPLETION_GROUPS, COMPLETION_SETS };
extern const char *const completion_sets[COMPLETION_SETS]; /* their names */
/* Writes the words of a set, a blank before each. */
void completion_put_set(const struct kind *kind, size_t set, const struct script *script);
/* Calls fn once for each kind of rows that the script's grammars list. */
void completion_each_kind(const struct script *script,
                          void (*fn)(const struct kind *kind, const struct script *script));
/* The kind's name, as one word. */
void completion_put_kind(const struct kind *kind, FILE *stream);
/*
 * Sets a variable to the kind that is listed: `set` stands before the usual kind. For an option
 * that lists other rows, `test` stands before an extended regular expression that finds it among
 * words, each with a blank before it, and `then` before its kind.
 */
void completion_put_kinds(const struct script *script, const char *set, const char *test,
                          const char *then);
/* The words that `after` names, with this between them. */
void completion_put_after(const struct operands *operands, const char *between, FILE *stream);
/* Text between single quotes, with '\\' before characters that are special there. */
void completion_put_quoted(const char *text, const char *special, const struct script *script);
/* The names of the grammars, separated by blanks; `others`: without that of script->own. */
void completion_put_names(const struct script *script, bool others);

#endif
