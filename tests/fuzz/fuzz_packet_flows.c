/* SPDX-License-Identifier: MIT */
/*
 * Packets of a few flows in two small tables: none is lost where flows make room, and none is
 * counted twice where tables are joined. The first byte has the room that there is, and how many
 * are counted at once; then each packet has four bytes: where it goes, its addresses and ports, its
 * part of what was sent, and its size.
 */
#include <netinet/in.h>
#include <string.h>

#include "bytes.h"
#include "fastnet/record/traffic.h"
#include "fuzz.h"
#include "probes/packet/packet_flows.h"

enum { TABLES = 2, ROOM = 8, AT_ONCE = 16 };

struct counting {
    struct packet_flows *flows;
    struct counted waiting[AT_ONCE];
    size_t count;
    struct flow_totals all;
};

static void add(struct counting *counting)
{
    packet_flows_add(counting->flows, counting->waiting, counting->count);
    counting->count = 0;
    require(counting->flows->count <= counting->flows->capacity);
}

static struct packet make(uint8_t where, uint8_t ends, uint8_t part)
{
    struct packet packet = {.key = {.has = TRAFFIC_ADDRESSES,
                                    .family = where & 2 ? AF_INET6 : AF_INET,
                                    .protocol = where & 4 ? IPPROTO_TCP : IPPROTO_UDP},
                            .fragment = part % 3,
                            .fragment_id = part / 3,
                            .has_tcp = where & 4,
                            .tcp_flags = part};

    packet.key.addresses[0] = ends & 7;
    if (packet.fragment != FRAGMENT_LATER) {
        packet.key.has |= TRAFFIC_PORTS;
        packet.key.sport = ends >> 3;
    }
    if (where & 8) {
        packet.key.has |= TRAFFIC_LLADDRS;
        packet.key.src_lladdr[5] = where >> 4;
    }
    return packet;
}

static void check_row(const struct flow *flow)
{
    enum { ORIGIN = 1000 };
    struct record record;

    packet_flow_fill_record(flow, ORIGIN, &record);
    require(record.kind == &kind_traffic && record_rows(&record) == flow->packets);
    require_address(&record.traffic.src, flow->key.family);
    require(record.traffic.sport == ntohs(flow->key.sport) && record.traffic.bytes == flow->bytes);
    require(record.traffic.first >= ORIGIN && record.traffic.first <= record.traffic.last);
    require(!(record.has & TRAFFIC_TCP) == !flow->has_tcp);
}

static struct flow_totals sum_of(const struct packet_flows *flows)
{
    struct flow_totals sum = {.flows = 0};

    for (size_t i = 0; i < flows->count; i++) {
        const struct flow *flow = &flows->flows[i];
        if (!flow->frames)
            continue; /* it is kept */
        require(flow->first <= flow->last);
        check_row(flow);
        sum.flows++;
        sum.packets += flow->packets;
        sum.frames += flow->frames;
        sum.bytes += flow->bytes;
    }
    return sum;
}

static void check_sum(const struct flow_totals *sum, const struct flow_totals *all,
                      const struct flow_totals *made_room)
{
    require(sum->packets + made_room->packets == all->packets);
    require(sum->frames + made_room->frames == all->frames);
    require(sum->bytes + made_room->bytes == all->bytes);
}

/* Each flow is there once. */
static void check_joined(struct counting counting[TABLES])
{
    struct packet_flows *const tables[TABLES] = {counting[0].flows, counting[1].flows};
    const struct flow_totals before[] = {sum_of(tables[0]), sum_of(tables[1])};

    packet_flows_join(tables, TABLES);
    const struct flow_totals after[] = {sum_of(tables[0]), sum_of(tables[1])};
    require(after[0].flows == before[0].flows && after[1].flows <= before[1].flows);
    require(after[0].frames + after[1].frames == before[0].frames + before[1].frames);
    require(after[0].bytes + after[1].bytes == before[0].bytes + before[1].bytes);
    for (size_t i = 0; i < tables[0]->count; i++)
        for (size_t j = 0; j < tables[1]->count; j++)
            require(!tables[1]->flows[j].frames ||
                    memcmp(&tables[0]->flows[i].key, &tables[1]->flows[j].key,
                           sizeof(struct flow_key)) != 0);
}

/* Into an empty table all fit; they have no packets. */
static void check_kept(struct packet_flows *to, const struct packet_flows *from)
{
    packet_flows_reset(to);
    packet_flows_keep(to, from, 1, 5, 5);
    require(to->count == from->count && sum_of(to).flows == 0);
    packet_flows_keep(to, from, 1, 5, 5);
    require(to->count == from->count);
    for (size_t i = 0; i < to->count; i++)
        require(to->flows[i].idle > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size};
    const uint8_t how = bytes_u8(&bytes);
    const size_t at_once = 1 + how / ROOM % AT_ONCE;
    struct counting counting[TABLES] = {{.count = 0}};

    for (size_t i = 0; i < TABLES; i++) {
        counting[i].flows = packet_flows_create(1 + how % ROOM);
        require(counting[i].flows != NULL);
    }
    for (uint32_t at = 0; bytes.left; at += 100) {
        const uint8_t where = bytes_u8(&bytes), ends = bytes_u8(&bytes), part = bytes_u8(&bytes);
        struct counting *to = &counting[where % TABLES];
        const uint32_t length = bytes_u8(&bytes), packets = 1 + length / 16;
        to->waiting[to->count++] = (struct counted){
            .packet = make(where, ends, part), .bytes = length, .packets = packets, .at = at};
        packet_flows_expect(to->flows, &to->waiting[to->count - 1]);
        to->all.packets += packets;
        to->all.frames++;
        to->all.bytes += length;
        if (to->count == at_once)
            add(to);
    }
    for (size_t i = 0; i < TABLES; i++) {
        add(&counting[i]);
        const struct flow_totals sum = sum_of(counting[i].flows);
        check_sum(&sum, &counting[i].all, &counting[i].flows->made_room);
    }
    check_joined(counting);
    check_kept(counting[0].flows, counting[1].flows);
    for (size_t i = 0; i < TABLES; i++) {
        packet_flows_reset(counting[i].flows);
        require(counting[i].flows->count == 0 && !counting[i].flows->made_room.flows);
        packet_flows_destroy(counting[i].flows);
    }
    return 0;
}
