/* SPDX-License-Identifier: MIT */
/* What tests of conntrack's layout share: flows as the kernel has them, and what is written. */
#ifndef UNIT_FLOW_ROWS_H
#define UNIT_FLOW_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "cells.h"
#include "fastnet/layouts.h"
#include "fastnet/record.h"

#define SECOND UINT64_C(1000000000)

/* Above each document. */
#define XML_HEADER "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"

enum { SCTP_ESTABLISHED = 4, DCCP_OPEN = 4 };

extern const struct conntrack_layout plain, xml, save;

/* net/stat/nf_conntrack of two processors, as Linux 6.18 has it. */
extern const char flow_statistics_text[];

/* All that is written for these rows, from the beginning to the end; until the next call. */
const char *written(const struct conntrack_layout *layout, const struct context *context,
                    const struct record *records, size_t count);
const char *written_row(const struct conntrack_layout *layout, const struct record *record);

struct flow_tuple flow_tuple_of(uint8_t protocol, const char *src, const char *dst,
                                uint16_t src_port, uint16_t dst_port);
/* A flow as `conntrack -L` gets it, not translated; the reply mirrors it. */
struct record flow_of(uint8_t protocol, uint32_t timeout, const char *src, const char *dst,
                      uint16_t src_port, uint16_t dst_port);
/* The same from a kernel that does not track its protocol by ports or keys. */
struct record flow_without_ports(uint8_t protocol);
struct record flow_with_state(struct record record, uint8_t state, uint32_t status);
struct record tcp_flow(void);
struct record udp_flow(void);
struct record icmp_flow(void);
struct record icmpv6_flow(void);
struct record gre_flow(void);
struct record sctp_flow(void);

/* The same, of a flow or an expectation, as an event. */
struct record as_event(struct record record, uint8_t event, uint64_t received);

/* Names for the bits 0, 1, 64 and 127. */
struct labels *make_labels(void);

/* For cmocka: local time is UTC. */
int set_time_zone(void **state);

#endif
