/* SPDX-License-Identifier: MIT */
/* Declarations for all files of ss' layout: a row that is being written, and its parts. */
#ifndef FORMAT_SOCKET_LAYOUT_SS_H
#define FORMAT_SOCKET_LAYOUT_SS_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

#include "fastnet/layouts.h"
#include "text/put.h"

/* An address is two columns: host with delimiter, aligned at the right, and port. */
enum ss_column {
    SS_NETID,
    SS_STATE,
    SS_RECV_Q,
    SS_SEND_Q,
    SS_LOCAL,
    SS_LOCAL_PORT,
    SS_PEER,
    SS_PEER_PORT,
    SS_PROCESS,
    SS_DETAILS, /* without a heading; begins on the row's line and may have more lines */
    SS_COLUMNS
};

struct ss_row;

/* Writes a column, or a part of the details. */
typedef char *ss_part(char *dst, struct ss_row *row);

/* How sockets of a family (AF_*) are shown. */
struct ss_family {
    /* Writes an end (the local end or the peer): its host with delimiter, or its port. */
    char *(*put)(char *dst, const struct ss_row *row, bool peer, bool port);
    ss_part *details; /* writes the details that options ask for; NULL: no details */
    bool unconnected; /* sockets have at most a default receiver, no connection */
    const char *netids[SOCK_SEQPACKET + 1]; /* by type; [0]: other types; NULL: by protocol */
};

/* A family that the table lacks is shown as IPv4. */
const struct ss_family *ss_family_of(const struct record *record);

struct ss_row {
    const struct ss_layout *layout;
    const struct context *context;
    const struct record *record;
    const struct ss_family *family;
    struct writer *writer;
    bool association;   /* an SCTP association, shown below its endpoint */
    bool kept;          /* cells are kept until the widths are known */
    char *room;         /* start of the reserved room */
    char *cell;         /* start of the cell's bytes that are not committed */
    size_t committed;   /* bytes of the cell that are committed */
    size_t extra_in_ss; /* how many more bytes the row of ss has */
};

/* Room that is reserved at the start of each part of the details. */
enum { SS_ROOM = 4096 };

/* Returns how many bytes of the cell are written. */
static inline size_t ss_written_length(const struct ss_row *row, const char *dst)
{
    return row->committed + (size_t)(dst - row->cell);
}

/* Returns dst with at least `size` bytes of room; may commit the bytes before it. */
static inline char *ss_room(struct ss_row *row, char *dst, size_t size)
{
    if ((size_t)(dst - row->room) <= WRITER_RESERVE_MAX - size)
        return dst;
    writer_commit(row->writer, dst);
    row->committed += (size_t)(dst - row->cell);
    return row->room = row->cell = writer_reserve(row->writer, WRITER_RESERVE_MAX);
}

/* Makes room for the next part, or for the next element of a list. */
static inline char *ss_more(struct ss_row *row, char *dst)
{
    return ss_room(row, dst, SS_ROOM);
}

/* Whether all these fields are known. */
static inline bool ss_has(const struct ss_row *row, uint64_t fields)
{
    return !(fields & ~row->record->has);
}

/* Starts another line, without spaces at the end of the last; with -O only writes a space. */
static inline char *ss_break(struct ss_row *row, char *dst)
{
    if (row->layout->one_line)
        return PUT(dst, " ");
    const char *const end = dst;
    while (dst > row->room && dst[-1] == ' ')
        dst--;
    row->extra_in_ss += (size_t)(end - dst);
    if (dst < row->cell)
        row->cell = dst;
    return PUT(dst, "\n\t");
}

/* Whether sock_diag sent the row: it has a cookie, or is SCTP, which is not read from /proc. */
static inline bool ss_is_by_netlink(const struct ss_row *row)
{
    return ss_has(row, SOCKET_COOKIE) || row->record->socket.protocol == IPPROTO_SCTP;
}

/* Returns how often the timer has fired without an answer from the peer, as /proc reports it. */
static inline uint32_t ss_file_count(const struct socket_record *sock)
{
    return sock->timer == TIMER_RETRANSMIT ? sock->retransmits : sock->probes;
}

/* Returns the protocol that a raw socket is bound to; like ss, 0 for rows from /proc. */
static inline uint16_t ss_protocol(const struct ss_row *row)
{
    const struct socket_record *sock = &row->record->socket;

    if (sock->protocol != IPPROTO_RAW)
        return sock->protocol;
    return ss_is_by_netlink(row) ? sock->local.port : 0;
}

/* Each of these writes a column. ss_put_process() needs SS_ROOM. */
ss_part ss_put_netid, ss_put_state, ss_put_process;

/* Functions for the table of struct ss_family that other files define; each needs SS_ROOM. */
char *ss_put_tipc_end(char *dst, const struct ss_row *row, bool peer, bool port);
ss_part ss_put_inet, ss_put_unix, ss_put_netlink, ss_put_packet, ss_put_xdp, ss_put_tipc;

/* --- Parts of the details --------------------------------------------------------------------- */

/* The path of a socket's cgroup; NULL: unknown. */
const char *ss_cgroup_path(const struct context *context, const struct record *record);
/* -e: fields that most families have. */
ss_part ss_put_extended;
/* -m: memory of the socket. */
char *ss_put_memory(char *dst, const struct ss_row *row);
/* -i: numbers of tcp_info, mptcp_info or sctp_info; the second: of a line of /proc/net/tcp. */
char *ss_put_info(char *dst, const struct ss_row *row);
char *ss_put_file_info(char *dst, const struct ss_row *row);
ss_part ss_put_md5_keys, ss_put_ulp, ss_put_sctp_addresses, ss_put_storages;

/* Returns an upper bound for the text of these storages, without values that are shown in hex. */
size_t ss_storages_bound(const struct ss_layout *layout, struct text storages);

/* Returns the name of a state (enum sctp_state of the kernel's linux/sctp.h). */
const char *ss_sctp_state(uint32_t state);

#endif
