/* SPDX-License-Identifier: MIT */
/* The way of one flow, with a kernel that the test plays. */
#include "fastnet/routing.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "backend/route/rules.h"
#include "fastnet/netlink.h"
#include "fastnet/record.h"
#include "kit.h"

enum { LINKS_MAX = 4, LO = 1, V0, RED, TABLE_RED = 10, LEARNT_MTU = 1400, V0_MTU = 1500 };

/* What the kernel of the test answers, and what it was asked. */
struct routed {
    struct netlink_peer peer;
    struct netlink *netlink;
    struct routing_question question;
    struct routing_answer answer;
    int error;             /* errno of RTM_GETROUTE for the peer; 0: `route` and `match` */
    int error_with_source; /* errno if the request has a source; 0: as without */
    int rule_error, neighbour_error;
    struct wire route, match; /* the routes that the kernel found, and as its table has it */
    struct wire source;       /* the route to the source of the question */
    struct wire rules, dump;  /* all rules, and all routes */
    struct wire links[LINKS_MAX], neighbour;
    size_t link_count, route_count; /* route_count: requests for a route, and for all */
    struct wire reply;
    uint8_t family; /* of the last request for a route */
};

/* --- The kernel ------------------------------------------------------------------------------- */

/* Returns the content of an attribute of a request for a route, or NULL. */
static const void *attribute_of(const struct nlmsghdr *request, uint16_t type)
{
    const char *at = (const char *)request + NLMSG_HDRLEN + sizeof(struct rtmsg);
    const char *end = (const char *)request + request->nlmsg_len;
    struct nlattr header;

    for (; at + sizeof header <= end; at += NLA_ALIGN(header.nla_len)) {
        memcpy(&header, at, sizeof header);
        if (header.nla_type == type)
            return at + sizeof header;
    }
    return NULL;
}

/* Answers with the messages, or with the error. */
static int reply_with(struct routed *routed, const struct wire *wire, int error)
{
    const struct nlmsgerr refusal = {.error = -error};

    routed->reply.length = 0;
    if (error) {
        wire_message(&routed->reply, NLMSG_ERROR, 0, 1);
        wire_put(&routed->reply, &refusal, sizeof refusal);
        return 0;
    }
    routed->reply = *wire;
    wire_done(&routed->reply, 0, 1, 0);
    return 0;
}

static int reply_route(struct routed *routed, const struct nlmsghdr *request)
{
    const struct rtmsg *body = (const void *)((const char *)request + NLMSG_HDRLEN);
    const struct routing_question *question = &routed->question;
    const bool has_source = attribute_of(request, RTA_SRC);

    routed->route_count++;
    routed->family = body->rtm_family;
    if (request->nlmsg_flags & NLM_F_DUMP)
        return reply_with(routed, &routed->dump, 0);
    if (address_size(&question->source) &&
        memcmp(attribute_of(request, RTA_DST), question->source.bytes,
               address_size(&question->source)) == 0)
        return reply_with(routed, &routed->source, routed->source.length ? 0 : ENETUNREACH);
    if (has_source && routed->error_with_source)
        return reply_with(routed, &routed->route, routed->error_with_source);
    return reply_with(routed, body->rtm_flags & RTM_F_FIB_MATCH ? &routed->match : &routed->route,
                      routed->error);
}

static int reply_link(struct routed *routed, const struct nlmsghdr *request)
{
    const struct ifinfomsg *body = (const void *)((const char *)request + NLMSG_HDRLEN);

    for (size_t i = 0; i < routed->link_count; i++) {
        const struct ifinfomsg *link =
            (const void *)((const char *)wire_last(&routed->links[i]) + NLMSG_HDRLEN);
        if (link->ifi_index == body->ifi_index)
            return reply_with(routed, &routed->links[i], 0);
    }
    return reply_with(routed, NULL, ENODEV);
}

