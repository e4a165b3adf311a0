/* SPDX-License-Identifier: MIT */
/* Parts of the BPF programs that count in a struct drop_table. Each function appends instructions.
 * The stack holds what is copied to a slot, in the order of the slot. */
#ifndef PROBES_DROP_DROP_PARTS_H
#define PROBES_DROP_DROP_PARTS_H

#include <linux/bpf.h>
#include <stdbool.h>
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
    DROP_COPIED = sizeof(struct drop_seen) + sizeof(struct drop_key),
    PACKET = -(int)sizeof(struct drop_packet),
    KEY = PACKET - (int)sizeof(struct drop_key),
    SEEN = KEY - (int)sizeof(struct drop_seen),
    HEADER = SEEN - 40,
    TRANSPORT = HEADER - 16,
};
#define KEY_AT(member)    (KEY + (int)offsetof(struct drop_key, member))
#define SEEN_AT(member)   (SEEN + (int)offsetof(struct drop_seen, member))
#define PACKET_AT(member) (PACKET + (int)offsetof(struct drop_packet, member))

/* Reads `size` bytes that OTHER points to, to offset `at` on the stack. */
void drop_put_read(struct assembly *to, int at, int size);

/* Stores the netns, user and inode of the socket that OTHER points to; with_cookie: its cookie,
 * too. */
void drop_put_socket(struct assembly *to, const struct drop_layout *layout, bool with_cookie);
/* Stores the netns of the device of SKB. */
void drop_put_device(struct assembly *to, const struct drop_layout *layout);
/* Stores the interface of SKB. */
void drop_put_interface(struct assembly *to, const struct drop_layout *layout);

/* Stores the ends of the packet in SKB, or of the packet that it quotes. Ends the program if the
 * filter does not let it through. filter: NULL for all packets of TCP. what: PACKET_*, or 0. Loses
 * PACKET_END and OTHER. Call it first: it sets all of SEEN to 0. */
void drop_put_packet(struct assembly *to, const struct drop_layout *layout,
                     const struct drop_filter *filter, int what);

/* Counts the packet in a slot. */
void drop_put_count(struct assembly *to, const struct drop_layout *layout,
                    const struct drop_filter *filter, int map);

#endif
