/* SPDX-License-Identifier: MIT */
/* Sockets of virtual machines by vsock_diag. Sources: linux/vm_sockets_diag.h,
 * net/vmw_vsock/diag.c. */
#include "backend/socket/decode.h"

#include <errno.h>
#include <linux/vm_sockets_diag.h>
#include <sys/socket.h>

#include "backend/socket/sock_diag.h"

/* There is no file of them. */
const struct table table_vsock = {
    .name = "vsock", .kind = &kind_socket, .family = AF_VSOCK, .protocol = PROTOCOL_VSOCK};

int sock_diag_decode_vsock(const struct nlmsghdr *message, struct record *record)
{
    struct socket_record *sock = &record->socket;
    struct decoding decoding = {.object = record};
    struct attributes attributes;
    const struct vsock_diag_msg *header = message_header(message, sizeof *header, &attributes);

    if (!header || header->vdiag_family != AF_VSOCK)
        return -EBADMSG;
    diag_begin(record, &table_vsock, header->vdiag_cookie, header->vdiag_ino);
    sock->state = header->vdiag_state;
    sock->type = header->vdiag_type;
    sock->shutdown = header->vdiag_shutdown;
    sock->cid = header->vdiag_src_cid;
    sock->vsock_port = header->vdiag_src_port;
    sock->peer_cid = header->vdiag_dst_cid;
    sock->peer_port = header->vdiag_dst_port;
    attributes_decode(&decoding, attributes, (struct targets){.count = 0}); /* checks them only */
    record->has = ALWAYS_VSOCK;
    return decoding.malformed ? -EBADMSG : 0;
}

static size_t put_request(const struct query *query, void *body)
{
    *(struct vsock_diag_req *)body =
        (struct vsock_diag_req){.sdiag_family = AF_VSOCK, .vdiag_states = sock_diag_states(query)};
    return sizeof(struct vsock_diag_req);
}

const struct diag_family vsock_diag = {
    .table = &table_vsock,
    .missing = "the kernel lacks vsock_diag",
    .put_request = put_request,
    .states_at = offsetof(struct vsock_diag_req, vdiag_states),
    .decode = sock_diag_decode_vsock,
};