static int take_request(void *arg, const void *message, size_t size)
{
    struct routed *routed = arg;
    const struct nlmsghdr *request = message;

    assert_int_equal(size, request->nlmsg_len);
    if (request->nlmsg_type == RTM_GETROUTE)
        reply_route(routed, request);
    else if (request->nlmsg_type == RTM_GETRULE)
        reply_with(routed, &routed->rules, routed->rule_error);
    else if (request->nlmsg_type == RTM_GETLINK)
        reply_link(routed, request);
    else
        reply_with(routed, &routed->neighbour, routed->neighbour_error);
    for (size_t at = 0; at < routed->reply.length;) {
        struct nlmsghdr *header = (void *)(routed->reply.data + at);
        header->nlmsg_seq = request->nlmsg_seq;
        at += NLMSG_ALIGN(header->nlmsg_len);
    }
    return 0;
}

static ssize_t give_reply(void *arg, void *buffer, size_t size, uint32_t *port)
{
    struct routed *routed = arg;

    assert_in_range(routed->reply.length, 1, size);
    *port = 0;
    memcpy(buffer, routed->reply.data, routed->reply.length);
    return (ssize_t)routed->reply.length;
}

/* --- Its tables ------------------------------------------------------------------------------- */

static void put_address(struct wire *wire, uint16_t type, const char *text)
{
    const struct address address = ip(text);

    wire_attribute(wire, type, address.bytes, address_size(&address));
}

/* Adds a route. Attributes may follow. flags: RTM_F_CLONED for a route that the kernel resolved. */
static void add_route(struct wire *wire, const char *destination, uint8_t prefix, uint8_t type,
                      uint8_t table, unsigned flags)
{
    const struct rtmsg body = {.rtm_family = ip(destination).family,
                               .rtm_dst_len = prefix,
                               .rtm_table = table,
                               .rtm_protocol = RTPROT_BOOT,
                               .rtm_type = type,
                               .rtm_flags = flags};

    wire_message(wire, RTM_NEWROUTE, 0, 1);
    wire_put(wire, &body, sizeof body);
    put_address(wire, RTA_DST, destination);
}

static void add_rule(struct wire *wire, uint8_t family, uint8_t action, uint8_t table,
                     uint32_t priority)
{
    const struct fib_rule_hdr header = {.family = family, .action = action, .table = table};

    wire_message(wire, RTM_NEWRULE, NLM_F_MULTI, 1);
    wire_put(wire, &header, sizeof header);
    wire_u32(wire, FRA_TABLE, table);
    wire_u32(wire, FRA_PRIORITY, priority);
}

/* Adds an interface. Attributes may follow. */
static struct wire *add_link(struct routed *routed, int index, const char *name, unsigned flags)
{
    const struct ifinfomsg body = {.ifi_index = index, .ifi_flags = flags};
    struct wire *wire = &routed->links[routed->link_count++];

    wire_message(wire, RTM_NEWLINK, 0, 1);
    wire_put(wire, &body, sizeof body);
    wire_attribute(wire, IFLA_IFNAME, name, strlen(name) + 1);
    wire_u32(wire, IFLA_MTU, V0_MTU);
    return wire;
}

static void add_rules(struct routed *routed, uint8_t family)
{
    add_rule(&routed->rules, family, FR_ACT_TO_TBL, RT_TABLE_MAIN, 32766);
    add_rule(&routed->rules, family, FR_ACT_TO_TBL, RT_TABLE_DEFAULT, 32767);
}

/* A peer behind a gateway at v0, and the first of the usual rules. */
static int set_up(void **state)
{
    struct routed *routed = calloc(1, sizeof *routed);

    if (!routed)
        return -1;
    routed->peer = (struct netlink_peer){take_request, give_reply, routed};
    routed->netlink = netlink_create(&routed->peer);
    routed->question = (struct routing_question){
        .peer = {IPV4(203, 0, 113, 7), 443}, .protocol = IPPROTO_TCP, .has_uid = true, .uid = 7};
    add_route(&routed->route, "203.0.113.7", 32, RTN_UNICAST, RT_TABLE_MAIN, RTM_F_CLONED);
    put_address(&routed->route, RTA_GATEWAY, "192.0.2.254");
    put_address(&routed->route, RTA_PREFSRC, "192.0.2.1");
    wire_u32(&routed->route, RTA_OIF, V0);
    add_route(&routed->match, "203.0.113.0", 24, RTN_UNICAST, RT_TABLE_MAIN, 0);
    put_address(&routed->match, RTA_GATEWAY, "192.0.2.254");
    add_link(routed, V0, "v0", IFF_UP | IFF_LOWER_UP);
    add_rule(&routed->rules, AF_INET, FR_ACT_TO_TBL, RT_TABLE_LOCAL, 0);
    *state = routed;
    return 0;
}

