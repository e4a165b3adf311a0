/* SPDX-License-Identifier: MIT */
/* Names of the kernel and of conntrack for the values of flows and expectations. */
#ifndef FASTNET_FLOW_NAMES_H
#define FASTNET_FLOW_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/record.h"
#include "fastnet/value.h"

/* Returns the name of a state, such as "ESTABLISHED". The protocol decides which enum is meant:
 * tcp_conntrack, sctp_conntrack (linux/netfilter/nf_conntrack_tcp.h, nf_conntrack_sctp.h) or
 * ct_dccp_states (net/netfilter/nf_conntrack_proto_dccp.c). data is NULL if the protocol has no
 * states, or no such state. */
struct text flow_state_name(uint8_t protocol, uint8_t state);
/* Returns the name of state i % 256 of TCP (i < 256), SCTP (i < 512) or DCCP (i < 768); NULL if
 * there is no such state. Names repeat. */
const char *flow_state_word(uint64_t i);
/* Returns the number of a state by its name, ignoring case; -1 if there is no such state. */
int flow_state_number(uint8_t protocol, const char *name, size_t length);

/* Returns the name of an IPPROTO_* number, such as "tcp"; data is NULL if conntrack has no name. */
struct text flow_protocol_name(uint8_t protocol);
/* Returns the name that tables show, also for protocols without a name in conntrack; or NULL. */
const char *flow_protocol_word(uint64_t protocol);
/* Returns the protocol of a name of flow_protocol_word() or protocols(5), ignoring case; or -1. */
int flow_protocol_of_word(const char *name);
/* Returns the protocol of conntrack's name, ignoring case; -1 if conntrack has no such name. */
int flow_protocol_number(const char *name, size_t length);

/* True if tuples of the protocol have ports. */
extern const bool flow_protocols_with_ports[UINT8_MAX + 1];
static inline bool flow_has_ports(uint8_t protocol)
{
    return flow_protocols_with_ports[protocol];
}

/* True if tuples of the protocol have a type, a code and an id of ICMP. */
bool flow_is_icmp(uint8_t protocol);

/* Returns "NEW", "UPDATE" or "DESTROY"; NULL for other numbers. */
const char *flow_event_name(uint64_t event);

/* IPS_* and NF_CT_EXPECT_* (linux/netfilter/nf_conntrack_common.h). */
extern const struct flag_names flow_status_names, expectation_flag_names;

#endif
