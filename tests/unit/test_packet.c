/* SPDX-License-Identifier: MIT */
/* What frames say of their flows: addresses, ports, protocol, tags, fragments, segments. */
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/record/traffic.h"
#include "kit.h"
#include "probes/packet/packet.h"

/* Headers as hexadecimal digits. */
#define V4(fragment, protocol)                                                                     \
    "45000028"                                                                                     \
    "abcd" fragment "40" protocol "0000"                                                           \
    "0a090001"                                                                                     \
    "0a090002"
#define V4_OPTIONS                                                                                 \
    "46000028"                                                                                     \
    "abcd"                                                                                         \
    "0000"                                                                                         \
    "4011"                                                                                         \
    "0000"                                                                                         \
    "0a090001"                                                                                     \
    "0a090002"                                                                                     \
    "94040000"
#define V6(next)                                                                                   \
    "60000000"                                                                                     \
    "0018" next "40"                                                                               \
    "20010db8000000000000000000000001"                                                             \
    "20010db8000000000000000000000002"
#define PORTS                                                                                      \
    "1234"                                                                                         \
    "0050"
#define TCP(flags)                                                                                 \
    PORTS "0000000100000002"                                                                       \
          "50" flags "ffff"                                                                        \
          "0000"                                                                                   \
          "0000"
#define TCP_OPTIONS                                                                                \
    PORTS "0000000100000002"                                                                       \
          "80"                                                                                     \
          "12"                                                                                     \
          "ffff"                                                                                   \
          "0000"                                                                                   \
          "0000"
#define UDP                                                                                        \
    PORTS "0008"                                                                                   \
          "0000"