static int tear_down(void **state)
{
    struct routed *routed = *state;

    netlink_destroy(routed->netlink);
    free(routed);
    return 0;
}

static const struct routing_answer *ask(struct routed *routed)
{
    memset(&routed->answer, 0xa5, sizeof routed->answer);
    assert_int_equal(routing_ask(routed->netlink, &routed->question, &routed->answer), 0);
    return &routed->answer;
}

static void assert_rule(const struct routing_answer *answer, uint32_t priority, uint32_t table)
{
    assert_true(answer->rule.known);
    assert_int_equal(answer->rule.priority, priority);
    assert_int_equal(answer->rule.table, table);
}

/* --- Ways that lead --------------------------------------------------------------------------- */

static void a_way_has_its_route_and_its_rule(void **state)
{
    struct routed *routed = *state;

    add_rules(routed, AF_INET);
    const struct routing_answer *answer = ask(routed);
    assert_int_equal(answer->end, ROUTING_LEADS);
    assert_int_equal(answer->error, 0);
    assert_int_equal(answer->type, RTN_UNICAST);
    assert_int_equal(answer->table, RT_TABLE_MAIN);
    assert_ip(&answer->gateway, "192.0.2.254");
    assert_ip(&answer->source, "192.0.2.1");
    assert_int_equal(answer->interface, V0);
    assert_int_equal(answer->next_hops, 1);
    assert_false(answer->mtu_is_learnt);
    assert_rule(answer, 32766, RT_TABLE_MAIN);
    assert_false(answer->rule.ends);
}

static void the_source_that_the_kernel_chooses_is_asked_for(void **state)
{
    struct routed *routed = *state;

    /* a rule for this source ends the way that leads without a source */
    routed->error_with_source = EACCES;
    add_rule(&routed->rules, AF_INET, FR_ACT_PROHIBIT, 0, 5);
    add_route(&routed->source, "192.0.2.1", 32, RTN_LOCAL, RT_TABLE_LOCAL, RTM_F_CLONED);
    const struct routing_answer *answer = ask(routed);
    assert_int_equal(answer->end, ROUTING_PROHIBIT);
}

static void a_mapped_peer_is_one_of_ipv4(void **state)
{
    struct routed *routed = *state;

    routed->question.peer.address = ip("::ffff:203.0.113.7");
    add_rules(routed, AF_INET);
    assert_rule(ask(routed), 32766, RT_TABLE_MAIN);
    assert_int_equal(routed->family, AF_INET);
}

static void a_next_hop_of_ipv6_is_a_gateway_of_ipv4(void **state)
{
    struct routed *routed = *state;
    struct {
        uint16_t family;   /* cppcheck-suppress unusedStructMember */
        uint8_t bytes[16]; /* cppcheck-suppress unusedStructMember */
    } via = {AF_INET6, {0xfe, 0x80, [15] = 5}};

    routed->route.length = 0;
    add_route(&routed->route, "203.0.113.7", 32, RTN_UNICAST, RT_TABLE_MAIN, RTM_F_CLONED);
    wire_attribute(&routed->route, RTA_VIA, &via, sizeof via);
    assert_ip(&ask(routed)->gateway, "fe80::5");
}

