/* SPDX-License-Identifier: MIT */
/* neigh's command line, parsed. */
#ifndef CLI_NEIGH_NEIGH_H
#define CLI_NEIGH_NEIGH_H

#include <stdbool.h>

#include "cli/common.h"

struct neigh_options {
    struct common common;
    bool inet, inet6;
    bool usage;         /* how full the tables are, in place of neighbours */
    bool numeric;       /* accepted, no effect */
    const char *master; /* as typed, or NULL */
};

/* As common_parse(). */
int neigh_parse(struct neigh_options *options, int argc, char *const argv[]);

#endif
