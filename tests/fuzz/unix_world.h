/* SPDX-License-Identifier: MIT */
/*
 * The unix sockets of a machine, as an input describes them, and what the kernel says of them in
 * /proc/net/unix (net/unix/af_unix.c: unix_seq_show) and by unix_diag (net/unix/diag.c).
 */
#ifndef FUZZ_UNIX_WORLD_H
#define FUZZ_UNIX_WORLD_H

#include <stdbool.h>

#include "bytes.h"
#include "fastnet/record.h"

enum { WORLD_SOCKETS = 12, WORLD_WAITING = 3, WORLD_ROWS = WORLD_SOCKETS * (1 + WORLD_WAITING) };

struct world_name {
    char bytes[SOCKET_PATH_MAX]; /* as bound: an abstract one begins with NUL */
    size_t length;
};

struct world_socket {
    uint16_t type; /* SOCK_* */
    uint8_t state; /* TCP_* */
    uint32_t inode, refcount, uid, recv_q, send_q;
    uint64_t cookie, address;
    struct world_name name;
    bool gone;     /* it is in the file, but was closed before netlink was asked */
    bool new;      /* it was made after the file was read */
    bool repeated; /* netlink says it twice */
};

/* A connection that nobody has accepted. */
struct world_pending {
    const struct world_socket *listener; /* NULL: it waits for a place in a queue */
    uint16_t type;
    uint32_t refcount;
    uint64_t address;
};

/* A row of the file: one of both. */
struct world_row {
    const struct world_socket *socket;
    const struct world_pending *pending;
};

struct world {
    struct world_socket sockets[WORLD_SOCKETS];
    size_t socket_count;
    struct world_pending pending[WORLD_ROWS];
    size_t pending_count;
    struct world_row rows[WORLD_ROWS]; /* in the order of the file */
    size_t row_count;
    bool newlines; /* a name has one */
    bool reversed; /* netlink has another order */
};

struct world_kind {
    bool changes;      /* some sockets are gone or new */
    bool no_addresses; /* all are 0 (kptr_restrict) */
    bool reversed;
};

/* Makes one from the input. */
void world_make(struct world *world, struct bytes *bytes, struct world_kind kind);

enum { WORLD_FILE_MAX = WORLD_ROWS * 256, WORLD_ANSWER_MAX = WORLD_SOCKETS * 2 * 256 };

/* The file; returns its length. */
size_t world_show(const struct world *world, char file[WORLD_FILE_MAX]);

/*
 * Whether a name of a socket that has gone holds a line that can be read as a row of this socket:
 * its inode, type and name are right.
 */
bool world_forges(const struct world *world, const struct world_socket *socket);

/*
 * The answer to a request with this sequence number and these attributes (UDIAG_SHOW_*), each
 * datagram behind two bytes of its length (datagrams.h); returns its length.
 */
size_t world_tell(const struct world *world, uint32_t sequence, uint32_t show,
                  uint8_t answer[WORLD_ANSWER_MAX]);

#endif