static void the_next_hops_of_a_route_are_counted(void **state)
{
    struct routed *routed = *state;
    const struct rtnexthop hops[3] = {{.rtnh_len = sizeof *hops, .rtnh_ifindex = V0},
                                      {.rtnh_len = sizeof *hops, .rtnh_ifindex = V0},
                                      {.rtnh_len = sizeof *hops, .rtnh_ifindex = V0}};

    routed->match.length = 0;
    add_route(&routed->match, "203.0.113.0", 24, RTN_UNICAST, RT_TABLE_MAIN, 0);
    wire_attribute(&routed->match, RTA_MULTIPATH, hops, sizeof hops);
    assert_int_equal(ask(routed)->next_hops, 3);
}

static void the_next_hops_of_a_hidden_object_are_unknown(void **state)
{
    struct routed *routed = *state;

    routed->match.length = 0;
    add_route(&routed->match, "203.0.113.0", 24, RTN_UNICAST, RT_TABLE_MAIN, 0);
    wire_u32(&routed->match, RTA_NH_ID, 1);
    assert_int_equal(ask(routed)->next_hops, 0);
    assert_int_equal(routed->answer.end, ROUTING_LEADS);
}

static void put_mtu(struct wire *wire, uint32_t mtu, int32_t expires)
{
    const struct {
        struct nlattr header;
        uint32_t value; /* cppcheck-suppress unusedStructMember */
    } metric = {{8, RTAX_MTU}, mtu};
    const struct rta_cacheinfo info = {.rta_expires = expires};

    wire_attribute(wire, RTA_METRICS, &metric, sizeof metric);
    wire_attribute(wire, RTA_CACHEINFO, &info, sizeof info);
}

static void an_mtu_that_a_router_reported_is_learnt(void **state)
{
    struct routed *routed = *state;

    put_mtu(&routed->route, LEARNT_MTU, 60000);
    const struct routing_answer *answer = ask(routed);
    assert_int_equal(answer->mtu, LEARNT_MTU);
    assert_true(answer->mtu_is_learnt);
    assert_int_equal(answer->mtu_expires, 600);
}

static void an_mtu_of_the_route_is_not_learnt(void **state)
{
    struct routed *routed = *state;

    put_mtu(&routed->route, LEARNT_MTU, 0);
    assert_false(ask(routed)->mtu_is_learnt);
    /* a redirect has made an exception, too */
    put_mtu(&routed->route, LEARNT_MTU, 60000);
    put_mtu(&routed->match, LEARNT_MTU, 0);
    assert_false(ask(routed)->mtu_is_learnt);
    assert_int_equal(routed->answer.mtu, 0);
}

static void local_routes_are_of_the_table_local_without_own_rules(void **state)
{
    struct routed *routed = *state;

    routed->question.peer.address = ip("192.0.2.1");
    add_rules(routed, AF_INET);
    routed->route.length = routed->match.length = 0;
    add_route(&routed->route, "192.0.2.1", 32, RTN_LOCAL, RT_TABLE_MAIN, RTM_F_CLONED);
    add_route(&routed->match, "192.0.2.1", 32, RTN_LOCAL, RT_TABLE_MAIN, 0);
    assert_rule(ask(routed), 32766, RT_TABLE_MAIN); /* a route that somebody added to `main` */
    ((struct rtmsg *)(void *)((char *)wire_last(&routed->match) + NLMSG_HDRLEN))->rtm_protocol =
        RTPROT_KERNEL;
    assert_rule(ask(routed), 0, RT_TABLE_LOCAL);
    assert_int_equal(routed->answer.table, RT_TABLE_LOCAL);
}

static void the_unspecified_address_of_ipv6_is_loopback(void **state)
{
    struct routed *routed = *state;

    routed->question.peer.address = ip("::");
    routed->question.source = ip("::1"); /* the test plays the route to the source */
    add_route(&routed->source, "::1", 128, RTN_LOCAL, RT_TABLE_LOCAL, 0);
    assert_int_equal(ask(routed)->type, RTN_LOCAL);
}

/* --- VRFs ------------------------------------------------------------------------------------- */

