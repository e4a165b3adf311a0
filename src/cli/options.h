/* SPDX-License-Identifier: MIT */
/*
 * Command lines. One table of options drives parsing, --help and the completions (completion.h);
 * each personality has a table of its own, and all have the common one too.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "fastnet/array.h"

enum option_argument {
    ARGUMENT_NONE,
    ARGUMENT_REQUIRED,
    ARGUMENT_INTERVAL, /* a number of seconds may be the next word of the command line */
    ARGUMENT_ATTACHED, /* the rest of the same word, if there is one */
    ARGUMENT_WORD,     /* a word may follow, one that begins with neither '-' nor '!' */
};

/* What the argument of an option is. */
enum option_form {
    FORM_LIST,    /* values of the columns, as --where takes them */
    FORM_TEXT,    /* a text, in which no sign means anything; the last one counts */
    FORM_WORD,    /* one of the choices: its number among them is the value of an enum */
    FORM_SECONDS, /* a time: milliseconds in an unsigned */
    FORM_COUNT,   /* a number from 1 to that of the option (0: any): a uint64_t */
    FORM_OWN,     /* from here on: forms of the personality, which takes the option itself */
};

struct option {
    int id;      /* two names with one id mean the same */
    char letter; /* 0: none */
    enum option_argument argument : 4;
    unsigned group : 4; /* where --help shows it: index into the table's groups */
    bool newer : 1;     /* an abbreviation shared with an older option means that one */
    unsigned form : 7;  /* enum option_form */
    uint8_t protocols;  /* it goes with these, as the personality numbers them; 0: with all */
    /*
     * Bytes from the start of the personality's options to what this one sets: a bool if it takes
     * no argument, a const char * if it takes one, or what its form says. 0: it means more than
     * that.
     */
    uint16_t member;
    uint16_t commands;   /* ... and with these */
    uint32_t number;     /* the greatest that the argument can be, or else what an enum becomes */
    const char *name;    /* without the dashes; NULL: none */
    const char *metavar; /* the argument's name in --help */
    const char *choices; /* words that complete the argument, separated by blanks, or NULL */
    const char *help;    /* one line; NULL: understood, but not advertised */
    /*
     * Of a filter: the columns that are compared, separated by blanks; a kind that has none of
     * them refuses the option. NULL: the argument is a condition of --where.
     */
    const char *columns;
    /* What stands for the argument of an option that takes none; FORM_SECONDS: why 0 is refused. */
    const char *value;
};

/* The id of a row that says all that the option does. */
#define THIS_ROW (10000 + __LINE__)

/*
 * Rows of a table. Behind the group stand the help and further members: TAKES() an argument, OF()
 * these words, and COMPARES() these columns with it.
 */
/* clang-format off */
#define OPTION_ROW(i, l, n, g, ...) {.id = (i), .letter = (l), .name = (n), .group = (g), .help = __VA_ARGS__}
#define OPTION(l, n, g, ...)        OPTION_ROW(l, l, n, g, __VA_ARGS__)
#define LONG(i, n, g, ...)          OPTION_ROW(i, 0, n, g, __VA_ARGS__)
#define TAKES(m)                    .argument = ARGUMENT_REQUIRED, .metavar = (m)
#define OF(words)                   .choices = (words)
#define COMPARES(of)                .columns = (of)
/* clang-format on */

/*
 * For choices, besides words: the columns of the rows that are listed, those that hold numbers, or
 * all that can be shown; the words of the column that a filter compares; behind '!' a command that
 * prints words, of sh(1), zsh and fish alike (completion.h).
 */
#define CHOICES_COLUMNS "$columns"
#define CHOICES_NUMBERS "$numbers"
#define CHOICES_SHOWN   "$columns $groups"
#define CHOICES_VALUES  "VALUES"
#define CHOICES_PIDS    "!ls /proc | grep -x \"[0-9]*\""
/* Names may be anything: only those that mean nothing to a shell are offered. */
#define CHOICES_PROCESSES "!cat /proc/*/comm 2>/dev/null | grep -x \"[A-Za-z0-9_.-]*\" | sort -u"
#define CHOICES_INTERFACES                                                                         \
    "!tail -n +3 /proc/net/dev | grep -o \"^ *[A-Za-z0-9_.-]*\" | tr -d \" \""
#define CHOICES_USERS "!grep -o \"^[A-Za-z0-9_.-]*\" /etc/passwd"
#define CHOICES_NETNS "!ls /var/run/netns 2>/dev/null | grep -x \"[A-Za-z0-9_.-]*\""

struct option_table {
    const char *const *groups; /* titles in --help */
    size_t group_count;
    const struct option *options;
    size_t count;
};

#define OPTION_TABLE(groups, options)                                                              \
    (&(const struct option_table){groups, COUNT(groups), options, COUNT(options)})

enum { OPTION_TABLES_MAX = 5 }; /* of a grammar */

/*
 * Takes one option with its argument (NULL: none). An operand comes as the argument of an option
 * whose id is OPTION_OPERAND. Returns 0 to go on, another value to stop.
 */
enum { OPTION_OPERAND = 0 };
typedef int (*option_fn)(const struct option *option, const char *argument, void *arg);

enum { OPTIONS_MESSAGE = 512 };

/*
 * Parses as getopt_long(3) does: bundled letters, --name=value, unambiguous abbreviations, operands
 * anywhere; after "--" all words are operands. An abbreviation is looked up in the first table
 * before the second, so a newer option never makes an older abbreviation ambiguous. NULL is behind
 * the last table. Returns 0, fn's result, or OPTIONS_MISUSE: then message holds one line, in
 * getopt's words and escaped.
 */
enum { OPTIONS_MISUSE = -1, OPTIONS_ANSWERED = -2 /* returned by fn: nothing is left to do */ };
int options_parse(const struct option_table *const tables[], int argc, char *const argv[],
                  option_fn fn, void *arg, char message[OPTIONS_MESSAGE]);

/* True if the word is this long option, or an abbreviation that can mean no other one. */
bool options_is(const struct option_table *const tables[], const char *word, int id);

/* The option at this place among those of all tables, or NULL. */
const struct option *options_at(const struct option_table *const tables[], size_t index);

/*
 * Prints the options of `count` groups, for --help: in each the important ones first, which are
 * written as options_help_some() takes them. A group without a title continues the one before.
 */
void options_help(const struct option_table *table, size_t first, size_t count,
                  const char *important, FILE *stream);
/* Prints some options, for -h: their letters or names, separated by blanks. */
void options_help_some(const struct option_table *const tables[], const char *words, FILE *stream);

#endif
