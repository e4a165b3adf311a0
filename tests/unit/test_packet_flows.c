/* SPDX-License-Identifier: MIT */
/* Flows are counted, never more than there is room for, and the largest stay. */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/record/traffic.h"
#include "kit.h"
#include "probes/packet/packet_flows.h"

static struct packet of(uint8_t protocol, uint16_t sport)
{
    return (struct packet){.key = {.addresses = {10, 9, 0, 1, 10, 9, 0, 2},
                                   .family = AF_INET,
                                   .protocol = protocol,
                                   .sport = sport,
                                   .dport = 80,
                                   .has = TRAFFIC_ADDRESSES | TRAFFIC_PORTS}};
}

static void add_frame(struct packet_flows *flows, struct packet packet, uint32_t bytes,
                      uint32_t packets, uint32_t at)
{
    struct counted counted = {packet, bytes, packets, at, 0};

    packet_flows_expect(flows, &counted);
    packet_flows_add(flows, &counted, 1);
}

static void add(struct packet_flows *flows, struct packet packet, uint32_t at)
{
    add_frame(flows, packet, 100, 1, at);
}

static const struct flow *flow_of(const struct packet_flows *flows, uint8_t protocol,
                                  uint16_t sport)
{
    const struct packet packet = of(protocol, sport);

    for (size_t i = 0; i < flows->count; i++)
        if (!memcmp(&flows->flows[i].key, &packet.key, sizeof packet.key))
            return &flows->flows[i];
    return NULL;
}

static void each_flow_has_its_counters(void **state)
{
    struct packet_flows *flows = packet_flows_create(100);
    struct packet packet = of(IPPROTO_TCP, 1);

    (void)state;
    assert_non_null(flows);
    packet.tcp_flags = 2;
    packet.has_tcp = true;
    add_frame(flows, packet, 74, 1, 5);
    packet.tcp_flags = 16;
    add_frame(flows, packet, 2962, 2, 9);
    add(flows, of(IPPROTO_UDP, 1), 7);
    add(flows, of(IPPROTO_TCP, 2), 8);
    assert_int_equal(flows->count, 3);
    const struct flow *flow = flow_of(flows, IPPROTO_TCP, 1);
    assert_int_equal(flow->frames, 2);
    assert_int_equal(flow->packets, 3);
    assert_int_equal(flow->bytes, 3036);
    assert_int_equal(flow->first, 5);
    assert_int_equal(flow->last, 9);
    assert_int_equal(flow->tcp_flags, 18);
    assert_true(flow->has_tcp);
    assert_false(flow_of(flows, IPPROTO_UDP, 1)->has_tcp);
    packet_flows_reset(flows);
    assert_int_equal(flows->count, 0);
    add(flows, of(IPPROTO_TCP, 1), 1);
    assert_int_equal(flow_of(flows, IPPROTO_TCP, 1)->frames, 1);
    packet_flows_destroy(flows);
}

static void packets_that_differ_in_any_member_of_the_key_are_two_flows(void **state)
{
    struct packet_flows *flows = packet_flows_create(10);
    const struct packet one = of(IPPROTO_UDP, 1);
    struct packet packets[] = {one, one, one, one, one, one, one, one, one, one};

    (void)state;
    packets[1].key.interface = 2;
    packets[2].key.vlan = 3;
    packets[3].key.addresses[7] = 9;
    packets[4].key.dst_lladdr[5] = 1;
    packets[4].key.has |= TRAFFIC_LLADDRS;
    packets[5].key.family = AF_INET6;
    packets[6].key.addresses[0] = 11;
    packets[7].key.family = packets[8].key.family = AF_INET6;
    packets[7].key.addresses[15] = packets[8].key.addresses[31] = 1;
    packets[9] = packets[4];
    packets[9].key.src_lladdr[0] = 1;
    /* in so little room, sooner or later any two of them are looked for at the same place */
    for (uint16_t port = 0; port < 300; port++) {
        packet_flows_reset(flows);
        for (size_t i = 0; i < 2 * COUNT(packets); i++) {
            packets[i % COUNT(packets)].key.sport = port;
            add(flows, packets[i % COUNT(packets)], 0);
        }
        assert_int_equal(flows->count, COUNT(packets));
        for (size_t i = 0; i < flows->count; i++)
            assert_int_equal(flows->flows[i].frames, 2);
    }
    packet_flows_destroy(flows);
}

