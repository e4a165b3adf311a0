/* SPDX-License-Identifier: MIT */
/* Sockets of virtual machines by vsock_diag. Sources: linux/vm_sockets_diag.h,
 * net/vmw_vsock/diag.c. */
#include "backend/socket/sock_diag.h"

#include <linux/vm_sockets_diag.h>
#include <sys/socket.h>

/* There is no file of them. */
const struct table table_vsock = {
    .name = "vsock", .kind = &kind_socket, .family = AF_VSOCK, .protocol = PROTOCOL_VSOCK};

static void vsock_begin(const void *of_message, struct record *record)
{
    const struct vsock_diag_msg *header = of_message;
    struct socket_record *sock = &record->socket;

    diag_identify(record, header->vdiag_cookie, header->vdiag_ino);
    sock->state = header->vdiag_state;
    sock->type = header->vdiag_type;
    sock->shutdown = header->vdiag_shutdown;
    sock->cid = header->vdiag_src_cid;
    sock->vsock_port = header->vdiag_src_port;
    sock->peer_cid = header->vdiag_dst_cid;
    sock->peer_port = header->vdiag_dst_port;
}

const struct diag_family vsock_diag = {
    .table = &table_vsock,
    .missing = "the kernel lacks the module vsock_diag",
    .size = sizeof(struct vsock_diag_req),
    .states_at = offsetof(struct vsock_diag_req, vdiag_states),
    .header = sizeof(struct vsock_diag_msg),
    .always = ALWAYS_VSOCK,
    .begin = vsock_begin,
};
