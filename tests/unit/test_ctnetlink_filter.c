/* What the kernel is asked to leave out of a dump of flows, and which one flow is asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <endian.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/flow/ctnetlink_filter.h"
#include "ct_messages.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* CTA_FILTER_FLAG() of the kernel's net/netfilter/nf_internals.h. */
enum {
    SRC = 1 << 0,
    DST = 1 << 1,
    PROTOCOL = 1 << 3,
    SRC_PORT = 1 << 4,
    DST_PORT = 1 << 5,
    ICMP_TYPE = 1 << 6,
    ICMP_CODE = 1 << 7,
    ICMP_ID = 1 << 8,
    ICMPV6_TYPE = 1 << 9,
    ICMPV6_CODE = 1 << 10,
    ICMPV6_ID = 1 << 11,
};

enum { HEADERS = NLMSG_LENGTH(sizeof(struct nfgenmsg)) };

/* A request under way. */
struct request {
    _Alignas(struct nlmsghdr) char bytes[HEADERS + CTNETLINK_FILTER_MAX];
    bool any;
};

static struct nlmsghdr *message_of(struct request *request)
{
    return (struct nlmsghdr *)(void *)request->bytes;
}

static const struct nlattr *find(struct request *request, uint16_t type)
{
    return ct_find(message_of(request), type);
}

static void begin(struct request *request)
{
    memset(request, 0, sizeof *request);
    message_of(request)->nlmsg_len = HEADERS;
}

static struct request put(const struct flow_filter *filter, uint8_t family)
{
    struct request request;

    begin(&request);
    request.any = ctnetlink_put_filter(message_of(&request), filter, family);
    assert_in_range(message_of(&request)->nlmsg_len, HEADERS, sizeof request.bytes);
    assert_int_equal(request.any, message_of(&request)->nlmsg_len > HEADERS);
    return request;
}

static uint32_t number(const struct nlattr *attribute)
{
    uint32_t value;

    assert_non_null(attribute);
    assert_int_equal(ct_length(attribute), sizeof value);
    memcpy(&value, ct_data(attribute), sizeof value);
    return be32toh(value);
}

static uint16_t short_number(const struct nlattr *attribute)
{
    uint16_t value;

    assert_non_null(attribute);
    assert_int_equal(ct_length(attribute), sizeof value);
    memcpy(&value, ct_data(attribute), sizeof value);
    return be16toh(value);
}

static uint8_t byte(const struct nlattr *attribute)
{
    assert_non_null(attribute);
    assert_int_equal(ct_length(attribute), 1);
    return *(const uint8_t *)ct_data(attribute);
}

/* What of one direction is compared, 0: nothing. The flags are in the machine's byte order. */
static uint32_t compared(struct request *request, bool reply)
{
    const struct nlattr *filter = find(request, CTA_FILTER);

    if (!filter) {
        assert_null(find(request, CTA_TUPLE_ORIG));
        assert_null(find(request, CTA_TUPLE_REPLY));
        return 0;
    }
    assert_true(filter->nla_type & NLA_F_NESTED); /* or the kernel refuses it */
    const struct nlattr *said =
        ct_find_in(filter, reply ? CTA_FILTER_REPLY_FLAGS : CTA_FILTER_ORIG_FLAGS);
    uint32_t flags;
    assert_non_null(said);
    assert_int_equal(ct_length(said), sizeof flags);
    memcpy(&flags, ct_data(said), sizeof flags);
    assert_int_equal(!flags, !find(request, reply ? CTA_TUPLE_REPLY : CTA_TUPLE_ORIG));
    return flags;
}

static struct flow_network network(uint8_t family, const char *address, unsigned prefix)
{
    struct flow_network made = {{0}, {0}};

    assert_int_equal(inet_pton(family, address, made.network), 1);
    for (unsigned bit = 0; bit < prefix; bit++)
        made.mask[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
    return made;
}

static const struct nlattr *address_of(struct request *request, uint16_t tuple, uint16_t type)
{
    return ct_find_in(ct_find_in(find(request, tuple), CTA_TUPLE_IP), type);
}

static const struct nlattr *protocol_of(struct request *request, uint16_t tuple, uint16_t type)
{
    return ct_find_in(ct_find_in(find(request, tuple), CTA_TUPLE_PROTO), type);
}

/* --- Filters ---------------------------------------------------------------------------------- */

static const uint8_t families[] = {AF_UNSPEC, AF_INET, AF_INET6};

static void without_a_filter_nothing_is_added(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(families); i++) {
        const struct flow_filter filter = {.family = families[i]};
        assert_false(put(&filter, families[i]).any);
    }
}

