/* SPDX-License-Identifier: MIT */
/* Connection tracking: flows, expectations and their counters. */
#ifndef FASTNET_RECORD_FLOW_H
#define FASTNET_RECORD_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/address.h"
#include "fastnet/kind.h"
#include "fastnet/text.h"

struct field;
struct netns;

extern const struct kind kind_flow, kind_expectation, kind_flow_statistics, kind_flow_usage;

/* Connection tracking: linux/netfilter/nfnetlink_conntrack.h, nf_conntrack_common.h. Some fields
 * belong to flows only, some to expectations. */
#define FLOW_ORIG           (UINT64_C(1) << 0) /* the tuple of the original direction */
#define FLOW_REPLY          (UINT64_C(1) << 1) /* the tuple of the reply direction */
#define FLOW_STATE          (UINT64_C(1) << 2) /* TCP, SCTP, DCCP */
#define FLOW_TIMEOUT        (UINT64_C(1) << 3)
#define FLOW_STATUS         (UINT64_C(1) << 4)
#define FLOW_MARK           (UINT64_C(1) << 5)
#define FLOW_SECMARK        (UINT64_C(1) << 6)
#define FLOW_SECCTX         (UINT64_C(1) << 7)
#define FLOW_ORIG_COUNTERS  (UINT64_C(1) << 8) /* only with nf_conntrack_acct */
#define FLOW_REPLY_COUNTERS (UINT64_C(1) << 9)
#define FLOW_ZONE           (UINT64_C(1) << 10) /* absent: zone 0 in both directions */
#define FLOW_ORIG_ZONE      (UINT64_C(1) << 11)
#define FLOW_REPLY_ZONE     (UINT64_C(1) << 12)
#define FLOW_START          (UINT64_C(1) << 13) /* only with nf_conntrack_timestamp */
#define FLOW_STOP           (UINT64_C(1) << 14)
#define FLOW_HELPER         (UINT64_C(1) << 15)
#define FLOW_LABELS         (UINT64_C(1) << 16)
#define FLOW_USE            (UINT64_C(1) << 17)
#define FLOW_ID             (UINT64_C(1) << 18)
#define FLOW_ORIG_VTAG      (UINT64_C(1) << 19) /* SCTP */
#define FLOW_REPLY_VTAG     (UINT64_C(1) << 20)
#define FLOW_ROLE           (UINT64_C(1) << 21) /* DCCP */
#define FLOW_EVENT          (UINT64_C(1) << 22) /* event and received */
#define FLOW_SENDER         (UINT64_C(1) << 23) /* events that a process caused */
#define FLOW_MASK           (UINT64_C(1) << 24) /* expectations: the member `mask` */
#define FLOW_MASTER         (UINT64_C(1) << 25) /* expectations: the member `master` */
#define FLOW_FLAGS          (UINT64_C(1) << 26) /* expectations: the member `flags` */
#define FLOW_CLASS          (UINT64_C(1) << 27) /* expectations: the member `class` */
/* Members of inodes and netns; no backend fills them, but a hook (listing_sockets). */
#define FLOW_ORIG_SOCKET  (UINT64_C(1) << 28)
#define FLOW_REPLY_SOCKET (UINT64_C(1) << 29)
#define FLOW_SOCKETS      (FLOW_ORIG_SOCKET | FLOW_REPLY_SOCKET)

/* One direction of a flow: from one end to the other. */
struct flow_tuple {
    struct address src, dst;
    uint16_t src_port, dst_port; /* host byte order; GRE: keys; ICMP: src_port is the id */
    uint8_t icmp_type, icmp_code;
    uint8_t protocol; /* IPPROTO_* */
    /* The ports or keys are known; they may be 0. The kernel tracks a protocol without ports if it
     * has no module for it. */
    bool has_ports;
};

/* Numbers of this program, not of conntrack -e or of the kernel's messages. */
enum flow_event { FLOW_NEW, FLOW_UPDATE, FLOW_DESTROY };

