/* SPDX-License-Identifier: MIT */
/* TIPC sockets by tipc_diag. A message has no header: its attribute TIPC_NLA_SOCK contains all
 * other attributes. Sources: linux/tipc_sockets_diag.h, linux/tipc_netlink.h, net/tipc/diag.c and
 * tipc_sk_fill_sock_diag() of net/tipc/socket.c. */
#include "backend/socket/sock_diag.h"

#include <linux/tipc_netlink.h>
#include <linux/tipc_sockets_diag.h>
#include <sys/socket.h>

/* /proc has no file of TIPC sockets. */
const struct table table_tipc = {
    .name = "tipc", .kind = &kind_socket, .family = AF_TIPC, .protocol = PROTOCOL_TIPC};

/* The numbers of messages that wait to be read, and to be sent. */
static const struct target queues[] = {
    [TIPC_NLA_SOCK_STAT_RCVQ] = TAKE(socket.recv_q, SOCKET_QUEUES),
    [TIPC_NLA_SOCK_STAT_SENDQ] = TAKE(socket.send_q, SOCKET_QUEUES),
};

static const struct target members[] = {
    [TIPC_NLA_SOCK_STAT] = TAKE_NEST(queues),
    [TIPC_NLA_SOCK_TYPE] = TAKE_U32(socket.type, SOCKET_TYPE),
    [TIPC_NLA_SOCK_INO] = TAKE_U32(socket.inode, SOCKET_INODE),
    [TIPC_NLA_SOCK_UID] = TAKE(socket.uid, SOCKET_UID),
    /* TIPC's states have the numbers of TCP's states (enum in net/tipc/socket.c) */
    [TIPC_NLA_SOCK_TIPC_STATE] = TAKE_U32(socket.state, SOCKET_STATE),
    [TIPC_NLA_SOCK_COOKIE] = TAKE(identity, SOCKET_COOKIE),
};

static bool tipc_take_socket(struct decoding *decoding, struct attributes nested, void *member)
{
    *(struct text *)member = (struct text){nested.at, (size_t)nested.left};
    attributes_decode(decoding, nested, (struct targets)TARGETS(members));
    return true;
}

static const struct target targets[] = {
    [TIPC_NLA_SOCK] = TAKE_NEST_BY(tipc_take_socket, socket.tipc, SOCKET_TIPC),
};

/* For a socket in a state that was not requested, the kernel sends a message without attributes. */
static int tipc_finish(struct record *record)
{
    return (record->has & SOCKET_TIPC) ? 0 : DIAG_NO_ROW;
}

const struct diag_family tipc_diag = {
    .table = &table_tipc,
    .missing = "the kernel lacks the module tipc_diag",
    .size = sizeof(struct tipc_sock_diag_req),
    .states_at = offsetof(struct tipc_sock_diag_req, tidiag_states),
    .targets = TARGETS(targets),
    .finish = tipc_finish,
};
