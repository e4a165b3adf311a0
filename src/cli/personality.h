/* SPDX-License-Identifier: MIT */
/* The personalities: the commands that this program can be. */
#ifndef CLI_PERSONALITY_H
#define CLI_PERSONALITY_H

#include "cli/options.h"
#include "fastnet/record.h"

/* Exit statuses. STATUS_MISUSE is net-tools' E_OPTERR, which users' scripts know. */
enum { STATUS_OK = 0, STATUS_FAILURE = 1, STATUS_REFUSED = 2, STATUS_MISUSE = 3 };
enum { STATUS_NO_ROW = 4 };      /* only with --quiet */
enum { STATUS_TIME_OVER = 124 }; /* only with --wait: the status of timeout(1) */
/* The doctor, and listings with --warn or --crit, have these, too. */
enum { STATUS_WARNING = 10, STATUS_FAULT = 20 };
/* Parsers of command lines return this instead of an exit status if the command goes on. */
enum { PARSED = -1 };

/* An option that lists rows of another kind. */
struct listed {
    int id; /* id of the option */
    const struct kind *kind;
    const char *argument; /* only with this argument; NULL: with any argument, or without */
};

/* Words that are not options, for completions. */
struct operands {
    const char *after;   /* offered after one of these words; NULL (last row): after any other */
    const char *words;   /* separated by spaces */
    const char *choices; /* a command that prints more words (options.h), or NULL */
};

/* An example of a command line. */
struct example {
    const char *words; /* the words after the name of the command */
    const char *help;  /* what it lists, in a few words */
};

/* How the personality reports a wrong command line (misuse.h). */
struct manner {
    int status;       /* exit status; 0: STATUS_REFUSED */
    const char *help; /* the text of HELP_OWN, with %s for the command; NULL: as HELP_AFTER */
    bool above;       /* with `help`: a line before the message names the possible arguments */
};

/* All that can be typed after the name of a personality: its options, for parsing, --help and the
 * completions; and more text for --help and --version. */
struct grammar {
    const char *name;  /* its name as a program, and as the first word after fastnet */
    const char *alias; /* another name as the first word after fastnet, or NULL */
    const char *help;  /* what it lists, in a few words */
    const struct option_table *tables[OPTION_TABLES_MAX + 1]; /* NULL ends */
    const struct refused *refused; /* options of these tables that it refuses, or NULL */
    const struct kind *kind;       /* its columns are offered, except with an option in `listed` */
    const struct listed *listed;   /* ends with an element whose kind is NULL; or NULL */
    const struct operands *operands; /* or NULL */

    const char *usage;     /* after the name in -h and --help; NULL: "[OPTION]..." */
    const char *about;     /* a line below the usage */
    const char *important; /* the ten options that -h shows, as options_help_some() reads them */
    const char *notes;     /* lines below the options, or NULL */
    const struct example *examples; /* first EXAMPLES_SHORT for -h, then more; {NULL, NULL} ends */
    const char *page;               /* its man page; NULL: fastnet-NAME */
    const char *version; /* a line of --version: which program it lists like, and the backends */
    struct manner manner;
    bool in_place; /* on a terminal, -c shows a screen (listing_screen.h) */
    /* A filter for a container or pod implies --all-netns: containers have their own namespaces. */
    bool containers_anywhere;
    bool ended; /* with --between it lists only rows that ended */
};

enum { EXAMPLES_SHORT = 4 };

extern const struct grammar netstat_grammar, arp_grammar, neigh_grammar, conntrack_grammar,
    ss_grammar, sockets_grammar, doctor_grammar, drops_grammar, closed_grammar, top_grammar,
    traffic_grammar, why_grammar, diff_grammar, record_grammar, trace_grammar;

/* Each runs a personality and returns the exit status. argv[0] is the name in messages. */
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
int trace_run(int argc, char *const argv[]);
int top_run(int argc, char *const argv[]);
int why_run(int argc, char *const argv[]);
int diff_run(int argc, char *const argv[]);
int record_run(int argc, char *const argv[]);

/* Runs fastnet without the name of a personality. words: grammars whose names can be typed, NULL
 * ends. commit: for --version. run: runs fastnet with other words after its name. */
typedef int fastnet_run_fn(int argc, char *argv[]);
int fastnet_run(int argc, char *const argv[], const struct grammar *const *words,
                const char *commit, fastnet_run_fn *run);

#endif
