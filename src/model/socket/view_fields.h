/* SPDX-License-Identifier: MIT */
/* Views of a socket: several of its fields put into one text, for people. */
#ifndef MODEL_SOCKET_VIEW_FIELDS_H
#define MODEL_SOCKET_VIEW_FIELDS_H

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "fastnet/field.h"

/* Bits of the record that they show if they are there. */
#define VIEW_LOCAL (SOCKET_ADDRESSES | SOCKET_INTERFACE | SOCKET_PATH)
#define VIEW_QUEUE                                                                                 \
    (SOCKET_BACKLOG | SOCKET_MEMORY | SOCKET_DROPS | SOCKET_TIMER | SOCKET_RETRANSMITS |           \
     SOCKET_TCP_INFO)
#define VIEW_ACTIVITY (SOCKET_TIMER | SOCKET_TCP_INFO)

/* Whether what the kernel says it has to send is its backlog. UDP and raw sockets do not listen. */
static inline bool socket_listens(const struct socket_record *sock)
{
    return sock->state == TCP_LISTEN && sock->protocol != IPPROTO_UDP &&
           sock->protocol != IPPROTO_UDPLITE && sock->protocol != IPPROTO_RAW;
}

field_fn view_owners;        /* nginx ×4, cat; field->index: of which end */
field_fn view_whose;         /* the same, or nginx.service */
field_fn view_protocol;      /* tcp */
field_fn view_local;         /* 192.0.2.1:443 */
field_fn view_remote;        /* ... or * for any */
field_fn view_retransmitted; /* packets that were sent again */
field_fn view_activity;      /* idle 12s */

/* The name of an IPPROTO_* or PROTOCOL_*, or NULL. */
word_fn socket_protocol_name;

/* Why people should look at it: bits, in the order of their names. */
enum {
    REASON_ACCEPT_QUEUE = 1, /* connections are refused, because the program does not accept them */
    REASON_RECEIVE_BUFFER = 2,
    REASON_SEND_BUFFER = 4,
    REASON_ACKNOWLEDGEMENT = 8, /* the peer acknowledges nothing */
    REASON_WINDOW = 16,         /* the peer takes no more, because its program does not read */
    REASON_DROPS = 32,
};
extern const struct flag_names view_reasons;
field_fn view_attention;

/* Seconds since data was sent or received. */
field_fn view_idle;

/* For VIEW_BY(): 6/5, 1.2M/2.5M, >12.5. */
view_fn write_recv, write_send, write_lived;

#endif
