/* SPDX-License-Identifier: MIT */
/*
 * Policy rules: messages of rtnetlink, each after a byte with its length. They follow the flow and
 * the result that they are searched with. The search must never be certain of a rule that differs.
 */
#include <errno.h>
#include <string.h>

#include "backend/netlink/attributes.h"
#include "backend/route/rules.h"
#include "bytes.h"
#include "fuzz.h"

enum { PAYLOAD_MAX = 255, TABLES = 2 };

static struct address take_address(struct bytes *bytes, uint8_t family)
{
    uint8_t content[16];

    bytes_take(bytes, content, sizeof content);
    return address_make(family, content);
}

static void take_flow(struct bytes *bytes, struct rule_flow *flow, uint8_t options)
{
    const uint8_t family = options & 1 ? AF_INET6 : AF_INET;

    flow->destination = take_address(bytes, family);
    flow->source = take_address(bytes, options & 2 ? family : AF_UNSPEC);
    flow->source_port = bytes_u16(bytes);
    flow->destination_port = bytes_u16(bytes);
    flow->protocol = bytes_u8(bytes);
    flow->mark = bytes_u32(bytes);
    flow->uid = bytes_u32(bytes);
    flow->interface = options & 4 ? "eth0" : "";
    flow->vrf_table = options & 8 ? bytes_u8(bytes) : 0;
}

static void take_result(struct bytes *bytes, struct rule_search *search, uint8_t options)
{
    static const int errors[] = {0, EINVAL, ENETUNREACH, EACCES};

    search->error = errors[options >> 4 & 3];
    search->table = bytes_u8(bytes);
    search->prefix = bytes_u8(bytes);
    search->has_prefix = options & 0x40;
    for (; search->table_count < TABLES; search->table_count++)
        search->tables[search->table_count] = (struct rule_table){
            bytes_u8(bytes), (int16_t)(bytes_u8(bytes) - 1), (int16_t)(bytes_u8(bytes) - 1), false};
}

static void check_texts(const struct policy_rule *rule, const struct nlmsghdr *message)
{
    const char *start = (const char *)message, *end = start + message->nlmsg_len;
    const struct text *texts[] = {&rule->iif, &rule->oif};

    for (size_t i = 0; i < COUNT(texts); i++)
        require(!texts[i]->length ||
                (texts[i]->data >= start && texts[i]->data + texts[i]->length <= end));
}

/* A rule and its inverse match the opposite flows. */
static void check_match(const struct policy_rule *rule, const struct rule_flow *flow)
{
    const enum rule_match match = rule_matches(rule, flow);
    struct policy_rule inverse = *rule;

    inverse.header.flags ^= FIB_RULE_INVERT;
    require(rule_matches(&inverse, flow) == RULE_MATCHES - match);
    if (match == RULE_DIFFERS || rule->header.flags & FIB_RULE_INVERT)
        return;
    require(((rule->mark ^ flow->mark) & rule->mask) == 0);
    require(rule->uids.start <= flow->uid && flow->uid <= rule->uids.end);
    if (rule->header.dst_len)
        require(rule->destination.family == flow->destination.family &&
                rule->destination.bytes[0] >>
                        (rule->header.dst_len < 8 ? 8 - rule->header.dst_len : 0) ==
                    flow->destination.bytes[0] >>
                        (rule->header.dst_len < 8 ? 8 - rule->header.dst_len : 0));
}

static void check_search(const struct rule_search *before, const struct rule_search *after,
                         const struct policy_rule *rule)
{
    require(after->candidates - before->candidates <= 1);
    require(after->target >= before->target);
    if (after->candidates == before->candidates)
        return;
    require(rule_matches(rule, after->flow) != RULE_DIFFERS);
    if (before->candidates) {
        require(before->first.known == after->first.known);
        require(before->first.ends == after->first.ends);
        require(before->first.priority == after->first.priority);
        require(before->first.table == after->first.table);
        return;
    }
    require(after->first.priority == rule->priority);
    require(!after->first.ends || (after->error && !after->first.table));
    require(!after->first_is_sure || rule_matches(rule, after->flow) == RULE_MATCHES);
}

static void take_message(struct rule_search *search, struct bytes *bytes)
{
    _Alignas(struct nlmsghdr) char place[sizeof(struct nlmsghdr) + PAYLOAD_MAX];
    struct nlmsghdr *message = (void *)place;
    const uint8_t length = bytes_u8(bytes);
    const struct rule_search before = *search;
    struct policy_rule rule;

    memset(message, 0, sizeof *message);
    message->nlmsg_len = (uint32_t)(sizeof *message + length);
    bytes_take(bytes, place + sizeof *message, length);
    memset(&rule, 0xa5, sizeof rule);
    const int result = rule_decode(message, &rule);
    require(result == 0 || result == -EBADMSG);
    if (result < 0)
        return;
    require(rule.header.dst_len <= 128 && rule.header.src_len <= 128);
    check_texts(&rule, message);
    check_match(&rule, search->flow);
    rule_search_take(search, &rule);
    check_search(&before, search, &rule);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size};
    const uint8_t options = bytes_u8(&bytes);
    struct rule_flow flow = {.source_port = 0};
    struct rule_search search = {.flow = &flow};

    take_flow(&bytes, &flow, options);
    take_result(&bytes, &search, options);
    while (bytes.left)
        take_message(&search, &bytes);
    return 0;
}
