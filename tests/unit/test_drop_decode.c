/* SPDX-License-Identifier: MIT */
/* Rows of what the program counted: whose packets, from where and to where. */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <string.h>

#include "doctor/rules.h"
#include "fastnet/array.h"
#include "kit.h"
#include "probes/drop/drop_decode.h"

/* 10.9.0.1 port 4660 to 10.9.0.2 port 80, TCP. */
static struct drop_seen v4(bool received)
{
    return (struct drop_seen){
        .count = 3,
        .network = {0x45, [9] = IPPROTO_TCP, [12] = 10, 9, 0, 1, 10, 9, 0, 2},
        .ports = {0x12, 0x34, 0, 80},
        .ethertype = htons(ETH_P_IP),
        .length = 60,
        .received = received,
    };
}

/* The same from 2001:db8::1 to 2001:db8::2. */
static struct drop_seen v6(uint8_t protocol)
{
    return (struct drop_seen){
        .count = 1,
        .network = {0x60, [6] = protocol, [8] = 0x20, 1, 13, 0xb8, [23] = 1, [24] = 0x20, 1, 13,
                    0xb8, [39] = 2},
        .ports = {0x12, 0x34, 0, 80},
        .ethertype = htons(ETH_P_IPV6),
        .length = 60,
        .received = true,
    };
}

static struct record decode(const struct drop_seen *seen)
{
    const struct drop_key key = {.reason = 3};
    struct drop drop;

    drop_decode(&key, seen, &drop);
    assert_ptr_equal(drop.record.kind, &kind_drop);
    return drop.record;
}

static void assert_ends(const struct record *record, const char *local, const char *remote)
{
    char text[ENDPOINT_TEXT];

    assert_string_equal(endpoint_text(text, &record->drop.local), local);
    assert_string_equal(endpoint_text(text, &record->drop.remote), remote);
}

static void each_counted_drop_is_a_row(void **state)
{
    const struct drop_key key = {.location = UINT64_C(0xffffffff81000000),
                                 .inode = UINT64_C(5000000000),
                                 .reason = 3,
                                 .netns = 0xf0000001,
                                 .interface = 7,
                                 .uid = 1000};
    const struct drop_seen seen = v4(true);
    struct drop drop;

    (void)state;
    drop_decode(&key, &seen, &drop);
    assert_int_equal(drop.location, key.location);
    assert_int_equal(drop.netns, key.netns);
    assert_int_equal(drop.record.drop.drops, 3);
    assert_int_equal(drop.record.drop.source, DROP_BY_TRACEPOINT);
    assert_int_equal(drop.record.drop.interface, 7);
    assert_int_equal(drop.record.drop.inode, key.inode);
    assert_int_equal(drop.record.drop.uid, 1000);
    assert_int_equal(drop.record.has,
                     DROP_INTERFACE | DROP_SOCKET | DROP_ADDRESSES | DROP_PROTOCOL | DROP_PORTS);
}

static void a_received_packet_was_for_this_machine(void **state)
{
    const struct drop_seen in = v4(true), out = v4(false);
    struct record record = decode(&in);

    (void)state;
    assert_int_equal(record.drop.protocol, IPPROTO_TCP);
    assert_ends(&record, "10.9.0.2:80", "10.9.0.1:4660");
    record = decode(&out);
    assert_ends(&record, "10.9.0.1:4660", "10.9.0.2:80");
}

static void ipv6_has_the_same(void **state)
{
    const struct drop_seen seen = v6(IPPROTO_UDP);
    const struct record record = decode(&seen);

    (void)state;
    assert_int_equal(record.has, DROP_ADDRESSES | DROP_PROTOCOL | DROP_PORTS);
    assert_int_equal(record.drop.protocol, IPPROTO_UDP);
    assert_ends(&record, "[2001:db8::2]:80", "[2001:db8::1]:4660");
}

