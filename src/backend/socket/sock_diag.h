/* SPDX-License-Identifier: MIT */
/* What the files of sock_diag(7) share: sock_diag.c asks that of the table's family. */
#ifndef BACKEND_SOCKET_SOCK_DIAG_H
#define BACKEND_SOCKET_SOCK_DIAG_H

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>

#include "backend/netlink/attributes.h"
#include "fastnet/query.h"
#include "fastnet/socket_watch.h"

struct nlmsghdr;

/* A table of sockets, by the name of its file. Further members of struct table may follow. */
#define SOCKET_TABLE(of_file, of_family, of_protocol, ...)                                         \
    {                                                                                              \
        .name = (of_file), .file = (of_file), .kind = &kind_socket, .family = (of_family),         \
        .protocol = (of_protocol), __VA_ARGS__                                                     \
    }

/* Adds the message that a row was decoded from, if it is needed; it is borrowed. */
static inline void sock_diag_bring_message(const struct query *query,
                                           const struct nlmsghdr *message, struct record *record)
{
    if (!(query->needs & SOCKET_MESSAGE))
        return;
    record->socket.message = (struct text){(const char *)message, message->nlmsg_len};
    record->has |= SOCKET_MESSAGE;
}

/* The states in which a socket could be wanted, one bit (1 << TCP_*) each. */
uint32_t sock_diag_states(const struct query *query);

/* Describes such states of a request. */
void sock_diag_explain_states(uint32_t states, struct explanation *explanation);

/* A family with a table of its own, which one request lists. */
struct diag_family {
    const struct table *table;
    const char *missing; /* the kernel lacks its module */
    /* Writes the request behind its header, at most DIAG_REQUEST_MAX bytes; returns its size. */
    size_t (*put_request)(const struct query *query, void *body);
    size_t states_at; /* where in it the wanted states are (uint32_t); 0: they are not part of it */
    /* Fills the record from a message. Returns 0, -EBADMSG, or DIAG_NO_ROW. */
    int (*decode)(const struct nlmsghdr *message, struct record *record);
    /* Reports after a dump which rows it cannot have; NULL: all are there. */
    void (*report_gaps)(const struct query *query);
};

enum { DIAG_REQUEST_MAX = 32, DIAG_NO_ROW = 1 };

extern const struct diag_family unix_diag, packet_diag, netlink_diag, vsock_diag, xdp_diag,
    tipc_diag;

/* A bit of a request, and fields for which it must be set: one of them is enough. */
struct diag_show {
    uint64_t fields;
    uint32_t bit;
};

/* The bits that the needs of a query make. */
uint32_t sock_diag_show(const struct query *query, const struct diag_show *shows, size_t count);

/* A cookie as messages have it, as the identity of a record. */
static inline uint64_t diag_cookie(const uint32_t cookie[2])
{
    return (uint64_t)cookie[1] << 32 | cookie[0];
}

/* One number of SK_MEMINFO_* (linux/sock_diag.h); false if the kernel did not send it. */
static inline bool diag_memory(struct text memory, size_t which, uint32_t *number)
{
    if (memory.length < (which + 1) * sizeof *number)
        return false;
    memcpy(number, memory.data + which * sizeof *number, sizeof *number);
    return true;
}

/* Takes the memory of sockets that keep nothing to send: only what came in waits in them. */
static inline bool diag_take_received(struct text content, void *member)
{
    struct socket_record *sock = member;

    sock->memory = content;
    return diag_memory(content, SK_MEMINFO_RMEM_ALLOC, &sock->recv_q);
}

/* Begins a row of a table with one protocol, whose sockets have no state unless one is set. */
static inline void diag_begin(struct record *record, const struct table *table,
                              const uint32_t cookie[2], uint32_t inode)
{
    record_begin(record, &kind_socket, sizeof record->socket);
    record->identity = diag_cookie(cookie);
    record->socket.family = table->family;
    record->socket.protocol = table->protocol;
    record->socket.state = TCP_CLOSE;
    record->socket.inode = inode;
}

/* In a dump, TCP sockets that are only bound are said to be closed, and no others are. */
static inline void diag_tell_bound(struct socket_record *sock)
{
    if (sock->state == TCP_CLOSE && sock->protocol == IPPROTO_TCP)
        sock->state = STATE_BOUND_INACTIVE;
}

/* --- Fields that each table can have ---------------------------------------------------------- */

/* IP: in the header of a message; the rest comes in attributes. */
#define FIELDS_OF_HEADER                                                                           \
    (SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES | SOCKET_UID | SOCKET_INODE | SOCKET_TIMER |  \
     SOCKET_TIMER_COUNT | SOCKET_INTERFACE | SOCKET_COOKIE)
