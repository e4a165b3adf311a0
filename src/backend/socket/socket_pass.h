/* SPDX-License-Identifier: MIT */
/* Parts of the pass over all sockets (fastnet/socket_pass.h), which tests call, too. */
#ifndef BACKEND_SOCKET_SOCKET_PASS_H
#define BACKEND_SOCKET_SOCKET_PASS_H

#include "fastnet/hosts.h"
#include "fastnet/kernel_types.h"
#include "fastnet/query.h"
#include "fastnet/socket_pass.h"
#include <linux/bpf.h>

/* What the program writes of each socket. */
struct pass_socket {
    uint64_t cookie, inode, cgroup;
    uint32_t netns; /* inode of its network namespace */
    uint32_t uid, mark, interface;
    /* Queues: the second of each is subtracted from the first. Of a listener of TCP: those that
     * wait to be accepted, 0, the most that may wait, and the half-open ones. */
    uint32_t received[2], sent[2];
    uint8_t local[16], remote[16]; /* of IPv4 the first 4 bytes */
    uint16_t family, type, protocol;
    uint16_t local_port;  /* host byte order */
    uint16_t remote_port; /* network byte order */
    uint8_t state, shutdown, retransmits, probes, v6only, unused;
};

/* The members that the program reads: of its context, and of structs that it points to. */
struct pass_layout {
    uint32_t function;                     /* bpf_iter_task_file: the number of its type */
    struct kernel_member meta, file;       /* its parameters */
    struct kernel_member seq;              /* of struct bpf_iter_meta */
    struct kernel_member inode, number;    /* of struct file: f_inode; of struct inode: i_ino */
    struct kernel_member sock;             /* of struct socket: sk */
    struct kernel_member net, netns;       /* of struct sock: its network; of struct net: inum */
    struct kernel_member cgroup, node, id; /* of struct sock, cgroup, kernfs_node */
    /* The rest of struct sock; of 16 bytes each address of IPv6. */
    struct kernel_member family, type, protocol, state, shutdown, v6only;
    struct kernel_member uid, mark, interface, local_port, remote_port;
    struct kernel_member local, remote, local6, remote6;
    struct kernel_member received, sent, waiting, backlog;
    struct kernel_member deficit; /* of struct udp_sock */
    /* Of struct tcp_sock. */
    struct kernel_member received_next, copied, written, acknowledged, retransmits, probes;
    struct kernel_member half_open;
};

/* Returns 0, or -ENOTSUP: the kernel has no such iterator, or other types. */
int pass_layout_init(struct pass_layout *layout, const struct btf *btf);

enum { PASS_PROGRAM_MAX = 160 };

/*
 * For each descriptor that is a socket, the program writes a struct pass_socket; of families other
 * than IP's and SMC's it has no more than what the kernel counts. Returns the number of
 * instructions.
 */
size_t pass_program_make(const struct pass_layout *layout,
                         struct bpf_insn program[PASS_PROGRAM_MAX]);

/* The table that the socket is a row of; NULL if it is none that the pass has. */
const struct table *held_socket_table(const struct pass_socket *held);

/* Fills the record of a socket that is a row. */
void held_socket_decode(const struct pass_socket *held, struct record *record);

/* A pass without a program, whose sockets come from somewhere else; NULL when memory is short. */
struct socket_pass *socket_pass_create_empty(void);

/*
 * Takes what the program wrote. The bytes may be cut anywhere; the rest comes with the next call.
 * Returns 0 or -ENOMEM.
 */
int socket_pass_take(struct socket_pass *pass, const char *bytes, size_t length);

/* Ends the first reading: the bytes that follow are those of the second. */
void socket_pass_halve(struct socket_pass *pass);

/* How many sockets a namespace has by the counts of the kernel: /proc/net/sockstat and sockstat6.
 */
enum { PASS_TABLES = 8 };
struct socket_numbers {
    uint32_t netns;
    unsigned found;               /* numbers of TCP */
    unsigned complete;            /* bits: tables of which both readings found as many */
    uint64_t in_use[PASS_TABLES]; /* tcp, tcp6, udp, udp6, udplite, udplite6, raw, raw6 */
    uint64_t time_wait;           /* of both families */
    uint64_t used;                /* sockets of all families */
};

/* The numbers of one more namespace. Returns 0 or -ENOMEM. */
int socket_pass_count_as(struct socket_pass *pass, const struct socket_numbers *numbers);

/*
 * Called behind the last bytes: brings the sockets that both readings found in order, without
 * repeats, and compares them with the numbers. Returns 0, -ENOMEM, or -EIO if a socket is cut. On
 * failure there are no sockets.
 */
int socket_pass_settle(struct socket_pass *pass);

/* True if those that were found are all TCP sockets of the namespace that are only bound. */
bool socket_pass_has_all_bound(const struct socket_pass *pass, uint32_t netns);

/* As dump() of the backend, but also where the kernel has sockets that the pass did not find. */
int socket_pass_list(const struct query *query, record_fn fn, void *arg);

#endif