static void a_mark_comes_with_its_mask(void **state)
{
    const struct flow_filter filter = {
        .fields = FILTER_MARK, .mark = 0x01020304, .mark_mask = 0xf0ffffff};

    (void)state;
    for (size_t i = 0; i < COUNT(families); i++) {
        struct request request = put(&filter, families[i]);
        assert_int_equal(number(find(&request, CTA_MARK)), 0x01020304);
        assert_int_equal(number(find(&request, CTA_MARK_MASK)), 0xf0ffffff);
        assert_int_equal(compared(&request, false), 0);
    }
}

/* The kernel refuses a status without a mask, and what has no bit to look at is always true. */
static void a_status_comes_only_with_a_mask(void **state)
{
    struct flow_filter filter = {.fields = FILTER_STATUS,
                                 .status = IPS_ASSURED,
                                 .status_mask = IPS_ASSURED | IPS_SEEN_REPLY};

    (void)state;
    struct request request = put(&filter, AF_UNSPEC);
    assert_int_equal(number(find(&request, CTA_STATUS)), IPS_ASSURED);
    assert_int_equal(number(find(&request, CTA_STATUS_MASK)), IPS_ASSURED | IPS_SEEN_REPLY);
    filter.status = 0; /* a bit that shall not be set */
    request = put(&filter, AF_INET);
    assert_int_equal(number(find(&request, CTA_STATUS)), 0);
    assert_int_equal(number(find(&request, CTA_STATUS_MASK)), IPS_ASSURED | IPS_SEEN_REPLY);
    filter.status_mask = 0;
    request = put(&filter, AF_INET);
    assert_false(request.any);
}

static void a_zone_of_any_direction_is_one_for_the_kernel(void **state)
{
    const struct flow_filter filters[] = {
        {.fields = FILTER_ZONE, .zone = 0x0102},
        {.fields = FILTER_ORIG_ZONE, .orig_zone = 0x0102},
        {.fields = FILTER_REPLY_ZONE, .reply_zone = 0x0102},
        {.fields = FILTER_ZONE | FILTER_ORIG_ZONE, .zone = 0x0102, .orig_zone = 9},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(filters); i++) {
        struct request request = put(&filters[i], AF_UNSPEC);
        assert_int_equal(short_number(find(&request, CTA_ZONE)), 0x0102);
    }
}

/* Flows with a zone for one direction are in zone 0 too, but not for the kernel. */
static void zone_0_is_never_asked_for(void **state)
{
    static const uint32_t fields[] = {FILTER_ZONE, FILTER_ORIG_ZONE, FILTER_REPLY_ZONE};

    (void)state;
    for (size_t i = 0; i < COUNT(fields); i++) {
        const struct flow_filter filter = {.fields = fields[i]};
        assert_false(put(&filter, AF_INET).any);
    }
    /* nor is the other one then, which would leave out what is in zone 0 */
    const struct flow_filter filter = {.fields = FILTER_ZONE | FILTER_REPLY_ZONE, .reply_zone = 5};
    assert_false(put(&filter, AF_INET).any);
}

static void an_ipv4_address_is_compared_where_it_is_one(void **state)
{
    static const struct {
        uint32_t field, flag;
        bool reply;
        uint16_t type;
    } ends[] = {
        {FILTER_ORIG_SRC, SRC, false, CTA_IP_V4_SRC},
        {FILTER_ORIG_DST, DST, false, CTA_IP_V4_DST},
        {FILTER_REPLY_SRC, SRC, true, CTA_IP_V4_SRC},
        {FILTER_REPLY_DST, DST, true, CTA_IP_V4_DST},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(ends); i++) {
        const uint16_t tuple = ends[i].reply ? CTA_TUPLE_REPLY : CTA_TUPLE_ORIG;
        struct flow_filter filter = {.fields = ends[i].field, .family = AF_INET};
        filter.orig_src = network(AF_INET, "192.0.2.1", 32);
        filter.orig_dst = filter.reply_src = filter.reply_dst = filter.orig_src;
        struct request request = put(&filter, AF_INET);
        assert_int_equal(compared(&request, ends[i].reply), ends[i].flag);
        assert_int_equal(compared(&request, !ends[i].reply), 0);
        const struct nlattr *address = address_of(&request, tuple, ends[i].type);
        assert_non_null(address);
        assert_int_equal(ct_length(address), 4);
        assert_memory_equal(ct_data(address), "\300\0\2\1", 4);
    }
}

