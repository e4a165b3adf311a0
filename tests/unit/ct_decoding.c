/* SPDX-License-Identifier: MIT */
#include "ct_decoding.h"

#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/flow/decode.h"
#include "kit.h"

static size_t copy_text(char copy[CT_TEXT_MAX], const struct text *text)
{
    assert_in_range(text->length, 0, CT_TEXT_MAX);
    if (text->length)
        memcpy(copy, text->data, text->length);
    return text->length;
}

static int decode_by_kind(enum ct_kind kind, const struct nlmsghdr *message, struct record *record)
{
    switch (kind) {
    case CT_FLOW:
        return ctnetlink_decode_flow(message, record);
    case CT_EXPECTATION:
        return ctnetlink_decode_expectation(message, record);
    case CT_USAGE:
        return ctnetlink_decode_usage(message, record);
    case CT_EXPECTATION_STATISTICS:
        return ctnetlink_decode_expectation_statistics(message, record);
    default:
        return ctnetlink_decode_flow_statistics(message, record);
    }
}

struct ct_decoded ct_decode_first(enum ct_kind kind, const struct nlmsghdr *message, size_t length)
{
    struct ct_decoded decoded = {.result = 0};
    struct nlmsghdr *exact = malloc(length); /* not a byte more, for the sanitizers */
    const struct record *record = &decoded.record;

    assert_non_null(exact);
    memcpy(exact, message, length);
    exact->nlmsg_len = (uint32_t)length;
    memset(&decoded.record, 0xa5, sizeof decoded.record);
    decoded.result = decode_by_kind(kind, exact, &decoded.record);
    if (kind == CT_FLOW && record->has & FLOW_HELPER)
        decoded.helper_length = copy_text(decoded.helper, &record->flow.helper);
    if (kind == CT_FLOW && record->has & FLOW_SECCTX)
        decoded.secctx_length = copy_text(decoded.secctx, &record->flow.secctx);
    if (kind == CT_EXPECTATION && record->has & FLOW_HELPER)
        decoded.helper_length = copy_text(decoded.helper, &record->expectation.helper);
    free(exact);
    return decoded;
}

struct ct_decoded ct_decode(enum ct_kind kind, struct wire *wire)
{
    const struct nlmsghdr *message = wire_last(wire);

    return ct_decode_first(kind, message, message->nlmsg_len);
}

void ct_assert_tuple(const struct flow_tuple *tuple, const struct flow_tuple *expected)
{
    assert_true(address_equal(&tuple->src, &expected->src));
    assert_true(address_equal(&tuple->dst, &expected->dst));
    assert_int_equal(tuple->src_port, expected->src_port);
    assert_int_equal(tuple->dst_port, expected->dst_port);
    assert_int_equal(tuple->icmp_type, expected->icmp_type);
    assert_int_equal(tuple->icmp_code, expected->icmp_code);
    assert_int_equal(tuple->protocol, expected->protocol);
    assert_int_equal(tuple->has_ports, expected->has_ports);
}

/* --- Whole flows ------------------------------------------------------------------------------ */

const char ct_context[33] = "system_u:object_r:unlabeled_t:s0";

struct flow_tuple ct_tcp(void)
{
    return ct_tuple_of(AF_INET, IPPROTO_TCP, 1, 40000);
}

void ct_begin_flow(struct wire *wire, uint8_t family)
{
    wire->length = 0;
    ct_message(wire, NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_NEW, NLM_F_MULTI, 1, family);
}

void ct_put_orig(struct wire *wire)
{
    const struct flow_tuple tuple = ct_tcp();

    ct_tuple(wire, CTA_TUPLE_ORIG, &tuple, AF_INET);
}

static void put_reply(struct wire *wire)
{
    const struct flow_tuple tuple = ct_tcp(), reply = ct_reversed(&tuple);

    ct_tuple(wire, CTA_TUPLE_REPLY, &reply, AF_INET);
}

/* The zone of one direction stands in its tuple. */
static void put_zoned(struct wire *wire, uint16_t type, uint16_t zone)
{
    const size_t nest = ct_nest(wire, type);

    ct_be16(wire, CTA_TUPLE_ZONE, zone);
    ct_nest_end(wire, nest);
}

void ct_put_orig_zone(struct wire *wire)
{
    put_zoned(wire, CTA_TUPLE_ORIG, 0x1234);
}

static void put_reply_zone(struct wire *wire)
{
    put_zoned(wire, CTA_TUPLE_REPLY, 0xfedc);
}

static void put_state(struct wire *wire)
{
    const size_t nest = ct_nest(wire, CTA_PROTOINFO), inner = ct_nest(wire, CTA_PROTOINFO_TCP);

    ct_u8(wire, CTA_PROTOINFO_TCP_STATE, 3);
    ct_u8(wire, CTA_PROTOINFO_TCP_WSCALE_ORIGINAL, 9);
    ct_be16(wire, CTA_PROTOINFO_TCP_FLAGS_REPLY, 0xa5a5);
    ct_nest_end(wire, inner);
    ct_nest_end(wire, nest);
}