/* As Linux 6.12 sends a VRF device. */
static void add_vrf(struct routed *routed)
{
    struct wire *wire = add_link(routed, RED, "red", IFF_UP);
    const struct {
        struct nlattr kind;        /* cppcheck-suppress unusedStructMember */
        char name[4];              /* cppcheck-suppress unusedStructMember */
        struct nlattr data, table; /* cppcheck-suppress unusedStructMember */
        uint32_t number;           /* cppcheck-suppress unusedStructMember */
    } info = {{8, IFLA_INFO_KIND}, "vrf", {12, IFLA_INFO_DATA}, {8, IFLA_VRF_TABLE}, TABLE_RED};

    wire_attribute(wire, IFLA_LINKINFO, &info, sizeof info);
    wire_u32(&routed->links[0], IFLA_MASTER, RED); /* v0 */
    add_rule(&routed->rules, AF_INET, FR_ACT_TO_TBL, 0, 1000);
    wire_attribute(&routed->rules, FRA_L3MDEV, &(uint8_t){1}, 1);
    add_rules(routed, AF_INET);
}

static void the_rule_of_vrfs_is_not_applied_to_a_socket_that_is_not_bound(void **state)
{
    struct routed *routed = *state;

    add_vrf(routed);
    assert_rule(ask(routed), 32766, RT_TABLE_MAIN);
}

static void a_socket_in_a_vrf_that_cannot_be_read_has_no_answer(void **state)
{
    struct routed *routed = *state;

    add_vrf(routed);
    routed->link_count = 1;
    routed->question.interface = V0;
    assert_int_equal(routing_ask(routed->netlink, &routed->question, &routed->answer), -ENODEV);
    assert_int_equal(routed->answer.end, ROUTING_UNKNOWN);
}

static void the_rule_of_vrfs_is_applied_to_a_socket_in_a_vrf(void **state)
{
    struct routed *routed = *state;

    add_vrf(routed);
    routed->question.interface = RED;
    routed->route.length = routed->match.length = 0;
    add_route(&routed->route, "203.0.113.7", 32, RTN_UNICAST, TABLE_RED, RTM_F_CLONED);
    wire_u32(&routed->route, RTA_OIF, V0);
    add_route(&routed->match, "203.0.113.0", 24, RTN_UNICAST, TABLE_RED, 0);
    assert_rule(ask(routed), 1000, TABLE_RED);
    routed->question.interface = V0;
    assert_rule(ask(routed), 1000, TABLE_RED);
}

static void a_device_of_another_kind_is_no_vrf(void **state)
{
    struct routed *routed = *state;
    struct routing_link link;
    struct wire *wire = add_link(routed, RED, "red", IFF_UP);
    const struct {
        struct nlattr kind;         /* cppcheck-suppress unusedStructMember */
        char name[8];               /* cppcheck-suppress unusedStructMember */
        struct nlattr data, number; /* cppcheck-suppress unusedStructMember */
        uint32_t value;             /* cppcheck-suppress unusedStructMember */
    } info = {{12, IFLA_INFO_KIND}, "bridge", {12, IFLA_INFO_DATA}, {8, IFLA_VRF_TABLE}, 1};

    wire_attribute(wire, IFLA_LINKINFO, &info, sizeof info);
    assert_int_equal(routing_link(routed->netlink, RED, &link), 0);
    assert_int_equal(link.vrf_table, 0);
}

/* --- Ways that end ---------------------------------------------------------------------------- */

static void no_route_is_no_rule(void **state)
{
    struct routed *routed = *state;

    routed->error = ENETUNREACH;
    add_rules(routed, AF_INET);
    assert_int_equal(ask(routed)->end, ROUTING_NONE);
    assert_int_equal(routed->answer.error, ENETUNREACH);
    assert_false(routed->answer.rule.known);
}

static void a_kernel_without_rules_has_no_route(void **state)
{
    struct routed *routed = *state;

    routed->error = ENETUNREACH;
    routed->rule_error = EAFNOSUPPORT;
    assert_int_equal(ask(routed)->end, ROUTING_NONE);
}

static void rules_that_cannot_be_read_leave_the_end_open(void **state)
{
    struct routed *routed = *state;

    routed->error = ENETUNREACH;
    routed->rule_error = ENOBUFS;
    assert_int_equal(ask(routed)->end, ROUTING_UNKNOWN);
}