static void a_network_is_not_compared_by_the_kernel(void **state)
{
    static const unsigned prefixes[] = {0, 1, 8, 24, 31};

    (void)state;
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        struct flow_filter filter = {.fields = FILTER_ORIG_SRC | FILTER_REPLY_DST};
        filter.orig_src = filter.reply_dst = network(AF_INET, "0.0.0.0", prefixes[i]);
        assert_false(put(&filter, AF_INET).any);
    }
}

/* ctnetlink_filter_match_tuple() of Linux 5.8 and later finds those that differ. */
static void ipv6_addresses_are_never_compared_by_the_kernel(void **state)
{
    struct flow_filter filter = {.fields = FILTER_ORIG_SRC | FILTER_ORIG_DST | FILTER_REPLY_SRC |
                                           FILTER_REPLY_DST,
                                 .family = AF_INET6};

    (void)state;
    filter.orig_src = network(AF_INET6, "2001:db8::1", 128);
    filter.orig_dst = filter.reply_src = filter.reply_dst = filter.orig_src;
    assert_false(put(&filter, AF_INET6).any);
    filter.fields |= FILTER_PROTOCOL | FILTER_ORIG_DST_PORT | FILTER_REPLY_SRC_PORT;
    filter.protocol = IPPROTO_TCP;
    filter.orig_dst_port = filter.reply_src_port = 443;
    struct request request = put(&filter, AF_INET6);
    assert_int_equal(compared(&request, false), PROTOCOL | DST_PORT);
    assert_int_equal(compared(&request, true), PROTOCOL | SRC_PORT);
}

/* The addresses of a tuple belong to a family. */
static void without_a_family_no_tuple_is_compared(void **state)
{
    struct flow_filter filter = {.fields = FILTER_PROTOCOL | FILTER_ORIG_SRC_PORT | FILTER_ORIG_SRC,
                                 .protocol = IPPROTO_TCP,
                                 .orig_src_port = 53};

    (void)state;
    filter.orig_src = network(AF_INET, "192.0.2.1", 32);
    assert_false(put(&filter, AF_UNSPEC).any);
    assert_true(put(&filter, AF_INET).any);
}

