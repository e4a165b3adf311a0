/* SPDX-License-Identifier: MIT */
/* Sources: ss(8), and the listings of ss of iproute2 7.1. */
#include "cli/ss/ss_selection.h"

#include <linux/tipc.h>
#include <netinet/tcp.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/record.h"

#define STATE(state) (UINT32_C(1) << (state))
#define CLOSED       STATE(TCP_CLOSE)
#define HALF_OPEN    STATE(12) /* TCP_NEW_SYN_RECV of the kernel's net/tcp_states.h */
#define CONNECTED                                                                                  \
    (SS_STATES_ALL & ~(STATE(TCP_LISTEN) | CLOSED | STATE(TCP_TIME_WAIT) | STATE(TCP_SYN_RECV)))
#define DATAGRAMS      STATE(TCP_ESTABLISHED)
#define TIPC           (STATE(TCP_ESTABLISHED) | STATE(TCP_LISTEN) | CLOSED)
#define TABLE(table)   (UINT32_C(1) << (table))
#define FAMILY(family) (UINT64_C(1) << (family))
#define INET           FAMILY(AF_INET) | FAMILY(AF_INET6)

/* Tables: their names for -A, and their defaults. */
static const struct {
    const char *name, *other;
    uint64_t families;
    uint32_t states;
    uint8_t type; /* socket type, if only the type separates the table from others; else 0 */
} table_defaults[SS_TABLES] = {
    [SS_NETLINK] = {"netlink", NULL, FAMILY(AF_NETLINK), CLOSED, 0},
    [SS_PACKET_RAW] = {"packet_raw", "p_raw", FAMILY(AF_PACKET), CLOSED, SOCK_RAW},
    [SS_PACKET_DGRAM] = {"packet_dgram", "p_dgr", FAMILY(AF_PACKET), CLOSED, SOCK_DGRAM},
    [SS_UNIX_STREAM] = {"unix_stream", "u_str", FAMILY(AF_UNIX), CONNECTED, SOCK_STREAM},
    [SS_UNIX_DGRAM] = {"unix_dgram", "u_dgr", FAMILY(AF_UNIX), CLOSED, SOCK_DGRAM},
    [SS_UNIX_SEQPACKET] = {"unix_seqpacket", "u_seq", FAMILY(AF_UNIX), CONNECTED, SOCK_SEQPACKET},
    [SS_RAW] = {"raw", NULL, INET, DATAGRAMS, 0},
    [SS_UDP] = {"udp", NULL, INET, DATAGRAMS, 0},
    [SS_TCP] = {"tcp", NULL, INET, CONNECTED, 0},
    [SS_DCCP] = {"dccp", NULL, INET, CONNECTED, 0},
    [SS_SCTP] = {"sctp", NULL, INET, CONNECTED, 0},
    [SS_VSOCK_STREAM] = {"vsock_stream", "v_str", FAMILY(AF_VSOCK), CONNECTED, SOCK_STREAM},
    [SS_VSOCK_DGRAM] = {"vsock_dgram", "v_dgr", FAMILY(AF_VSOCK), CONNECTED, SOCK_DGRAM},
    [SS_TIPC] = {"tipc", NULL, FAMILY(AF_TIPC), TIPC, 0},
    [SS_XDP] = {"xdp", NULL, FAMILY(AF_XDP), CLOSED, 0},
    [SS_MPTCP] = {"mptcp", NULL, INET, CONNECTED, 0},
};

uint64_t ss_types(uint32_t tables)
{
    uint64_t types = 0;

    for (size_t i = 0; i < SS_TABLES; i++)
        if (tables >> i & 1 && table_defaults[i].type)
            types |= UINT64_C(1) << table_defaults[i].type;
    return types;
}

/* Families: their names and defaults, in the order of their numbers. */
static const struct {
    const char *name; /* for -f */
    uint8_t family;
    uint32_t tables, states;
} families[] = {
    {"unix", AF_UNIX, SS_TABLES_UNIX, CONNECTED},
    {"inet", AF_INET, SS_TABLES_INET, CONNECTED},
    {"inet6", AF_INET6, SS_TABLES_INET, CONNECTED},
    {"netlink", AF_NETLINK, TABLE(SS_NETLINK), CLOSED},
    {"link", AF_PACKET, SS_TABLES_PACKET, CLOSED},
    {"tipc", AF_TIPC, TABLE(SS_TIPC), TIPC},
    {"vsock", AF_VSOCK, SS_TABLES_VSOCK, CONNECTED},
    {"xdp", AF_XDP, TABLE(SS_XDP), CLOSED},
};
const char ss_family_names[] = "inet inet6 link unix netlink vsock tipc xdp";

/* --- Tables and families ---------------------------------------------------------------------- */

static void ss_selection_add_tables(struct ss_selection *selection, uint32_t tables)
{
    for (size_t i = 0; i < SS_TABLES; i++)
        if (tables >> i & 1)
            selection->defaults |= table_defaults[i].states;
    selection->tables |= tables;
    selection->chosen = true;
}

void ss_select_table(struct ss_selection *selection, enum ss_table table)
{
    ss_selection_add_tables(selection, TABLE(table));
    selection->named |= TABLE(table);
}

void ss_select_family(struct ss_selection *selection, uint8_t family)
{
    for (size_t i = 0; i < COUNT(families); i++)
        if (families[i].family == family) {
            selection->defaults |= families[i].states;
            if (families[i].tables != SS_TABLES_INET)
                selection->named |= families[i].tables;
        }
    selection->families |= FAMILY(family);
    selection->preferred = family;
    selection->chosen = true;
}

