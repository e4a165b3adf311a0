/* SPDX-License-Identifier: MIT */
/* The tables, families and states that an ss listing shows, by the rules of iproute2's ss. */
#ifndef CLI_SS_SS_SELECTION_H
#define CLI_SS_SS_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

/* The tables that -A names, in the order of the output. */
enum ss_table {
    SS_NETLINK,
    SS_PACKET_RAW,
    SS_PACKET_DGRAM,
    SS_UNIX_STREAM,
    SS_UNIX_DGRAM,
    SS_UNIX_SEQPACKET,
    SS_RAW,
    SS_UDP,
    SS_TCP,
    SS_DCCP,
    SS_SCTP,
    SS_VSOCK_STREAM,
    SS_VSOCK_DGRAM,
    SS_TIPC,
    SS_XDP,
    SS_MPTCP,
    SS_TABLES,
};

enum {
    SS_TABLES_PACKET = 1 << SS_PACKET_RAW | 1 << SS_PACKET_DGRAM,
    SS_TABLES_UNIX = 1 << SS_UNIX_STREAM | 1 << SS_UNIX_DGRAM | 1 << SS_UNIX_SEQPACKET,
    SS_TABLES_VSOCK = 1 << SS_VSOCK_STREAM | 1 << SS_VSOCK_DGRAM,
    SS_TABLES_INET =
        1 << SS_RAW | 1 << SS_UDP | 1 << SS_TCP | 1 << SS_DCCP | 1 << SS_SCTP | 1 << SS_MPTCP,
};

/* All states, as bits 1 << TCP_*. */
#define SS_STATES_ALL UINT32_C(0x3fff)

/* Set it to zeroes. Apply options in their order, then states; call ss_selection_complete(). */
struct ss_selection {
    uint32_t tables;   /* bits 1 << enum ss_table */
    uint32_t named;    /* tables that options named one by one */
    uint64_t families; /* bits 1 << AF_* */
    uint32_t states;   /* bits 1 << TCP_*, chosen by -a, -l, -B and `state`; 0: the tables decide */
    uint32_t defaults; /* default states of the tables and families */
    uint8_t preferred; /* the family that was named last: the family of addresses in the filter */
    bool chosen;       /* a table or a family was named */
    bool queried;      /* -A was given */
    bool restricted;   /* `state` or `exclude` was given */
};

static inline uint64_t ss_family(uint8_t family)
{
    return UINT64_C(1) << family;
}

static inline bool ss_selects(const struct ss_selection *selection, uint32_t tables)
{
    return selection->tables & tables;
}

/* Select a table or a family that has its own option. */
void ss_select_table(struct ss_selection *selection, enum ss_table table);
void ss_select_family(struct ss_selection *selection, uint8_t family);

/* Selects a family by its name for -f. Returns false if the name is unknown. */
bool ss_select_family_named(struct ss_selection *selection, const char *name);

/* Handles a list of -A. Returns NULL, or the unknown word in it (which ends at a comma). */
const char *ss_select_query(struct ss_selection *selection, const char *list);

/* Handles a state of `state` or `exclude`; case does not matter. Returns false if it is unknown. */
bool ss_select_state_named(struct ss_selection *selection, const char *name, bool excluded);

/* Words, separated by spaces: those before a state; then names of states, tables and families. */
extern const char ss_state_words[];
extern const char ss_state_names[], ss_query_names[], ss_family_names[];

/* Returns bits 1 << SOCK_*: the types of sockets in tables that differ only by their types. */
uint64_t ss_types(uint32_t tables);

/* Sets defaults where options chose nothing. */
void ss_selection_complete(struct ss_selection *selection);

#endif
