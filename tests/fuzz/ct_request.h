/* SPDX-License-Identifier: MIT */
/*
 * What a kernel makes of a request for flows (net/netfilter/nf_conntrack_netlink.c), as far as its
 * filter goes.
 */
#ifndef FUZZ_CT_REQUEST_H
#define FUZZ_CT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/record.h"

/* A tuple, and what of it is compared. */
struct ct_asked {
    bool given;
    uint32_t flags; /* CTA_FILTER_FLAG() of net/netfilter/nf_internals.h */
    uint16_t zone;
    struct flow_tuple tuple;
};

struct ct_request {
    uint8_t family;
    bool filters; /* it has any attribute */
    bool has_mark, has_status, has_zone;
    uint32_t mark, mark_mask, status, status_mask;
    uint16_t zone;
    struct ct_asked orig, reply, expected;
};

/* Aborts unless the message is well-formed, and says nothing that the kernel refuses. */
void ct_request_parse(struct ct_request *request, const void *message, size_t size);

/* Whether the kernel hands this flow on when it is asked for a dump. */
bool ct_request_lists(const struct ct_request *request, const struct flow_record *flow);

/* Whether the kernel finds this flow when it is asked for one by a tuple. */
bool ct_request_finds(const struct ct_request *request, const struct flow_record *flow);

#endif