static void ports_are_compared_of_tcp_and_udp_only(void **state)
{
    static const struct {
        uint8_t protocol;
        bool ports;
    } protocols[] = {
        {IPPROTO_TCP, true},   {IPPROTO_UDP, true},   {IPPROTO_UDPLITE, false},
        {IPPROTO_SCTP, false}, {IPPROTO_DCCP, false}, {IPPROTO_GRE, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(protocols) * 2; i++) {
        const bool ports = protocols[i / 2].ports;
        const struct flow_filter filter = {
            .fields = FILTER_PROTOCOL | FILTER_ORIG_SRC_PORT | FILTER_ORIG_DST_PORT |
                      FILTER_REPLY_SRC_PORT | FILTER_REPLY_DST_PORT,
            .protocol = protocols[i / 2].protocol,
            .orig_src_port = 0x0102,
            .orig_dst_port = 0x0304,
            .reply_src_port = 0x0506,
            .reply_dst_port = 0xfefd,
        };
        struct request request = put(&filter, i % 2 ? AF_INET6 : AF_INET);
        assert_int_equal(compared(&request, false), PROTOCOL | (ports ? SRC_PORT | DST_PORT : 0));
        assert_int_equal(byte(protocol_of(&request, CTA_TUPLE_ORIG, CTA_PROTO_NUM)),
                         filter.protocol);
        if (!ports)
            continue;
        assert_int_equal(compared(&request, true), PROTOCOL | SRC_PORT | DST_PORT);
        assert_int_equal(short_number(protocol_of(&request, CTA_TUPLE_ORIG, CTA_PROTO_SRC_PORT)),
                         0x0102);
        assert_int_equal(short_number(protocol_of(&request, CTA_TUPLE_ORIG, CTA_PROTO_DST_PORT)),
                         0x0304);
        assert_int_equal(short_number(protocol_of(&request, CTA_TUPLE_REPLY, CTA_PROTO_SRC_PORT)),
                         0x0506);
        assert_int_equal(short_number(protocol_of(&request, CTA_TUPLE_REPLY, CTA_PROTO_DST_PORT)),
                         0xfefd);
    }
}

static void a_port_that_is_not_asked_for_is_not_compared(void **state)
{
    const struct flow_filter filter = {.fields = FILTER_PROTOCOL | FILTER_REPLY_DST_PORT,
                                       .protocol = IPPROTO_UDP,
                                       .reply_dst_port = 53};

    (void)state;
    struct request request = put(&filter, AF_INET);
    assert_int_equal(compared(&request, false), PROTOCOL);
    assert_int_equal(compared(&request, true), PROTOCOL | DST_PORT);
}

static void ports_without_a_protocol_are_not_compared(void **state)
{
    const struct flow_filter filter = {.fields = FILTER_ORIG_SRC_PORT | FILTER_REPLY_SRC_PORT,
                                       .orig_src_port = 53};

    (void)state;
    assert_false(put(&filter, AF_INET).any);
}

static void icmp_is_compared_by_type_code_and_id(void **state)
{
    static const struct {
        uint32_t field, flag, flag6;
    } fields[] = {{FILTER_ICMP_TYPE, ICMP_TYPE, ICMPV6_TYPE},
                  {FILTER_ICMP_CODE, ICMP_CODE, ICMPV6_CODE},
                  {FILTER_ICMP_ID, ICMP_ID, ICMPV6_ID}};

    (void)state;
    for (size_t i = 0; i < COUNT(fields) * 2; i++) {
        const bool v6 = i % 2;
        const struct flow_filter filter = {.fields = FILTER_PROTOCOL | fields[i / 2].field,
                                           .protocol = v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP,
                                           .icmp_type = 128,
                                           .icmp_code = 3,
                                           .icmp_id = 0x0102};
        struct request request = put(&filter, v6 ? AF_INET6 : AF_INET);
        assert_int_equal(compared(&request, false),
                         PROTOCOL | (v6 ? fields[i / 2].flag6 : fields[i / 2].flag));
        assert_int_equal(compared(&request, true), 0);
        assert_int_equal(short_number(protocol_of(&request, CTA_TUPLE_ORIG,
                                                  v6 ? CTA_PROTO_ICMPV6_ID : CTA_PROTO_ICMP_ID)),
                         0x0102);
        assert_int_equal(byte(protocol_of(&request, CTA_TUPLE_ORIG,
                                          v6 ? CTA_PROTO_ICMPV6_TYPE : CTA_PROTO_ICMP_TYPE)),
                         128);
        assert_int_equal(byte(protocol_of(&request, CTA_TUPLE_ORIG,
                                          v6 ? CTA_PROTO_ICMPV6_CODE : CTA_PROTO_ICMP_CODE)),
                         3);
    }
}

static void what_the_kernel_cannot_compare_is_not_sent(void **state)
{
    const struct flow_filter filter = {
        .fields = FILTER_STATE | FILTER_SECMARK | FILTER_ID | FILTER_LABELS | FILTER_SRC_NAT |
                  FILTER_DST_NAT | FILTER_ANY_NAT | FILTER_ORIG_VTAG | FILTER_REPLY_VTAG |
                  FILTER_ROLE,
        .state = 3,
        .secmark = 1,
        .id = 1,
        .labels = {1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(families); i++)
        assert_false(put(&filter, families[i]).any);
}

static void the_largest_filter_fits_into_its_room(void **state)
{
    struct flow_filter filter = {
        .fields = UINT32_MAX, .protocol = IPPROTO_TCP, .status_mask = UINT32_MAX, .zone = 1};

    (void)state;
    memset(&filter.orig_src, 0xff, sizeof filter.orig_src);
    filter.orig_dst = filter.reply_src = filter.reply_dst = filter.orig_src;
    for (size_t i = 0; i < COUNT(families); i++)
        assert_true(put(&filter, families[i]).any);
}

/* -f ipv4 -p tcp -s 192.0.2.1 --dport 443, byte for byte. */
static void a_filter_is_a_tuple_and_the_flags_of_what_counts_in_it(void **state)
{
    static const unsigned char expected[] = {
        52, 0, 1,  0x80,                 /* CTA_TUPLE_ORIG */
        20, 0, 1,  0x80,                 /* CTA_TUPLE_IP */
        8,  0, 1,  0,    192, 0,   2, 1, /* CTA_IP_V4_SRC */
        8,  0, 2,  0,    0,   0,   0, 0, /* CTA_IP_V4_DST */
        28, 0, 2,  0x80,                 /* CTA_TUPLE_PROTO */
        5,  0, 1,  0,    6,   0,   0, 0, /* CTA_PROTO_NUM */
        6,  0, 2,  0,    0,   0,   0, 0, /* CTA_PROTO_SRC_PORT */
        6,  0, 3,  0,    1,   187, 0, 0, /* CTA_PROTO_DST_PORT */
        20, 0, 25, 0x80,                 /* CTA_FILTER */
        8,  0, 1,  0,    41,  0,   0, 0, /* CTA_FILTER_ORIG_FLAGS */
        8,  0, 2,  0,    0,   0,   0, 0, /* CTA_FILTER_REPLY_FLAGS */
    };
    struct flow_filter filter = {.fields = FILTER_PROTOCOL | FILTER_ORIG_SRC | FILTER_ORIG_DST_PORT,
                                 .protocol = IPPROTO_TCP,
                                 .orig_dst_port = 443};

    (void)state;
    if (htole16(1) != 1)
        skip(); /* the headers of attributes are in the machine's byte order */
    filter.orig_src = network(AF_INET, "192.0.2.1", 32);
    struct request request = put(&filter, AF_INET);
    assert_int_equal(message_of(&request)->nlmsg_len, HEADERS + sizeof expected);
    assert_memory_equal(request.bytes + HEADERS, expected, sizeof expected);
}

static void a_family_at_a_time_is_asked_where_that_leaves_out_more(void **state)
{
    static const struct {
        uint32_t fields;
        uint8_t family;
        bool apart;
    } filters[] = {
        {0, AF_UNSPEC, false},
        {FILTER_PROTOCOL, AF_UNSPEC, false},
        {FILTER_PROTOCOL | FILTER_STATE, AF_UNSPEC, false},
        {FILTER_ORIG_SRC_PORT, AF_UNSPEC, false},
        {FILTER_PROTOCOL | FILTER_ORIG_SRC_PORT, AF_UNSPEC, true},
        {FILTER_PROTOCOL | FILTER_ORIG_DST_PORT, AF_UNSPEC, true},
        {FILTER_PROTOCOL | FILTER_REPLY_SRC_PORT, AF_UNSPEC, true},
        {FILTER_PROTOCOL | FILTER_REPLY_DST_PORT, AF_UNSPEC, true},
        {FILTER_PROTOCOL | FILTER_ICMP_TYPE, AF_UNSPEC, true},
        {FILTER_PROTOCOL | FILTER_ICMP_ID, AF_UNSPEC, true},
        {FILTER_PROTOCOL | FILTER_ORIG_DST_PORT, AF_INET, false},
        {FILTER_PROTOCOL | FILTER_ORIG_DST_PORT, AF_INET6, false},
        {FILTER_MARK | FILTER_STATUS | FILTER_ZONE, AF_UNSPEC, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(filters); i++) {
        const struct flow_filter filter = {.fields = filters[i].fields,
                                           .family = filters[i].family};
        assert_int_equal(ctnetlink_filters_by_family(&filter), filters[i].apart);
    }
}

/* --- One flow --------------------------------------------------------------------------------- */

static struct flow_filter one(uint8_t family, uint8_t protocol)
{
    struct flow_filter filter = {.fields = FILTER_PROTOCOL | FILTER_ORIG_SRC | FILTER_ORIG_DST,
                                 .family = family,
                                 .protocol = protocol,
                                 .orig_src_port = 40000,
                                 .orig_dst_port = 443};
    const bool v6 = family == AF_INET6;

    filter.orig_src = network(family, v6 ? "2001:db8::1" : "192.0.2.1", v6 ? 128 : 32);
    filter.orig_dst = network(family, v6 ? "2001:db8::2" : "192.0.2.2", v6 ? 128 : 32);
    return filter;
}

static struct request put_one(const struct flow_filter *filter, bool expectation)
{
    struct request request;

    begin(&request);
    if (expectation)
        ctnetlink_put_expectation(message_of(&request), filter);
    else
        ctnetlink_put_tuple(message_of(&request), filter);
    assert_in_range(message_of(&request)->nlmsg_len, HEADERS, sizeof request.bytes);
    return request;
}

static void one_flow_is_named_by_its_original_tuple(void **state)
{
    struct flow_filter filter = one(AF_INET6, IPPROTO_TCP);

    (void)state;
    struct request request = put_one(&filter, false);
    assert_memory_equal(ct_data(address_of(&request, CTA_TUPLE_ORIG, CTA_IP_V6_SRC)),
                        filter.orig_src.network, 16);
    assert_memory_equal(ct_data(address_of(&request, CTA_TUPLE_ORIG, CTA_IP_V6_DST)),
                        filter.orig_dst.network, 16);
    assert_int_equal(byte(protocol_of(&request, CTA_TUPLE_ORIG, CTA_PROTO_NUM)), IPPROTO_TCP);
    assert_int_equal(short_number(protocol_of(&request, CTA_TUPLE_ORIG, CTA_PROTO_SRC_PORT)),
                     40000);
    assert_int_equal(short_number(protocol_of(&request, CTA_TUPLE_ORIG, CTA_PROTO_DST_PORT)), 443);
    assert_null(find(&request, CTA_TUPLE_REPLY));
    assert_null(find(&request, CTA_ZONE));
    assert_null(find(&request, CTA_FILTER));
}

static void one_flow_may_be_named_by_its_reply(void **state)
{
    struct flow_filter filter = one(AF_INET, IPPROTO_UDP);

    (void)state;
    filter.fields = FILTER_PROTOCOL | FILTER_REPLY_SRC | FILTER_REPLY_DST;
    filter.reply_src = network(AF_INET, "198.51.100.1", 32);
    filter.reply_dst = network(AF_INET, "198.51.100.2", 32);
    filter.reply_src_port = 53;
    filter.reply_dst_port = 1024;
    struct request request = put_one(&filter, false);
    assert_null(find(&request, CTA_TUPLE_ORIG));
    assert_memory_equal(ct_data(address_of(&request, CTA_TUPLE_REPLY, CTA_IP_V4_SRC)),
                        filter.reply_src.network, 4);
    assert_memory_equal(ct_data(address_of(&request, CTA_TUPLE_REPLY, CTA_IP_V4_DST)),
                        filter.reply_dst.network, 4);
    assert_int_equal(short_number(protocol_of(&request, CTA_TUPLE_REPLY, CTA_PROTO_SRC_PORT)), 53);
    assert_int_equal(short_number(protocol_of(&request, CTA_TUPLE_REPLY, CTA_PROTO_DST_PORT)),
                     1024);
}

static void one_icmp_flow_is_named_by_type_code_and_id(void **state)
{
    struct flow_filter filter = one(AF_INET, IPPROTO_ICMP);

    (void)state;
    filter.icmp_type = 8;
    filter.icmp_code = 1;
    filter.icmp_id = 0x0102;
    struct request request = put_one(&filter, false);
    assert_int_equal(byte(protocol_of(&request, CTA_TUPLE_ORIG, CTA_PROTO_ICMP_TYPE)), 8);
    assert_int_equal(byte(protocol_of(&request, CTA_TUPLE_ORIG, CTA_PROTO_ICMP_CODE)), 1);
    assert_int_equal(short_number(protocol_of(&request, CTA_TUPLE_ORIG, CTA_PROTO_ICMP_ID)),
                     0x0102);
    assert_null(protocol_of(&request, CTA_TUPLE_ORIG, CTA_PROTO_SRC_PORT));
}

static void one_flow_is_looked_for_in_the_zone_that_is_named(void **state)
{
    struct flow_filter filter = one(AF_INET, IPPROTO_TCP);

    (void)state;
    filter.fields |= FILTER_ZONE;
    filter.zone = 0x0708;
    struct request request = put_one(&filter, false);
    assert_int_equal(short_number(find(&request, CTA_ZONE)), 0x0708);
}

static const struct nlattr *zone_of(struct request *request, uint16_t tuple)
{
    return ct_find_in(find(request, tuple), CTA_TUPLE_ZONE);
}

static void one_flow_is_looked_for_in_the_zone_of_its_direction(void **state)
{
    struct flow_filter filter = one(AF_INET, IPPROTO_TCP);

    (void)state;
    filter.fields |= FILTER_ORIG_ZONE | FILTER_REPLY_ZONE;
    filter.orig_zone = 0x0102;
    filter.reply_zone = 0x0304;
    struct request request = put_one(&filter, false);
    assert_int_equal(short_number(zone_of(&request, CTA_TUPLE_ORIG)), 0x0102);
    assert_null(find(&request, CTA_ZONE));

    filter.fields = FILTER_PROTOCOL | FILTER_REPLY_SRC | FILTER_REPLY_DST | FILTER_REPLY_ZONE;
    request = put_one(&filter, false);
    assert_int_equal(short_number(zone_of(&request, CTA_TUPLE_REPLY)), 0x0304);
}

/* Both at once are invalid for the kernel, unless the first is 0. */
static void a_zone_of_both_directions_is_the_zone_that_is_named(void **state)
{
    struct flow_filter filter = one(AF_INET, IPPROTO_TCP);

    (void)state;
    filter.fields |= FILTER_ZONE | FILTER_ORIG_ZONE;
    filter.zone = 0x0708;
    filter.orig_zone = 0x0102;
    struct request request = put_one(&filter, false);
    assert_int_equal(short_number(find(&request, CTA_ZONE)), 0x0708);
    assert_null(zone_of(&request, CTA_TUPLE_ORIG));

    filter.zone = 0;
    request = put_one(&filter, false);
    assert_int_equal(short_number(zone_of(&request, CTA_TUPLE_ORIG)), 0x0102);
}

static void one_expectation_is_named_by_what_is_expected(void **state)
{
    struct flow_filter filter = one(AF_INET, IPPROTO_TCP);

    (void)state;
    struct request request = put_one(&filter, true);
    assert_memory_equal(ct_data(address_of(&request, CTA_EXPECT_TUPLE, CTA_IP_V4_DST)),
                        filter.orig_dst.network, 4);
    assert_int_equal(short_number(protocol_of(&request, CTA_EXPECT_TUPLE, CTA_PROTO_DST_PORT)),
                     443);
    assert_null(find(&request, CTA_EXPECT_MASTER));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_filter_nothing_is_added),
        cmocka_unit_test(a_mark_comes_with_its_mask),
        cmocka_unit_test(a_status_comes_only_with_a_mask),
        cmocka_unit_test(a_zone_of_any_direction_is_one_for_the_kernel),
        cmocka_unit_test(zone_0_is_never_asked_for),
        cmocka_unit_test(an_ipv4_address_is_compared_where_it_is_one),
        cmocka_unit_test(a_network_is_not_compared_by_the_kernel),
        cmocka_unit_test(ipv6_addresses_are_never_compared_by_the_kernel),
        cmocka_unit_test(without_a_family_no_tuple_is_compared),
        cmocka_unit_test(ports_are_compared_of_tcp_and_udp_only),
        cmocka_unit_test(a_port_that_is_not_asked_for_is_not_compared),
        cmocka_unit_test(ports_without_a_protocol_are_not_compared),
        cmocka_unit_test(icmp_is_compared_by_type_code_and_id),
        cmocka_unit_test(what_the_kernel_cannot_compare_is_not_sent),
        cmocka_unit_test(the_largest_filter_fits_into_its_room),
        cmocka_unit_test(a_filter_is_a_tuple_and_the_flags_of_what_counts_in_it),
        cmocka_unit_test(a_family_at_a_time_is_asked_where_that_leaves_out_more),
        cmocka_unit_test(one_flow_is_named_by_its_original_tuple),
        cmocka_unit_test(one_flow_may_be_named_by_its_reply),
        cmocka_unit_test(one_icmp_flow_is_named_by_type_code_and_id),
        cmocka_unit_test(one_flow_is_looked_for_in_the_zone_that_is_named),
        cmocka_unit_test(one_flow_is_looked_for_in_the_zone_of_its_direction),
        cmocka_unit_test(a_zone_of_both_directions_is_the_zone_that_is_named),
        cmocka_unit_test(one_expectation_is_named_by_what_is_expected),
    };

    return cmocka_run_group_tests_name("ctnetlink_filter", tests, NULL, NULL);
}
