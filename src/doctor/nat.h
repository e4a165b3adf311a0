/* SPDX-License-Identifier: MIT */
/* UDP flows whose destination NAT replaces by an address that no packet can reach. */
#ifndef DOCTOR_NAT_H
#define DOCTOR_NAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/record.h"

enum {
    NAT_FLOWS_MAX = 256, /* further flows are left out */
    /* With more tracked flows, flows are not read: it takes 1.3 microseconds a flow if the kernel
     * cannot filter by status (before Linux 5.17). */
    NAT_TRACKED_MAX = 65536,
};

struct nat_flow {
    uint64_t identity;
    struct endpoint client;  /* who sent the first packet */
    struct endpoint service; /* where the client sends to */
    struct endpoint target;  /* where NAT sends it */
    uint64_t sent, received; /* packets; only with nf_conntrack_acct */
    bool is_counted;
    uint32_t timeout; /* seconds until the kernel forgets the flow, if no packet comes */
};

struct nat_flows {
    uint64_t at; /* CLOCK_MONOTONIC, ns: when the first of them was read */
    size_t count, capacity;
    struct nat_flow *list;
};

/* Fills *flow if the record is a UDP flow with a translated destination, whose timeout the kernel
 * renews with each packet only. Returns whether it is. */
bool nat_flow_of(struct nat_flow *flow, const struct record *record);

/* Adds the flow, if there is room. Returns 0 or -ENOMEM. */
int nat_flows_add(struct nat_flows *flows, const struct nat_flow *flow);

/* Returns whether the client of now->list[i] has sent packets since `before`, and, as far as
 * packets are counted, nobody has answered. */
bool nat_flow_is_unanswered(const struct nat_flows *before, const struct nat_flows *now, size_t i);

#endif