static void a_rule_ends_the_way(void **state)
{
    static const struct {
        uint8_t action;
        int error;
        enum routing_end end;
    } kinds[] = {{FR_ACT_BLACKHOLE, EINVAL, ROUTING_BLACKHOLE},
                 {FR_ACT_UNREACHABLE, ENETUNREACH, ROUTING_UNREACHABLE},
                 {FR_ACT_PROHIBIT, EACCES, ROUTING_PROHIBIT}};
    struct routed *routed = *state;

    for (size_t i = 0; i < COUNT(kinds); i++) {
        routed->rules.length = 0;
        routed->error = kinds[i].error;
        add_rule(&routed->rules, AF_INET, FR_ACT_TO_TBL, RT_TABLE_LOCAL, 0);
        add_rule(&routed->rules, AF_INET, kinds[i].action, 0, 100);
        add_rules(routed, AF_INET);
        assert_int_equal(ask(routed)->end, kinds[i].end);
        assert_rule(&routed->answer, 100, 0);
        assert_true(routed->answer.rule.ends);
    }
}

static void a_route_of_a_table_ends_the_way(void **state)
{
    static const struct {
        uint8_t type;
        int error;
        enum routing_end end;
    } kinds[] = {{RTN_BLACKHOLE, EINVAL, ROUTING_BLACKHOLE},
                 {RTN_UNREACHABLE, EHOSTUNREACH, ROUTING_UNREACHABLE},
                 {RTN_PROHIBIT, EACCES, ROUTING_PROHIBIT}};
    struct routed *routed = *state;

    add_rules(routed, AF_INET);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        routed->dump.length = 0;
        routed->error = kinds[i].error;
        add_route(&routed->dump, "198.51.100.0", 24, kinds[i].type, RT_TABLE_LOCAL, 0);
        add_route(&routed->dump, "203.0.0.0", 16, kinds[i].type, RT_TABLE_MAIN, 0);
        add_route(&routed->dump, "203.0.113.0", 24, RTN_UNICAST, RT_TABLE_LOCAL, 0);
        assert_int_equal(ask(routed)->end, kinds[i].end);
        assert_rule(&routed->answer, 32766, RT_TABLE_MAIN);
        assert_false(routed->answer.rule.ends);
        assert_int_equal(routed->answer.table, RT_TABLE_MAIN);
    }
}

static void a_throw_route_sends_the_kernel_to_the_next_rule(void **state)
{
    struct routed *routed = *state;

    routed->error = EACCES;
    add_rule(&routed->rules, AF_INET, FR_ACT_TO_TBL, 7, 50);
    add_rules(routed, AF_INET);
    add_route(&routed->dump, "203.0.0.0", 16, RTN_PROHIBIT, 7, 0);
    add_route(&routed->dump, "203.0.113.0", 24, RTN_THROW, 7, 0);
    add_route(&routed->dump, "203.0.0.0", 16, RTN_PROHIBIT, RT_TABLE_MAIN, 0);
    assert_int_equal(ask(routed)->end, ROUTING_PROHIBIT);
    assert_rule(&routed->answer, 32766, RT_TABLE_MAIN);
}

static void two_rules_that_may_end_the_way_leave_the_rule_open(void **state)
{
    struct routed *routed = *state;

    routed->error = EACCES;
    add_rule(&routed->rules, AF_INET, FR_ACT_PROHIBIT, 0, 100);
    wire_attribute(&routed->rules, FRA_SPORT_RANGE, &(struct fib_rule_port_range){40000, 40009}, 4);
    assert_int_equal(ask(routed)->end, ROUTING_PROHIBIT);
    assert_rule(&routed->answer, 100, 0); /* nothing else gives this errno */
    add_rule(&routed->rules, AF_INET, FR_ACT_PROHIBIT, 0, 101);
    assert_int_equal(ask(routed)->end, ROUTING_PROHIBIT);
    assert_false(routed->answer.rule.known);
}

