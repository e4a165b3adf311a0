/* SPDX-License-Identifier: MIT */
/* The programs that this one can be. */
#ifndef CLI_PERSONALITY_H
#define CLI_PERSONALITY_H

#include "cli/options.h"
#include "fastnet/record.h"

/* Exit statuses. Misuse is net-tools' E_OPTERR, which its users' scripts know. */
enum { STATUS_OK = 0, STATUS_FAILURE = 1, STATUS_REFUSED = 2, STATUS_MISUSE = 3 };
/* What parsers of command lines return in place of one: the command goes on. */
enum { PARSED = -1 };

/* An option that lists rows of another kind. */
struct listed {
    int id; /* of the option */
    const struct kind *kind;
    const char *argument; /* only with this argument; NULL: with any, or none */
};

/* Words that are no options, for completions. */
struct operands {
    const char *after;   /* these can follow one of these words; NULL, the last: any other */
    const char *words;   /* separated by blanks */
    const char *choices; /* a command that prints more of them (options.h), or NULL */
};

/* A command line that people use. */
struct example {
    const char *words; /* what follows the name of the command */
    const char *help;  /* a few words: what it lists */
};

/* How it says that a command line is wrong (misuse.h). */
struct manner {
    int status;       /* of the exit; 0: STATUS_REFUSED */
    const char *help; /* with HELP_OWN: where help is, of the command %s; NULL: as all others */
    bool above;       /* ... what an argument can be is said first, in a line of its own */
};

/*
 * What can be typed after the name of a personality: its options, for parsing, --help and the
 * completions, and what --help and --version say besides.
 */
struct grammar {
    const char *name; /* as it is run by, or the first word after fastnet */
    const char *help; /* a few words: what it lists */
    const struct option_table *tables[OPTION_TABLES_MAX + 1]; /* NULL behind the last */
    const struct kind *kind;     /* whose columns are offered, except with one of these options */
    const struct listed *listed; /* or NULL; no kind behind the last */
    const struct operands *operands; /* or NULL */

    const char *usage;     /* behind the name in -h and --help; NULL: "[OPTION]..." */
    const char *about;     /* a line below that */
    const char *important; /* the ten options that -h shows, as options_help_some() takes them */
    const char *notes;     /* lines below the options, or NULL */
    const struct example *examples; /* EXAMPLES_SHORT of them for -h, and more; {NULL, NULL} ends */
    const char *page;               /* its man page; NULL: fastnet-NAME */
    const char *version;            /* a line of --version: whose output it has, and from where */
    struct manner manner;
};

enum { EXAMPLES_SHORT = 4 };

extern const struct grammar netstat_grammar, arp_grammar, neigh_grammar, conntrack_grammar,
    ss_grammar, sockets_grammar, doctor_grammar, drops_grammar, closed_grammar, top_grammar,
    traffic_grammar;

/* argv[0] is the name for messages. They return the exit status. */
int netstat_run(int argc, char *const argv[]);
int arp_run(int argc, char *const argv[]);
int neigh_run(int argc, char *const argv[]);
int conntrack_run(int argc, char *const argv[]);
int ss_run(int argc, char *const argv[]);
int sockets_run(int argc, char *const argv[]);
int doctor_run(int argc, char *const argv[]);
int drops_run(int argc, char *const argv[]);
int traffic_run(int argc, char *const argv[]);
int closed_run(int argc, char *const argv[]);
int top_run(int argc, char *const argv[]);

/*
 * Without the name of a personality. words: what could stand in its place, NULL behind the last.
 * commit: for --version.
 */
int fastnet_run(int argc, char *const argv[], const struct grammar *const *words,
                const char *commit);

#endif
