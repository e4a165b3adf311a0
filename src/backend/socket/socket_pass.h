/* SPDX-License-Identifier: MIT */
/* Parts of the pass over all sockets (fastnet/socket_pass.h) that tests call, too. */
#ifndef BACKEND_SOCKET_SOCKET_PASS_H
#define BACKEND_SOCKET_SOCKET_PASS_H

#include "fastnet/held_sockets.h"
#include "fastnet/kernel_types.h"
#include "fastnet/query.h"
#include "fastnet/socket_pass.h"
#include <linux/bpf.h>

/* Kernel types and members that the program reads: its context, and structs it has pointers to. */
struct pass_layout {
    uint32_t function;                     /* number of the type of bpf_iter_task_file */
    struct kernel_member meta, file;       /* parameters in the context */
    struct kernel_member seq;              /* struct bpf_iter_meta: seq */
    struct kernel_member inode, number;    /* struct file: f_inode; struct inode: i_ino */
    struct kernel_member sock;             /* struct socket: sk */
    struct kernel_member net, netns;       /* struct sock: its network; struct net: inum */
    struct kernel_member cgroup, node, id; /* in struct sock, cgroup and kernfs_node */
    /* More members of struct sock; addresses of IPv6 have 16 bytes. */
    struct kernel_member family, type, protocol, state, shutdown, v6only;
    struct kernel_member uid, mark, interface, local_port, remote_port;
    struct kernel_member local, remote, local6, remote6;
    struct kernel_member received, sent, waiting, backlog;
    struct kernel_member deficit; /* struct udp_sock: forward_deficit */
    /* Members of struct tcp_sock. */
    struct kernel_member received_next, copied, written, acknowledged, retransmits, probes;
    struct kernel_member half_open;
};

/* Returns 0, or -ENOTSUP: the kernel lacks the iterator, or has other types. */
int pass_layout_init(struct pass_layout *layout, const struct btf *btf);

enum { PASS_PROGRAM_MAX = 192 };

/* The program writes a struct pass_socket for each descriptor that is a socket. For families other
 * than IP and SMC it leaves out addresses and queues. unlisted: it leaves out sockets that are
 * certainly in a table of IP or unix. Returns the number of instructions. */
size_t pass_program_make(const struct pass_layout *layout, bool unlisted,
                         struct bpf_insn program[PASS_PROGRAM_MAX]);

/* Returns the table that the socket is a row of; NULL: it is no row of the pass. */
const struct table *held_socket_table(const struct pass_socket *held);

/* Fills the record of a socket for which held_socket_table() returns a table. */
void held_socket_decode(const struct pass_socket *held, struct record *record);

/* Fills the record of a held socket that no table has. */
void held_socket_row(const struct held_socket *held, struct record *record);

/* Makes a pass without a program, for socket_pass_take(). Returns NULL if memory is short. */
struct socket_pass *socket_pass_create_empty(void);

/* Takes bytes that the program wrote. They may be cut anywhere; the next call continues. Returns 0
 * or -ENOMEM. */
int socket_pass_take(struct socket_pass *pass, const char *bytes, size_t length);

/* Ends the first reading: bytes that follow belong to the second reading. */
void socket_pass_halve(struct socket_pass *pass);

/* The kernel's counts of sockets in a namespace: /proc/net/sockstat and sockstat6. */
enum { PASS_TABLES = 8 };
struct socket_numbers {
    uint32_t netns;
    unsigned found;               /* how many numbers of TCP were found */
    unsigned complete;            /* bits: tables where both readings found all in_use[] sockets */
    unsigned half_open;           /* bits: tables with half-open connections, which have no row */
    uint64_t in_use[PASS_TABLES]; /* tcp, tcp6, udp, udp6, udplite, udplite6, raw, raw6 */
    uint64_t time_wait;           /* IPv4 and IPv6 together */
    uint64_t used;                /* sockets of all families */
};

/* Adds the numbers of one namespace. Returns 0 or -ENOMEM. */
int socket_pass_count_as(struct socket_pass *pass, const struct socket_numbers *numbers);

/* Returns the sockets as the program wrote them, a socket for each descriptor. */
const struct pass_socket *socket_pass_written(const struct socket_pass *pass, size_t *count);

/* Call it after the last bytes. Sorts the sockets that both readings found, without repeats, and
 * compares their counts with those of socket_pass_count_as(). Returns 0, -ENOMEM, or -EIO if a
 * socket is cut. On failure the pass has no sockets. */
int socket_pass_settle(struct socket_pass *pass);

/* True if the pass found all TCP sockets of the namespace that are only bound. */
bool socket_pass_has_all_bound(const struct socket_pass *pass, uint32_t netns);

/* Like dump() of the backend. It also lists tables of which the pass did not find all sockets. */
int socket_pass_list(const struct query *query, record_fn fn, void *arg);

#endif
