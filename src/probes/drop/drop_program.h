/* SPDX-License-Identifier: MIT */
/*
 * The program that counts packets that the kernel drops, at its tracepoint skb:kfree_skb
 * (include/trace/events/skb.h; reasons since Linux 5.17).
 */
#ifndef PROBES_DROP_DROP_PROGRAM_H
#define PROBES_DROP_DROP_PROGRAM_H

#include <linux/bpf.h>
#include <stdint.h>

#include "fastnet/kernel_types.h"

/* What packets have in common that are counted together. The reason is written last. */
struct drop_key {
    uint64_t place;     /* in the kernel's code: behind the call that dropped it */
    uint64_t inode;     /* of the socket; 0: there is none, or it is unknown */
    uint32_t interface; /* that it came in by; of a packet that did not come in: its way out */
    uint32_t uid;       /* of the socket */
    uint32_t reason;    /* enum skb_drop_reason, of this kernel */
    uint32_t netns;     /* inode of the network namespace; 0: unknown */
};

/* Their number, and the headers of the first of them. */
struct drop_seen {
    uint64_t count;
    uint8_t network[40]; /* the header of IP, as far as there is room */
    uint8_t ports[4];    /* what follows that header */
    uint16_t ethertype;  /* ETH_P_* of linux/if_ether.h, network byte order */
    uint8_t received;    /* whether it came in by an interface */
    uint8_t length;      /* of these bytes; 255: at least so many */
};

/*
 * Where the program counts, and this process reads, both in the same memory. A tag is the hash of a
 * key, which is in the slot of the same number. Some keys find no slot if there are more than half
 * as many of them as slots: each has DROP_TRIES of these.
 */
enum { DROP_BITS = 14, DROP_SLOTS = 1 << DROP_BITS, DROP_TRIES = 8 };
enum { DROP_FREE, DROP_CLOSED /* it is read */, DROP_TAGS = 2 /* a bit of all others */ };
enum { DROP_PAGE = 65536 /* the largest that Linux has */ };
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

/* Where this kernel keeps what the program reads. */
struct drop_layout {
    uint32_t tracepoint;      /* number of its type */
    uint32_t reasons;         /* ... of enum skb_drop_reason */
    uint32_t consumed;        /* SKB_CONSUMED */
    uint32_t cast;            /* for assembly_cast() */
    uint32_t of_skb, of_sock; /* numbers of struct sk_buff and struct sock */
    struct kernel_member skb, place, reason,
        receiver;      /* of the context; receiver: if has_receiver */
    bool has_receiver; /* the socket that it was for: Linux 6.11 */
    struct kernel_member sender, device, arrival, head, network, tail,
        ethertype;                                /* of struct sk_buff */
    struct kernel_member state, uid, net, socket; /* of struct sock */
    struct kernel_member file, inode, number;     /* the way from a socket to its inode */
    struct kernel_member net_of_device, index;    /* of struct net_device */
    struct kernel_member netns;                   /* of struct net */
};

/* Returns 0, or -ENOTSUP: this kernel tells no reasons, or has other structs. */
int drop_layout_init(struct drop_layout *layout, const struct btf *btf);

enum { DROP_PROGRAM_MAX = 512 };

/* map: the descriptor of a map with one value, a struct drop_table. Returns the number of
 * instructions. */
size_t drop_program_make(const struct drop_layout *layout, int map,
                         struct bpf_insn program[DROP_PROGRAM_MAX]);

#endif
