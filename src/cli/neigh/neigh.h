/* neigh's command line, parsed. */
#ifndef CLI_NEIGH_NEIGH_H
#define CLI_NEIGH_NEIGH_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/common.h"

struct neigh_options {
    struct common common;
    bool inet, inet6;
    bool proxies;       /* nothing but proxies */
    bool usage;         /* how full the tables are, in place of neighbours */
    bool numeric;       /* accepted, no effect */
    bool has_states;    /* --state was given */
    uint16_t states;    /* NUD_*, or-ed */
    bool none;          /* NUD_NONE, which has no bit */
    const char *device; /* as typed, or NULL */
    const char *master;
};

/* As common_parse(). */
int neigh_parse(struct neigh_options *options, int argc, char *const argv[], bool *done);

#endif
