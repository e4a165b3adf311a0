/* SPDX-License-Identifier: MIT */
#include "cli/ss/ss.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include "cli/which.h"
#include "fastnet/array.h"

/* Messages about a missing table; and about its IPv6 half, if only that is missing. */
#define MISSING(name)         "the kernel has no " name " sockets"
#define MISSING_OF_BOTH(name) MISSING(name), MISSING(name) " of IPv6"

/* A table of the kernel, or two for IPv4 and IPv6, in the order of the output. */
static const struct ss_source {
    uint32_t tables; /* tables of ss to which its rows belong */
    uint8_t family;  /* AF_INET: also IPv6 */
    const struct table *table, *table6;
    const char *missing, *missing6;
} sources[] = {
    {1 << SS_NETLINK, AF_NETLINK, &table_netlink, NULL, MISSING("netlink"), NULL},
    {SS_TABLES_PACKET, AF_PACKET, &table_packet, NULL, MISSING("packet"), NULL},
    {SS_TABLES_UNIX, AF_UNIX, &table_unix, NULL, MISSING("unix"), NULL},
    {1 << SS_RAW, AF_INET, &table_raw, &table_raw6, MISSING_OF_BOTH("raw")},
    {1 << SS_UDP, AF_INET, &table_udp, &table_udp6, MISSING_OF_BOTH("UDP")},
    {1 << SS_TCP, AF_INET, &table_tcp, &table_tcp6, MISSING_OF_BOTH("TCP")},
    {1 << SS_DCCP, AF_INET, NULL, NULL, MISSING("DCCP"), NULL},
    {1 << SS_SCTP, AF_INET, &table_sctp, &table_sctp6, MISSING_OF_BOTH("SCTP")},
    {SS_TABLES_VSOCK, AF_VSOCK, &table_vsock, NULL, MISSING("vsock"), NULL},
    {1 << SS_TIPC, AF_TIPC, &table_tipc, NULL, MISSING("TIPC"), NULL},
    {1 << SS_XDP, AF_XDP, &table_xdp, NULL, MISSING("XDP"), NULL},
    {1 << SS_MPTCP, AF_INET, &table_mptcp, &table_mptcp6, MISSING_OF_BOTH("MPTCP")},
};

/* True if sockets of this family have no state: ss calls all of them closed. */
static bool is_stateless(const struct ss_source *source)
{
    return source->family == AF_NETLINK || source->family == AF_PACKET || source->family == AF_XDP;
}

static const struct predicate *ss_tables_choose_rows(struct predicate_tree *where,
                                                     const struct ss_source *source,
                                                     const struct ss_selection *selection)
{
    const uint32_t wanted = selection->tables & source->tables;
    const uint64_t closed = UINT64_C(1) << TCP_CLOSE;
    uint64_t states = selection->states;

    /* Closed sockets of TCP are in no table, unless they are bound (BOUND_INACTIVE). The kernel is
     * not asked for closed sockets, because it would walk all connections. */
    if (source->tables == 1 << SS_TCP)
        states &= ~closed;
    else if (source->tables == 1 << SS_MPTCP && states >> STATE_BOUND_INACTIVE & 1)
        states |= closed;
    *where = (struct predicate_tree){.count = 0};
    if (wanted != source->tables)
        predicate_tree_add(where, &where->whole,
                           predicate_one_of(field_named(&kind_socket, "type"), ss_types(wanted)));
    if (selection->states != SS_STATES_ALL && !is_stateless(source))
        predicate_tree_add(where, &where->whole,
                           predicate_one_of(field_named(&kind_socket, "state"), states));
    return predicate_of(where);
}

/* True if a backend that is allowed can read the table. */
static bool is_readable(const struct table *table, const struct common *common)
{
    const enum backend_choice choice = common->proc_root ? BACKEND_PROC : common->backend;

    for (size_t i = 0; table && i < backend_count; i++)
        if (backend_fields(backends[i], table) && (!choice || backends[i]->source == choice))
            return true;
    return false;
}

/* Adds a table. missing: message if it was named and is missing; NULL: no message. */
static void ss_tables_add_table(struct ss_tables *tables, const struct table *table, bool named,
                                const char *missing, const struct predicate *where)
{
    tables->tables[tables->count++] = (struct listing_table){
        .table = table,
        .where = where,
        .missing = named ? missing : NULL,
        .unnamed = !named,
        .if_missing = named && missing ? MISSING_COSTS_STATUS : MISSING_IS_NOTED,
    };
}

/* Adds the tables of the selected families. A table that was not named is only listed if a backend
 * can read it. If IPv4 is listed, the IPv6 table may be missing, because a kernel may lack IPv6. */
static void ss_tables_add_tables(struct ss_tables *tables, const struct ss_source *source,
                                 const struct predicate *where, const struct ss_options *options)
{
    const struct common *common = &options->common;
    const uint64_t families = options->selection.families;
    const bool named = options->selection.named & source->tables,
               first = source->family != AF_INET || families & ss_family(AF_INET),
               needs_ipv6 = !first || which_has_ipv6(common->proc_root);

    if (first && (named || is_readable(source->table, common)))
        ss_tables_add_table(tables, source->table, named, source->missing, where);
    if (source->table6 && families & ss_family(AF_INET6) &&
        (named || is_readable(source->table6, common)))
        ss_tables_add_table(tables, source->table6, named, needs_ipv6 ? source->missing6 : NULL,
                            where);
}

/* Both families share a predicate, because TCP's tables can be read as one. */
void ss_choose_tables(struct ss_tables *tables, const struct ss_options *options)
{
    const struct ss_selection *selection = &options->selection;

    tables->count = 0;
    for (size_t i = 0; i < COUNT(sources); i++) {
        const struct ss_source *source = &sources[i];
        const uint64_t families =
            ss_family(source->family) | (source->family == AF_INET ? ss_family(AF_INET6) : 0);
        const struct predicate *where;
        if (!ss_selects(selection, source->tables) || !(selection->families & families) ||
            (is_stateless(source) && !(selection->states >> TCP_CLOSE & 1)))
            continue;
        where = ss_tables_choose_rows(&tables->where[i], source, selection);
        ss_tables_add_tables(tables, source, where, options);
    }
}
