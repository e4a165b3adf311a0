/* SPDX-License-Identifier: MIT */
/* Which tables, families and states an ss listing shows: the rules of iproute2's ss. */
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

/* All states, one bit (1 << TCP_*) each. */
#define SS_STATES_ALL UINT32_C(0x3fff)

/* Zeroed to start with; then options in their order, states, and ss_selection_complete(). */
struct ss_selection {
    uint32_t tables;   /* bits 1 << enum ss_table */
    uint32_t named;    /* tables that were asked for by their own names */
    uint64_t families; /* bits 1 << AF_* */
    uint32_t states;   /* bits 1 << TCP_*: what -a, -l, -B and `state` choose; 0: by the tables */
    uint32_t defaults; /* the states that the tables and families have by themselves */
    uint8_t preferred; /* the family that was named last: that of addresses in the filter */
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

/* A table or a family by an option of its own. */
void ss_select_table(struct ss_selection *selection, enum ss_table table);
void ss_select_family(struct ss_selection *selection, uint8_t family);

/* A name of -f; returns false if there is no such family. */
bool ss_select_family_named(struct ss_selection *selection, const char *name);

/* A list of -A. Returns NULL, or the word in it that is wrong (up to a comma). */
const char *ss_select_query(struct ss_selection *selection, const char *list);

/* A state of `state` or, negated, of `exclude`, in any case of letters. False: no such state. */
bool ss_select_state_named(struct ss_selection *selection, const char *name, bool excluded);

/* The words that a state follows, and the names of states: separated by blanks. */
extern const char ss_state_words[];
extern const char ss_state_names[], ss_query_names[], ss_family_names[];

/* Types of sockets, bits 1 << SOCK_*, of tables that differ only in them. */
uint64_t ss_types(uint32_t tables);

/* Fills in defaults. */
void ss_selection_complete(struct ss_selection *selection);

#endif
