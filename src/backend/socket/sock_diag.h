/* SPDX-License-Identifier: MIT */
/* Parts that the files of sock_diag(7) share: sock_diag.c uses the file of the table's family. */
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

/* A table of sockets, named like its file. More members of struct table may follow. */
#define SOCKET_TABLE(of_file, of_family, of_protocol, ...)                                         \
    {                                                                                              \
        .name = (of_file), .file = (of_file), .kind = &kind_socket, .family = (of_family),         \
        .protocol = (of_protocol), __VA_ARGS__                                                     \
    }

/* Adds the message that a row was decoded from, if it is needed. The record borrows it. */
static inline void sock_diag_bring_message(const struct query *query,
                                           const struct nlmsghdr *message, struct record *record)
{
    if (!(query->needs & SOCKET_MESSAGE))
        return;
    record->socket.message = (struct text){(const char *)message, message->nlmsg_len};
    record->has |= SOCKET_MESSAGE;
}

/* Returns the states that a wanted socket can have, as bits 1 << TCP_*. */
uint32_t sock_diag_states(const struct query *query);

/* Describes the states in a request. */
void sock_diag_explain_states(uint32_t states, struct explanation *explanation);

/* A bit of a request, which is set if one of `fields` is needed. */
struct diag_show {
    uint64_t fields;
    uint32_t bit;
};

/* A family with its own table, which one request lists. */
struct diag_family {
    const struct table *table;
    const char *missing; /* remedy if the kernel lacks the family's module */
    /* The request: a struct sock_diag_req, then 32-bit numbers. */
    uint8_t size;               /* at most DIAG_REQUEST_MAX */
    uint8_t protocol;           /* sdiag_protocol */
    uint8_t states_at, show_at; /* offsets of states, and of bits from `shows`; 0: absent */
    struct diag_show shows[8];  /* ends with an element without fields */
    /* The answer's messages: a header, which begins with the family, then attributes. */
    uint8_t header; /* size of the header; 0: no header */
    struct targets targets;
    uint64_t always; /* fields of every row */
    /* Decodes the header; NULL: no header. */
    void (*begin)(const void *header, struct record *record);
    /* Checks a complete row. Returns 0, -EBADMSG or DIAG_NO_ROW. NULL: all rows are good. */
    int (*finish)(struct record *record);
    /* Reports after a dump which rows the kernel does not list; NULL: it lists all rows. */
    void (*report_gaps)(const struct query *query);
};

enum { DIAG_REQUEST_MAX = 32, DIAG_NO_ROW = 1 };

extern const struct diag_family unix_diag, packet_diag, netlink_diag, vsock_diag, xdp_diag,
    tipc_diag;

/* Fills the record from one message of a dump. Skips attributes that are unknown or have an unknown
 * length. Returns 0; -EBADMSG if the message is too short, has another family, or its attributes do
 * not end where the message ends; DIAG_NO_ROW if it has no socket. The record borrows texts from
 * the message. */
int diag_decode(const struct diag_family *family, const struct nlmsghdr *message,
                struct record *record);

/* Sets the inode and the identity of a row, which is the message's cookie. */
static inline void diag_identify(struct record *record, const uint32_t cookie[2], uint32_t inode)
{
    record->identity = (uint64_t)cookie[1] << 32 | cookie[0];
    record->socket.inode = inode;
}

/* Reads number `which`, one of SK_MEMINFO_* (linux/sock_diag.h); false if the kernel did not send
 * it. */
static inline bool diag_memory(struct text memory, size_t which, uint32_t *number)
{
    if (memory.length < (which + 1) * sizeof *number)
        return false;
    memcpy(number, memory.data + which * sizeof *number, sizeof *number);
    return true;
}

/* Takes the memory of a socket in which only received bytes wait, and no bytes to send. */
static inline bool diag_take_received(struct text content, void *member)
{
    struct socket_record *sock = member;

    sock->memory = content;
    return diag_memory(content, SK_MEMINFO_RMEM_ALLOC, &sock->recv_q);
}

/* Corrects the state of TCP sockets that are only bound: dumps show these, and no others, as
 * closed. */
static inline void diag_mark_bound(struct socket_record *sock)
{
    if (sock->state == TCP_CLOSE && sock->protocol == IPPROTO_TCP)
        sock->state = STATE_BOUND_INACTIVE;
}

/* --- Fields that each table can have ---------------------------------------------------------- */

/* IP: fields in the header of a message; other fields come in attributes. */
#define FIELDS_OF_HEADER                                                                           \
    (SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES | SOCKET_UID | SOCKET_INODE | SOCKET_TIMER |  \
     SOCKET_TIMER_COUNT | SOCKET_INTERFACE | SOCKET_COOKIE)
/* IP: fields of every protocol. */
#define FIELDS_IP                                                                                  \
    (FIELDS_OF_HEADER | SOCKET_MEMORY | SOCKET_DROPS | SOCKET_CGROUP | SOCKET_SHUTDOWN |           \
     SOCKET_STORAGES | SOCKET_TOS | SOCKET_TCLASS | SOCKET_CLASS_ID | SOCKET_MARK |                \
     SOCKET_V6ONLY | SOCKET_OPTIONS | SOCKET_MESSAGE)
/* FIELDS_STREAM: for protocols with connections. FIELDS_COUNTED: counted by TCP, 0 in UDP and
 * raw. */
#define FIELDS_STREAM  (FIELDS_IP | SOCKET_CONGESTION)
#define FIELDS_COUNTED SOCKET_RETRANSMITS
#define FIELDS_TCP                                                                                 \
    (FIELDS_STREAM | FIELDS_COUNTED | SOCKET_BACKLOG | SOCKET_TCP_INFO | SOCKET_TCP_BASICS |       \
     SOCKET_BYTES | SOCKET_CC_INFO | SOCKET_MD5 | SOCKET_ULP)
#define FIELDS_MPTCP (FIELDS_STREAM | SOCKET_BACKLOG | SOCKET_MPTCP_INFO)
#define FIELDS_SCTP  (FIELDS_STREAM | SOCKET_SCTP_INFO | SOCKET_LOCALS | SOCKET_PEERS)
#define FIELDS_OTHER (FIELDS_IP | FIELDS_COUNTED)

/* Other families: ALWAYS_* are fields of every row, FIELDS_* all fields. */
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

/* For tables of IP: like the members of struct backend. The remedy is for a missing module. */
int inet_diag_dump(const struct query *query, record_fn fn, void *arg);
/* Requests sockets by id, at most SOCKETS_AT_ONCE; the table has their protocol and no family. */
int inet_diag_ask(const struct query *query, const struct socket_id ids[], size_t count,
                  record_fn fn, void *arg);
/* Requests unix sockets by id, at most SOCKETS_AT_ONCE. */
int unix_diag_ask(const struct query *query, const struct socket_id ids[], size_t count,
                  record_fn fn, void *arg);
void inet_diag_explain(const struct query *query, struct explanation *explanation);
const char *inet_diag_remedy(const struct table *table);

/* Decodes a message about a destroyed socket. Returns 0 or -EBADMSG. */
int socket_event_decode(const struct nlmsghdr *message, struct record *record);

#endif
