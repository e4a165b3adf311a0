/* The programs that this one can be. */
#ifndef CLI_PERSONALITY_H
#define CLI_PERSONALITY_H

#include "cli/grammar.h"

/* Exit statuses. Misuse is net-tools' E_OPTERR, which its users' scripts know. */
enum { STATUS_OK = 0, STATUS_FAILURE = 1, STATUS_REFUSED = 2, STATUS_MISUSE = 3 };

extern const struct grammar netstat_grammar, arp_grammar, neigh_grammar, conntrack_grammar;

/* argv[0] is the name for messages. They return the exit status. */
int netstat_run(int argc, char *const argv[]);
int arp_run(int argc, char *const argv[]);
int neigh_run(int argc, char *const argv[]);
int conntrack_run(int argc, char *const argv[]);

/* Without the name of a personality. words: what could stand in its place, NULL behind the last. */
int fastnet_run(int argc, char *const argv[], const struct grammar *const *words);

#endif