static struct packet fragment(enum fragment which, uint32_t id, uint16_t sport)
{
    struct packet packet = of(IPPROTO_UDP, sport);

    packet.fragment = (uint8_t)which;
    packet.fragment_id = id;
    if (which == FRAGMENT_LATER) {
        packet.key.has &= (uint8_t)~TRAFFIC_PORTS;
        packet.key.sport = packet.key.dport = 0;
    }
    return packet;
}

static void later_fragments_belong_to_the_first(void **state)
{
    struct packet_flows *flows = packet_flows_create(100);
    struct packet other = fragment(FRAGMENT_LATER, 7, 0);

    (void)state;
    add(flows, fragment(FRAGMENT_FIRST, 7, 53), 0);
    add(flows, fragment(FRAGMENT_LATER, 7, 0), 1);
    add(flows, fragment(FRAGMENT_LATER, 7, 0), 2);
    assert_int_equal(flows->count, 1);
    assert_int_equal(flow_of(flows, IPPROTO_UDP, 53)->frames, 3);
    /* ... of no other datagram, not for ever, and not of another host */
    other.key.addresses[3] = 99;
    add(flows, other, 2);
    add(flows, fragment(FRAGMENT_LATER, 8, 0), 2);
    add(flows, fragment(FRAGMENT_LATER, 7, 0), 31000);
    assert_int_equal(flows->count, 3);
    assert_int_equal(flow_of(flows, IPPROTO_UDP, 53)->frames, 3);
    packet_flows_destroy(flows);
}

/* 2,000,000 packets, each from another source, and ten flows that go on between them. */
static void a_flood_costs_none_of_the_ten_largest(void **state)
{
    enum { CAPACITY = 4096, FLOOD = 2000000, LARGE = 10, EVERY = 1000 };
    struct packet_flows *flows = packet_flows_create(CAPACITY);
    uint64_t frames = 0;

    (void)state;
    assert_non_null(flows);
    for (uint32_t i = 0; i < FLOOD; i++) {
        struct packet packet = of(IPPROTO_TCP, (uint16_t)random());
        const uint32_t source = i * UINT32_C(2654435761);
        memcpy(packet.key.addresses, &source, sizeof source);
        add(flows, packet, i);
        for (unsigned large = 0; large < LARGE && i % EVERY == 0; large++)
            add(flows, of(IPPROTO_UDP, (uint16_t)large), i);
        assert_true(flows->count <= CAPACITY);
    }
    for (unsigned large = 0; large < LARGE; large++) {
        const struct flow *flow = flow_of(flows, IPPROTO_UDP, (uint16_t)large);
        assert_non_null(flow);
        assert_int_equal(flow->frames, FLOOD / EVERY);
    }
    for (size_t i = 0; i < flows->count; i++)
        frames += flows->flows[i].frames;
    assert_int_equal(frames + flows->made_room.frames, FLOOD + LARGE * (FLOOD / EVERY));
    assert_int_equal(flows->made_room.frames, flows->made_room.flows);
    assert_int_equal(flows->made_room.bytes, 100 * flows->made_room.frames);
    packet_flows_destroy(flows);
}

