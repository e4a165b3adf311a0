/* SPDX-License-Identifier: MIT */
#include "ct_messages.h"

#include <endian.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "kit.h"

void ct_message(struct wire *wire, unsigned subsystem, unsigned type, uint16_t flags,
                uint32_t sequence, uint8_t family)
{
    const struct nfgenmsg general = {.nfgen_family = family, .version = NFNETLINK_V0};

    wire_message(wire, (uint16_t)(subsystem << 8 | type), flags, sequence);
    wire_put(wire, &general, sizeof general);
}

size_t ct_nest(struct wire *wire, uint16_t type)
{
    const size_t start = wire->length;

    wire_attribute(wire, type | NLA_F_NESTED, NULL, 0);
    return start;
}

void ct_nest_end(struct wire *wire, size_t start)
{
    struct nlattr header;

    memcpy(&header, wire->data + start, sizeof header);
    header.nla_len = (uint16_t)(wire->length - start);
    memcpy(wire->data + start, &header, sizeof header);
}

void ct_u8(struct wire *wire, uint16_t type, uint8_t value)
{
    wire_attribute(wire, type, &value, sizeof value);
}

void ct_be16(struct wire *wire, uint16_t type, uint16_t value)
{
    value = htobe16(value);
    wire_attribute(wire, type, &value, sizeof value);
}

void ct_be32(struct wire *wire, uint16_t type, uint32_t value)
{
    value = htobe32(value);
    wire_attribute(wire, type, &value, sizeof value);
}

void ct_be64(struct wire *wire, uint16_t type, uint64_t value)
{
    value = htobe64(value);
    wire_attribute(wire, type, &value, sizeof value);
}

struct flow_tuple ct_tuple_of(uint8_t family, uint8_t protocol, uint8_t host, uint16_t port)
{
    const bool v6 = family == AF_INET6;
    struct flow_tuple tuple = {.src = ip(v6 ? "2001:db8:c000:2::" : "192.0.2.0"),
                               .dst = ip(v6 ? "2001:db8:c633:6400::1" : "198.51.100.1"),
                               .src_port = port,
                               .dst_port = 443,
                               .protocol = protocol,
                               .has_ports = true};

    tuple.src.bytes[v6 ? 15 : 3] = host;
    return tuple;
}

struct flow_tuple ct_reversed(const struct flow_tuple *tuple)
{
    struct flow_tuple reply = *tuple;

    reply.src = tuple->dst;
    reply.dst = tuple->src;
    reply.src_port = tuple->dst_port;
    reply.dst_port = tuple->src_port;
    return reply;
}

static void put_protocol(struct wire *wire, const struct flow_tuple *tuple)
{
    const bool v6 = tuple->protocol == IPPROTO_ICMPV6;

    ct_u8(wire, CTA_PROTO_NUM, tuple->protocol);
    if (v6 || tuple->protocol == IPPROTO_ICMP) {
        ct_be16(wire, v6 ? CTA_PROTO_ICMPV6_ID : CTA_PROTO_ICMP_ID, tuple->src_port);
        ct_u8(wire, v6 ? CTA_PROTO_ICMPV6_TYPE : CTA_PROTO_ICMP_TYPE, tuple->icmp_type);
        ct_u8(wire, v6 ? CTA_PROTO_ICMPV6_CODE : CTA_PROTO_ICMP_CODE, tuple->icmp_code);
    } else if (tuple->has_ports) {
        ct_be16(wire, CTA_PROTO_SRC_PORT, tuple->src_port);
        ct_be16(wire, CTA_PROTO_DST_PORT, tuple->dst_port);
    }
}

void ct_tuple(struct wire *wire, uint16_t type, const struct flow_tuple *tuple, uint8_t family)
{
    const bool v6 = family == AF_INET6;
    const size_t nest = ct_nest(wire, type);
    size_t inner = ct_nest(wire, CTA_TUPLE_IP);

    wire_attribute(wire, v6 ? CTA_IP_V6_SRC : CTA_IP_V4_SRC, tuple->src.bytes, v6 ? 16 : 4);
    wire_attribute(wire, v6 ? CTA_IP_V6_DST : CTA_IP_V4_DST, tuple->dst.bytes, v6 ? 16 : 4);
    ct_nest_end(wire, inner);
    inner = ct_nest(wire, CTA_TUPLE_PROTO);
    put_protocol(wire, tuple);
    ct_nest_end(wire, inner);
    ct_nest_end(wire, nest);
}

static void put_flow(struct wire *wire, uint8_t family, uint16_t port, uint32_t id)
{
    const struct flow_tuple orig = ct_tuple_of(family, IPPROTO_TCP, 1, port);
    const struct flow_tuple reply = ct_reversed(&orig);

    ct_tuple(wire, CTA_TUPLE_ORIG, &orig, family);
    ct_tuple(wire, CTA_TUPLE_REPLY, &reply, family);
    ct_be32(wire, CTA_ID, id);
    ct_be32(wire, CTA_STATUS, IPS_CONFIRMED);
}

