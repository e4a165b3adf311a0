/* SPDX-License-Identifier: MIT */
/* Shared by the files of ss' layout: a row that is being written, and its parts. */
#ifndef FORMAT_SOCKET_LAYOUT_SS_H
#define FORMAT_SOCKET_LAYOUT_SS_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

#include "fastnet/layouts.h"
#include "text/put.h"

/* An address is two columns: up to its delimiter it stands at the right, the port at the left. */
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
    /* Writes one end: the local one or the peer's, up to its delimiter or what stands behind it. */
    char *(*put)(char *dst, const struct ss_row *row, bool peer, bool port);
    ss_part *details;                       /* what options show; NULL: nothing */
    bool unconnected;                       /* they are connected at most to a default receiver */
    const char *netids[SOCK_SEQPACKET + 1]; /* by type; 0: of other types; NULL: by protocol */
};

/* A family without a row of its own is shown as IPv4. */
const struct ss_family *ss_family_of(const struct record *record);

struct ss_row {
    const struct ss_layout *layout;
    const struct context *context;
    const struct record *record;
    const struct ss_family *family;
    struct writer *writer;
    bool association; /* of SCTP, which stands below its endpoint */
    bool kept;        /* cells are kept until the widths are known */
    char *room;       /* what was reserved begins here */
    char *cell;       /* the cell begins here, or goes on here */
    size_t before;    /* bytes of the cell that are written already */
    size_t cut;       /* bytes that ss writes besides: how many, less those that it does not */
};

/* The room that is reserved where a part of the details begins. */
enum { SS_ROOM = 4096 };

/* How much of the cell is written. */
static inline size_t ss_written_length(const struct ss_row *row, const char *dst)
{
    return row->before + (size_t)(dst - row->cell);
}

/* Returns dst, with at least so many bytes of room behind it: what was written may be kept first.
 */
static inline char *ss_room(struct ss_row *row, char *dst, size_t size)
{
    if ((size_t)(dst - row->room) <= WRITER_RESERVE_MAX - size)
        return dst;
    writer_commit(row->writer, dst);
    row->before += (size_t)(dst - row->cell);
    return row->room = row->cell = writer_reserve(row->writer, WRITER_RESERVE_MAX);
}

/* Reserves it for the next part, or for the next element of a list. */
static inline char *ss_more(struct ss_row *row, char *dst)
{
    return ss_room(row, dst, SS_ROOM);
}

/* True if all these fields are known. */
static inline bool ss_has(const struct ss_row *row, uint64_t fields)
{
    return !(fields & ~row->record->has);
}

/*
 * Begins another line, or with -O another token. Blanks at the end of the line before say nothing.
 */
static inline char *ss_break(struct ss_row *row, char *dst)
{
    if (row->layout->one_line)
        return PUT(dst, " ");
    const char *const behind = dst;
    while (dst > row->room && dst[-1] == ' ')
        dst--;
    row->cut += (size_t)(behind - dst);
    if (dst < row->cell)
        row->cell = dst;
    return PUT(dst, "\n\t");
}

/* True if sock_diag is its source. SCTP has no file; its associations have no cookie. */
static inline bool ss_is_by_netlink(const struct ss_row *row)
{
    return ss_has(row, SOCKET_COOKIE) || row->record->socket.protocol == IPPROTO_SCTP;
}

/* How often the timer has fired in vain, as /proc reports it. */
static inline uint32_t ss_file_count(const struct socket_record *sock)
{
    return sock->timer == TIMER_RETRANSMIT ? sock->retransmits : sock->probes;
}

/* The protocol that a raw socket is bound to: 0 if /proc is the source, as in ss. */
static inline uint16_t ss_protocol(const struct ss_row *row)
{
    const struct socket_record *sock = &row->record->socket;

    if (sock->protocol != IPPROTO_RAW)
        return sock->protocol;
    return ss_is_by_netlink(row) ? sock->local.port : 0;
}

/* Each writes one column; the last begins with SS_ROOM. */
ss_part ss_put_netid, ss_put_state, ss_put_process;

/* For struct ss_family, from other files than its table; they begin with SS_ROOM. */
char *ss_put_tipc_end(char *dst, const struct ss_row *row, bool peer, bool port);
ss_part ss_put_inet, ss_put_unix, ss_put_netlink, ss_put_packet, ss_put_xdp, ss_put_tipc;

/* --- Parts of the details --------------------------------------------------------------------- */

/* -e: fields of sockets of most families. */
ss_part ss_put_extended;
/* -m */
char *ss_put_memory(char *dst, const struct ss_row *row);
/* -i: the numbers of tcp_info, mptcp_info or sctp_info; and of a line of /proc/net/tcp. */
char *ss_put_info(char *dst, const struct ss_row *row);
char *ss_put_file_info(char *dst, const struct ss_row *row);
ss_part ss_put_md5_keys, ss_put_ulp, ss_put_sctp_addresses, ss_put_storages;

/* The most bytes that these storages take, except those that are shown as bytes. */
size_t ss_storages_bound(const struct ss_layout *layout, struct text storages);

/* The name of a state (enum sctp_state of the kernel's linux/sctp.h). */
const char *ss_sctp_state(uint32_t state);

#endif
