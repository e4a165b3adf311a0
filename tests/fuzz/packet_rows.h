/* SPDX-License-Identifier: MIT */
/* Rows of packets, for filters of packets: no packet tells the number of frames. */
#ifndef FUZZ_PACKET_ROWS_H
#define FUZZ_PACKET_ROWS_H

#include "backend/packet/packet_filter.h"
#include "fastnet/flow_names.h"
#include "fastnet/record.h"
#include "format/fields/fields.h"

/* Members of another record stand for theirs. */
#define PACKET_TUPLE     flow.way[WAY_ORIG].tuple
#define PACKET_PROTOCOL_ flow.way[WAY_ORIG].zone
#define PACKET_TYPE      flow.zone

enum { PACKET_HAS_IP = 1 << 0, PACKET_HAS_PORTS = 1 << 1 };

static const struct field packet_fields[] = {
    ADDRESS(src, PACKET_TUPLE.src, PACKET_HAS_IP, ""),
    ADDRESS(dst, PACKET_TUPLE.dst, PACKET_HAS_IP, ""),
    NUMBER(sport, PACKET_TUPLE.src_port, PACKET_HAS_PORTS, "", .port = true),
    NUMBER(dport, PACKET_TUPLE.dst_port, PACKET_HAS_PORTS, "", .port = true),
    NAMED(protocol, PACKET_PROTOCOL_, flow_protocol_word, 0, ""),
    NUMBER(ethertype, PACKET_TYPE, 0, ""),
    NUMBER(frames, flow.mark, 0, ""),
};

static const struct kind kind_packet = {
    .name = "packets", .size = RECORD_SIZE(flow), FIELDS(packet_fields)};

static const size_t packet_members[PACKET_MEMBERS] = {
    [PACKET_SRC] = offsetof(struct record, PACKET_TUPLE.src),
    [PACKET_DST] = offsetof(struct record, PACKET_TUPLE.dst),
    [PACKET_SPORT] = offsetof(struct record, PACKET_TUPLE.src_port),
    [PACKET_DPORT] = offsetof(struct record, PACKET_TUPLE.dst_port),
    [PACKET_PROTOCOL] = offsetof(struct record, PACKET_PROTOCOL_),
    [PACKET_ETHERTYPE] = offsetof(struct record, PACKET_TYPE),
};

#endif
