/*
 * What can be typed after the name of a personality: its options, for parsing, --help and the
 * completions, and what --help and --version say besides.
 */
#ifndef CLI_GRAMMAR_H
#define CLI_GRAMMAR_H

#include "cli/options.h"
#include "fastnet/record.h"

/* An option that lists rows of another kind. */
struct listed {
    int id; /* of the option */
    const struct kind *kind;
    const char *argument; /* only with this argument; NULL: with any, or none */
};

struct grammar {
    const char *name; /* as it is run by, or the first word after fastnet */
    const char *help; /* a few words: what it lists */
    const struct option_table *const *tables;
    size_t table_count;
    const struct kind *kind; /* whose columns are offered, except with one of these options */
    const struct listed *listed;
    size_t listed_count;

    const char *usage;   /* behind the name in --help */
    const char *about;   /* lines below that */
    const char *notes;   /* lines below the options, or NULL */
    const char *page;    /* its man page */
    const char *version; /* a line of --version: whose output it has, and from where */
    int misuse;          /* exit status of a wrong command line, 0: STATUS_MISUSE */
    /* Writes a line to stderr below the message about a wrong option; or NULL. */
    void (*hint)(const char *program);
};

#endif