static void put_counters(struct wire *wire, uint16_t type, uint64_t packets, uint64_t bytes)
{
    const size_t nest = ct_nest(wire, type);

    ct_be64(wire, CTA_COUNTERS_PACKETS, packets);
    ct_be64(wire, CTA_COUNTERS_BYTES, bytes);
    ct_nest_end(wire, nest);
}

static void put_orig_counters(struct wire *wire)
{
    put_counters(wire, CTA_COUNTERS_ORIG, UINT64_C(0x0102030405060708), UINT64_MAX);
}

static void put_reply_counters(struct wire *wire)
{
    put_counters(wire, CTA_COUNTERS_REPLY, 0, UINT64_C(0x8000000000000001));
}

void ct_put_text(struct wire *wire, uint16_t type, uint16_t inner, const char *text, size_t size)
{
    const size_t nest = ct_nest(wire, type);

    wire_attribute(wire, inner, text, size);
    ct_nest_end(wire, nest);
}

static void put_helper(struct wire *wire)
{
    ct_put_text(wire, CTA_HELP, CTA_HELP_NAME, "ftp", 4);
}

static void put_secctx(struct wire *wire)
{
    ct_put_text(wire, CTA_SECCTX, CTA_SECCTX_NAME, ct_context, sizeof ct_context);
}

static void put_time(struct wire *wire, uint16_t type, uint64_t time)
{
    const size_t nest = ct_nest(wire, CTA_TIMESTAMP);

    ct_be64(wire, type, time);
    ct_nest_end(wire, nest);
}

static void put_start(struct wire *wire)
{
    put_time(wire, CTA_TIMESTAMP_START, UINT64_C(1700000000123456789));
}

static void put_stop(struct wire *wire)
{
    put_time(wire, CTA_TIMESTAMP_STOP, UINT64_C(1700000001987654321));
}

/* As the kernel keeps them: an array of longs, bit 127 in the last one. */
static void put_labels(struct wire *wire)
{
    enum { BITS = 8 * sizeof(unsigned long) };
    static const unsigned set[] = {0, 31, 32, 63, 64, 127};
    unsigned long words[128 / BITS] = {0};

    for (size_t i = 0; i < COUNT(set); i++)
        words[set[i] / BITS] |= 1ul << set[i] % BITS;
    wire_attribute(wire, CTA_LABELS, words, sizeof words);
}

static void put_zone(struct wire *wire)
{
    ct_be16(wire, CTA_ZONE, 0x0102);
}

const struct ct_number ct_numbers[CT_NUMBERS] = {
    {FLOW_STATUS, offsetof(struct flow_record, status), 0x0000018e, CTA_STATUS},
    {FLOW_TIMEOUT, offsetof(struct flow_record, timeout), 431999, CTA_TIMEOUT},
    {FLOW_MARK, offsetof(struct flow_record, mark), 0xfffefdfc, CTA_MARK},
    {FLOW_USE, offsetof(struct flow_record, use), 2, CTA_USE},
    {FLOW_ID, offsetof(struct flow_record, id), 0xdeadbeef, CTA_ID},
    {FLOW_SECMARK, offsetof(struct flow_record, secmark), 0x01020304, CTA_SECMARK},
};

/* Everything else that a flow can have. */
static const struct {
    void (*put)(struct wire *wire);
    uint64_t bit;
} pieces[] = {
    {ct_put_orig, FLOW_ORIG},
    {put_reply, FLOW_REPLY},
    {ct_put_orig_zone, FLOW_ORIG_ZONE},
    {put_reply_zone, FLOW_REPLY_ZONE},
    {put_state, FLOW_STATE},
    {put_orig_counters, FLOW_ORIG_COUNTERS},
    {put_reply_counters, FLOW_REPLY_COUNTERS},
    {put_helper, FLOW_HELPER},
    {put_secctx, FLOW_SECCTX},
    {put_start, FLOW_START},
    {put_stop, FLOW_STOP},
    {put_labels, FLOW_LABELS},
    {put_zone, FLOW_ZONE},
};

uint64_t ct_put_all_but(struct wire *wire, uint64_t without)
{
    uint64_t has = 0;

    ct_begin_flow(wire, AF_INET);
    for (size_t i = 0; i < COUNT(pieces); i++)
        if (!(pieces[i].bit & without)) {
            pieces[i].put(wire);
            has |= pieces[i].bit;
        }
    for (size_t i = 0; i < CT_NUMBERS; i++)
        if (!(ct_numbers[i].bit & without)) {
            ct_be32(wire, ct_numbers[i].type, ct_numbers[i].value);
            has |= ct_numbers[i].bit;
        }
    return has;
}
