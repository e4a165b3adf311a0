/* SPDX-License-Identifier: MIT */
/* Flows out of ctnetlink's messages: what each attribute says. */
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "ct_decoding.h"
#include "kit.h"

static void a_flow_has_all_that_its_message_says(void **state)
{
    struct wire wire;
    const uint64_t has = ct_put_all_but(&wire, 0);
    const struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
    const struct flow_record *flow = &decoded.record.flow;
    const struct flow_tuple orig = ct_tcp(), reply = ct_reversed(&orig);

    (void)state;
    assert_int_equal(decoded.result, 0);
    assert_int_equal(decoded.record.kind, &kind_flow);
    assert_true(decoded.record.has == has);
    assert_int_equal(flow->family, AF_INET);
    ct_assert_tuple(&flow->way[WAY_ORIG].tuple, &orig);
    ct_assert_tuple(&flow->way[WAY_REPLY].tuple, &reply);
    assert_int_equal(flow->state, 3);
    assert_int_equal(flow->zone, 0x0102);
    assert_int_equal(flow->way[WAY_ORIG].zone, 0x1234);
    assert_int_equal(flow->way[WAY_REPLY].zone, 0xfedc);
    assert_true(flow->way[WAY_ORIG].packets == UINT64_C(0x0102030405060708));
    assert_true(flow->way[WAY_ORIG].bytes == UINT64_MAX);
    assert_true(flow->way[WAY_REPLY].packets == 0);
    assert_true(flow->way[WAY_REPLY].bytes == UINT64_C(0x8000000000000001));
    assert_true(flow->start == UINT64_C(1700000000123456789));
    assert_true(flow->stop == UINT64_C(1700000001987654321));
    assert_int_equal(decoded.helper_length, 3);
    assert_memory_equal(decoded.helper, "ftp", 3);
    assert_int_equal(decoded.secctx_length, sizeof ct_context - 1);
    assert_memory_equal(decoded.secctx, ct_context, sizeof ct_context - 1);
}

static void numbers_are_turned_into_the_machines_byte_order(void **state)
{
    struct wire wire;

    (void)state;
    ct_put_all_but(&wire, 0);
    const struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
    for (size_t i = 0; i < CT_NUMBERS; i++) {
        uint32_t value;
        memcpy(&value, (const char *)&decoded.record.flow + ct_numbers[i].offset, sizeof value);
        assert_int_equal(value, ct_numbers[i].value);
    }
}

static void labels_are_numbered_from_the_lowest_bit_of_the_first_word(void **state)
{
    struct wire wire;

    (void)state;
    ct_put_all_but(&wire, 0);
    const struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
    const uint32_t *labels = decoded.record.flow.labels;
    assert_int_equal(labels[0], 0x80000001);
    assert_int_equal(labels[1], 0x80000001);
    assert_int_equal(labels[2], 0x00000001);
    assert_int_equal(labels[3], 0x80000000);
}

/* Kernels give as many longs as are in use (net/netfilter/nf_conntrack_labels.c). */
static void labels_may_be_fewer_or_more_than_are_known(void **state)
{
    static const unsigned long many[32 / sizeof(long)] = {1, [16 / sizeof(long)] = ~0UL};
    struct wire wire;

    (void)state;
    ct_begin_flow(&wire, AF_INET);
    wire_attribute(&wire, CTA_LABELS, many, sizeof(unsigned long));
    struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
    assert_true(decoded.record.has == FLOW_LABELS);
    assert_int_equal(decoded.record.flow.labels[1] | decoded.record.flow.labels[2] |
                         decoded.record.flow.labels[3],
                     0);
    ct_begin_flow(&wire, AF_INET);
    wire_attribute(&wire, CTA_LABELS, many, sizeof many);
    decoded = ct_decode(CT_FLOW, &wire);
    assert_true(decoded.record.has == FLOW_LABELS);
    assert_int_equal(decoded.record.flow.labels[3], 0);
    ct_begin_flow(&wire, AF_INET);
    wire_attribute(&wire, CTA_LABELS, NULL, 0);
    assert_true(ct_decode(CT_FLOW, &wire).record.has == 0);
}

static void an_absent_attribute_leaves_the_others_filled(void **state)
{
    struct wire wire;

    (void)state;
    for (unsigned bit = 0; bit < 48; bit++) {
        const uint64_t has = ct_put_all_but(&wire, UINT64_C(1) << bit);
        const struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
        assert_int_equal(decoded.result, 0);
        assert_true(decoded.record.has == has);
    }
    ct_begin_flow(&wire, AF_INET6);
    const struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
    assert_int_equal(decoded.result, 0);
    assert_true(decoded.record.has == 0);
    assert_int_equal(decoded.record.flow.family, AF_INET6);
}

