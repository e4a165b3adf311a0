/* SPDX-License-Identifier: MIT */
/* Messages of ctnetlink, made by hand: linux/netfilter/nfnetlink_conntrack.h. */
#ifndef UNIT_CT_MESSAGES_H
#define UNIT_CT_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#include "fastnet/record.h"
#include "scene.h"

/* Begins a message of a subsystem (NFNL_SUBSYS_*) and type, with its struct nfgenmsg. */
void ct_message(struct wire *wire, unsigned subsystem, unsigned type, uint16_t flags,
                uint32_t sequence, uint8_t family);

/* Begins an attribute that others are nested in; takes what ct_nest() returned to end it. */
size_t ct_nest(struct wire *wire, uint16_t type);
void ct_nest_end(struct wire *wire, size_t start);

/* Numbers in network byte order, as all of ctnetlink's are. */
void ct_u8(struct wire *wire, uint16_t type, uint8_t value);
void ct_be16(struct wire *wire, uint16_t type, uint16_t value);
void ct_be32(struct wire *wire, uint16_t type, uint32_t value);
void ct_be64(struct wire *wire, uint16_t type, uint64_t value);

/* 192.0.2.HOST port PORT to 198.51.100.1 port 443, or the IPv6 addresses that look like these. */
struct flow_tuple ct_tuple_of(uint8_t family, uint8_t protocol, uint8_t host, uint16_t port);
struct flow_tuple ct_reversed(const struct flow_tuple *tuple);

/* A tuple as an attribute: ports or, of ICMP, id, type and code. */
void ct_tuple(struct wire *wire, uint16_t type, const struct flow_tuple *tuple, uint8_t family);

/* A whole answer of a dump: a TCP flow with its two tuples, status and id. */
void ct_flow(struct wire *wire, uint32_t sequence, uint8_t family, uint16_t port, uint32_t id);
/* The same, sent to a group: type is IPCTNL_MSG_CT_NEW or _DELETE. */
void ct_flow_event(struct wire *wire, unsigned type, uint16_t flags, uint32_t sender,
                   uint16_t port);
/* An expectation of a TCP connection to that port. */
void ct_expectation(struct wire *wire, uint32_t sequence, uint16_t port);

/* Queues the wire with what ends the answer about one object: NLMSG_ERROR, 0 or an errno. */
void ct_send_error(struct stage *stage, uint32_t sequence, int error);
/* Dumps a table of backend_ctnetlink and returns what that returned; rows begin anew. */
int ct_list(struct stage *stage, const struct table *table);

/* So many buckets are in the tree's sysctl; before each datagram, up to NULL. */
void ct_put_buckets(const struct stage *stage, const char *number);
void ct_put_each_buckets(struct stage *stage, const char *const *numbers);

/* The request that was sent as number i. */
const struct nlmsghdr *ct_request(const struct peer *peer, size_t i);
/* Its family; whatever else struct nfgenmsg holds is as it must be. */
uint8_t ct_family(const struct nlmsghdr *request);
/* The first attribute of a type in a request or in an attribute; NULL: none. Not checked further.
 */
const struct nlattr *ct_find(const struct nlmsghdr *request, uint16_t type);
const struct nlattr *ct_find_in(const struct nlattr *nest, uint16_t type);
size_t ct_length(const struct nlattr *attribute);
const void *ct_data(const struct nlattr *attribute);

#endif
