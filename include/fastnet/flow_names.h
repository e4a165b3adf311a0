/* SPDX-License-Identifier: MIT */
/* The names that the kernel and conntrack have for the values of flows and expectations. */
#ifndef FASTNET_FLOW_NAMES_H
#define FASTNET_FLOW_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/record.h"
#include "fastnet/value.h"

/*
 * "ESTABLISHED" ... : enum tcp_conntrack, sctp_conntrack (linux/netfilter/nf_conntrack_tcp.h,
 * nf_conntrack_sctp.h) or ct_dccp_states (net/netfilter/nf_conntrack_proto_dccp.c), depending on
 * the protocol. data is NULL if the protocol has no states, or no state with this number.
 */
struct text flow_state_name(uint8_t protocol, uint8_t state);
/* All of them, one after the other: for each i from 0 on a name, or NULL. Names repeat. */
const char *flow_state_word(uint64_t i);
/* The state of this name, in capitals or not; -1 if the protocol has no such state. */
int flow_state_number(uint8_t protocol, const char *name, size_t length);

/* "tcp", "icmpv6" ... of IPPROTO_*; NULL data if conntrack has no name for it. */
struct text flow_protocol_name(uint8_t protocol);
/* The name that tables show: also of protocols that conntrack has no name for. NULL: it has none.
 */
const char *flow_protocol_word(uint64_t protocol);
/* The protocol of such a name, or of another name of protocols(5), in capitals or not; or -1. */
int flow_protocol_of_word(const char *name);
/* The protocol of this name, in capitals or not; -1 if conntrack has no such name. */
int flow_protocol_number(const char *name, size_t length);

/* True if tuples of the protocol have ports. */
extern const bool flow_protocols_with_ports[UINT8_MAX + 1];
static inline bool flow_has_ports(uint8_t protocol)
{
    return flow_protocols_with_ports[protocol];
}

/* True if they have a type, a code and an id of ICMP. */
bool flow_is_icmp(uint8_t protocol);

/* "NEW", "UPDATE" or "DESTROY"; NULL for any other number. */
const char *flow_event_name(uint64_t event);

/* IPS_* and NF_CT_EXPECT_* (linux/netfilter/nf_conntrack_common.h). */
extern const struct flag_names flow_status_names, expectation_flag_names;

#endif
