/* What the kernel and conntrack call what flows and expectations hold. */
#ifndef FASTNET_FLOW_NAMES_H
#define FASTNET_FLOW_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/record.h"
#include "fastnet/value.h"

/*
 * "ESTABLISHED" ... : enum tcp_conntrack, sctp_conntrack (linux/netfilter/nf_conntrack_tcp.h,
 * nf_conntrack_sctp.h) or ct_dccp_states (net/netfilter/nf_conntrack_proto_dccp.c), by the
 * protocol. NULL data where the protocol has no states, or none of that number.
 */
struct text flow_state_name(uint8_t protocol, uint8_t state);

/* "tcp", "icmpv6" ... of IPPROTO_*; NULL data for one that conntrack has no name for. */
struct text flow_protocol_name(uint8_t protocol);
/* The same, terminated; NULL for one without a name. */
const char *flow_protocol_word(uint64_t protocol);

/* Whether the protocol's tuples have ports, and whether its ICMP's type, code and id. */
bool flow_has_ports(uint8_t protocol);
bool flow_is_icmp(uint8_t protocol);

/* "NEW", "UPDATE" or "DESTROY"; NULL for what is no enum flow_event. */
const char *flow_event_name(uint64_t event);

/* IPS_* and NF_CT_EXPECT_* (linux/netfilter/nf_conntrack_common.h). */
extern const struct flag_names flow_status_names, expectation_flag_names;

#endif
