/* SPDX-License-Identifier: MIT */
/* Unix sockets by unix_diag. Sources: linux/unix_diag.h, net/unix/diag.c. */
#include "backend/socket/sock_diag.h"

#include <errno.h>
#include <linux/net.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "backend/netlink/attributes.h"
#include "fastnet/report.h"

const struct table table_unix = SOCKET_TABLE("unix", AF_UNIX, 0);

/* A path comes with its terminating NUL; an abstract name begins with a NUL. */
static bool unix_diag_take_name(struct text content, void *member)
{
    if (content.length && content.data[0] && !content.data[content.length - 1])
        content.length--;
    *(struct text *)member = content;
    return true;
}

static bool take_queues(struct text content, void *member)
{
    struct socket_record *sock = member;
    struct unix_diag_rqlen queues;

    if (!attribute_bytes(content, &queues, sizeof queues))
        return false;
    sock->recv_q = queues.udiag_rqueue;
    sock->send_q = queues.udiag_wqueue;
    return true;
}

static bool unix_diag_take_file(struct text content, void *member)
{
    struct socket_record *sock = member;
    struct unix_diag_vfs file;

    if (!attribute_bytes(content, &file, sizeof file))
        return false;
    sock->file_inode = file.udiag_vfs_ino;
    sock->file_device = file.udiag_vfs_dev;
    return true;
}

static const struct target targets[] = {
    [UNIX_DIAG_NAME] = TAKE_BY(unix_diag_take_name, socket.path, 0),
    [UNIX_DIAG_VFS] = TAKE_BY(unix_diag_take_file, socket, SOCKET_VFS),
    [UNIX_DIAG_PEER] = TAKE(socket.peer, 0),
    [UNIX_DIAG_ICONS] = TAKE_BYTES(socket.waiting, SOCKET_ICONS),
    [UNIX_DIAG_RQLEN] = TAKE_BY(take_queues, socket, SOCKET_QUEUES),
    [UNIX_DIAG_MEMINFO] = TAKE_BYTES(socket.memory, SOCKET_MEMORY | SOCKET_DROPS),
    [UNIX_DIAG_SHUTDOWN] = TAKE(socket.shutdown, SOCKET_SHUTDOWN),
    [UNIX_DIAG_UID] = TAKE(socket.uid, SOCKET_UID),
};

static void unix_diag_begin(const void *of_message, struct record *record)
{
    const struct unix_diag_msg *header = of_message;
    struct socket_record *sock = &record->socket;

    diag_identify(record, header->udiag_cookie, header->udiag_ino);
    sock->state = header->udiag_state;
    sock->type = header->udiag_type;
    sock->flags = sock->state == TCP_LISTEN ? UNIX_ACCEPTCON : 0;
    sock->unix_state = sock->state == TCP_ESTABLISHED ? SS_CONNECTED : SS_UNCONNECTED;
}

static int unix_diag_finish(struct record *record)
{
    return record->socket.path.length > SOCKET_PATH_MAX ? -EBADMSG : 0;
}

static void report_gaps(const struct query *query)
{
    if (query->needs & SOCKET_PENDING)
        report_loss(query->report, "unix: connections that are not accepted yet are missing, "
                                   "because netlink does not list them");
}

const struct diag_family unix_diag = {
    .table = &table_unix,
    .missing = "the kernel lacks the module unix_diag",
    .size = sizeof(struct unix_diag_req),
    .states_at = offsetof(struct unix_diag_req, udiag_states),
    .show_at = offsetof(struct unix_diag_req, udiag_show),
    .shows = {{SOCKET_PATH, UDIAG_SHOW_NAME},
              {SOCKET_VFS, UDIAG_SHOW_VFS},
              {SOCKET_PEER, UDIAG_SHOW_PEER},
              {SOCKET_ICONS, UDIAG_SHOW_ICONS},
              {SOCKET_QUEUES, UDIAG_SHOW_RQLEN},
              {SOCKET_MEMORY | SOCKET_DROPS, UDIAG_SHOW_MEMINFO},
              {SOCKET_UID, UDIAG_SHOW_UID}},
    .header = sizeof(struct unix_diag_msg),
    .targets = TARGETS(targets),
    .always = ALWAYS_UNIX, /* if a socket has no name or no peer, the attribute is left out */
    .begin = unix_diag_begin,
    .finish = unix_diag_finish,
    .report_gaps = report_gaps,
};
