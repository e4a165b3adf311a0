/* The programs that this one can be. */
#ifndef CLI_PERSONALITY_H
#define CLI_PERSONALITY_H

#include <stddef.h>

/* Exit statuses. Misuse is net-tools' E_OPTERR, which its users' scripts know. */
enum { STATUS_OK = 0, STATUS_FAILURE = 1, STATUS_REFUSED = 2, STATUS_MISUSE = 3 };

struct grammar;

struct personality {
    const char *name; /* matched exactly, as the name it was run by or as the first argument */
    /* argv[0] is the name for messages. NULL: reserved, this version lacks the personality. */
    int (*run)(int argc, char *const argv[]);
    const struct grammar *grammar; /* for completions; NULL where run is */
    unsigned rights;               /* all that its listings may need (rights.h) */
};

enum { PERSONALITIES_MAX = 5 };
extern const struct personality personalities[];
extern const size_t personality_count;

/* Runs when none of these names was asked for. */
int fastnet_run(int argc, char *const argv[]);

int netstat_run(int argc, char *const argv[]);
int conntrack_run(int argc, char *const argv[]);
int arp_run(int argc, char *const argv[]);
int neigh_run(int argc, char *const argv[]);

#endif
