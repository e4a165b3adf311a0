/* SPDX-License-Identifier: MIT */
/* The BPF programs that note queries of DNS and their answers, and the notes that they write. */
#ifndef PROBES_DNS_PROGRAM_H
#define PROBES_DNS_PROGRAM_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/connects_program.h"

/* The queries of one socket to one server: of a socket without a peer, those with one id. */
struct dns_note {
    uint64_t inode;   /* inode of the socket; 0: the note is free, or is written just now */
    uint64_t begun;   /* CLOCK_MONOTONIC, ns: first query since the last answer */
    uint64_t sent_at; /* time of the last query */
    uint64_t sent, received;
    uint64_t failed;      /* calls that returned an error: see `error` */
    uint64_t timed, slow; /* answers whose time is known; slower than DNS_SLOW */
    uint64_t time;        /* sum of these times, nanoseconds */
    uint32_t pid, uid;    /* process that sent first; pid 0: unknown, or a kernel thread */
    uint32_t netns;       /* inode of its network namespace; 0: unknown */
    uint32_t error;       /* the last errno */
    uint32_t id;          /* the id of the query in network byte order, plus 1; 0: any */
    uint8_t family;
    uint8_t waiting;  /* a query was sent since the last answer */
    uint16_t lengths; /* all lengths of sent datagrams, combined by OR: see dns_note_is_query() */
    uint8_t server[16];
    char name[CONNECT_NAME];
};

/* A query waits this long for its answer, 2^33 ns or 8.6 s. Later its note may be replaced. */
enum { DNS_WAIT_SHIFT = 33 };

/* The value of the map. */
enum { DNS_NOTES = 2048, DNS_NOTE_SHIFT = 7, DNS_LAST = 32768, DNS_SOCKETS = 8192 };
struct dns_notes {
    uint8_t sockets[DNS_SOCKETS]; /* by inode: DNS_ASKED and DNS_UNREAD */
    struct dns_note notes[DNS_NOTES];
    uint16_t last[DNS_LAST]; /* by inode and id: the last note with both */
};
/* The socket sent a query; and received without a peer, with a call whose buffer is not known. */
enum { DNS_ASKED = 1, DNS_UNREAD = 2 };
/* For hashes: an odd number with bits all over (2^29 divided by the golden ratio). */
enum { DNS_SPREAD = 0x13c6ef37 };
_Static_assert(sizeof(struct dns_note) == 1 << DNS_NOTE_SHIFT, "the program computes offsets");

/* Lengths of a query: at least a header and a question of 5 bytes; much longer datagrams are those
 * of a tunnel. Powers of 2, because a note has the lengths combined by OR. */
enum { DNS_SERVER_PORT = 53, DNS_QUERY_LEAST = 16, DNS_QUERY_LIMIT = 512 };
#define DNS_SLOW 1000000000 /* nanoseconds */

/* Kernel types and members that the programs read. */
struct dns_layout {
    struct connect_layout connect;
    /* The way from struct sock to the number of its inode. A socket of the kernel has no file. */
    struct kernel_member socket, file, inode, number;
    /* struct pt_regs: number of the system call, two arguments */
    struct kernel_member call, second, fifth;
    bool has_calls; /* the members above are set */
    /* Device (as the kernel writes it) and inode of the pid namespace whose pids are noted; inode
     * 0: the first pid namespace. The caller sets both. */
    uint64_t pid_device, pid_inode;
};

/* Returns 0, or -ENOTSUP: the kernel lacks the tracepoints, or has other types. */
int dns_layout_init(struct dns_layout *layout, const struct btf *btf);

enum { DNS_PROGRAM_MAX = 320 };

/* Make the programs for sends and for receives. netns: inode of the network namespace whose queries
 * are noted; 0: all. map: descriptor of a map with one value, a struct dns_notes. Return the number
 * of instructions. */
size_t dns_send_program_make(const struct dns_layout *layout, uint64_t netns, int map,
                             struct bpf_insn program[DNS_PROGRAM_MAX]);
size_t dns_receive_program_make(const struct dns_layout *layout, uint64_t netns, int map,
                                struct bpf_insn program[DNS_PROGRAM_MAX]);

/* Parts of send_program_make(), so that the kernel loads and attaches one program instead of two.
 * The first stores the result of the call; context: register with the parameters of the tracepoint.
 * Loses register 2. The second notes a query; register 7 is a UDP socket. has_slot: register 6
 * points to its struct send_slot, whose process the note gets; else it gets the process that runs,
 * and register 6 is lost. */
void dns_put_result(struct assembly *to, unsigned context);
void dns_put_query(struct assembly *to, const struct dns_layout *layout, int map, bool has_slot);

/* Returns whether the datagrams of the note may be queries: a datagram is long enough, and no
 * datagram is too long. */
bool dns_note_is_query(const struct dns_note *note);

/* Returns whether note number i waits, but its answer may be counted elsewhere: another note has
 * replaced it as the last with its hash, or the same query went to another server within 0.9 s, so
 * that the first answer ends both. */
bool dns_note_has_answer_elsewhere(const struct dns_notes *notes, size_t i);

#endif
