/* SPDX-License-Identifier: MIT */
#include "cli/which.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/proc_tree.h"

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
        {&table_tcp, which->tcp},           {&table_tcp6, which->tcp},
        {&table_udp, which->udp},           {&table_udp6, which->udp},
        {&table_udplite, which->udp},       {&table_udplite6, which->udp},
        {&table_raw, which->raw},           {&table_raw6, which->raw},
        {&table_icmp, which->raw},          {&table_icmp6, which->raw},
        {&table_unix, which->unix_sockets},
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

/* These may be missing: UDP-Lite, because no option asks for it; ping sockets, which Linux has
 * since 3.0 (of IPv6 since 3.11); IPv6, because a kernel may lack it. */
static bool may_be_missing(const struct table *table, bool ipv6)
{
    return table == &table_udplite || table == &table_udplite6 || table->protocol == IPPROTO_ICMP ||
           (table->family == AF_INET6 && !ipv6);
}

void which_require(const struct which *which, const char *proc_root, struct listing_table *tables,
                   size_t count)
{
    const bool ipv6 = which_has_ipv6(proc_root) || (which->inet6 && !which->inet);

    for (size_t i = 0; i < count && which_is_named(which) && !which->all; i++)
        if (!may_be_missing(tables[i].table, ipv6)) {
            tables[i].missing = "the kernel lacks a socket type that the options ask for";
            tables[i].if_missing = MISSING_COSTS_STATUS;
        }
}

bool which_has_ipv6(const char *proc_root)
{
    static const char *const files[] = {"net/if_inet6", "net/tcp6", "net/udp6"};
    bool found = false;

    for (size_t i = 0; proc_root && i < COUNT(files); i++)
        found |= proc_tree_has(proc_root, files[i]);
    return found;
}
