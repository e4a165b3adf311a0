/* SPDX-License-Identifier: MIT */
/* Messages of ctnetlink that are cut, twisted, or not what they should be. */
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "ct_decoding.h"
#include "kit.h"

/* --- Malformed -------------------------------------------------------------------------------- */

/* Wherever a message ends, what is behind its end is not read, and nothing is made up. */
static void a_message_may_end_at_any_byte(void **state)
{
    struct wire wire;
    const uint64_t all = ct_put_all_but(&wire, 0);
    const struct nlmsghdr *message = wire_last(&wire);
    const size_t start = NLMSG_LENGTH(sizeof(struct nfgenmsg));
    uint64_t before = 0;

    (void)state;
    for (size_t length = sizeof *message; length <= message->nlmsg_len; length++) {
        const struct ct_decoded decoded = ct_decode_first(CT_FLOW, message, length);
        const uint64_t has = decoded.record.has;
        if (length < start) {
            assert_int_equal(decoded.result, -EBADMSG);
            assert_true(has == 0);
            continue;
        }
        assert_true(decoded.result == 0 || decoded.result == -EBADMSG);
        assert_true(!(has & ~all) && (has & before) == before);
        before = has;
    }
    assert_true(before == all);
}

static void an_attribute_of_an_impossible_length_ends_the_message(void **state)
{
    static const uint16_t lengths[] = {0, 1, 3, 9, 100, UINT16_MAX};
    struct wire wire;

    (void)state;
    for (size_t i = 0; i < COUNT(lengths); i++) {
        const struct nlattr header = {lengths[i], CTA_MARK};
        ct_begin_flow(&wire, AF_INET);
        ct_put_orig(&wire);
        wire_put(&wire, &header, sizeof header);
        wire_put(&wire, "\0\0\0\1", 4);
        struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
        assert_int_equal(decoded.result, -EBADMSG);
        assert_true(decoded.record.has == FLOW_ORIG);
        assert_true(decoded.record.identity != 0);
    }
    ct_begin_flow(&wire, AF_INET);
    ct_put_orig(&wire);
    wire_put(&wire, "\4\0\1", 3);
    assert_int_equal(ct_decode(CT_FLOW, &wire).result, -EBADMSG);
}

/* What is nested may not reach beyond what it is nested in. */
static void a_nested_attribute_stays_within_its_own(void **state)
{
    struct wire wire;

    (void)state;
    for (uint16_t beyond = 1; beyond < 200; beyond++) {
        ct_begin_flow(&wire, AF_INET);
        const size_t nest = ct_nest(&wire, CTA_COUNTERS_ORIG);
        ct_be64(&wire, CTA_COUNTERS_PACKETS, 1);
        const size_t last = wire.length;
        ct_be64(&wire, CTA_COUNTERS_BYTES, 2);
        ct_nest_end(&wire, nest);
        const struct nlattr header = {(uint16_t)(12 + beyond), CTA_COUNTERS_BYTES};
        memcpy(wire.data + last, &header, sizeof header);
        ct_be32(&wire, CTA_TIMEOUT, 5);
        const struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
        assert_int_equal(decoded.result, -EBADMSG);
        assert_true(decoded.record.has == FLOW_TIMEOUT);
    }
}

static void a_number_in_place_of_a_nest_is_malformed_or_empty(void **state)
{
    static const uint16_t nests[] = {CTA_TUPLE_ORIG, CTA_TUPLE_REPLY,   CTA_PROTOINFO,
                                     CTA_HELP,       CTA_COUNTERS_ORIG, CTA_COUNTERS_REPLY,
                                     CTA_SECCTX,     CTA_TIMESTAMP};
    struct wire wire;

    (void)state;
    for (size_t i = 0; i < COUNT(nests); i++)
        for (size_t size = 0; size < 8; size++) {
            ct_begin_flow(&wire, AF_INET);
            wire_attribute(&wire, nests[i], "\377\377\377\377\377\377\377\377", size);
            ct_be32(&wire, CTA_TIMEOUT, 5);
            const struct ct_decoded decoded = ct_decode(CT_FLOW, &wire);
            assert_int_equal(decoded.result, size ? -EBADMSG : 0);
            assert_true(decoded.record.has == FLOW_TIMEOUT);
        }
}

/* One byte after another becomes something else: what is read stays within the message. */
static void no_byte_leads_out_of_the_message(void **state)
{
    static const unsigned char values[] = {0, 1, 4, 5, 0x7f, 0x80, 0xff};
    struct wire wire;

    (void)state;
    ct_put_all_but(&wire, 0);
    const struct nlmsghdr *message = wire_last(&wire);
    for (size_t at = sizeof *message; at < message->nlmsg_len; at++) {
        const char kept = wire.data[at];
        for (size_t i = 0; i < COUNT(values); i++) {
            wire.data[at] = (char)values[i];
            for (int kind = 0; kind < CT_KINDS; kind++) {
                const int result = ct_decode((enum ct_kind)kind, &wire).result;
                assert_true(result == 0 || result == -EBADMSG);
            }
        }
        wire.data[at] = kept;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_may_end_at_any_byte),
        cmocka_unit_test(an_attribute_of_an_impossible_length_ends_the_message),
        cmocka_unit_test(a_nested_attribute_stays_within_its_own),
        cmocka_unit_test(a_number_in_place_of_a_nest_is_malformed_or_empty),
        cmocka_unit_test(no_byte_leads_out_of_the_message),
    };

    return cmocka_run_group_tests_name("ctnetlink_malformed", tests, NULL, NULL);
}
