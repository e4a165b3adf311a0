/* SPDX-License-Identifier: MIT */
/* Which sockets the listings of fastnet's own (sockets, top) have: their options choose alike. */
#ifndef CLI_WHICH_H
#define CLI_WHICH_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/engine.h"

struct which {
    bool tcp, udp, raw, unix_sockets, all; /* without any: all but unix sockets */
    bool inet, inet6;                      /* without either: both */
};

enum { WHICH_TABLES = 9 };

/* Whether a protocol was named. */
bool which_is_named(const struct which *which);

/* Sets the tables, in their order, without filters. Returns how many there are. */
size_t which_tables(const struct which *which, struct listing_table tables[WHICH_TABLES]);

/* Where a table of a protocol that was named is missing, a line says so and costs the status. */
void which_require(const struct which *which, const char *proc_root, struct listing_table *tables,
                   size_t count);

/* Whether a captured tree is of a kernel with IPv6, which has all of its tables. */
bool which_has_ipv6(const char *proc_root);

#endif
