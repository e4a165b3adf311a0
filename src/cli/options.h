/* SPDX-License-Identifier: MIT */
/* Parses command lines. One table of options drives parsing, --help and the completions
 * (completion.h). Each personality has its own table, and all have the common table. */
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
    ARGUMENT_INTERVAL, /* the next word, if it is a number of seconds */
    ARGUMENT_DURATION, /* the next word, if it is a time: a number with or without a unit */
    ARGUMENT_ATTACHED, /* optional: the rest of the same word; or a next word such as 30s */
    ARGUMENT_WORD,     /* optional: the next word, unless it begins with '-' or '!' */
};

/* The form of an option's argument. */
enum option_form {
    FORM_LIST,    /* values of the columns, as --where reads them */
    FORM_TEXT,    /* a plain text without special signs; only the last text is used */
    FORM_PATTERN, /* a pattern of --where; without * and ? the text may be anywhere in the value */
    FORM_WORD,    /* one of the choices; its index is the value of an enum */
    FORM_SECONDS, /* a time; a member gets milliseconds in an unsigned */
    FORM_COUNT,   /* a number from 1 to `number` (0: no limit); stored in a uint64_t */
    FORM_INSTEAD, /* the option does not exist: a message says what to type instead */
    FORM_OWN,     /* first of the forms that the personality handles itself */
};

struct option {
    int id;      /* options with the same id mean the same */
    char letter; /* 0: none */
    enum option_argument argument : 4;
    unsigned group : 4; /* section of --help: index into the table's groups */
    bool newer : 1;     /* an abbreviation that also fits an older option means the older option */
    unsigned form : 7;  /* enum option_form */
    uint8_t protocols;  /* the personality's bits of protocols that accept it; 0: all do */
    /* Offset, in the personality's options, of the member that this option sets: a bool without
     * argument, a const char * with an argument, or the type that its form names. 0: the option
     * does more than to set a member. */
    uint16_t member;
    uint16_t commands;   /* bits of commands that accept the option; 0: all do */
    uint32_t number;     /* the largest value of the argument; or the value that an enum gets */
    const char *name;    /* without the dashes; NULL: none */
    const char *metavar; /* the argument's name in --help */
    const char *choices; /* words that complete the argument, separated by spaces, or NULL */
    const char *help;    /* one line; NULL: accepted, but not in --help */
    /* For a filter: the columns that it compares, separated by spaces. A kind that has none of
     * these columns refuses the option. NULL: the argument is a condition of --where. */
    const char *columns;
    /* Value of an option without argument. With FORM_SECONDS: why 0 is refused. With FORM_INSTEAD:
     * what to type instead, with the argument in place of each %s; NULL: the option for the form of
     * output that the argument names. */
    const char *value;
};

/* The id of an option that needs no code: its row says everything. */
#define THIS_ROW (10000 + __LINE__)

/* Rows of a table. After the group come the help and other members: TAKES() an argument, OF() these
 * words, and COMPARES() these columns with the argument. INSTEAD() is an option that users know
 * from other programs. */
/* clang-format off */
#define OPTION_ROW(i, l, n, g, ...) {.id = (i), .letter = (l), .name = (n), .group = (g), .help = __VA_ARGS__}
#define OPTION(l, n, g, ...)        OPTION_ROW(l, l, n, g, __VA_ARGS__)
#define LONG(i, n, g, ...)          OPTION_ROW(i, 0, n, g, __VA_ARGS__)
#define TAKES(m)                    .argument = ARGUMENT_REQUIRED, .metavar = (m)
#define OF(words)                   .choices = (words)
#define INSTEAD(l, n, m, v)         {.id = THIS_ROW, .letter = (l), .name = (n), .argument = ARGUMENT_WORD, .metavar = (m), .value = (v), .form = FORM_INSTEAD}
#define COMPARES(of)                .columns = (of)
/* clang-format on */

/* Choices other than words. WORDS: the filters that a word can be (words.h). COLUMNS: the columns
 * of the listed rows. NUMBERS: columns of numbers. MEASURES: these and times. SHOWN: all columns
 * that can be shown. VALUES: the words of the column that a filter compares. '!' and a command that
 * prints words: sh(1), zsh and fish must understand it (completion.h). */
