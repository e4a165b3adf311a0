/* SPDX-License-Identifier: MIT */
/* Expectations and counters out of ctnetlink's messages. */
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "ct_decoding.h"
#include "kit.h"

/* --- Expectations ----------------------------------------------------------------------------- */

static void begin_expectation(struct wire *wire)
{
    wire->length = 0;
    ct_message(wire, NFNL_SUBSYS_CTNETLINK_EXP, IPCTNL_MSG_EXP_NEW, NLM_F_MULTI, 1, AF_INET);
}

static void an_expectation_has_all_that_its_message_says(void **state)
{
    const struct flow_tuple master = ct_tcp(), expected = ct_reversed(&master);
    const struct flow_tuple mask = ct_tuple_of(AF_INET, IPPROTO_TCP, 255, UINT16_MAX);
    struct wire wire;

    (void)state;
    begin_expectation(&wire);
    ct_tuple(&wire, CTA_EXPECT_MASTER, &master, AF_INET);
    ct_tuple(&wire, CTA_EXPECT_TUPLE, &expected, AF_INET);
    ct_tuple(&wire, CTA_EXPECT_MASK, &mask, AF_INET);
    ct_be32(&wire, CTA_EXPECT_TIMEOUT, 299);
    ct_be32(&wire, CTA_EXPECT_ID, 0xdeadbeef);
    wire_attribute(&wire, CTA_EXPECT_HELP_NAME, "sip-5060", 9);
    ct_be16(&wire, CTA_EXPECT_ZONE, 0x0102);
    ct_be32(&wire, CTA_EXPECT_FLAGS, NF_CT_EXPECT_PERMANENT | NF_CT_EXPECT_USERSPACE);
    ct_be32(&wire, CTA_EXPECT_CLASS, 3);
    wire_attribute(&wire, CTA_EXPECT_FN, "nat-follow-master", 18);
    const struct ct_decoded decoded = ct_decode(CT_EXPECTATION, &wire);
    const struct expectation_record *expectation = &decoded.record.expectation;
    assert_int_equal(decoded.result, 0);
    assert_int_equal(decoded.record.kind, &kind_expectation);
    assert_true(decoded.record.identity != 0);
    assert_true(decoded.record.has ==
                (FLOW_MASTER | FLOW_ORIG | FLOW_MASK | FLOW_TIMEOUT | FLOW_ID | FLOW_HELPER |
                 FLOW_ZONE | FLOW_FLAGS | FLOW_CLASS));
    assert_int_equal(expectation->family, AF_INET);
    ct_assert_tuple(&expectation->master, &master);
    ct_assert_tuple(&expectation->orig, &expected);
    ct_assert_tuple(&expectation->mask, &mask);
    assert_int_equal(expectation->timeout, 299);
    assert_int_equal(expectation->id, 0xdeadbeef);
    assert_int_equal(expectation->zone, 0x0102);
    assert_int_equal(expectation->flags, NF_CT_EXPECT_PERMANENT | NF_CT_EXPECT_USERSPACE);
    assert_int_equal(expectation->class, 3);
    assert_int_equal(decoded.helper_length, 8);
    assert_memory_equal(decoded.helper, "sip-5060", 8);
}

/* Two that wait for one connection are two, if their masters are. */
static void an_identity_is_that_of_all_three_tuples_and_the_id(void **state)
{
    const struct flow_tuple tuple = ct_tcp(), reversed = ct_reversed(&tuple);
    uint64_t identities[6];
    struct wire wire;

    (void)state;
    for (size_t i = 0; i < COUNT(identities); i++) {
        begin_expectation(&wire);
        ct_tuple(&wire, CTA_EXPECT_MASTER, i == 1 ? &reversed : &tuple, AF_INET);
        ct_tuple(&wire, CTA_EXPECT_TUPLE, i == 2 ? &reversed : &tuple, AF_INET);
        ct_tuple(&wire, CTA_EXPECT_MASK, i == 3 ? &reversed : &tuple, AF_INET);
        ct_be32(&wire, CTA_EXPECT_ID, i == 4 ? 8 : 7);
        ct_be32(&wire, CTA_EXPECT_TIMEOUT, i == 5 ? 8 : 7);
        identities[i] = ct_decode(CT_EXPECTATION, &wire).record.identity;
        assert_true(identities[i] != 0);
        assert_int_equal(identities[i] == identities[0], i == 0 || i == 5);
    }
}