/* More and more slots are used; in fewer again after fewer flows, all are found. */
static void flows_of_any_number_are_found(void **state)
{
    enum { MOST = 20000 };
    struct packet_flows *flows = packet_flows_create(MOST);

    (void)state;
    assert_non_null(flows);
    for (unsigned count = MOST; count; count /= 3) {
        for (unsigned i = 0; i < 2 * count; i++)
            add(flows, of(IPPROTO_UDP, (uint16_t)(i % count)), 0);
        assert_int_equal(flows->count, count);
        assert_true(flows->used >= 2 * flows->count && flows->used <= 2 * flows->capacity);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(flows->flows[i].frames, 2);
        packet_flows_reset(flows);
    }
    packet_flows_destroy(flows);
}

/* New flows, known ones and both parts of a fragmented packet, also where there is no room. */
static void frames_that_are_added_together_are_counted_as_one_by_one(void **state)
{
    struct packet_flows *single = packet_flows_create(5), *together = packet_flows_create(5);
    struct counted frames[16] = {{.bytes = 0}};

    (void)state;
    for (uint16_t i = 0; i < 16; i++)
        frames[i] = (struct counted){of(IPPROTO_UDP, i % 7), 100, 1, i, 0};
    frames[3].packet.fragment = FRAGMENT_FIRST;
    frames[4] = frames[3];
    frames[4].packet.fragment = FRAGMENT_LATER;
    frames[4].packet.key.sport = frames[4].packet.key.dport = 0;
    frames[4].packet.key.has = TRAFFIC_ADDRESSES;
    for (size_t i = 0; i < 16; i++)
        add_frame(single, frames[i].packet, 100, 1, frames[i].at);
    for (size_t i = 0; i < 16; i++)
        packet_flows_expect(together, &frames[i]);
    packet_flows_add(together, frames, 16);
    assert_int_equal(together->count, single->count);
    for (size_t i = 0; i < single->count; i++)
        assert_memory_equal(&together->flows[i], &single->flows[i], sizeof *single->flows);
    assert_int_equal(together->made_room.packets, single->made_room.packets);
    packet_flows_destroy(single);
    packet_flows_destroy(together);
}

/* With few packets or many, those with the most stay; one flow has room, too. */
static void flows_with_the_fewest_packets_are_forgotten(void **state)
{
    struct packet_flows *flows = packet_flows_create(100), *alone = packet_flows_create(1);

    (void)state;
    for (uint16_t i = 0; i < 100; i++) {
        struct packet packet = of(IPPROTO_UDP, i);
        add_frame(flows, packet, 100, (i * UINT32_C(37) % 100 + 1) << i % 3 * 8, 0);
    }
    add(flows, of(IPPROTO_TCP, 1), 0);
    assert_int_equal(flows->count, 76);
    assert_int_equal(flows->made_room.flows, 25);
    for (size_t i = 0; i < flows->count; i++)
        assert_true(flows->flows[i].packets > 64 || flows->flows[i].key.protocol == IPPROTO_TCP);
    for (uint16_t i = 0; i < 5; i++)
        add(alone, of(IPPROTO_UDP, i), 0);
    assert_int_equal(alone->count, 1);
    assert_int_equal(alone->made_room.flows, 4);
    packet_flows_destroy(flows);
    packet_flows_destroy(alone);
}

