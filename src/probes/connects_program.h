/* SPDX-License-Identifier: MIT */
/* The BPF programs that note who connects and who sends first, and the notes that they write. */
#ifndef PROBES_CONNECTS_PROGRAM_H
#define PROBES_CONNECTS_PROGRAM_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/bpf_assembly.h"
#include "fastnet/connects.h"
#include "probes/connects_layout.h"

/* The note about a socket cookie; zeroes mean unknown. */
struct connect_note {
    uint64_t time, connected, ended; /* CLOCK_MONOTONIC, nanoseconds */
    uint64_t cgroup;
    uint64_t cookie; /* only with an event */
    uint32_t pid, uid;
    uint32_t error;
    uint32_t end_error; /* sk_err at the end */
    uint16_t family;
    uint16_t port; /* the peer's port; network byte order, like the addresses */
    uint8_t v4[4];
    uint8_t accepted, failed;
    uint8_t closed;   /* the application closed the socket before it was established */
    uint8_t given_up; /* the application closed the socket, and no error had arrived */
    /* Members of struct connect_end. */
    uint8_t old_state, received_reset, reset_state;
    uint16_t reset_reason; /* number of the kernel, plus 1 */
    uint16_t event;        /* enum connect_event, of the last event in the ring */
    uint8_t local_v4[4], local_v6[16];
    uint8_t v6[16];
    char name[CONNECT_NAME];
    uint64_t local_port; /* network byte order; only with an event */
    uint64_t happened;   /* CLOCK_MONOTONIC, nanoseconds; only with an event */
};

/* Where programs put a copy of the note at each event: descriptors of a ring buffer, and of a map
 * with a number of 64 bits that counts lost events. ring -1: nowhere. */
struct connect_ring {
    int ring, lost;
};

enum { CONNECT_PROGRAM_MAX = 384 };

/* netns: inode of the network namespace whose connections are noted; 0: all. map: descriptor of a
 * hash map from cookies to struct connect_note. Returns the number of instructions. */
size_t connect_program_make(const struct connect_layout *layout, uint64_t netns, int map,
                            const struct connect_ring *events,
                            struct bpf_insn program[CONNECT_PROGRAM_MAX]);

/* The note of a socket that sent, in an array of SEND_SLOTS (a power of 2): the lowest bits of the
 * cookie are the index. A hash map that drops old keys would take 900 ns for each new key. The
 * members for IPv4 are in the first 64 bytes, so that the program needs one line of the cache. */
struct send_slot {
    uint64_t cookie; /* 0: the slot is free, or is written just now */
    uint64_t time, cgroup;
    uint32_t pid, uid; /* pid 0: nobody wrote uid, cgroup and name */
    char name[CONNECT_NAME];
    uint16_t family, port; /* port and addresses: as in struct connect_note */
    uint16_t local_port;   /* host byte order */
    uint16_t unused;
    uint8_t v4[4], local_v4[4];
    uint8_t v6[16], local_v6[16]; /* only written for IPv6 */
    uint64_t unused_too[4];
};
enum { SEND_PROGRAM_MAX = 448, SEND_SLOTS = 32768, SEND_SLOT_SHIFT = 7 };
_Static_assert(sizeof(struct send_slot) == 1 << SEND_SLOT_SHIFT, "the program computes offsets");
_Static_assert(offsetof(struct send_slot, v6) == 64, "IPv4 needs one line of the cache");

/* What send_program_make() needs to note queries of DNS, too (dns_program.h). */
struct query_part {
    const struct dns_layout *layout;
    int map; /* descriptor of a map with one value, a struct dns_notes */
};

/* Makes the program that notes the first send of each UDP socket; layout->sends must not be 0.
 * slots: descriptor of a map with one value, the array. queries: NULL if they are not noted. netns
 * and the result: as connect_program_make(). */
size_t send_program_make(const struct connect_layout *layout, uint64_t netns, int slots,
                         const struct query_part *queries,
                         struct bpf_insn program[SEND_PROGRAM_MAX]);

/* Begins to note sends as connects_begin(), and queries of DNS with the same program. Returns
 * whether queries are noted. Does nothing if `connects` has begun, or is NULL. The caller has
 * checked the rights (owners_check_bpf()). */
bool connects_begin_queries(struct connects *connects, uint64_t netns,
                            const struct query_part *queries);

/* Ends the program if the socket in register 7 is not in this network namespace. netns: as
 * connect_program_make(). Loses registers 1 and 2. */
void connects_put_netns(struct assembly *to, const struct connect_layout *layout, uint64_t netns);

/* Where connects_put_process() stores the process: the register with the address of the note, and
 * offsets of members. */
struct process_place {
    unsigned in;
    int pid, uid, cgroup, name;
};
#define PROCESS_AT(in, type, at)                                                                   \
    {                                                                                              \
        in, (at) + (int)offsetof(type, pid), (at) + (int)offsetof(type, uid),                      \
            (at) + (int)offsetof(type, cgroup), (at) + (int)offsetof(type, name)                   \
    }

/* Appends instructions that note the process, unless it is a kernel thread (NFS, more subflows of
 * MPTCP), because such a thread holds no socket. Overwrites register 6. The name is that of the
 * process's first thread, as in /proc/PID/comm: other threads may have other names. */
void connects_put_process(struct assembly *to, const struct connect_layout *layout,
                          const struct process_place *place);

/* A reset of this network namespace that answers a packet without a connection. It is kept until
 * the sender of the packet, if it is in the same network namespace, receives the reset. The key has
 * the ends of this sender: ports and addresses in network byte order, IPv4 mapped into IPv6. */
struct reset_key {
    uint32_t netns;
    uint16_t local_port, remote_port;
    uint8_t local[16], remote[16];
};
struct reset_answer {
    uint64_t time;   /* CLOCK_MONOTONIC, nanoseconds */
    uint64_t reason; /* number of the kernel, plus 1 */
};

/* Makes the programs that note resets which a socket sends, and receives, in the map of
 * connect_program_make(). layout->send_reset and layout->receive_reset must not be 0. answers:
 * descriptor of a hash map from struct reset_key to struct reset_answer; not used without
 * layout->has_answers. Other parameters and result: as connect_program_make(). */
size_t send_reset_program_make(const struct connect_layout *layout, uint64_t netns, int map,
                               int answers, const struct connect_ring *events,
                               struct bpf_insn program[CONNECT_PROGRAM_MAX]);
size_t receive_reset_program_make(const struct connect_layout *layout, uint64_t netns, int map,
                                  int answers, const struct connect_ring *events,
                                  struct bpf_insn program[CONNECT_PROGRAM_MAX]);

/* Makes the program that puts each retransmission of TCP into the ring. */
size_t retransmit_program_make(const struct connect_layout *layout, uint64_t netns, int map,
                               const struct connect_ring *events,
                               struct bpf_insn program[CONNECT_PROGRAM_MAX]);

#endif