void ct_flow(struct wire *wire, uint32_t sequence, uint8_t family, uint16_t port, uint32_t id)
{
    ct_message(wire, NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_NEW, NLM_F_MULTI, sequence, family);
    put_flow(wire, family, port, id);
}

void ct_flow_event(struct wire *wire, unsigned type, uint16_t flags, uint32_t sender, uint16_t port)
{
    ct_message(wire, NFNL_SUBSYS_CTNETLINK, type, flags, 0, AF_INET);
    wire_last(wire)->nlmsg_pid = sender;
    put_flow(wire, AF_INET, port, port);
}

void ct_expectation(struct wire *wire, uint32_t sequence, uint16_t port)
{
    const struct flow_tuple master = ct_tuple_of(AF_INET, IPPROTO_TCP, 1, 40000);
    const struct flow_tuple mask = {.src = IPV4(255, 255, 255, 255),
                                    .dst = IPV4(255, 255, 255, 255),
                                    .dst_port = UINT16_MAX,
                                    .protocol = IPPROTO_TCP,
                                    .has_ports = true};
    struct flow_tuple expected = ct_reversed(&master);

    expected.src_port = 0;
    expected.dst_port = port;
    ct_message(wire, NFNL_SUBSYS_CTNETLINK_EXP, IPCTNL_MSG_EXP_NEW, NLM_F_MULTI, sequence, AF_INET);
    ct_tuple(wire, CTA_EXPECT_MASTER, &master, AF_INET);
    ct_tuple(wire, CTA_EXPECT_TUPLE, &expected, AF_INET);
    ct_tuple(wire, CTA_EXPECT_MASK, &mask, AF_INET);
    ct_be32(wire, CTA_EXPECT_TIMEOUT, 299);
    ct_be32(wire, CTA_EXPECT_ID, 77);
}

const struct nlmsghdr *ct_request(const struct peer *peer, size_t i)
{
    assert_in_range(i, 0, peer->request_count - 1);
    return (const void *)peer->requests[i];
}

uint8_t ct_family(const struct nlmsghdr *request)
{
    struct nfgenmsg general;

    memcpy(&general, request + 1, sizeof general);
    assert_int_equal(general.version, NFNETLINK_V0);
    assert_int_equal(general.res_id, 0);
    return general.nfgen_family;
}

/* As a request holds them: nothing but whole attributes. */
static const struct nlattr *find(const char *at, const char *end, uint16_t type)
{
    while (at < end) {
        const struct nlattr *attribute = (const void *)at;
        assert_in_range(attribute->nla_len, sizeof *attribute, end - at);
        if ((attribute->nla_type & NLA_TYPE_MASK) == type)
            return attribute;
        at += (attribute->nla_len + 3u) & ~3u;
    }
    return NULL;
}

const struct nlattr *ct_find(const struct nlmsghdr *request, uint16_t type)
{
    const char *start = (const char *)request;

    return find(start + NLMSG_LENGTH(sizeof(struct nfgenmsg)), start + request->nlmsg_len, type);
}

const struct nlattr *ct_find_in(const struct nlattr *nest, uint16_t type)
{
    assert_non_null(nest);
    return find(ct_data(nest), (const char *)nest + nest->nla_len, type);
}

size_t ct_length(const struct nlattr *attribute)
{
    return attribute->nla_len - sizeof *attribute;
}

const void *ct_data(const struct nlattr *attribute)
{
    return attribute + 1;
}

void ct_send_error(struct stage *stage, uint32_t sequence, int error)
{
    const struct nlmsgerr body = {.error = error, .msg = {.nlmsg_len = sizeof body.msg}};

    wire_message(&stage->wire, NLMSG_ERROR, NLM_F_CAPPED, sequence);
    wire_put(&stage->wire, &body, sizeof body);
    stage_send(stage);
}

int ct_list(struct stage *stage, const struct table *table)
{
    return stage_list(stage, &backend_ctnetlink, table, stage_keep);
}

void ct_put_buckets(const struct stage *stage, const char *number)
{
    tree_put_file(&stage->tree, "sys/net/netfilter/nf_conntrack_buckets", number);
}

static const char *const *buckets; /* those to come */

static void put_next_buckets(void *arg)
{
    if (*buckets)
        ct_put_buckets(arg, *buckets++);
}

void ct_put_each_buckets(struct stage *stage, const char *const *numbers)
{
    buckets = numbers;
    stage->peer.answers = put_next_buckets;
    stage->peer.arg = stage;
}