static void a_number_that_is_too_short_is_not_there(void **state)
{
    static const char bytes[4] = {1, 2, 3, 4};
    struct wire wire;

    (void)state;
    for (size_t i = 0; i < CT_NUMBERS; i++)
        for (size_t size = 0; size < sizeof bytes; size++) {
            ct_begin_flow(&wire, AF_INET);
            wire_attribute(&wire, ct_numbers[i].type, bytes, size);
            ct_put_orig(&wire);
            const struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
            assert_int_equal(decoded.result, 0);
            assert_true(decoded.record.has == FLOW_ORIG);
        }
    ct_begin_flow(&wire, AF_INET);
    wire_attribute(&wire, CTA_ZONE, bytes, 1);
    assert_true(ct_decode(CT_FLOW, &wire).record.has == 0);
}

static void a_longer_number_is_read_by_its_known_part(void **state)
{
    static const unsigned char bytes[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    struct wire wire;

    (void)state;
    ct_begin_flow(&wire, AF_INET);
    wire_attribute(&wire, CTA_TIMEOUT, bytes, sizeof bytes);
    wire_attribute(&wire, CTA_ZONE, bytes, sizeof bytes);
    const struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
    assert_int_equal(decoded.result, 0);
    assert_true(decoded.record.has == (FLOW_TIMEOUT | FLOW_ZONE));
    assert_int_equal(decoded.record.flow.timeout, 0x01020304);
    assert_int_equal(decoded.record.flow.zone, 0x0102);
}

static void unknown_attributes_are_passed_over(void **state)
{
    static const uint16_t types[] = {0, CTA_SYNPROXY, 200, CT_TYPE_MAX};
    struct wire wire;

    (void)state;
    for (size_t i = 0; i < COUNT(types); i++)
        for (size_t size = 0; size < 12; size++) {
            ct_begin_flow(&wire, AF_INET);
            wire_attribute(&wire, types[i], "\377\377\377\377\377\377\377\377\377\377\377", size);
            ct_put_orig(&wire);
            const struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
            assert_int_equal(decoded.result, 0);
            assert_true(decoded.record.has == FLOW_ORIG);
        }
}

/* The flags of an attribute's type say nothing about what it is. */
static void flags_of_a_type_are_no_part_of_it(void **state)
{
    struct wire wire;
    const uint32_t timeout = htobe32(77);

    (void)state;
    ct_begin_flow(&wire, AF_INET);
    wire_attribute(&wire, CTA_TIMEOUT | NLA_F_NET_BYTEORDER, &timeout, sizeof timeout);
    const struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
    assert_true(decoded.record.has == FLOW_TIMEOUT);
    assert_int_equal(decoded.record.flow.timeout, 77);
}

/* --- Tuples ----------------------------------------------------------------------------------- */

static struct ct_decoded decode_tuple(const struct flow_tuple *tuple, uint8_t family)
{
    struct wire wire;

    ct_begin_flow(&wire, family);
    ct_tuple(&wire, CTA_TUPLE_ORIG, tuple, family);
    return ct_decode(CT_FLOW, &wire);
}

static void tuples_of_every_protocol_distinguish_flows(void **state)
{
    static const uint8_t protocols[] = {IPPROTO_TCP,  IPPROTO_UDP,   IPPROTO_UDPLITE, IPPROTO_SCTP,
                                        IPPROTO_DCCP, IPPROTO_GRE,   IPPROTO_ESP,     253,
                                        IPPROTO_ICMP, IPPROTO_ICMPV6};
    static const uint8_t families[] = {AF_INET, AF_INET6};

    (void)state;
    for (size_t i = 0; i < COUNT(protocols) * COUNT(families); i++) {
        const uint8_t family = families[i % 2], protocol = protocols[i / 2];
        struct flow_tuple tuple = ct_tuple_of(family, protocol, 200, 0xfedc);
        if (protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6) {
            tuple.dst_port = 0;
            tuple.has_ports = false;
            tuple.icmp_type = 128;
            tuple.icmp_code = 3;
        }
        const struct ct_decoded decoded = decode_tuple(&tuple, family);
        assert_int_equal(decoded.result, 0);
        assert_true(decoded.record.has == FLOW_ORIG);
        assert_int_equal(decoded.record.flow.family, family);
        ct_assert_tuple(&decoded.record.flow.way[WAY_ORIG].tuple, &tuple);
    }
}

/* 0 is a port like any other; what the kernel does not track by ports has none. */
static void ports_of_0_are_not_absent_ports(void **state)
{
    static const uint16_t types[] = {CTA_PROTO_SRC_PORT, CTA_PROTO_DST_PORT};
    struct flow_tuple tuple = ct_tuple_of(AF_INET6, IPPROTO_UDP, 1, 0);
    struct wire wire;

    (void)state;
    tuple.dst_port = 0;
    struct ct_decoded decoded = decode_tuple(&tuple, AF_INET6);
    ct_assert_tuple(&decoded.record.flow.way[WAY_ORIG].tuple, &tuple);
    tuple.has_ports = false;
    decoded = decode_tuple(&tuple, AF_INET6);
    ct_assert_tuple(&decoded.record.flow.way[WAY_ORIG].tuple, &tuple);
    for (size_t i = 0; i < COUNT(types); i++) { /* one alone */
        ct_begin_flow(&wire, AF_INET);
        const size_t nest = ct_nest(&wire, CTA_TUPLE_ORIG), inner = ct_nest(&wire, CTA_TUPLE_PROTO);
        ct_be16(&wire, types[i], 7);
        ct_nest_end(&wire, inner);
        ct_nest_end(&wire, nest);
        decoded = ct_decode(CT_FLOW, &wire);
        assert_false(decoded.record.flow.way[WAY_ORIG].tuple.has_ports);
    }
}

/* No address is 0.0.0.0 for want of knowledge. */
static void a_tuple_without_both_addresses_is_not_there(void **state)
{
    static const struct {
        uint8_t family;
        uint16_t src, dst;
        size_t src_size, dst_size;
    } tuples[] = {
        {AF_INET, CTA_IP_V4_SRC, CTA_IP_V4_DST, 4, 3},
        {AF_INET, CTA_IP_V4_SRC, CTA_IP_V4_DST, 0, 4},
        {AF_INET, CTA_IP_V4_SRC, CTA_IP_V4_SRC, 4, 4},
        {AF_INET6, CTA_IP_V6_SRC, CTA_IP_V6_DST, 15, 16},
        {AF_INET6, CTA_IP_V6_DST, CTA_IP_V6_DST, 16, 16},
        {AF_INET6, 77, 78, 16, 16},
    };
    static const char bytes[16] = {1, 2, 3, 4};
    struct wire wire;

    (void)state;
    for (size_t i = 0; i < COUNT(tuples); i++) {
        ct_begin_flow(&wire, tuples[i].family);
        const size_t nest = ct_nest(&wire, CTA_TUPLE_ORIG), inner = ct_nest(&wire, CTA_TUPLE_IP);
        wire_attribute(&wire, tuples[i].src, bytes, tuples[i].src_size);
        wire_attribute(&wire, tuples[i].dst, bytes, tuples[i].dst_size);
        ct_nest_end(&wire, inner);
        ct_nest_end(&wire, nest);
        const struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
        assert_int_equal(decoded.result, 0);
        assert_true(decoded.record.has == 0);
    }
}

static void a_tuple_without_addresses_at_all_is_not_there(void **state)
{
    struct wire wire;

    (void)state;
    ct_begin_flow(&wire, AF_INET);
    ct_put_orig_zone(&wire);
    assert_true(ct_decode(CT_FLOW, &wire).record.has == FLOW_ORIG_ZONE);
}

static void an_identity_is_that_of_the_original_tuple_the_zones_and_the_id(void **state)
{
    struct wire wire;
    struct flow_tuple other = ct_tcp();
    uint64_t identity, without_id;

    (void)state;
    ct_put_all_but(&wire, 0);
    identity = ct_decode(CT_FLOW, &wire).record.identity;
    assert_true(identity != 0);
    ct_put_all_but(&wire,
                   FLOW_REPLY | FLOW_STATE | FLOW_TIMEOUT | FLOW_LABELS | FLOW_ORIG_COUNTERS);
    assert_true(ct_decode(CT_FLOW, &wire).record.identity == identity);
    ct_put_all_but(&wire, FLOW_ID);
    without_id = ct_decode(CT_FLOW, &wire).record.identity;
    assert_true(without_id != identity);
    ct_put_all_but(&wire, FLOW_ZONE);
    assert_true(ct_decode(CT_FLOW, &wire).record.identity != identity);
    ct_put_all_but(&wire, FLOW_ORIG);
    other.src_port++;
    ct_tuple(&wire, CTA_TUPLE_ORIG, &other, AF_INET);
    assert_true(ct_decode(CT_FLOW, &wire).record.identity != identity);
}

/* --- What is nested --------------------------------------------------------------------------- */

static void sctp_has_a_state_and_both_tags(void **state)
{
    struct wire wire;

    (void)state;
    ct_begin_flow(&wire, AF_INET);
    const size_t nest = ct_nest(&wire, CTA_PROTOINFO), inner = ct_nest(&wire, CTA_PROTOINFO_SCTP);
    ct_u8(&wire, CTA_PROTOINFO_SCTP_STATE, 7);
    ct_be32(&wire, CTA_PROTOINFO_SCTP_VTAG_ORIGINAL, 0x01020304);
    ct_be32(&wire, CTA_PROTOINFO_SCTP_VTAG_REPLY, UINT32_MAX);
    ct_nest_end(&wire, inner);
    ct_nest_end(&wire, nest);
    const struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
    assert_true(decoded.record.has == (FLOW_STATE | FLOW_ORIG_VTAG | FLOW_REPLY_VTAG));
    assert_int_equal(decoded.record.flow.state, 7);
    assert_int_equal(decoded.record.flow.way[WAY_ORIG].vtag, 0x01020304);
    assert_int_equal(decoded.record.flow.way[WAY_REPLY].vtag, UINT32_MAX);
}

static void dccp_has_a_state_and_a_role(void **state)
{
    struct wire wire;

    (void)state;
    ct_begin_flow(&wire, AF_INET6);
    const size_t nest = ct_nest(&wire, CTA_PROTOINFO), inner = ct_nest(&wire, CTA_PROTOINFO_DCCP);
    ct_u8(&wire, CTA_PROTOINFO_DCCP_STATE, 5);
    ct_u8(&wire, CTA_PROTOINFO_DCCP_ROLE, 1);
    ct_nest_end(&wire, inner);
    ct_nest_end(&wire, nest);
    const struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
    assert_true(decoded.record.has == (FLOW_STATE | FLOW_ROLE));
    assert_int_equal(decoded.record.flow.state, 5);
    assert_int_equal(decoded.record.flow.role, 1);
}

static void short_attributes_of_a_protocol_are_malformed(void **state)
{
    static const uint16_t protocols[] = {CTA_PROTOINFO_TCP, CTA_PROTOINFO_SCTP, CTA_PROTOINFO_DCCP,
                                         99};
    struct wire wire;

    (void)state;
    for (size_t i = 0; i < COUNT(protocols); i++) {
        ct_begin_flow(&wire, AF_INET);
        const size_t nest = ct_nest(&wire, CTA_PROTOINFO), inner = ct_nest(&wire, protocols[i]);
        wire_attribute(&wire, 1, "", 0);
        wire_attribute(&wire, 2, "\1\2\3", i == 2 ? 0 : 3);
        wire_attribute(&wire, 3, "\1\2\3", 3);
        ct_nest_end(&wire, inner);
        ct_nest_end(&wire, nest);
        const struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
        assert_int_equal(decoded.result, 0);
        assert_true(decoded.record.has == 0);
    }
}

/* Linux before 2.6.25. */
static void counters_may_be_of_32_bits(void **state)
{
    struct wire wire;

    (void)state;
    ct_begin_flow(&wire, AF_INET);
    const size_t nest = ct_nest(&wire, CTA_COUNTERS_ORIG);
    ct_be32(&wire, CTA_COUNTERS32_PACKETS, 0x01020304);
    ct_be32(&wire, CTA_COUNTERS32_BYTES, UINT32_MAX);
    ct_nest_end(&wire, nest);
    const struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
    assert_true(decoded.record.has == FLOW_ORIG_COUNTERS);
    assert_true(decoded.record.flow.way[WAY_ORIG].packets == 0x01020304);
    assert_true(decoded.record.flow.way[WAY_ORIG].bytes == UINT32_MAX);
}

static void counters_of_64_bits_win_wherever_they_stand(void **state)
{
    struct wire wire;

    (void)state;
    for (int first = 0; first < 2; first++) {
        ct_begin_flow(&wire, AF_INET);
        const size_t nest = ct_nest(&wire, CTA_COUNTERS_REPLY);
        if (first) {
            ct_be64(&wire, CTA_COUNTERS_PACKETS, UINT64_C(1) << 40);
            ct_be64(&wire, CTA_COUNTERS_BYTES, UINT64_C(1) << 50);
        }
        ct_be32(&wire, CTA_COUNTERS32_PACKETS, 1);
        ct_be32(&wire, CTA_COUNTERS32_BYTES, 2);
        if (!first) {
            ct_be64(&wire, CTA_COUNTERS_PACKETS, UINT64_C(1) << 40);
            ct_be64(&wire, CTA_COUNTERS_BYTES, UINT64_C(1) << 50);
        }
        ct_nest_end(&wire, nest);
        const struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
        assert_true(decoded.record.flow.way[WAY_REPLY].packets == UINT64_C(1) << 40);
        assert_true(decoded.record.flow.way[WAY_REPLY].bytes == UINT64_C(1) << 50);
    }
}

static void counters_are_both_there_or_none(void **state)
{
    static const struct {
        size_t packets, bytes;
    } sizes[] = {{8, 7}, {0, 8}, {8, 0}, {7, 7}};
    static const char zeroes[8];
    struct wire wire;

    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        ct_begin_flow(&wire, AF_INET);
        const size_t nest = ct_nest(&wire, CTA_COUNTERS_ORIG);
        wire_attribute(&wire, CTA_COUNTERS_PACKETS, zeroes, sizes[i].packets);
        wire_attribute(&wire, CTA_COUNTERS_BYTES, zeroes, sizes[i].bytes);
        ct_nest_end(&wire, nest);
        assert_true(ct_decode(CT_FLOW, &wire).record.has == 0);
    }
    ct_begin_flow(&wire, AF_INET);
    const size_t nest = ct_nest(&wire, CTA_COUNTERS_ORIG);
    ct_be64(&wire, CTA_COUNTERS_BYTES, 5);
    ct_nest_end(&wire, nest);
    assert_true(ct_decode(CT_FLOW, &wire).record.has == 0);
}

