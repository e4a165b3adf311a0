/* SPDX-License-Identifier: MIT */
/* What the kernel is asked to leave out of a dump of flows, and which one flow is asked for. */
#include <arpa/inet.h>
#include <endian.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/flow/ctnetlink_filter.h"
#include "ct_line.h"
#include "ct_messages.h"
#include "fastnet/kernel_abi.h"
#include "kit.h"
#include "predicates.h"

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

static struct request put(const struct predicate *where, uint8_t family)
{
    struct request request;

    begin(&request);
    request.any = ctnetlink_put_filter(message_of(&request), where, family);
    assert_in_range(message_of(&request)->nlmsg_len, HEADERS, sizeof request.bytes);
    assert_int_equal(request.any, message_of(&request)->nlmsg_len > HEADERS);
    return request;
}

/* What options ask for. */
static struct request put_line(const char *line, uint8_t family)
{
    return put(ct_where(line), family);
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
    for (size_t i = 0; i < COUNT(families); i++)
        assert_false(put(NULL, families[i]).any);
    assert_false(put_line("-f ipv4", AF_INET).any);
    assert_false(put_line("-f ipv6", AF_INET6).any);
}

static void a_mark_comes_with_its_mask(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(families); i++) {
        struct request request = put_line("-m 0x01020304/0xf0ffffff", families[i]);
        assert_int_equal(number(find(&request, CTA_MARK)), 0x01020304);
        assert_int_equal(number(find(&request, CTA_MARK_MASK)), 0xf0ffffff);
        assert_int_equal(compared(&request, false), 0);
    }
}

static void a_mark_that_is_one_number_has_all_bits(void **state)
{
    struct predicate mark = predicate_number(field_named(&kind_flow, "mark"), 7);
    struct request request = put(&mark, AF_UNSPEC);

    (void)state;
    assert_int_equal(number(find(&request, CTA_MARK)), 7);
    assert_int_equal(number(find(&request, CTA_MARK_MASK)), UINT32_MAX);
    mark.operation = PREDICATE_ABOVE;
    assert_false(put(&mark, AF_UNSPEC).any);
}

/* A number that the field cannot have must not become another one. */
static void values_with_more_bits_than_the_field_are_not_sent(void **state)
{
    const struct predicate marks[] = {
        predicate_number(field_named(&kind_flow, "mark"), UINT64_C(1) << 32),
        predicate_masked(field_named(&kind_flow, "mark"), UINT64_C(1) << 32, UINT64_C(1) << 32),
        predicate_number(field_named(&kind_flow, "zone"), 65536 + 5),
        predicate_number(field_named(&kind_flow, "protocol"), 256 + IPPROTO_TCP),
    };

    (void)state;
    for (size_t i = 0; i < COUNT(marks); i++)
        assert_false(put(&marks[i], AF_INET).any);
}

/* Of an or and a not neither part is required. */
static void optional_comparisons_are_not_sent(void **state)
{
    struct predicate part = predicate_number(field_named(&kind_flow, "mark"), 7);
    struct predicate whole = {.operation = PREDICATE_OR, .parts = &part};

    (void)state;
    assert_false(put(&whole, AF_INET).any);
    whole.operation = PREDICATE_NOT;
    assert_false(put(&whole, AF_INET).any);
    whole.operation = PREDICATE_AND;
    assert_true(put(&whole, AF_INET).any);
}

/* The kernel refuses a status without a mask, and what has no bit to look at is always true. */
static void a_status_comes_only_with_a_mask(void **state)
{
    struct request request = put_line("-u ASSURED,!SEEN_REPLY", AF_UNSPEC);

    (void)state;
    assert_int_equal(number(find(&request, CTA_STATUS)), IPS_ASSURED);
    assert_int_equal(number(find(&request, CTA_STATUS_MASK)), IPS_ASSURED | IPS_SEEN_REPLY);
    request = put_line("-u !ASSURED,UNREPLIED", AF_INET); /* bits that are not to be set */
    assert_int_equal(number(find(&request, CTA_STATUS)), 0);
    assert_int_equal(number(find(&request, CTA_STATUS_MASK)), IPS_ASSURED | IPS_SEEN_REPLY);
    assert_false(put_line("-u UNSET", AF_INET).any);
}

