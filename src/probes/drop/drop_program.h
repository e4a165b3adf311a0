/* SPDX-License-Identifier: MIT */
/* The BPF program that counts dropped packets, at the tracepoint skb:kfree_skb
 * (include/trace/events/skb.h; with reasons since Linux 5.17). */
#ifndef PROBES_DROP_DROP_PROGRAM_H
#define PROBES_DROP_DROP_PROGRAM_H

#include <linux/bpf.h>
#include <stdint.h>

#include "fastnet/kernel_types.h"

/* Packets with equal keys are counted in one slot. In a slot, the reason is written last. */
struct drop_key {
    uint64_t location;  /* address in the kernel's code, after the call that dropped the packet */
    uint64_t inode;     /* inode of the socket; 0: no socket, or unknown */
    uint32_t interface; /* interface that the packet came in by, or else its way out */
    uint32_t uid;       /* user of the socket */
    uint32_t reason;    /* enum skb_drop_reason of this kernel */
    uint32_t netns;     /* inode of the network namespace; 0: unknown */
};

/* The number of packets with one key, and the headers of the first packet. */
struct drop_seen {
    uint64_t count;
    uint8_t network[40]; /* IP header, at most 40 bytes */
    uint8_t ports[4];    /* the bytes after the IP header */
    uint16_t ethertype;  /* ETH_P_* of linux/if_ether.h, network byte order */
    uint8_t received;    /* the packet came in by an interface */
    uint8_t length;      /* bytes from the IP header to the packet's end; 255: or more */
};

/* A hash table in memory that the program fills and this process reads. A tag is the hash of the
 * key in the slot of the same number. Each key may use DROP_TRIES of the slots, so some keys find
 * no slot if more than half of the slots are in use. */
enum { DROP_BITS = 14, DROP_SLOTS = 1 << DROP_BITS, DROP_TRIES = 8 };
enum { DROP_FREE, DROP_CLOSED /* being read */, DROP_TAGS = 2 /* set in all hashes */ };
enum { DROP_PAGE = 65536 /* the largest page size of Linux */ };
struct drop_slot {
    struct drop_seen seen;
    struct drop_key key;
    uint64_t unused[5]; /* so that no slot lies in two pages */
};
struct drop_table {
    struct drop_head {
        uint64_t tags[DROP_SLOTS];
        uint64_t lost; /* packets of keys that found no slot */
        char unused[DROP_PAGE - sizeof(uint64_t)];
    } head;
    struct drop_slot slots[DROP_SLOTS];
};

/* Kernel types and members that the program reads. */
struct drop_layout {
    uint32_t tracepoint;      /* number of the BTF type btf_trace_kfree_skb */
    uint32_t reasons;         /* number of the type enum skb_drop_reason */
    uint32_t consumed;        /* number of the reason SKB_CONSUMED */
    uint32_t cast;            /* number of bpf_rdonly_cast(), for assembly_cast() */
    uint32_t of_skb, of_sock; /* numbers of the types struct sk_buff and struct sock */
    struct kernel_member skb, location, reason, receiver; /* arguments of the tracepoint */
    bool has_receiver; /* since Linux 6.11: receiver is the socket that the packet was for */
    struct kernel_member sender, device, arrival, head, network, tail, ethertype; /* in sk_buff */
    struct kernel_member state, uid, net, socket; /* members of struct sock */
    struct kernel_member file, inode, number;     /* the way from a socket to its inode number */
    struct kernel_member net_of_device, index;    /* members of struct net_device */
    struct kernel_member netns;                   /* struct net: its inode number */
};

/* Returns 0, or -ENOTSUP: this kernel reports no drop reasons, or has other structs. */
int drop_layout_init(struct drop_layout *layout, const struct btf *btf);

enum { DROP_PROGRAM_MAX = 512 };

/* map: descriptor of an array map with one value, a struct drop_table. Returns the number of
 * instructions. */
size_t drop_program_make(const struct drop_layout *layout, int map,
                         struct bpf_insn program[DROP_PROGRAM_MAX]);

#endif
