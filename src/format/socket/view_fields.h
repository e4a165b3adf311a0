/* SPDX-License-Identifier: MIT */
/* Views of a socket: several of its fields put into one text, for people. */
#ifndef FORMAT_SOCKET_VIEW_FIELDS_H
#define FORMAT_SOCKET_VIEW_FIELDS_H

#include "fastnet/field.h"

/* Bits of the record that they show if they are there. */
#define VIEW_LOCAL (SOCKET_ADDRESSES | SOCKET_INTERFACE | SOCKET_PATH)
#define VIEW_QUEUE                                                                                 \
    (SOCKET_BACKLOG | SOCKET_MEMORY | SOCKET_TIMER | SOCKET_RETRANSMITS | SOCKET_PROBES |          \
     SOCKET_TCP_INFO)
#define VIEW_ACTIVITY (SOCKET_TIMER | SOCKET_TCP_INFO)

struct value view_owners(const struct cell *cell); /* nginx ×4, cat; field->index: of which end */
struct value view_whose(const struct cell *cell);  /* the same, or nginx.service */
struct value view_protocol(const struct cell *cell); /* tcp */
struct value view_local(const struct cell *cell);    /* 192.0.2.1:443 */
struct value view_remote(const struct cell *cell);   /* ... or * for any */
struct value view_resent(const struct cell *cell);   /* packets that were sent again */
struct value view_activity(const struct cell *cell); /* idle 12s */

/* The name of an IPPROTO_* or PROTOCOL_*, or NULL. */
const char *socket_protocol_name(uint64_t protocol);

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
struct value view_attention(const struct cell *cell);

/* Seconds since data was sent or received. */
struct value view_idle(const struct cell *cell);

/* For VIEW_BY(): 6/5, 1.2M/2.5M, >12.5. */
char *write_recv(char *dst, const struct value *view, bool human);
char *write_send(char *dst, const struct value *view, bool human);
char *write_lived(char *dst, const struct value *view, bool human);

#endif
