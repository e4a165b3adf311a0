/* SPDX-License-Identifier: MIT */
/* Parts of the BPF programs that count in a struct drop_table. Each function appends instructions.
 * The members of a slot are on the stack, in the same order. */
#ifndef PROBES_DROP_DROP_PARTS_H
#define PROBES_DROP_DROP_PARTS_H

#include <linux/bpf.h>
#include <stddef.h>

#include "fastnet/bpf_assembly.h"
#include "probes/drop/drop_program.h"

/* Registers that keep their values; registers 0 to 5 hold results and arguments. */
enum {
    CONTEXT = BPF_REG_6,
    SKB = BPF_REG_7,
    REASON = BPF_REG_8,
    PACKET_END = REASON, /* the same register, while a packet is read */
    HASH = REASON,       /* the same register, after the reason was stored */
    OTHER = BPF_REG_9,
    SLOT = BPF_REG_4,
};

/* Offsets on the stack. */
enum {
    SECOND_SIZE = 2 * sizeof(uint64_t), /* the second part of the key, without a filter */
    PACKET = -(int)sizeof(struct drop_packet),
    KEY = PACKET - (int)sizeof(struct drop_key),
    SEEN = KEY - (int)sizeof(struct drop_seen),
    HEADER = SEEN - 40,
    TRANSPORT = HEADER - 16,
};
#define KEY_AT(member)    (KEY + (int)offsetof(struct drop_key, member))
#define SEEN_AT(member)   (SEEN + (int)offsetof(struct drop_seen, member))
#define PACKET_AT(member) (PACKET + (int)offsetof(struct drop_packet, member))
#define DESTINATION       (PACKET + (int)sizeof(uint64_t))

/* Loads an argument of the tracepoint, a pointer that may be NULL. The pointer is cast before it is
 * compared: from Linux 6.4 to 6.11 the verifier believes that no argument is NULL, and removes the
 * comparison. type: number of the struct; cast: see assembly_cast(). */
void drop_put_argument(struct assembly *to, unsigned into, struct kernel_member argument,
                       uint32_t type, uint32_t cast);

/* Load `size` (BPF_B to BPF_DW) at offset `at` of the stack, and copy it to another offset. */
void drop_load(struct assembly *to, unsigned into, int at, uint8_t size);
void drop_copy(struct assembly *to, int from, int at, uint8_t size);

/* Reads `size` bytes, `offset` bytes after the address in OTHER, to offset `at` on the stack. */
void drop_put_read(struct assembly *to, int at, int offset, int size);

/* Stores the netns, user and inode of the socket that OTHER points to, and its cookie at offset
 * `cookie_at` on the stack. */
void drop_put_socket(struct assembly *to, const struct drop_layout *layout, int cookie_at);
/* Stores the netns of the device of SKB. */
void drop_put_device(struct assembly *to, const struct drop_layout *layout);
/* Stores the interface of SKB. */
void drop_put_interface(struct assembly *to, const struct drop_layout *layout);

/* Reads the IP header that OTHER points to into HEADER. Returns a skip that is taken for IPv6. For
 * IPv4, goes on with the header after it in OTHER. Ends the program if the packet is neither, or a
 * fragment without ports. */
size_t drop_put_header(struct assembly *to);

/* Stores the ends of the packet in SKB, or of the packet that it quotes. Ends the program if the
 * filter does not let it through. what: 0 for a dropped packet, or else PACKET_RESET_SENT. Loses
 * PACKET_END and OTHER. Call it first: it sets all of SEEN to 0. */
void drop_put_packet(struct assembly *to, const struct drop_layout *layout,
                     const struct drop_filter *filter, int what);

/* Ends the program if the filter does not let the stored ports and flags through. */
void drop_put_filter(struct assembly *to, const struct drop_filter *filter);

/* Without a filter: stores the destination of a UDP packet that has one of the reasons in
 * layout->apart. Loses OTHER. */
void drop_put_destination(struct assembly *to, const struct drop_layout *layout, int map);

/* Counts the packet in a slot. */
void drop_put_count(struct assembly *to, const struct drop_layout *layout,
                    const struct drop_filter *filter, int map);

#endif