/* Of every protocol. */
#define FIELDS_IP                                                                                  \
    (FIELDS_OF_HEADER | SOCKET_MEMORY | SOCKET_CGROUP | SOCKET_SHUTDOWN | SOCKET_STORAGES |        \
     SOCKET_TOS | SOCKET_TCLASS | SOCKET_CLASS_ID | SOCKET_MARK | SOCKET_V6ONLY | SOCKET_OPTIONS | \
     SOCKET_MESSAGE)
/* Of those that may have connections, and of those that TCP counts or that cannot be counted. */
#define FIELDS_STREAM  (FIELDS_IP | SOCKET_CONGESTION)
#define FIELDS_COUNTED (SOCKET_RETRANSMITS | SOCKET_PROBES)
#define FIELDS_TCP                                                                                 \
    (FIELDS_STREAM | FIELDS_COUNTED | SOCKET_BACKLOG | SOCKET_TCP_INFO | SOCKET_BYTES |            \
     SOCKET_CC_INFO | SOCKET_MD5 | SOCKET_ULP)
#define FIELDS_MPTCP (FIELDS_STREAM | SOCKET_BACKLOG | SOCKET_MPTCP_INFO)
#define FIELDS_SCTP  (FIELDS_STREAM | SOCKET_SCTP_INFO | SOCKET_LOCALS | SOCKET_PEERS)
#define FIELDS_OTHER (FIELDS_IP | FIELDS_COUNTED)

/* Other families: what every row has, and all. */
#define ALWAYS_UNIX                                                                                \
    (SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE | SOCKET_COOKIE | SOCKET_UNIX_FLAGS | SOCKET_PATH | \
     SOCKET_PEER)
#define FIELDS_UNIX                                                                                \
    (ALWAYS_UNIX | SOCKET_QUEUES | SOCKET_UID | SOCKET_VFS | SOCKET_ICONS | SOCKET_MEMORY |        \
     SOCKET_SHUTDOWN)
#define ALWAYS_PACKET (SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE | SOCKET_COOKIE | SOCKET_ETHER)
#define FIELDS_PACKET                                                                              \
    (ALWAYS_PACKET | SOCKET_INTERFACE | SOCKET_PACKET | SOCKET_RX_RING | SOCKET_TX_RING |          \
     SOCKET_FANOUT | SOCKET_UID | SOCKET_QUEUES | SOCKET_MEMORY | SOCKET_FILTER)
#define ALWAYS_NETLINK                                                                             \
    (SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE | SOCKET_COOKIE | SOCKET_NETLINK |                  \
     SOCKET_DESTINATION | SOCKET_GROUPS)
#define FIELDS_NETLINK (ALWAYS_NETLINK | SOCKET_QUEUES | SOCKET_MEMORY)
#define ALWAYS_VSOCK                                                                               \
    (SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE | SOCKET_COOKIE | SOCKET_VSOCK | SOCKET_SHUTDOWN)
#define ALWAYS_XDP (SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE | SOCKET_COOKIE)
#define FIELDS_XDP                                                                                 \
    (ALWAYS_XDP | SOCKET_INTERFACE | SOCKET_QUEUE_ID | SOCKET_UID | SOCKET_RX_RING |               \
     SOCKET_TX_RING | SOCKET_UMEM | SOCKET_FILL_RING | SOCKET_COMPLETION_RING | SOCKET_QUEUES |    \
     SOCKET_MEMORY | SOCKET_XDP_STATS)
#define FIELDS_TIPC                                                                                \
    (SOCKET_STATE | SOCKET_INODE | SOCKET_UID | SOCKET_TYPE | SOCKET_COOKIE | SOCKET_QUEUES |      \
     SOCKET_TIPC)

/* For tables of IP: as members of struct backend; the remedy is one for a module that is missing.
 */
int inet_diag_dump(const struct query *query, record_fn fn, void *arg);
/* The sockets of these ids, at most SOCKETS_AT_ONCE; the table is of their protocol and no family.
 */
int inet_diag_ask(const struct query *query, const struct socket_id *const ids[], size_t count,
                  record_fn fn, void *arg);
/* The same for unix sockets. */
int unix_diag_ask(const struct query *query, const struct socket_id *const ids[], size_t count,
                  record_fn fn, void *arg);
void inet_diag_explain(const struct query *query, struct explanation *explanation);
const char *inet_diag_remedy(const struct table *table);

/* A message about a socket that is destroyed. Returns 0 or -EBADMSG. */
int socket_event_decode(const struct nlmsghdr *message, struct record *record);

#endif