/* Neither a NUL within nor a missing one at the end may lead anywhere else. */
static void texts_end_at_a_nul_or_with_their_attribute(void **state)
{
    static const struct {
        const char *data;
        size_t size, length;
    } texts[] = {
        {"ftp", 4, 3},   {"ftp", 3, 3},        {"", 0, 0},           {"", 1, 0},
        {"a\0bc", 4, 1}, {"\033[31m\n", 6, 6}, {"\0\0\0\0\0", 5, 0},
    };
    struct wire wire;

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        ct_begin_flow(&wire, AF_INET);
        ct_put_text(&wire, CTA_HELP, CTA_HELP_NAME, texts[i].data, texts[i].size);
        ct_put_text(&wire, CTA_SECCTX, CTA_SECCTX_NAME, texts[i].data, texts[i].size);
        const struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
        assert_true(decoded.record.has == (FLOW_HELPER | FLOW_SECCTX));
        assert_int_equal(decoded.helper_length, texts[i].length);
        assert_int_equal(decoded.secctx_length, texts[i].length);
        if (texts[i].length)
            assert_memory_equal(decoded.helper, texts[i].data, texts[i].length);
    }
    ct_begin_flow(&wire, AF_INET);
    ct_put_text(&wire, CTA_HELP, CTA_HELP_INFO, "ftp", 4);
    assert_true(ct_decode(CT_FLOW, &wire).record.has == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flow_has_all_that_its_message_says),
        cmocka_unit_test(numbers_are_turned_into_the_machines_byte_order),
        cmocka_unit_test(labels_are_numbered_from_the_lowest_bit_of_the_first_word),
        cmocka_unit_test(labels_may_be_fewer_or_more_than_are_known),
        cmocka_unit_test(an_absent_attribute_leaves_the_others_filled),
        cmocka_unit_test(a_number_that_is_too_short_is_not_there),
        cmocka_unit_test(a_longer_number_is_read_by_its_known_part),
        cmocka_unit_test(unknown_attributes_are_passed_over),
        cmocka_unit_test(flags_of_a_type_are_no_part_of_it),
        cmocka_unit_test(tuples_of_every_protocol_distinguish_flows),
        cmocka_unit_test(ports_of_0_are_not_absent_ports),
        cmocka_unit_test(a_tuple_without_both_addresses_is_not_there),
        cmocka_unit_test(a_tuple_without_addresses_at_all_is_not_there),
        cmocka_unit_test(an_identity_is_that_of_the_original_tuple_the_zones_and_the_id),
        cmocka_unit_test(sctp_has_a_state_and_both_tags),
        cmocka_unit_test(dccp_has_a_state_and_a_role),
        cmocka_unit_test(short_attributes_of_a_protocol_are_malformed),
        cmocka_unit_test(counters_may_be_of_32_bits),
        cmocka_unit_test(counters_of_64_bits_win_wherever_they_stand),
        cmocka_unit_test(counters_are_both_there_or_none),
        cmocka_unit_test(texts_end_at_a_nul_or_with_their_attribute),
    };

    return cmocka_run_group_tests_name("ctnetlink_decode", tests, NULL, NULL);
}
