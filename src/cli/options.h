/*
 * Command lines. One table of options drives parsing, --help and the completions (completion.h);
 * each personality has a table of its own, and all have the common one besides.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stddef.h>
#include <stdio.h>

enum option_argument {
    ARGUMENT_NONE,
    ARGUMENT_REQUIRED,
    ARGUMENT_INTERVAL, /* a number of seconds may be the next word of the command line */
    ARGUMENT_ATTACHED, /* what follows in the same word, if anything does */
    ARGUMENT_WORD,     /* a word may follow, one that begins with neither '-' nor '!' */
};

struct option {
    int id;           /* two names with one id mean the same */
    char letter;      /* 0: none */
    const char *name; /* without the dashes; NULL: none */
    enum option_argument argument;
    const char *metavar; /* what the argument is called in --help */
    const char *choices; /* words that complete the argument, separated by blanks, or NULL */
    const char *help;    /* one line; NULL: understood, but not advertised */
    size_t group;        /* where --help shows it: index into the table's groups */
};

/* For choices: the columns of what is listed. */
#define CHOICES_COLUMNS "COLUMNS"

struct option_table {
    const char *const *groups; /* titles in --help */
    size_t group_count;
    const struct option *options;
    size_t count;
};

/*
 * Takes one option with its argument (NULL: none), or an operand: that is the argument of an option
 * whose id is OPTION_OPERAND. Returns 0 to go on, another value to stop.
 */
enum { OPTION_OPERAND = 0 };
typedef int (*option_fn)(const struct option *option, const char *argument, void *arg);

enum { OPTIONS_MESSAGE = 512 };

/* What the user typed, as a message shows it: escaped, and cut when it is very long. Terminated. */
enum { TYPED_MAX = 4 * 80 + 1 };
const char *options_typed(char text[TYPED_MAX], const char *typed, size_t length);

/*
 * Parses as getopt_long(3) does: bundled letters, --name=value, unambiguous abbreviations, operands
 * anywhere, "--" before the last of them. An abbreviation is looked up in the first table before
 * the second, so that a newer option never makes an older abbreviation ambiguous. Returns 0, what
 * fn returned, or OPTIONS_MISUSE with a line in message, in getopt's words and escaped.
 */
enum { OPTIONS_MISUSE = -1, OPTIONS_ANSWERED = -2 /* for fn: there is nothing left to do */ };
int options_parse(const struct option_table *const tables[], size_t table_count, int argc,
                  char *const argv[], option_fn fn, void *arg, char message[OPTIONS_MESSAGE]);

/* The options' part of --help. */
void options_help(const struct option_table *table, FILE *stream);

#endif