static size_t bytes_of(const char *digits, uint8_t bytes[160])
{
    size_t size = 0;

    for (; digits[2 * size]; size++) {
        const char pair[] = {digits[2 * size], digits[2 * size + 1], '\0'};
        bytes[size] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return size;
}

/* "protocol source>destination", with ports if they are known, and the tag if there is one. */
static const char *flow_of(uint16_t ethertype, const char *digits, struct packet *packet)
{
    static char text[160];
    uint8_t bytes[160];
    const size_t size = bytes_of(digits, bytes);
    char src[INET6_ADDRSTRLEN] = "", dst[INET6_ADDRSTRLEN] = "", ports[16] = "", tag[16] = "";

    packet_parse(packet, bytes, size, ethertype);
    const struct flow_key *key = &packet->key;
    if (key->has & TRAFFIC_ADDRESSES) {
        inet_ntop(key->family, key->addresses, src, sizeof src);
        inet_ntop(key->family, key->addresses + flow_key_address(key), dst, sizeof dst);
    }
    if (key->has & TRAFFIC_PORTS)
        snprintf(ports, sizeof ports, " %u>%u", ntohs(key->sport), ntohs(key->dport));
    if (key->has & TRAFFIC_VLAN)
        snprintf(tag, sizeof tag, " vlan %u", key->vlan);
    snprintf(text, sizeof text, "%#x %s>%s%s%s", key->protocol, src, dst, ports, tag);
    return text;
}

struct expectation {
    uint16_t ethertype;
    const char *digits, *flow;
};

static void assert_flows(const struct expectation *expected, size_t count)
{
    struct packet packet;

    for (size_t i = 0; i < count; i++)
        assert_string_equal(flow_of(expected[i].ethertype, expected[i].digits, &packet),
                            expected[i].flow);
}

static void ipv4_and_its_ports(void **state)
{
    static const struct expectation expected[] = {
        {ETH_P_IP, V4("4000", "06") TCP("02"), "0x6 10.9.0.1>10.9.0.2 4660>80"},
        {ETH_P_IP, V4("0000", "11") UDP, "0x11 10.9.0.1>10.9.0.2 4660>80"},
        {ETH_P_IP, V4("0000", "84") PORTS, "0x84 10.9.0.1>10.9.0.2 4660>80"},
        {ETH_P_IP, V4_OPTIONS UDP, "0x11 10.9.0.1>10.9.0.2 4660>80"},
        {ETH_P_IP, V4("0000", "01") "0800" PORTS, "0x1 10.9.0.1>10.9.0.2"},
        {ETH_P_IP, V4("0000", "2f") "00000800" V4("0000", "11") UDP, "0x2f 10.9.0.1>10.9.0.2"},
        {ETH_P_IP, V4("0000", "04") V4("0000", "11") UDP, "0x4 10.9.0.1>10.9.0.2"},
        {ETH_P_IP, V4("0000", "06") "123400", "0x6 10.9.0.1>10.9.0.2"},
    };

    (void)state;
    assert_flows(expected, COUNT(expected));
}

/* That it is the same then is for the fuzz target. */
static void udp_and_tcp_take_few_steps(void **state)
{
    static const struct expectation usual[] = {
        {ETH_P_IP, V4("4000", "06") TCP("02"), NULL},
        {ETH_P_IP, V4("0000", "11") UDP "000000000000", NULL},
        {ETH_P_IPV6, V6("06") TCP("02"), NULL},
        {ETH_P_IPV6, V6("11") UDP "000000000000", NULL},
    };
    struct packet packet;
    uint8_t bytes[160];

    (void)state;
    for (size_t i = 0; i < COUNT(usual); i++) {
        const size_t size = bytes_of(usual[i].digits, bytes);
        assert_true(packet_parse_usual(&packet, bytes, size, usual[i].ethertype));
        assert_false(packet_parse_usual(&packet, bytes, size, ETH_P_ARP));
    }
}

static void ipv6_after_its_extension_headers(void **state)
{
#define ENDS "2001:db8::1>2001:db8::2"
    static const struct expectation expected[] = {
        {ETH_P_IPV6, V6("06") TCP("02"), "0x6 " ENDS " 4660>80"},
        {ETH_P_IPV6, V6("00") "1100000000000000" UDP, "0x11 " ENDS " 4660>80"},
        {ETH_P_IPV6,
         V6("00") "3c00000000000000"
                  "2b010000000000000000000000000000"
                  "1100000000000000" UDP,
         "0x11 " ENDS " 4660>80"},
        {ETH_P_IPV6, V6("3a") "8000", "0x3a " ENDS},
        {ETH_P_IPV6, V6("3b"), "0x3b " ENDS},
        {ETH_P_IPV6, V6("00") "11000000", "0 " ENDS}, /* cut off */
    };

    (void)state;
    assert_flows(expected, COUNT(expected));
}

static void tags_and_other_protocols(void **state)
{
    static const struct expectation expected[] = {
        {ETH_P_8021Q,
         "e064"
         "0800" V4("0000", "11") UDP,
         "0x11 10.9.0.1>10.9.0.2 4660>80 vlan 100"},
        {ETH_P_8021AD,
         "00c8"
         "8100"
         "0064"
         "86dd" V6("11") UDP,
         "0x11 " ENDS " 4660>80 vlan 200"},
        {ETH_P_8021Q,
         "0064"
         "0026"
         "4242",
         "0x504 > vlan 100"},
        {ETH_P_8021Q, "0064", "0x8100 >"},
        {ETH_P_ARP, "0001080006040001", "0x806 >"},
        {ETH_P_LLDP, "", "0x88cc >"},
        {ETH_P_802_2, "424203", "0x504 >"},
    };

    (void)state;
    assert_flows(expected, COUNT(expected));
}

static void numbers_without_a_meaning_are_one(void **state)
{
    static const struct expectation expected[] = {
        {0x000c, "0011", "0x50c >"}, {TRAFFIC_NETLINK, "0011", "0x5fe >"},
        {0x0000, "0011", "0x500 >"}, {0x00ff, "0011", "0x500 >"},
        {0x0123, "0011", "0x500 >"}, {0x0504, "0011", "0x500 >"},
        {0x05ff, "0011", "0x500 >"}, {0x0600, "0011", "0x600 >"},
    };

    (void)state;
    assert_flows(expected, COUNT(expected));
}

static void malformed_packets_have_no_addresses(void **state)
{
    static const struct expectation expected[] = {
        {ETH_P_IP,
         "44"
         "000028abcd00004006"
         "0000"
         "0a090001"
         "0a090002" UDP,
         "0x800 >"},
        {ETH_P_IP,
         "65"
         "000028abcd00004006"
         "0000"
         "0a090001"
         "0a090002" UDP,
         "0x800 >"},
        {ETH_P_IP, "45000028abcd0000400600000a0900010a0900", "0x800 >"},
        {ETH_P_IP, "", "0x800 >"},
        {ETH_P_IPV6, V4("0000", "11") UDP V4("0000", "11"), "0x86dd >"},
        {ETH_P_IPV6, "6000000000180640", "0x86dd >"},
    };

    (void)state;
    assert_flows(expected, COUNT(expected));
}

static void assert_fragment(const struct packet *packet, enum fragment fragment, uint32_t id)
{
    assert_int_equal(packet->fragment, fragment);
    assert_int_equal(packet->fragment_id, id);
}

static void only_the_first_fragment_has_ports(void **state)
{
    struct packet packet;

    (void)state;
    assert_string_equal(flow_of(ETH_P_IP, V4("2000", "11") UDP, &packet),
                        "0x11 10.9.0.1>10.9.0.2 4660>80");
    assert_fragment(&packet, FRAGMENT_FIRST, 0xabcd);
    assert_string_equal(flow_of(ETH_P_IP, V4("2003", "11") UDP, &packet), "0x11 10.9.0.1>10.9.0.2");
    assert_fragment(&packet, FRAGMENT_LATER, 0xabcd);
    assert_string_equal(flow_of(ETH_P_IP, V4("4000", "11") UDP, &packet),
                        "0x11 10.9.0.1>10.9.0.2 4660>80");
    assert_fragment(&packet, FRAGMENT_NONE, 0xabcd);
    assert_string_equal(flow_of(ETH_P_IPV6,
                                V6("2c") "1100"
                                         "0001"
                                         "12345678" UDP,
                                &packet),
                        "0x11 " ENDS " 4660>80");
    assert_fragment(&packet, FRAGMENT_FIRST, 0x12345678);
    /* what stands there is no header, even if its type is that of one */
    assert_string_equal(flow_of(ETH_P_IPV6,
                                V6("2c") "3c00"
                                         "0009"
                                         "12345678"
                                         "1100000000000000" UDP,
                                &packet),
                        "0x3c " ENDS);
    assert_fragment(&packet, FRAGMENT_LATER, 0x12345678);
}

static void flags_of_tcp(void **state)
{
    struct packet packet;

    (void)state;
    (void)flow_of(ETH_P_IP, V4("0000", "06") TCP("12"), &packet);
    assert_true(packet.has_tcp);
    assert_int_equal(packet.tcp_flags, 0x12);
    (void)flow_of(ETH_P_IP, V4("0000", "06") PORTS "000000010000000250", &packet);
    assert_false(packet.has_tcp);
    (void)flow_of(ETH_P_IP, V4("0000", "11") TCP("12"), &packet);
    assert_false(packet.has_tcp);
}

static void a_frame_counts_as_the_packets_that_its_payload_fills(void **state)
{
    struct packet packet;

    (void)state;
    (void)flow_of(ETH_P_IP, V4("0000", "06") TCP_OPTIONS, &packet); /* options were cut off */
    assert_int_equal(packet.payload, 20 + 32);
    assert_int_equal(packet_segments(52 + 1448 * 3, packet.payload, 1448), 3);
    assert_int_equal(packet_segments(52 + 1448 * 3 + 1, packet.payload, 1448), 4);
    assert_int_equal(packet_segments(52 + 1448 * 3, packet.payload, 0), 1);
    assert_int_equal(packet_segments(52, packet.payload, 1448), 1);
    assert_int_equal(packet_segments(20, packet.payload, 1448), 1);
    (void)flow_of(ETH_P_IPV6, V6("11") UDP, &packet);
    assert_int_equal(packet.payload, 48);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ipv4_and_its_ports),
        cmocka_unit_test(udp_and_tcp_take_few_steps),
        cmocka_unit_test(ipv6_after_its_extension_headers),
        cmocka_unit_test(tags_and_other_protocols),
        cmocka_unit_test(numbers_without_a_meaning_are_one),
        cmocka_unit_test(malformed_packets_have_no_addresses),
        cmocka_unit_test(only_the_first_fragment_has_ports),
        cmocka_unit_test(flags_of_tcp),
        cmocka_unit_test(a_frame_counts_as_the_packets_that_its_payload_fills),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