#define CHOICES_COLUMNS  "$columns"
#define CHOICES_NUMBERS  "$numbers"
#define CHOICES_MEASURES "$measures"
#define CHOICES_SHOWN    "$columns $groups"
#define CHOICES_VALUES   "VALUES"
#define CHOICES_WORDS    "WORDS"
#define CHOICES_PIDS     "!ls /proc | grep -x \"[0-9]*\""
/* A name can be any text. Only names that a shell does not interpret are offered. */
#define CHOICES_PROCESSES "!cat /proc/*/comm 2>/dev/null | grep -x \"[A-Za-z0-9_.-]*\" | sort -u"
#define CHOICES_INTERFACES                                                                         \
    "!tail -n +3 /proc/net/dev | grep -o \"^ *[A-Za-z0-9_.-]*\" | tr -d \" \""
#define CHOICES_SERVICES "!grep -o \"^[A-Za-z0-9_.-]*\" /etc/services"
#define CHOICES_USERS    "!grep -o \"^[A-Za-z0-9_.-]*\" /etc/passwd"
#define CHOICES_NETNS    "!ls /var/run/netns 2>/dev/null | grep -x \"[A-Za-z0-9_.-]*\""

struct option_table {
    const char *const *groups; /* titles in --help */
    size_t group_count;
    const struct option *options;
    size_t count;
};

#define OPTION_TABLE(groups, options)                                                              \
    (&(const struct option_table){groups, COUNT(groups), options, COUNT(options)})

enum { OPTION_TABLES_MAX = 8 }; /* largest number of tables in a grammar */

/* Options of shared tables that a command cannot use: --help and completions leave them out, and
 * the command refuses them, or accepts them without effect. NULL as options ends a list. */
struct refused {
    const char *options;  /* names, separated by spaces */
    const char *accepted; /* arguments that are accepted, separated by spaces, or NULL */
    /* The message is "--NAME cannot be used here: WHY". NULL: the options are not refused. */
    const char *why;
};

/* Finds the option in the list, which may be NULL. Returns NULL if it can be used. */
const struct refused *options_refused(const struct refused *list, const struct option *option);

/* Handles one option with its argument (NULL: none). An operand is the argument of an option whose
 * id is OPTION_OPERAND. Returns 0 to continue, another value to stop. */
enum { OPTION_OPERAND = 0 };
typedef int (*option_fn)(const struct option *option, const char *argument, void *arg);

enum { OPTIONS_MESSAGE = 512 };

/* Parses words as getopt_long(3) does: bundled letters, --name=value, unambiguous abbreviations,
 * operands anywhere; after "--" all words are operands. An abbreviation is searched in the first
 * table before the second, so a newer option never makes an older abbreviation ambiguous. NULL ends
 * `tables`. Returns 0, the result of `fn`, or OPTIONS_MISUSE: then `message` is one line, in
 * getopt's words and escaped. */
enum { OPTIONS_MISUSE = -1, OPTIONS_ANSWERED = -2 /* result of fn: everything is done */ };
enum { OPTIONS_WORD = -3 }; /* result of common_parse()'s `take`: the operand is a filter */
int options_parse(const struct option_table *const tables[], int argc, char *const argv[],
                  option_fn fn, void *arg, char message[OPTIONS_MESSAGE]);

/* True if `word` is the long option with this id, or an unambiguous abbreviation of it. */
bool options_is(const struct option_table *const tables[], const char *word, int id);

/* Finds the option that a word without dashes may stand for: `udp` means --udp. Only options
 * without an argument, in the first group of the first table, can be found. NULL: no such
 * option. */
const struct option *options_of_word(const struct option_table *const tables[], const char *word);

/* Finds the option with this name among those in --help. NULL: no such option. */
const struct option *options_named(const struct option_table *const tables[], const char *name);

/* The option with this index, counted through all tables, or NULL. */
const struct option *options_at(const struct option_table *const tables[], size_t index);

/* Prints `count` groups of options for --help, from group `first` on, without options that are
 * refused. In each group, options that `important` names (see options_help_some()) come first. A
 * group without a title continues the group before it. */
void options_help(const struct option_table *table, size_t first, size_t count,
                  const char *important, const struct refused *refused, FILE *stream);
/* Prints options for -h; `words` are their letters or names, separated by spaces. */
void options_help_some(const struct option_table *const tables[], const char *words, FILE *stream);

#endif
