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

/* The number of packets with one key, and the headers of the first packet. With a filter: the time
 * of the first packet instead. */
struct drop_seen {
    uint64_t count;
    union {
        struct {
            uint8_t network[40]; /* IP header, at most 40 bytes */
            uint8_t ports[4];    /* the bytes after the IP header */
            uint16_t ethertype;  /* ETH_P_* of linux/if_ether.h, network byte order */
            uint8_t received;    /* the packet came in by an interface */
            uint8_t length;      /* bytes from the IP header to the packet's end; 255: or more */
        };
        struct {
            uint64_t time; /* CLOCK_MONOTONIC, ns; 0: the slot is not yet filled */
            uint64_t cookie;
        };
    };
};

/* A filter lets packets of `protocol` through whose source or destination port is `port`; of TCP
 * also all packets with SYN, because NAT changes ports. An ICMP error passes if the packet that it
 * quotes passes. */
struct drop_filter {
    uint8_t protocol; /* IPPROTO_TCP or IPPROTO_UDP */
    uint16_t port;    /* host byte order */
    uint64_t secret;  /* random: senders of packets must not be able to choose hashes */
};

/* With a filter: the second part of the key. */
struct drop_packet {
    uint8_t source[16], destination[16];    /* IPv4: the first 4 bytes, the others are 0 */
    uint16_t source_port, destination_port; /* network byte order */
    uint8_t protocol;
    uint8_t flags; /* flags of the TCP header; 0: the packet ends before them */
    uint8_t what;  /* PACKET_* */
    uint8_t unused;
};
enum {
    PACKET_IPV6 = 1,
    PACKET_QUOTED = 2, /* this is the packet that an ICMP error quotes */
    PACKET_RESET_SENT =
        4, /* the kernel sent a reset to this socket, or as the answer to this packet */
    PACKET_RESET_RECEIVED = 8, /* the ends are those of the socket that got the reset */
    PACKET_OF_SOCKET = 16,     /* source: the local end of a socket */
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
    union {                        /* second part of the key */
        struct drop_packet packet; /* with a filter; also so that no slot lies in two pages */
        struct {
            uint64_t cookie;      /* the socket's; 0: no socket, or nobody has asked for it */
            uint64_t destination; /* 0, unless drop_layout.apart has the reason */
        };
    };
};
struct drop_table {
    struct drop_head {
        uint64_t tags[DROP_SLOTS];
        uint64_t lost;  /* packets of keys that found no slot */
        uint64_t apart; /* keys with a destination */
        char unused[DROP_PAGE - 2 * sizeof(uint64_t)];
    } head;
    struct drop_slot slots[DROP_SLOTS];
};

/* Senders can choose any number of destinations. They must leave slots for other keys, so from this
 * number of keys on, the destination is DROP_OTHERS, which no packet of IPv4 has. */
enum { DROP_APART = 1024, DROP_APART_REASONS = 6 };
#define DROP_OTHERS UINT64_MAX

/* Kernel types and members that the program reads. */
struct drop_layout {
    uint32_t tracepoint;                /* number of the BTF type btf_trace_kfree_skb */
    uint32_t reasons;                   /* number of the type enum skb_drop_reason */
    uint32_t consumed;                  /* number of the reason SKB_CONSUMED */
    uint32_t apart[DROP_APART_REASONS]; /* without a filter, UDP packets that are dropped for one of
                                           these reasons are counted by destination; all 0: none */
    uint32_t cast;                      /* number of bpf_rdonly_cast(), for assembly_cast() */
    uint32_t of_skb, of_sock;           /* numbers of the types struct sk_buff and struct sock */
    struct kernel_member skb, location, reason, receiver; /* arguments of the tracepoint */
    bool has_receiver; /* since Linux 6.11: receiver is the socket that the packet was for */
    struct kernel_member sender, device, arrival, head, network, tail, ethertype; /* in sk_buff */
    struct kernel_member state, uid, net, socket; /* members of struct sock */
    struct kernel_member file, inode, number;     /* the way from a socket to its inode number */
    struct kernel_member net_of_device, index;    /* members of struct net_device */
    struct kernel_member netns;                   /* struct net: its inode number */
    struct kernel_member cookie;                  /* member of struct sock */
    bool has_cookie;
};

/* Returns 0, or -ENOTSUP: this kernel reports no drop reasons, or has other structs. In the second
 * case layout->of_sock is 0; otherwise it has all that reset programs need. */
int drop_layout_init(struct drop_layout *layout, const struct btf *btf);
#define DROPS_UNREPORTED "this kernel does not report drop reasons (needs Linux 5.17)"

enum { DROP_PROGRAM_MAX = 768 };

struct scan_part;

/* filter: NULL to count all packets. scans: NULL, or, without a filter, counts ports by source,
 * too. map: descriptor of an array map with one value, a struct drop_table. Returns the number of
 * instructions. */
size_t drop_program_make(const struct drop_layout *layout, const struct drop_filter *filter,
                         const struct scan_part *scans, int map,
                         struct bpf_insn program[DROP_PROGRAM_MAX]);

#endif
