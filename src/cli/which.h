/* SPDX-License-Identifier: MIT */
/* The tables of sockets that options of fastnet's own listings (sockets, top) choose. */
#ifndef CLI_WHICH_H
#define CLI_WHICH_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/engine.h"

struct which {
    bool tcp, udp, raw, unix_sockets, all; /* without any: all except unix sockets */
    bool inet, inet6;                      /* without either: both */
};

enum { WHICH_TABLES = 11 };

/* True if an option names a protocol. */
bool which_is_named(const struct which *which);

/* Sets the tables in their order, without filters. Returns their number. */
size_t which_tables(const struct which *which, struct listing_table tables[WHICH_TABLES]);

/* If a table of a protocol that options name is missing, the exit status is 1, with a message. */
void which_require(const struct which *which, const char *proc_root, struct listing_table *tables,
                   size_t count);

/* True if a captured tree is from a kernel with IPv6, which has all tables of IPv6. */
bool which_has_ipv6(const char *proc_root);

#endif