static void a_zone_of_any_direction_is_one_for_the_kernel(void **state)
{
    static const char *const lines[] = {"-w 0x0102", "--orig-zone 0x0102", "--reply-zone 0x0102",
                                        "-w 0x0102 --orig-zone 9"};

    (void)state;
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct request request = put_line(lines[i], AF_UNSPEC);
        assert_int_equal(short_number(find(&request, CTA_ZONE)), 0x0102);
    }
}

/* Flows with a zone for one direction are in zone 0 too, but not for the kernel. */
static void zone_0_is_never_asked_for(void **state)
{
    (void)state;
    assert_false(put_line("-w 0", AF_INET).any);
    assert_false(put_line("--orig-zone 0", AF_INET).any);
    assert_false(put_line("--reply-zone 0", AF_INET).any);
    /* nor is the other one then, which would leave out what is in zone 0 */
    assert_false(put_line("-w 0 --reply-zone 5", AF_INET).any);
}

static void an_ipv4_address_is_compared_where_it_is_one(void **state)
{
    static const struct {
        const char *line, *field;
        uint32_t flag;
        bool reply;
        uint16_t type;
    } ends[] = {
        {"-s 192.0.2.1", "orig_src", SRC, false, CTA_IP_V4_SRC},
        {"-d 192.0.2.1", "orig_dst", DST, false, CTA_IP_V4_DST},
        {"-r 192.0.2.1", "reply_src", SRC, true, CTA_IP_V4_SRC},
        {"-q 192.0.2.1", "reply_dst", DST, true, CTA_IP_V4_DST},
    };
    const struct address one = ip("192.0.2.1");

    (void)state;
    for (size_t i = 0; i < COUNT(ends) * 2; i++) {
        const bool reply = ends[i / 2].reply;
        const struct predicate equal =
            predicate_address(field_named(&kind_flow, ends[i / 2].field), &one);
        struct request request = put(i % 2 ? &equal : ct_where(ends[i / 2].line), AF_INET);
        assert_int_equal(compared(&request, reply), ends[i / 2].flag);
        assert_int_equal(compared(&request, !reply), 0);
        const struct nlattr *address =
            address_of(&request, reply ? CTA_TUPLE_REPLY : CTA_TUPLE_ORIG, ends[i / 2].type);
        assert_non_null(address);
        assert_int_equal(ct_length(address), 4);
        assert_memory_equal(ct_data(address), "\300\0\2\1", 4);
    }
}

static void a_network_is_not_compared_by_the_kernel(void **state)
{
    static const char *const lines[] = {"-s 0.0.0.0/0 -q 0.0.0.0/0", "-s 0.0.0.0/1 -q 0.0.0.0/1",
                                        "-s 10.0.0.0/8", "-q 192.0.2.0/24", "-s 192.0.2.0/31"};

    (void)state;
    for (size_t i = 0; i < COUNT(lines); i++)
        assert_false(put_line(lines[i], AF_INET).any);
}

/* ctnetlink_filter_match_tuple() of Linux 5.8 and later finds those that differ. */
static void ipv6_addresses_are_never_compared_by_the_kernel(void **state)
{
#define ADDRESSES "-s 2001:db8::1 -d 2001:db8::1 -r 2001:db8::1 -q 2001:db8::1"
    struct request request =
        put_line(ADDRESSES " -p tcp --dport 443 --reply-port-src 443", AF_INET6);

    (void)state;
    assert_int_equal(compared(&request, false), PROTOCOL | DST_PORT);
    assert_int_equal(compared(&request, true), PROTOCOL | SRC_PORT);
    assert_false(put_line(ADDRESSES, AF_INET6).any);
}