/* Ports stand behind the options then, and were not read. */
static void the_protocol_after_hop_by_hop_options_has_no_ports(void **state)
{
    static const uint8_t protocols[] = {IPPROTO_ICMPV6, IPPROTO_UDP};

    (void)state;
    for (size_t i = 0; i < COUNT(protocols); i++) {
        struct drop_seen seen = v6(IPPROTO_HOPOPTS);
        seen.ports[0] = protocols[i];
        const struct record record = decode(&seen);
        assert_int_equal(record.has, DROP_ADDRESSES | DROP_PROTOCOL);
        assert_int_equal(record.drop.protocol, protocols[i]);
        assert_int_equal(record.drop.local.port, 0);
    }
}

/* What was read behind a packet is no part of it. */
static void a_cut_packet_has_the_fields_of_its_rest(void **state)
{
    struct drop_seen short4 = v4(true), short6 = v6(IPPROTO_UDP);

    (void)state;
    for (uint8_t length = 0; length < 60; length++) {
        short4.length = short6.length = length;
        assert_int_equal(decode(&short4).has, (length >= 20 ? DROP_ADDRESSES | DROP_PROTOCOL : 0) |
                                                  (length >= 24 ? DROP_PORTS : 0));
        assert_int_equal(decode(&short6).has, (length >= 40 ? DROP_ADDRESSES | DROP_PROTOCOL : 0) |
                                                  (length >= 44 ? DROP_PORTS : 0));
    }
}

static void only_the_first_fragment_has_ports(void **state)
{
    struct drop_seen seen = v4(true);
    struct record record;

    (void)state;
    seen.network[6] = 0x20; /* more of them follow */
    record = decode(&seen);
    assert_int_equal(record.has, DROP_ADDRESSES | DROP_PROTOCOL | DROP_PORTS);
    seen.network[7] = 1;
    record = decode(&seen);
    assert_int_equal(record.has, DROP_ADDRESSES | DROP_PROTOCOL);
    assert_int_equal(record.drop.local.port, 0);
    seen = v6(IPPROTO_FRAGMENT);
    record = decode(&seen);
    assert_int_equal(record.has, DROP_ADDRESSES | DROP_PROTOCOL);
}

static void a_protocol_without_ports_has_none(void **state)
{
    struct drop_seen seen = v4(true);
    struct record record;

    (void)state;
    seen.network[9] = IPPROTO_ICMP;
    record = decode(&seen);
    assert_int_equal(record.has, DROP_ADDRESSES | DROP_PROTOCOL);
    assert_int_equal(record.drop.protocol, IPPROTO_ICMP);
    assert_int_equal(record.drop.remote.port, 0);
}

/* A packet may be dropped because that is wrong, and other frames have no IP. */
static void where_the_version_is_wrong_nothing_is_invented(void **state)
{
    struct drop_seen all[] = {v4(true), v6(IPPROTO_TCP), v4(true), v4(true), v6(IPPROTO_TCP)};

    (void)state;
    all[0].network[0] = 0x65;
    all[1].network[0] = 0x45;
    all[2].ethertype = htons(ETH_P_ARP);
    all[3].ethertype = htons(ETH_P_IPV6);
    all[4].ethertype = 0;
    for (size_t i = 0; i < COUNT(all); i++) {
        const struct record record = decode(&all[i]);
        assert_int_equal(record.has, 0);
        assert_int_equal(record.drop.protocol, 0);
        assert_int_equal(record.drop.local.address.family, AF_UNSPEC);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_counted_drop_is_a_row),
        cmocka_unit_test(a_received_packet_was_for_this_machine),
        cmocka_unit_test(ipv6_has_the_same),
        cmocka_unit_test(the_protocol_after_hop_by_hop_options_has_no_ports),
        cmocka_unit_test(a_cut_packet_has_the_fields_of_its_rest),
        cmocka_unit_test(only_the_first_fragment_has_ports),
        cmocka_unit_test(a_protocol_without_ports_has_none),
        cmocka_unit_test(where_the_version_is_wrong_nothing_is_invented),
    };

    return cmocka_run_group_tests_name("drop_decode", tests, NULL, NULL);
}
