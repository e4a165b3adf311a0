/* SPDX-License-Identifier: MIT */
/* The parsed command line of neigh. */
#ifndef CLI_NEIGH_NEIGH_H
#define CLI_NEIGH_NEIGH_H

#include <stdbool.h>

#include "cli/common.h"

struct neigh_options {
    struct common common;
    bool inet, inet6;
    bool usage;         /* list how full the tables are, instead of neighbours */
    const char *master; /* argument of --master, or NULL */
};

/* Parses a command line of neigh. Returns PARSED or an exit status. */
int neigh_parse(struct neigh_options *options, int argc, char *const argv[]);

#endif