static void a_rule_about_the_source_port_may_choose_another_way(void **state)
{
    struct routed *routed = *state;

    add_rule(&routed->rules, AF_INET, FR_ACT_TO_TBL, 7, 100);
    wire_attribute(&routed->rules, FRA_SPORT_RANGE, &(struct fib_rule_port_range){40000, 40009}, 4);
    add_rules(routed, AF_INET);
    assert_int_equal(ask(routed)->end, ROUTING_UNKNOWN);
    assert_int_equal(routed->answer.table, 0);
    assert_false(routed->answer.rule.known);
    routed->question.source_port = 10;
    assert_int_equal(ask(routed)->end, ROUTING_LEADS);
    assert_rule(&routed->answer, 32766, RT_TABLE_MAIN);
}

static void a_rule_about_the_source_port_does_not_matter_after_the_rule_that_leads(void **state)
{
    struct routed *routed = *state;

    routed->route.length = routed->match.length = 0;
    add_route(&routed->route, "203.0.113.7", 32, RTN_UNICAST, RT_TABLE_LOCAL, RTM_F_CLONED);
    add_route(&routed->match, "203.0.113.0", 24, RTN_UNICAST, RT_TABLE_LOCAL, 0);
    add_rule(&routed->rules, AF_INET, FR_ACT_TO_TBL, 7, 100);
    wire_attribute(&routed->rules, FRA_SPORT_RANGE, &(struct fib_rule_port_range){40000, 40009}, 4);
    assert_int_equal(ask(routed)->end, ROUTING_LEADS);
    assert_rule(&routed->answer, 0, RT_TABLE_LOCAL);
}

static void an_address_that_the_kernel_refuses_is_no_blackhole(void **state)
{
    struct routed *routed = *state;

    routed->error = EINVAL;
    add_rules(routed, AF_INET);
    assert_int_equal(ask(routed)->end, ROUTING_UNKNOWN);
    assert_int_equal(routed->answer.error, EINVAL);
}

static void an_interface_that_is_down_has_no_route(void **state)
{
    struct routed *routed = *state;

    routed->error = ENETUNREACH;
    routed->link_count = 0;
    routed->links[0].length = 0;
    add_link(routed, V0, "v0", 0);
    routed->question.interface = V0;
    add_rule(&routed->rules, AF_INET, FR_ACT_UNREACHABLE, 0, 1);
    assert_int_equal(ask(routed)->end, ROUTING_NONE);
    assert_false(routed->answer.rule.known);
}

static void a_route_by_another_interface_is_not_the_way_of_a_bound_socket(void **state)
{
    struct routed *routed = *state;

    routed->question.peer.address = ip("2001:db8::7");
    routed->question.interface = RED;
    add_link(routed, RED, "red", IFF_UP);
    routed->route.length = 0;
    add_route(&routed->route, "2001:db8::7", 128, RTN_UNICAST, RT_TABLE_MAIN, 0);
    wire_u32(&routed->route, RTA_OIF, V0);
    assert_int_equal(ask(routed)->end, ROUTING_UNKNOWN);
    routed->question.interface = V0;
    assert_int_equal(ask(routed)->end, ROUTING_LEADS);
}

static void a_link_local_peer_needs_an_interface(void **state)
{
    struct routed *routed = *state;

    routed->question.peer.address = ip("fe80::1");
    assert_int_equal(ask(routed)->end, ROUTING_NEEDS_INTERFACE);
    assert_int_equal(routed->route_count, 0);
}

static void an_errno_of_another_kind_is_an_error(void **state)
{
    struct routed *routed = *state;

    routed->error = ENOBUFS;
    assert_int_equal(routing_ask(routed->netlink, &routed->question, &routed->answer), -ENOBUFS);
    assert_int_equal(routed->answer.end, ROUTING_UNKNOWN);
    routed->error = 0;
    routed->question.interface = 77;
    assert_int_equal(routing_ask(routed->netlink, &routed->question, &routed->answer), -ENODEV);
    routed->question.interface = 0;
    routed->question.peer.address.family = AF_UNSPEC;
    assert_int_equal(routing_ask(routed->netlink, &routed->question, &routed->answer),
                     -EAFNOSUPPORT);
}

