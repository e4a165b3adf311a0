/* SPDX-License-Identifier: MIT */
#include "cli/which.h"

#include <sys/socket.h>

#include "fastnet/array.h"

bool which_is_named(const struct which *which)
{
    return which->tcp || which->udp || which->raw || which->unix_sockets;
}

size_t which_tables(const struct which *which, struct listing_table tables[WHICH_TABLES])
{
    const bool either = which->inet == which->inet6, named = which_is_named(which);
    const struct {
        const struct table *table;
        bool wanted;
    } known[WHICH_TABLES] = {
        {&table_tcp, which->tcp},  {&table_tcp6, which->tcp},    {&table_udp, which->udp},
        {&table_udp6, which->udp}, {&table_udplite, which->udp}, {&table_udplite6, which->udp},
        {&table_raw, which->raw},  {&table_raw6, which->raw},    {&table_unix, which->unix_sockets},
    };
    size_t count = 0;

    for (size_t i = 0; i < COUNT(known); i++) {
        const uint8_t family = known[i].table->family;
        const bool of_family =
            family == AF_UNIX || either || (family == AF_INET ? which->inet : which->inet6);
        if (of_family && (known[i].wanted || which->all || (!named && family != AF_UNIX)))
            tables[count++] = (struct listing_table){.table = known[i].table, .unnamed = true};
    }
    return count;
}