/* The addresses of a tuple belong to a family. */
static void without_a_family_no_tuple_is_compared(void **state)
{
    (void)state;
    assert_false(put_line("-p tcp --sport 53 -s 192.0.2.1", AF_UNSPEC).any);
    assert_true(put_line("-p tcp --sport 53 -s 192.0.2.1", AF_INET).any);
}

#define PORTS " --sport 0x0102 --dport 0x0304 --reply-port-src 0x0506 --reply-port-dst 0xfefd"
static void ports_are_compared_of_tcp_and_udp_only(void **state)
{
    static const struct {
        const char *line;
        uint8_t protocol;
        bool ports;
    } protocols[] = {
        {"-p tcp" PORTS, IPPROTO_TCP, true},
        {"-p udp" PORTS, IPPROTO_UDP, true},
        {"-p udplite" PORTS, IPPROTO_UDPLITE, false},
        {"-p sctp" PORTS, IPPROTO_SCTP, false},
        {"-p dccp" PORTS, IPPROTO_DCCP, false},
        {"-p gre --srckey 1 --dstkey 2 --reply-key-src 3 --reply-key-dst 4", IPPROTO_GRE, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(protocols) * 2; i++) {
        const bool ports = protocols[i / 2].ports;
        struct request request = put_line(protocols[i / 2].line, i % 2 ? AF_INET6 : AF_INET);
        assert_int_equal(compared(&request, false), PROTOCOL | (ports ? SRC_PORT | DST_PORT : 0));
        assert_int_equal(byte(protocol_of(&request, CTA_TUPLE_ORIG, CTA_PROTO_NUM)),
                         protocols[i / 2].protocol);
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
    struct request request = put_line("-p udp --reply-port-dst 53", AF_INET);

    (void)state;
    assert_int_equal(compared(&request, false), PROTOCOL);
    assert_int_equal(compared(&request, true), PROTOCOL | DST_PORT);
}

static void ports_without_a_protocol_are_not_compared(void **state)
{
    struct predicate ports[] = {predicate_number(field_named(&kind_flow, "orig_sport"), 53),
                                predicate_number(field_named(&kind_flow, "reply_sport"), 0)};
    const struct predicate both = WHOLE_OF(PREDICATE_AND, ports);

    (void)state;
    assert_false(put(&both, AF_INET).any);
}

static void icmp_is_compared_by_type_code_and_id(void **state)
{
    static const struct {
        const char *line;
        uint8_t family;
        uint32_t flags;
        uint8_t type, code;
        uint16_t id;
    } filters[] = {
        {"-p icmp --icmp-type 128", AF_INET, ICMP_TYPE, 128, 0, 0},
        {"-p icmp --icmp-code 3", AF_INET, ICMP_CODE, 0, 3, 0},
        {"-p icmp --icmp-id 0x0102", AF_INET, ICMP_ID, 0, 0, 0x0102},
        {"-p icmp --icmp-type 128 --icmp-code 3 --icmp-id 0x0102", AF_INET,
         ICMP_TYPE | ICMP_CODE | ICMP_ID, 128, 3, 0x0102},
        {"-p icmpv6 --icmpv6-type 128", AF_INET6, ICMPV6_TYPE, 128, 0, 0},
        {"-p icmpv6 --icmpv6-code 3", AF_INET6, ICMPV6_CODE, 0, 3, 0},
        {"-p icmpv6 --icmpv6-id 0x0102", AF_INET6, ICMPV6_ID, 0, 0, 0x0102},
        {"-p icmpv6 --icmpv6-type 128 --icmpv6-code 3 --icmpv6-id 0x0102", AF_INET6,
         ICMPV6_TYPE | ICMPV6_CODE | ICMPV6_ID, 128, 3, 0x0102},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(filters); i++) {
        const bool v6 = filters[i].family == AF_INET6;
        struct request request = put_line(filters[i].line, filters[i].family);
        assert_int_equal(compared(&request, false), PROTOCOL | filters[i].flags);
        assert_int_equal(compared(&request, true), 0);
        assert_int_equal(short_number(protocol_of(&request, CTA_TUPLE_ORIG,
                                                  v6 ? CTA_PROTO_ICMPV6_ID : CTA_PROTO_ICMP_ID)),
                         filters[i].id);
        assert_int_equal(byte(protocol_of(&request, CTA_TUPLE_ORIG,
                                          v6 ? CTA_PROTO_ICMPV6_TYPE : CTA_PROTO_ICMP_TYPE)),
                         filters[i].type);
        assert_int_equal(byte(protocol_of(&request, CTA_TUPLE_ORIG,
                                          v6 ? CTA_PROTO_ICMPV6_CODE : CTA_PROTO_ICMP_CODE)),
                         filters[i].code);
    }
}

static void comparisons_that_the_kernel_lacks_are_not_sent(void **state)
{
    static const char *const lines[] = {"-c 1", "-l 0", "-n", "-g", "-j", "-n 192.0.2.1:80"};
    const struct predicate others[] = {
        predicate_text(field_named(&kind_flow, "state"), "ESTABLISHED"),
        predicate_number(field_named(&kind_flow, "role"), 1),
        predicate_number(field_named(&kind_flow, "id"), 1),
        predicate_number(field_named(&kind_flow, "orig_vtag"), 1),
        predicate_number(field_named(&kind_flow, "reply_vtag"), 1),
    };

    (void)state;
    for (size_t i = 0; i < COUNT(families); i++) {
        for (size_t n = 0; n < COUNT(lines); n++)
            assert_false(put_line(lines[n], families[i]).any);
        for (size_t n = 0; n < COUNT(others); n++)
            assert_false(put(&others[n], families[i]).any);
    }
}

static void the_largest_filter_fits_into_its_room(void **state)
{
#define REST PORTS " -u ASSURED,!SEEN_REPLY -m 1 -w 1 --orig-zone 2 --reply-zone 3 -l 1 -c 1 -j"
    const struct predicate *v4 =
        ct_where("-p tcp -s 1.1.1.1 -d 2.2.2.2 -r 3.3.3.3 -q 4.4.4.4" REST);
    const struct predicate *v6 = ct_where("-p udp -s ::1 -d ::2 -r ::3 -q ::4" REST);

    (void)state;
    for (size_t i = 0; i < COUNT(families); i++) {
        assert_true(put(v4, families[i]).any);
        assert_true(put(v6, families[i]).any);
    }
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

    (void)state;
    if (htole16(1) != 1)
        skip(); /* the headers of attributes are in the machine's byte order */
    struct request request = put_line("-p tcp -s 192.0.2.1 --dport 443", AF_INET);
    assert_int_equal(message_of(&request)->nlmsg_len, HEADERS + sizeof expected);
    assert_memory_equal(request.bytes + HEADERS, expected, sizeof expected);
}

static void a_family_at_a_time_is_asked_where_that_leaves_out_more(void **state)
{
    static const struct {
        const char *line;
        uint8_t family;
        bool apart;
    } filters[] = {
        {"-L", AF_UNSPEC, false},
        {"-p tcp", AF_UNSPEC, false},
        {"-p tcp --state CLOSE", AF_UNSPEC, false},
        {"-p tcp --sport 1", AF_UNSPEC, true},
        {"-p tcp --dport 1", AF_UNSPEC, true},
        {"-p udp --reply-port-src 1", AF_UNSPEC, true},
        {"-p udp --reply-port-dst 1", AF_UNSPEC, true},
        {"-p icmp --icmp-type 8", AF_UNSPEC, true},
        {"-p icmpv6 --icmpv6-id 1", AF_UNSPEC, true},
        {"-p sctp --sport 1", AF_UNSPEC, false},
        {"-p tcp --dport 1 -f ipv4", AF_INET, false},
        {"-p tcp --dport 1 -f ipv6", AF_INET6, false},
        {"-p tcp --dport 1 -s ::/0", AF_INET6, false},
        {"-m 1 -u ASSURED -w 1", AF_UNSPEC, false},
    };
    const struct predicate port = predicate_number(field_named(&kind_flow, "orig_sport"), 1);

    (void)state;
    for (size_t i = 0; i < COUNT(filters); i++) {
        const struct predicate *where = ct_where(filters[i].line);
        assert_int_equal(ctnetlink_family(where), filters[i].family);
        assert_int_equal(ctnetlink_filters_by_family(where), filters[i].apart);
    }
    assert_false(ctnetlink_filters_by_family(&port)); /* of no protocol that is known */
}

/* --- One flow --------------------------------------------------------------------------------- */

static struct request put_one(const char *line, bool expectation)
{
    struct conntrack_filter *filter = ct_filter(line);
    struct request request;

    begin(&request);
    ctnetlink_put_key(message_of(&request),
                      conntrack_filter_key(filter, expectation ? &kind_expectation : &kind_flow));
    assert_in_range(message_of(&request)->nlmsg_len, HEADERS, sizeof request.bytes);
    return request;
}

#define ONE "-G -p tcp -s 192.0.2.1 -d 192.0.2.2 --sport 40000 --dport 443"

static void assert_end(struct request *request, uint16_t tuple, uint16_t type, const char *expected)
{
    const struct nlattr *attribute = address_of(request, tuple, type);
    const struct address address = ip(expected);

    assert_non_null(attribute);
    assert_int_equal(ct_length(attribute), address_size(&address));
    assert_memory_equal(ct_data(attribute), address.bytes, address_size(&address));
}

static void one_flow_is_named_by_its_original_tuple(void **state)
{
    struct request request =
        put_one("-G -p tcp -s 2001:db8::1 -d 2001:db8::2 --sport 40000 --dport 443", false);

    (void)state;
    assert_end(&request, CTA_TUPLE_ORIG, CTA_IP_V6_SRC, "2001:db8::1");
    assert_end(&request, CTA_TUPLE_ORIG, CTA_IP_V6_DST, "2001:db8::2");
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
    struct request request = put_one("-G -p udp -r 198.51.100.1 -q 198.51.100.2 "
                                     "--reply-port-src 53 --reply-port-dst 1024",
                                     false);

    (void)state;
    assert_null(find(&request, CTA_TUPLE_ORIG));
    assert_end(&request, CTA_TUPLE_REPLY, CTA_IP_V4_SRC, "198.51.100.1");
    assert_end(&request, CTA_TUPLE_REPLY, CTA_IP_V4_DST, "198.51.100.2");
    assert_int_equal(byte(protocol_of(&request, CTA_TUPLE_REPLY, CTA_PROTO_NUM)), IPPROTO_UDP);
    assert_int_equal(short_number(protocol_of(&request, CTA_TUPLE_REPLY, CTA_PROTO_SRC_PORT)), 53);
    assert_int_equal(short_number(protocol_of(&request, CTA_TUPLE_REPLY, CTA_PROTO_DST_PORT)),
                     1024);
}

static void one_icmp_flow_is_named_by_type_code_and_id(void **state)
{
    struct request request = put_one(
        "-G -p icmp -s 192.0.2.1 -d 192.0.2.2 --icmp-type 8 --icmp-code 1 --icmp-id 0x0102", false);

    (void)state;
    assert_int_equal(byte(protocol_of(&request, CTA_TUPLE_ORIG, CTA_PROTO_ICMP_TYPE)), 8);
    assert_int_equal(byte(protocol_of(&request, CTA_TUPLE_ORIG, CTA_PROTO_ICMP_CODE)), 1);
    assert_int_equal(short_number(protocol_of(&request, CTA_TUPLE_ORIG, CTA_PROTO_ICMP_ID)),
                     0x0102);
    assert_null(protocol_of(&request, CTA_TUPLE_ORIG, CTA_PROTO_SRC_PORT));
}

/* What answers it has another type, and the id of the request. */
static void one_icmp_flow_may_be_named_by_its_reply(void **state)
{
    struct request request = put_one(
        "-G -p icmp -r 192.0.2.1 -q 192.0.2.2 --icmp-type 8 --icmp-code 1 --icmp-id 0x0102", false);

    (void)state;
    assert_int_equal(byte(protocol_of(&request, CTA_TUPLE_REPLY, CTA_PROTO_ICMP_TYPE)), 0);
    assert_int_equal(byte(protocol_of(&request, CTA_TUPLE_REPLY, CTA_PROTO_ICMP_CODE)), 1);
    assert_int_equal(short_number(protocol_of(&request, CTA_TUPLE_REPLY, CTA_PROTO_ICMP_ID)),
                     0x0102);
}

static void one_flow_is_looked_for_in_the_zone_that_is_named(void **state)
{
    struct request request = put_one(ONE " -w 0x0708", false);

    (void)state;
    assert_int_equal(short_number(find(&request, CTA_ZONE)), 0x0708);
}

static const struct nlattr *zone_of(struct request *request, uint16_t tuple)
{
    return ct_find_in(find(request, tuple), CTA_TUPLE_ZONE);
}

static void one_flow_is_looked_for_in_the_zone_of_its_direction(void **state)
{
    struct request request = put_one(ONE " --orig-zone 0x0102 --reply-zone 0x0304", false);

    (void)state;
    assert_int_equal(short_number(zone_of(&request, CTA_TUPLE_ORIG)), 0x0102);
    assert_null(find(&request, CTA_ZONE));
    request = put_one("-G -p 253 -r 192.0.2.1 -q 192.0.2.2 --reply-zone 0x0304", false);
    assert_int_equal(short_number(zone_of(&request, CTA_TUPLE_REPLY)), 0x0304);
}

/* Both at once are invalid for the kernel, unless the first is 0. */
static void a_zone_of_both_directions_is_the_zone_that_is_named(void **state)
{
    struct request request = put_one(ONE " -w 0x0708 --orig-zone 0x0102", false);

    (void)state;
    assert_int_equal(short_number(find(&request, CTA_ZONE)), 0x0708);
    assert_null(zone_of(&request, CTA_TUPLE_ORIG));
    request = put_one(ONE " -w 0 --orig-zone 0x0102", false);
    assert_int_equal(short_number(zone_of(&request, CTA_TUPLE_ORIG)), 0x0102);
}

static void one_expectation_is_named_by_its_expected_tuple(void **state)
{
    struct request request = put_one(ONE, true);

    (void)state;
    assert_end(&request, CTA_EXPECT_TUPLE, CTA_IP_V4_DST, "192.0.2.2");
    assert_int_equal(short_number(protocol_of(&request, CTA_EXPECT_TUPLE, CTA_PROTO_DST_PORT)),
                     443);
    assert_null(find(&request, CTA_EXPECT_MASTER));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_filter_nothing_is_added),
        cmocka_unit_test(a_mark_comes_with_its_mask),
        cmocka_unit_test(a_mark_that_is_one_number_has_all_bits),
        cmocka_unit_test(values_with_more_bits_than_the_field_are_not_sent),
        cmocka_unit_test(optional_comparisons_are_not_sent),
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
        cmocka_unit_test(comparisons_that_the_kernel_lacks_are_not_sent),
        cmocka_unit_test(the_largest_filter_fits_into_its_room),
        cmocka_unit_test(a_filter_is_a_tuple_and_the_flags_of_what_counts_in_it),
        cmocka_unit_test(a_family_at_a_time_is_asked_where_that_leaves_out_more),
        cmocka_unit_test(one_flow_is_named_by_its_original_tuple),
        cmocka_unit_test(one_flow_may_be_named_by_its_reply),
        cmocka_unit_test(one_icmp_flow_is_named_by_type_code_and_id),
        cmocka_unit_test(one_icmp_flow_may_be_named_by_its_reply),
        cmocka_unit_test(one_flow_is_looked_for_in_the_zone_that_is_named),
        cmocka_unit_test(one_flow_is_looked_for_in_the_zone_of_its_direction),
        cmocka_unit_test(a_zone_of_both_directions_is_the_zone_that_is_named),
        cmocka_unit_test(one_expectation_is_named_by_its_expected_tuple),
    };

    return cmocka_run_group_tests_name("ctnetlink_filter", tests, NULL, NULL);
}