static void an_expectation_without_anything_says_nothing(void **state)
{
    struct wire wire;

    (void)state;
    begin_expectation(&wire);
    const struct ct_decoded decoded = ct_decode(CT_EXPECTATION, &wire);
    assert_int_equal(decoded.result, 0);
    assert_true(decoded.record.has == 0);
}

static void short_attributes_of_an_expectation_are_malformed(void **state)
{
    static const uint16_t types[] = {CTA_EXPECT_TIMEOUT, CTA_EXPECT_ID,    CTA_EXPECT_ZONE,
                                     CTA_EXPECT_FLAGS,   CTA_EXPECT_CLASS, 99};
    struct wire wire;

    (void)state;
    for (size_t i = 0; i < COUNT(types); i++)
        for (size_t size = 0; size < (types[i] == CTA_EXPECT_ZONE ? 2 : 4); size++) {
            begin_expectation(&wire);
            wire_attribute(&wire, types[i], "\1\2\3", size);
            const struct ct_decoded decoded = ct_decode(CT_EXPECTATION, &wire);
            assert_int_equal(decoded.result, 0);
            assert_true(decoded.record.has == 0);
        }
}

static void an_expectation_may_end_at_any_byte(void **state)
{
    struct wire wire = {.length = 0};

    (void)state;
    ct_expectation(&wire, 1, 20000);
    const struct nlmsghdr *message = wire_last(&wire);
    for (size_t length = sizeof *message; length < message->nlmsg_len; length++) {
        const struct ct_decoded decoded = ct_decode_first(CT_EXPECTATION, message, length);
        assert_true(decoded.result == 0 || decoded.result == -EBADMSG);
        assert_false(decoded.record.has & FLOW_ID);
    }
}

/* --- Counters --------------------------------------------------------------------------------- */

static void counters_of_a_processor_are_known_by_their_numbers(void **state)
{
    const struct nfgenmsg general = {.version = NFNETLINK_V0, .res_id = htobe16(258)};
    struct wire wire = {.length = 0};

    (void)state;
    for (int kind = CT_STATISTICS; kind <= CT_EXPECTATION_STATISTICS; kind++) {
        wire_message(&wire, NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET_STATS_CPU, NLM_F_MULTI,
                     1);
        wire_put(&wire, &general, sizeof general);
        ct_be32(&wire, CTA_STATS_FOUND, 0);
        ct_be32(&wire, CTA_STATS_DROP, UINT32_MAX);
        wire_attribute(&wire, CTA_STATS_ERROR, "\1\2\3", 3);
        ct_be32(&wire, FLOW_COUNTERS - 1, 7);
        ct_be32(&wire, FLOW_COUNTERS, 8);
        ct_be32(&wire, CT_TYPE_MAX, 9);
        const struct ct_decoded decoded = ct_decode((enum ct_kind)kind, &wire);
        const struct flow_statistics_record *statistics = &decoded.record.statistics;
        assert_int_equal(decoded.result, 0);
        assert_int_equal(decoded.record.kind, &kind_flow_statistics);
        assert_true(decoded.record.has ==
                    (UINT64_C(1) << CTA_STATS_FOUND | UINT64_C(1) << CTA_STATS_DROP |
                     UINT64_C(1) << (FLOW_COUNTERS - 1)));
        assert_int_equal(statistics->cpu, 258);
        assert_int_equal(statistics->expectations, kind == CT_EXPECTATION_STATISTICS);
        assert_int_equal(statistics->counters[CTA_STATS_DROP], UINT32_MAX);
        assert_int_equal(statistics->counters[CTA_STATS_ERROR], 0);
        assert_int_equal(statistics->counters[FLOW_COUNTERS - 1], 7);
    }
}