static void a_flow_of_several_tables_is_one(void **state)
{
    struct packet_flows *tables[3];
    uint64_t frames = 0;

    (void)state;
    for (size_t i = 0; i < COUNT(tables); i++)
        tables[i] = packet_flows_create(10);
    add(tables[0], of(IPPROTO_UDP, 1), 50);
    add(tables[1], of(IPPROTO_UDP, 1), 40);
    add(tables[2], of(IPPROTO_UDP, 1), 60);
    add(tables[1], of(IPPROTO_UDP, 2), 5);
    add(tables[2], of(IPPROTO_UDP, 2), 7);
    add(tables[2], of(IPPROTO_UDP, 3), 8);
    packet_flows_join(tables, COUNT(tables));
    assert_int_equal(flow_of(tables[0], IPPROTO_UDP, 1)->frames, 3);
    assert_int_equal(flow_of(tables[0], IPPROTO_UDP, 1)->first, 40);
    assert_int_equal(flow_of(tables[0], IPPROTO_UDP, 1)->last, 60);
    assert_null(flow_of(tables[1], IPPROTO_UDP, 1));
    assert_int_equal(flow_of(tables[1], IPPROTO_UDP, 2)->frames, 2);
    assert_null(flow_of(tables[2], IPPROTO_UDP, 1));
    assert_null(flow_of(tables[2], IPPROTO_UDP, 2));
    assert_int_equal(flow_of(tables[2], IPPROTO_UDP, 3)->frames, 1);
    for (size_t i = 0; i < COUNT(tables); i++) {
        for (size_t j = 0; j < tables[i]->count; j++)
            frames += tables[i]->flows[j].frames;
        packet_flows_destroy(tables[i]);
    }
    assert_int_equal(frames, 6);
}

static void flows_without_packets_are_kept_for_a_while(void **state)
{
    enum { MOST = 1500, TICK = 1000 };
    struct packet_flows *first = packet_flows_create(3), *second = packet_flows_create(3);
    struct packet_flows *full = packet_flows_create(1);
    struct record record;

    (void)state;
    add(first, of(IPPROTO_UDP, 1), 700);
    add(first, of(IPPROTO_UDP, 2), 900);
    add(second, of(IPPROTO_UDP, 2), 10);
    add(full, of(IPPROTO_UDP, 3), 10);
    packet_flows_keep(second, first, 0, TICK, TICK);
    assert_int_equal(second->count, 1);
    packet_flows_keep(full, first, MOST, TICK, TICK);
    assert_int_equal(full->count, 1);
    packet_flows_keep(second, first, MOST, TICK, TICK);
    assert_int_equal(second->count, 2);
    assert_int_equal(flow_of(second, IPPROTO_UDP, 2)->frames, 1);
    const struct flow *kept = flow_of(second, IPPROTO_UDP, 1);
    assert_non_null(kept);
    packet_flow_fill_record(kept, UINT64_C(10000000000), &record);
    assert_int_equal(record.traffic.packets + record.traffic.frames + record.traffic.bytes, 0);
    assert_int_equal(record.traffic.last, UINT64_C(9700000000));
    packet_flows_reset(first);
    packet_flows_keep(first, second, MOST, TICK, TICK);
    assert_non_null(flow_of(first, IPPROTO_UDP, 1));
    packet_flows_reset(second);
    packet_flows_keep(second, first, MOST, TICK, TICK);
    assert_null(flow_of(second, IPPROTO_UDP, 1));
    assert_non_null(flow_of(second, IPPROTO_UDP, 2));
    /* one that another thread has seen again is that one */
    add(full, of(IPPROTO_UDP, 2), 20);
    packet_flows_join((struct packet_flows *[]){full, second}, 2);
    assert_int_equal(flow_of(full, IPPROTO_UDP, 2)->frames, 1);
    assert_int_equal(flow_of(full, IPPROTO_UDP, 2)->last, 20);
    assert_null(flow_of(second, IPPROTO_UDP, 2));
    packet_flows_destroy(first);
    packet_flows_destroy(second);
    packet_flows_destroy(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_flow_has_its_counters),
        cmocka_unit_test(packets_that_differ_in_any_member_of_the_key_are_two_flows),
        cmocka_unit_test(later_fragments_belong_to_the_first),
        cmocka_unit_test(a_flood_costs_none_of_the_ten_largest),
        cmocka_unit_test(flows_of_any_number_are_found),
        cmocka_unit_test(frames_that_are_added_together_are_counted_as_one_by_one),
        cmocka_unit_test(flows_with_the_fewest_packets_are_forgotten),
        cmocka_unit_test(a_flow_of_several_tables_is_one),
        cmocka_unit_test(flows_without_packets_are_kept_for_a_while),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
