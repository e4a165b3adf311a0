/* SPDX-License-Identifier: MIT */
/* Views of a socket: several of its fields in one text, for people. */
#ifndef MODEL_SOCKET_VIEW_FIELDS_H
#define MODEL_SOCKET_VIEW_FIELDS_H

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "fastnet/field.h"

/* Presence bits that a view shows if they are set. */
#define VIEW_LOCAL (SOCKET_ADDRESSES | SOCKET_INTERFACE | SOCKET_PATH)
#define VIEW_QUEUE                                                                                 \
    (SOCKET_BACKLOG | SOCKET_MEMORY | SOCKET_DROPS | SOCKET_TIMER | SOCKET_RETRANSMITS |           \
     SOCKET_TCP_INFO)
#define VIEW_ACTIVITY (SOCKET_TIMER | SOCKET_TCP_INFO)

/* Whether send_q is the backlog, because the socket listens. UDP and raw sockets do not listen. */
static inline bool socket_listens(const struct socket_record *sock)
{
    return sock->state == TCP_LISTEN && sock->protocol != IPPROTO_UDP &&
           sock->protocol != IPPROTO_UDPLITE && sock->protocol != IPPROTO_RAW;
}

field_fn view_owners;        /* such as "nginx ×4, cat"; field->index: the end */
field_fn view_whose;         /* as view_owners, or "nginx.service" */
field_fn view_protocol;      /* tcp */
field_fn view_local;         /* 192.0.2.1:443 */
field_fn view_remote;        /* as view_local, "*" for any address */
field_fn view_retransmitted; /* retransmitted packets */
field_fn view_activity;      /* idle 12s */

/* The name of an IPPROTO_* or PROTOCOL_*, or NULL. */
word_fn socket_protocol_name;

/* Reasons why a row needs attention: bits, in the order of their names. */
enum {
    REASON_ACCEPT_QUEUE =
        1, /* connections are refused, because the program does not call accept(2) often enough */
    REASON_RECEIVE_BUFFER = 2,
    REASON_SEND_BUFFER = 4,
    REASON_ACKNOWLEDGEMENT = 8, /* the peer acknowledges nothing */
    REASON_WINDOW = 16,         /* the peer's window is closed, because its program does not read */
    REASON_DROPS = 32,          /* packets are dropped now */
    ANY_REASON = 63,
};
extern const struct flag_names view_reasons;
field_fn view_attention;

/* Seconds since data was last sent or received. */
field_fn view_idle;

/* For VIEW_BY(): 6/5, 1.2M/2.5M, >12.5. */
view_fn write_recv, write_send, write_lived;

#endif