/* --- Interfaces and neighbours ---------------------------------------------------------------- */

static void an_interface_has_its_state(void **state)
{
    struct routed *routed = *state;
    struct routing_link link;

    assert_int_equal(routing_link(routed->netlink, V0, &link), 0);
    assert_string_equal(link.name, "v0");
    assert_int_equal(link.flags, IFF_UP | IFF_LOWER_UP);
    assert_int_equal(routing_link(routed->netlink, 77, &link), -ENODEV);
}

static void one_neighbour_is_read(void **state)
{
    struct routed *routed = *state;
    const struct ndmsg header = {
        .ndm_family = AF_INET, .ndm_ifindex = V0, .ndm_state = NUD_INCOMPLETE};
    const struct address address = ip("192.0.2.254");
    struct record record;

    wire_message(&routed->neighbour, RTM_NEWNEIGH, 0, 1);
    wire_put(&routed->neighbour, &header, sizeof header);
    put_address(&routed->neighbour, NDA_DST, "192.0.2.254");
    assert_int_equal(routing_neighbour(routed->netlink, &address, V0, &record), 0);
    assert_int_equal(record.neighbour.state, NUD_INCOMPLETE);
    routed->neighbour_error = ENOENT;
    assert_int_equal(routing_neighbour(routed->netlink, &address, V0, &record), -ENOENT);
}

#define WITH_KERNEL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_KERNEL(a_way_has_its_route_and_its_rule),
        WITH_KERNEL(the_source_that_the_kernel_chooses_is_asked_for),
        WITH_KERNEL(a_mapped_peer_is_one_of_ipv4),
        WITH_KERNEL(a_next_hop_of_ipv6_is_a_gateway_of_ipv4),
        WITH_KERNEL(the_next_hops_of_a_route_are_counted),
        WITH_KERNEL(the_next_hops_of_a_hidden_object_are_unknown),
        WITH_KERNEL(an_mtu_that_a_router_reported_is_learnt),
        WITH_KERNEL(an_mtu_of_the_route_is_not_learnt),
        WITH_KERNEL(local_routes_are_of_the_table_local_without_own_rules),
        WITH_KERNEL(the_unspecified_address_of_ipv6_is_loopback),
        WITH_KERNEL(the_rule_of_vrfs_is_not_applied_to_a_socket_that_is_not_bound),
        WITH_KERNEL(a_socket_in_a_vrf_that_cannot_be_read_has_no_answer),
        WITH_KERNEL(the_rule_of_vrfs_is_applied_to_a_socket_in_a_vrf),
        WITH_KERNEL(a_device_of_another_kind_is_no_vrf),
        WITH_KERNEL(no_route_is_no_rule),
        WITH_KERNEL(a_kernel_without_rules_has_no_route),
        WITH_KERNEL(rules_that_cannot_be_read_leave_the_end_open),
        WITH_KERNEL(a_rule_ends_the_way),
        WITH_KERNEL(a_route_of_a_table_ends_the_way),
        WITH_KERNEL(a_throw_route_sends_the_kernel_to_the_next_rule),
        WITH_KERNEL(two_rules_that_may_end_the_way_leave_the_rule_open),
        WITH_KERNEL(a_rule_about_the_source_port_may_choose_another_way),
        WITH_KERNEL(a_rule_about_the_source_port_does_not_matter_after_the_rule_that_leads),
        WITH_KERNEL(an_address_that_the_kernel_refuses_is_no_blackhole),
        WITH_KERNEL(an_interface_that_is_down_has_no_route),
        WITH_KERNEL(a_route_by_another_interface_is_not_the_way_of_a_bound_socket),
        WITH_KERNEL(a_link_local_peer_needs_an_interface),
        WITH_KERNEL(an_errno_of_another_kind_is_an_error),
        WITH_KERNEL(an_interface_has_its_state),
        WITH_KERNEL(one_neighbour_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