enum { FLOW_LABEL_WORDS = 4, FLOW_LABEL_BITS = 128 }; /* XT_CONNLABEL_MAXBIT + 1 */

/* The directions of a flow: the direction of its first packet, and of the answers. */
enum flow_way { WAY_ORIG, WAY_REPLY, FLOW_WAYS };

struct flow_direction {
    struct flow_tuple tuple;
    uint64_t packets, bytes;
    uint32_t vtag; /* SCTP */
    uint16_t zone;
};

struct flow_record {
    uint8_t family; /* AF_INET, AF_INET6 */
    uint8_t state;  /* enum tcp_conntrack, sctp_conntrack, or DCCP's, by the protocol */
    uint8_t role;   /* DCCP: 0 client, 1 server */
    uint8_t event;  /* enum flow_event */
    uint16_t zone;
    uint32_t status;  /* IPS_* */
    uint32_t timeout; /* seconds until it is removed */
    uint32_t mark, secmark, use, id;
    uint32_t sender; /* netlink port */
    struct flow_direction way[FLOW_WAYS];
    uint64_t start, stop; /* nanoseconds since 1970 */
    uint64_t received;    /* time at which the event was read, nanoseconds since 1970 */
    uint32_t labels[FLOW_LABEL_WORDS]; /* bit n is bit n % 32 of word n / 32 */
    struct text helper, secctx;
    /* For the source of each direction: inode of its socket, which may be in another network
     * namespace (0: no process holds the socket), and that network namespace (NULL: unknown). */
    uint64_t inodes[FLOW_WAYS];
    const struct netns *netns[FLOW_WAYS];
};

/* A flow that a helper expects (nf_conntrack_expect.h). Its presence bits are FLOW_*, too. */
struct expectation_record {
    uint8_t family;
    uint8_t event; /* enum flow_event */
    uint16_t zone;
    uint32_t timeout; /* seconds */
    uint32_t flags;   /* NF_CT_EXPECT_* */
    uint32_t class;   /* class of the helper's expectations */
    uint32_t id;
    struct flow_tuple orig, mask, master; /* FLOW_ORIG: the expected flow */
    uint64_t received;                    /* nanoseconds since 1970 */
    struct text helper;
};

/* Counters of one CPU. For each counter, record.has has the bit 1 << CTA_STATS_*. */
enum { FLOW_COUNTERS = 24 };
struct flow_statistics_record {
    uint32_t cpu;
    bool expectations; /* the counters are CTA_STATS_EXP_*, not CTA_STATS_* */
    uint32_t counters[FLOW_COUNTERS];
};

/* How full the table of flows is. */
#define USAGE_ENTRIES    (UINT64_C(1) << 0)
#define USAGE_MAXIMUM    (UINT64_C(1) << 1) /* nf_conntrack_max; 0: no limit */
#define USAGE_BUCKETS    (UINT64_C(1) << 2)
#define USAGE_DROPS      (UINT64_C(1) << 3) /* drop and early_drop */
#define USAGE_ENTRY_SIZE (UINT64_C(1) << 4) /* from slabinfo(5); absent: FLOW_ENTRY_ESTIMATE */

enum {
    FLOW_ENTRY_ESTIMATE = 320, /* bytes: struct nf_conn and its extensions on 64-bit kernels */
    FLOW_BUCKET_SIZE = sizeof(void *), /* struct hlist_nulls_head */
};

struct flow_usage_record {
    uint64_t entries, maximum, buckets;
    uint64_t entry_size;       /* bytes */
    uint64_t drop, early_drop; /* sums over all CPUs since the start or the last reset */
};

/* Fields for filters only, not columns: the address or port that NAT gave to an end (unknown
 * without NAT), and numbers that are 0 if a flow has no value. */
extern const struct field field_src_nat_address, field_dst_nat_address, field_src_nat_port,
    field_dst_nat_port, field_own_orig_zone, field_own_reply_zone, field_any_secmark,
    field_label_bits;

#endif