bool ss_select_family_named(struct ss_selection *selection, const char *name)
{
    for (size_t i = 0; i < COUNT(families); i++)
        if (strcmp(families[i].name, name) == 0) {
            ss_select_family(selection, families[i].family);
            return true;
        }
    return false;
}

#define ALL_TABLES (((UINT32_C(1) << SS_TABLES) - 1) & ~TABLE(SS_TIPC))

/* The tables that a word of -A names; 0: unknown word. */
static uint32_t tables_named(struct text name)
{
    static const struct {
        const char *name;
        uint32_t tables;
    } several[] = {
        {"all", ALL_TABLES},          {"inet", SS_TABLES_INET},   {"unix", SS_TABLES_UNIX},
        {"packet", SS_TABLES_PACKET}, {"vsock", SS_TABLES_VSOCK},
    };

    for (size_t i = 0; i < COUNT(several); i++)
        if (text_is(name, several[i].name))
            return several[i].tables;
    for (size_t i = 0; i < SS_TABLES; i++)
        if (text_is(name, table_defaults[i].name) ||
            (table_defaults[i].other && text_is(name, table_defaults[i].other)))
            return TABLE(i);
    return 0;
}

const char ss_query_names[] =
    "all inet tcp mptcp udp raw unix unix_stream unix_dgram unix_seqpacket packet packet_raw "
    "packet_dgram netlink dccp sctp tipc vsock vsock_stream vsock_dgram xdp";

const char *ss_select_query(struct ss_selection *selection, const char *list)
{
    if (!selection->queried) {
        selection->tables = 0;
        selection->states = selection->states ? selection->states : CONNECTED;
        selection->queried = selection->chosen = true;
    }
    for (struct text word; text_next(&list, ',', &word);) {
        const bool removed = *word.data == '!';
        const struct text name = {word.data + removed, word.length - removed};
        const uint32_t tables = tables_named(name);
        if (!tables)
            return word.data;
        /* Groups whose tables may be missing: their names mean all tables that exist. */
        const bool group =
            tables & (tables - 1) && tables != SS_TABLES_PACKET && tables != SS_TABLES_VSOCK;
        if (removed)
            selection->tables &= ~tables;
        else
            ss_selection_add_tables(selection, tables);
        if (!removed && !group)
            selection->named |= tables;
    }
    return NULL;
}

/* --- States ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint32_t states;
} states[] = {
    {"established", STATE(TCP_ESTABLISHED)},
    {"syn-sent", STATE(TCP_SYN_SENT)},
    {"syn-recv", STATE(TCP_SYN_RECV)},
    {"syn-rcv", STATE(TCP_SYN_RECV)},
    {"fin-wait-1", STATE(TCP_FIN_WAIT1)},
    {"fin-wait-2", STATE(TCP_FIN_WAIT2)},
    {"time-wait", STATE(TCP_TIME_WAIT)},
    {"unconnected", CLOSED},
    {"close", CLOSED},
    {"closed", CLOSED},
    {"close-wait", STATE(TCP_CLOSE_WAIT)},
    {"last-ack", STATE(TCP_LAST_ACK)},
    {"listening", STATE(TCP_LISTEN)},
    {"closing", STATE(TCP_CLOSING)},
    {"bound-inactive", STATE(STATE_BOUND_INACTIVE)},
    {"all", SS_STATES_ALL},
    {"connected", SS_STATES_ALL & ~(CLOSED | STATE(TCP_LISTEN))},
    {"synchronized", SS_STATES_ALL & ~(CLOSED | STATE(TCP_LISTEN) | STATE(TCP_SYN_SENT))},
    {"bucket", STATE(TCP_SYN_RECV) | STATE(TCP_TIME_WAIT)},
    {"big", SS_STATES_ALL & ~(STATE(TCP_SYN_RECV) | STATE(TCP_TIME_WAIT))},
};
const char ss_state_names[] =
    "established syn-sent syn-recv fin-wait-1 fin-wait-2 time-wait unconnected close-wait last-ack "
    "listening closing bound-inactive all connected synchronized bucket big";

const char ss_state_words[] = "state exclude excl";

/* The first `state` begins with no state, the first `exclude` with all states. */
bool ss_select_state_named(struct ss_selection *selection, const char *name, bool excluded)
{
    size_t i = 0;

    while (i < COUNT(states) && strcasecmp(states[i].name, name) != 0)
        i++;
    if (i == COUNT(states))
        return false;
    if (!selection->restricted)
        selection->states = excluded ? SS_STATES_ALL : 0;
    selection->restricted = true;
    if (excluded && states[i].states & STATE(TCP_SYN_RECV))
        selection->states &= ~HALF_OPEN;
    if (excluded)
        selection->states &= ~states[i].states;
    else
        selection->states |= states[i].states;
    return true;
}

/* --- Defaults --------------------------------------------------------------------------------- */

void ss_selection_complete(struct ss_selection *selection)
{
    if (!selection->chosen) {
        selection->states = selection->states ? selection->states : CONNECTED;
        ss_selection_add_tables(selection, ALL_TABLES);
    }
    /* if the options leave no state, the default states are listed, as in ss */
    if (!selection->states)
        selection->states = selection->defaults;
    if (selection->states & HALF_OPEN) /* as ss does, although ss(8) says otherwise */
        selection->states |= STATE(TCP_SYN_RECV);
    /* Adds the families of a table of which no family is selected; then the tables of a family of
     * which no table is selected. */
    for (size_t i = 0; i < SS_TABLES; i++)
        if (selection->tables >> i & 1 && !(table_defaults[i].families & selection->families))
            selection->families |= table_defaults[i].families;
    for (size_t i = 0; i < COUNT(families); i++)
        if (selection->families & FAMILY(families[i].family) &&
            !(families[i].tables & selection->tables))
            selection->tables |= families[i].tables;
}