static void usage_is_how_many_there_are_and_may_be(void **state)
{
    struct wire wire = {.length = 0};

    (void)state;
    ct_message(&wire, NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_GET_STATS, 0, 1, AF_UNSPEC);
    ct_be32(&wire, CTA_STATS_GLOBAL_ENTRIES, 0x01020304);
    ct_be32(&wire, CTA_STATS_GLOBAL_MAX_ENTRIES, UINT32_MAX);
    struct ct_decoded decoded = ct_decode(CT_USAGE, &wire);
    assert_int_equal(decoded.result, 0);
    assert_int_equal(decoded.record.kind, &kind_flow_usage);
    assert_true(decoded.record.has == (USAGE_ENTRIES | USAGE_MAXIMUM));
    assert_int_equal(decoded.record.usage.entries, 0x01020304);
    assert_int_equal(decoded.record.usage.maximum, UINT32_MAX);
    assert_true(decoded.record.usage.drop == 0 && decoded.record.usage.buckets == 0);
    wire.length = 0; /* before Linux 4.18 there was no maximum */
    ct_message(&wire, NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_GET_STATS, 0, 1, AF_UNSPEC);
    ct_be32(&wire, CTA_STATS_GLOBAL_ENTRIES, 5);
    wire_attribute(&wire, CTA_STATS_GLOBAL_MAX_ENTRIES, "\1\2\3", 3);
    decoded = ct_decode(CT_USAGE, &wire);
    assert_true(decoded.record.has == USAGE_ENTRIES);
}

static void a_message_without_its_beginning_is_malformed(void **state)
{
    struct wire wire = {.length = 0};

    (void)state;
    ct_message(&wire, NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_NEW, 0, 1, AF_INET);
    for (int kind = 0; kind < CT_KINDS; kind++)
        for (size_t length = sizeof(struct nlmsghdr); length < NLMSG_LENGTH(4); length++) {
            const struct ct_decoded decoded =
                ct_decode_first((enum ct_kind)kind, wire_last(&wire), length);
            assert_int_equal(decoded.result, -EBADMSG);
            assert_true(decoded.record.has == 0 && decoded.record.identity == 0);
        }
}

static void counters_that_end_too_early_are_malformed(void **state)
{
    struct wire wire = {.length = 0};

    (void)state;
    ct_message(&wire, NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_GET_STATS, 0, 1, AF_UNSPEC);
    ct_be32(&wire, 1, 7);
    wire_put(&wire, "\10\0\2\0\0", 5);
    for (int kind = CT_STATISTICS; kind < CT_KINDS; kind++) {
        const struct ct_decoded decoded = ct_decode((enum ct_kind)kind, &wire);
        assert_int_equal(decoded.result, -EBADMSG);
        assert_int_equal(decoded.record.has, kind == CT_USAGE ? USAGE_ENTRIES : 1 << 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_expectation_has_all_that_its_message_says),
        cmocka_unit_test(an_identity_is_that_of_all_three_tuples_and_the_id),
        cmocka_unit_test(an_expectation_without_anything_says_nothing),
        cmocka_unit_test(short_attributes_of_an_expectation_are_malformed),
        cmocka_unit_test(an_expectation_may_end_at_any_byte),
        cmocka_unit_test(counters_of_a_processor_are_known_by_their_numbers),
        cmocka_unit_test(usage_is_how_many_there_are_and_may_be),
        cmocka_unit_test(a_message_without_its_beginning_is_malformed),
        cmocka_unit_test(counters_that_end_too_early_are_malformed),
    };

    return cmocka_run_group_tests_name("ctnetlink_counters", tests, NULL, NULL);
}
