/* SPDX-License-Identifier: MIT */
/* Criteria of flows, and a flow, that an input describes. */
#ifndef FUZZ_MADE_FLOW_H
#define FUZZ_MADE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "fastnet/array.h"
#include "fastnet/predicate.h"

/* An address with a prefix: a is in it where (a & mask) == network. */
struct flow_network {
    uint8_t network[16], mask[16]; /* network byte order; IPv4 in the first four bytes */
};

/* Which members count. */
enum {
    FILTER_PROTOCOL = 1 << 0,
    FILTER_ORIG_SRC = 1 << 1,
    FILTER_ORIG_DST = 1 << 2,
    FILTER_REPLY_SRC = 1 << 3,
    FILTER_REPLY_DST = 1 << 4,
    FILTER_ORIG_SRC_PORT = 1 << 5, /* or GRE key */
    FILTER_ORIG_DST_PORT = 1 << 6,
    FILTER_REPLY_SRC_PORT = 1 << 7,
    FILTER_REPLY_DST_PORT = 1 << 8,
    FILTER_ICMP_TYPE = 1 << 9, /* of ICMP or ICMPv6, by the protocol */
    FILTER_ICMP_CODE = 1 << 10,
    FILTER_ICMP_ID = 1 << 11,
    FILTER_STATE = 1 << 12,
    FILTER_STATUS = 1 << 13,
    FILTER_MARK = 1 << 14,
    FILTER_SECMARK = 1 << 15,
    FILTER_ZONE = 1 << 16,
    FILTER_ORIG_ZONE = 1 << 17,
    FILTER_REPLY_ZONE = 1 << 18,
    FILTER_ID = 1 << 19,
    FILTER_LABELS = 1 << 20,
    FILTER_SRC_NAT = 1 << 21,
    FILTER_DST_NAT = 1 << 22,
    FILTER_ANY_NAT = 1 << 23, /* one of both */
    FILTER_ORIG_VTAG = 1 << 24,
    FILTER_REPLY_VTAG = 1 << 25,
    FILTER_ROLE = 1 << 26,
};

/* What an address and a port were translated to; each may be left open. */
struct flow_nat {
    bool has_address, has_port;
    uint8_t address[16];
    uint16_t port;
};

/*
 * conntrack's criteria, as members of their own. It is what the predicates made from it are checked
 * against.
 */
struct flow_filter {
    uint32_t fields;  /* FILTER_*; everything that is named must hold */
    uint8_t family;   /* AF_INET, AF_INET6, or AF_UNSPEC for both */
    uint8_t protocol; /* IPPROTO_* */
    struct flow_network orig_src, orig_dst, reply_src, reply_dst;
    uint16_t orig_src_port, orig_dst_port, reply_src_port, reply_dst_port; /* host byte order */
    uint8_t icmp_type, icmp_code;
    uint16_t icmp_id;
    uint8_t state, role;
    uint32_t orig_vtag, reply_vtag;
    uint32_t status, status_mask; /* (flow's & mask) == status */
    uint32_t mark, mark_mask;     /* (flow's & mask) == mark */
    uint32_t secmark, id;
    uint16_t zone, orig_zone, reply_zone;
    uint32_t labels[FLOW_LABEL_WORDS]; /* all of these are set */
    struct flow_nat src_nat, dst_nat;
};

/* Where a member of struct flow_filter is, and its bytes. */
#define FILTER(member) offsetof(struct flow_filter, member)
#define SIZE(member)   sizeof(((struct flow_filter *)0)->member)

/*
 * Members that do not count are 0. As on a command line, an address has a family, and a state has a
 * protocol with states.
 */
struct flow_filter made_filter(struct bytes *bytes);

/*
 * A flow as the kernel may have it. It has what the filter asks for, but where the input says
 * otherwise.
 */
struct record made_flow(struct bytes *bytes, const struct flow_filter *filter);

/* A predicate and room for its parts. They point at each other, so it cannot be copied. */
enum { WHERE_PARTS_MAX = 64 };
struct made_where {
    struct predicate whole, parts[WHERE_PARTS_MAX];
    size_t count;
};

/*
 * The filter as a predicate for rows of this kind. Of expectations only the family counts. Returns
 * NULL if all rows are wanted.
 */
const struct predicate *made_where_init(struct made_where *where, const struct flow_filter *filter,
                                        const struct kind *kind);

/* The key by which a table of one row is asked for it: the row that the filter names. */
struct record made_key(const struct flow_filter *filter, const struct kind *kind);

#endif
