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
#include "fastnet/socket_tracker.h"

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

/* A bit of a request, and fields for which it must be set: one of them is enough. */
struct diag_show {
    uint64_t fields;
    uint32_t bit;
};

/* A family with a table of its own, which one request lists. */
struct diag_family {
    const struct table *table;
    const char *missing; /* the kernel lacks its module */
    /* The request: a struct sock_diag_req, and numbers of 32 bits behind it. */
    uint8_t size;               /* at most DIAG_REQUEST_MAX */
    uint8_t protocol;           /* sdiag_protocol */
    uint8_t states_at, show_at; /* offsets of the wanted states and of what to show; 0: no part */
    struct diag_show shows[8];  /* no field behind the last */
    /* A message of the answer: a header, which begins with the family, and attributes. */
    uint8_t header; /* its size; 0: there is none */
    struct targets targets;
    uint64_t always; /* fields of every row */
    /* Takes the header; NULL: there is none. */
    void (*begin)(const void *header, struct record *record);
    /* Judges a row that is complete. Returns 0, -EBADMSG or DIAG_NO_ROW. NULL: all are good. */
    int (*finish)(struct record *record);
    /* Reports after a dump which rows it cannot have; NULL: all are there. */
    void (*report_gaps)(const struct query *query);
};

enum { DIAG_REQUEST_MAX = 32, DIAG_NO_ROW = 1 };

extern const struct diag_family unix_diag, packet_diag, netlink_diag, vsock_diag, xdp_diag,
    tipc_diag;

/*
 * Fills the record from one message of a dump; unknown attributes and ones of unknown length are
 * skipped. Returns 0; -EBADMSG when the message is too short, of another family, or its attributes
 * do not end where it does; DIAG_NO_ROW for one that holds no socket. Texts are borrowed from it.
 */
int diag_decode(const struct diag_family *family, const struct nlmsghdr *message,
                struct record *record);

/* The cookie of a message is the identity of its row. */
static inline void diag_identify(struct record *record, const uint32_t cookie[2], uint32_t inode)
{
    record->identity = (uint64_t)cookie[1] << 32 | cookie[0];
    record->socket.inode = inode;
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
    (FIELDS_OF_HEADER | SOCKET_MEMORY | SOCKET_DROPS | SOCKET_CGROUP | SOCKET_SHUTDOWN |           \
     SOCKET_STORAGES | SOCKET_TOS | SOCKET_TCLASS | SOCKET_CLASS_ID | SOCKET_MARK |                \
     SOCKET_V6ONLY | SOCKET_OPTIONS | SOCKET_MESSAGE)
/* Of those that may have connections, and of those that TCP counts or that cannot be counted. */
#define FIELDS_STREAM  (FIELDS_IP | SOCKET_CONGESTION)
#define FIELDS_COUNTED SOCKET_RETRANSMITS
#define FIELDS_TCP                                                                                 \
    (FIELDS_STREAM | FIELDS_COUNTED | SOCKET_BACKLOG | SOCKET_TCP_INFO | SOCKET_TCP_BASICS |       \
     SOCKET_BYTES | SOCKET_CC_INFO | SOCKET_MD5 | SOCKET_ULP)
#define FIELDS_MPTCP (FIELDS_STREAM | SOCKET_BACKLOG | SOCKET_MPTCP_INFO)
#define FIELDS_SCTP  (FIELDS_STREAM | SOCKET_SCTP_INFO | SOCKET_LOCALS | SOCKET_PEERS)
#define FIELDS_OTHER (FIELDS_IP | FIELDS_COUNTED)

/* Other families: what every row has, and all. */
#define ALWAYS_UNIX                                                                                \
    (SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE | SOCKET_COOKIE | SOCKET_UNIX_FLAGS | SOCKET_PATH | \
     SOCKET_PEER)
#define FIELDS_UNIX                                                                                \
    (ALWAYS_UNIX | SOCKET_QUEUES | SOCKET_UID | SOCKET_VFS | SOCKET_ICONS | SOCKET_MEMORY |        \
     SOCKET_DROPS | SOCKET_SHUTDOWN)
#define ALWAYS_PACKET (SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE | SOCKET_COOKIE | SOCKET_ETHER)
#define FIELDS_PACKET                                                                              \
    (ALWAYS_PACKET | SOCKET_INTERFACE | SOCKET_PACKET | SOCKET_RX_RING | SOCKET_TX_RING |          \
     SOCKET_FANOUT | SOCKET_UID | SOCKET_QUEUES | SOCKET_MEMORY | SOCKET_DROPS | SOCKET_FILTER)
#define ALWAYS_NETLINK                                                                             \
    (SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE | SOCKET_COOKIE | SOCKET_NETLINK |                  \
     SOCKET_DESTINATION | SOCKET_GROUPS)
#define FIELDS_NETLINK (ALWAYS_NETLINK | SOCKET_QUEUES | SOCKET_MEMORY | SOCKET_DROPS)
#define ALWAYS_VSOCK                                                                               \
    (SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE | SOCKET_COOKIE | SOCKET_VSOCK | SOCKET_SHUTDOWN)
#define ALWAYS_XDP (SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE | SOCKET_COOKIE)
#define FIELDS_XDP                                                                                 \
    (ALWAYS_XDP | SOCKET_INTERFACE | SOCKET_QUEUE_ID | SOCKET_UID | SOCKET_RX_RING |               \
     SOCKET_TX_RING | SOCKET_UMEM | SOCKET_FILL_RING | SOCKET_COMPLETION_RING | SOCKET_QUEUES |    \
     SOCKET_MEMORY | SOCKET_DROPS | SOCKET_XDP_STATS)
#define FIELDS_TIPC                                                                                \
    (SOCKET_STATE | SOCKET_INODE | SOCKET_UID | SOCKET_TYPE | SOCKET_COOKIE | SOCKET_QUEUES |      \
     SOCKET_TIPC)

/* For tables of IP: as members of struct backend; the remedy is one for a module that is missing.
 */
int inet_diag_dump(const struct query *query, record_fn fn, void *arg);
/* The sockets of these ids, at most SOCKETS_AT_ONCE; the table is of their protocol and no family.
 */
int inet_diag_ask(const struct query *query, const struct socket_id ids[], size_t count,
                  record_fn fn, void *arg);
/* The same for unix sockets. */
int unix_diag_ask(const struct query *query, const struct socket_id ids[], size_t count,
                  record_fn fn, void *arg);
void inet_diag_explain(const struct query *query, struct explanation *explanation);
const char *inet_diag_remedy(const struct table *table);

/* A message about a socket that is destroyed. Returns 0 or -EBADMSG. */
int socket_event_decode(const struct nlmsghdr *message, struct record *record);

#endif
