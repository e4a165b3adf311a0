/* SPDX-License-Identifier: MIT */
/* Sockets that processes hold and that no table of the kernel lists: sockets that are not bound,
 * were reset by the peer and not closed, or belong to a family without a table. Only a descriptor
 * of a process shows that such a socket exists. */
#ifndef FASTNET_HELD_SOCKETS_H
#define FASTNET_HELD_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bpf_refusal;
struct owners;
struct predicate;
struct table;

/* The numbers that the BPF program of the kernel writes for each socket (socket_pass.h). */
struct pass_socket {
    uint64_t cookie, inode, cgroup;
    uint32_t netns; /* inode of the network namespace */
    uint32_t uid, mark, interface;
    /* A queue is the first number minus the second. For a TCP listener the four numbers are:
     * connections that wait to be accepted, 0, the limit for these, and half-open connections. */
    uint32_t received[2], sent[2];
    uint8_t local[16], remote[16]; /* IPv4: the first 4 bytes */
    uint16_t family, type, protocol;
    uint16_t local_port;  /* host byte order */
    uint16_t remote_port; /* network byte order */
    uint8_t state, shutdown, retransmits, probes, v6only, unused;
};

/* A held socket. pid, fd and socket.inode are always known. cookie, netns, family
 * (AF_UNSPEC) and type are 0 if unknown; `protocol` (sk_protocol of the kernel) is then
 * HELD_PROTOCOL_UNKNOWN. These bits of `has` say which other members are known: SOCKET_STATE,
 * SOCKET_ADDRESSES (both ends), SOCKET_UID, SOCKET_CGROUP, SOCKET_QUEUES, SOCKET_SHUTDOWN,
 * SOCKET_MARK, SOCKET_INTERFACE, SOCKET_RETRANSMITS, SOCKET_V6ONLY (record/socket.h). */
enum { HELD_PROTOCOL_UNKNOWN = UINT16_MAX };
struct held_socket {
    struct pass_socket socket;
    uint64_t has;
    pid_t pid;  /* a process that holds it */
    int fd;     /* the descriptor in that process; -1: unknown, or only io_uring(7) holds it */
    bool found; /* a table that was asked for it lists it */
};

/* For sockets of which only pid, fd and inode are known: asks for the rest, as far as the user may
 * know it, and fills it in. All `has` are 0 before the call. A socket that its process no longer
 * holds gets inode 0. proc_root: the directory with the processes. Returns 0 or -errno; -errno of
 * single sockets are no errors: the numbers stay unknown. */
int held_sockets_ask(struct held_socket *sockets, size_t count, const char *proc_root);

/* Held sockets that may be in no table, each once. They are found by BPF or, if that cannot be
 * used, among the descriptors of owners. */
struct held_sockets;
struct held_sockets *held_sockets_create(void); /* NULL: memory is short */
void held_sockets_destroy(struct held_sockets *held);
/* Loads the BPF program. Returns 0, or -errno with the refusal, which every later call returns,
 * too. Needs the rights of socket_pass_create(). */
int held_sockets_load(struct held_sockets *held, struct bpf_refusal *refusal);

/* How to find them. */
struct held_query {
    struct held_sockets *sockets;
    bool by_bpf; /* the program is loaded */
    /* Without BPF their descriptors are the sockets. With BPF only processes are read that hold a
     * socket which the listing does not have; NULL: all processes. */
    struct owners *owners;
    /* Whether the listing has the socket with this inode already, or cannot want it. */
    bool (*is_listed)(const void *arg, uint64_t inode);
    const void *arg;
    bool others; /* also list held sockets of tables that the listing does not have */
};
/* Reads the held sockets of all network namespaces, and drops those of earlier calls. Returns 0, or
 * -errno: then there are no sockets. */
int held_sockets_read(const struct held_query *query, const char *proc_root);

/* Returns the sockets that held_sockets_read() found last, borrowed. */
const struct held_socket *held_sockets_all(const struct held_sockets *held, size_t *count);

/* True if a row of table_unlisted may pass the filter. others: as in struct held_query. */
bool held_sockets_may_pass(const struct predicate *where, bool others);

/* Where a held socket belongs that no table of the listing had. */
enum held_place {
    HELD_NOWHERE,   /* no table lists it */
    HELD_ELSEWHERE, /* a table lists it now: it is new */
    HELD_SOMEWHERE, /* nobody knows, because its family or state is unknown */
    HELD_IN_TABLE,  /* *table may have it, if the kernel can list that table */
};
enum held_place held_socket_place(const struct held_socket *held, const struct table **table);

#endif
