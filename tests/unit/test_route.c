/* SPDX-License-Identifier: MIT */
/* Routes: from netlink messages and from the kernel's files, and how the two agree. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/route.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/proc/lines.h"
#include "backend/route/decode.h"
#include "fastnet/route.h"
#include "kit.h"

enum { ROWS_MAX = 16, DEVICE_MAX = 16 };

struct scene {
    struct stage stage;
    struct record record; /* of a message or a line decoded by itself */
    struct route_rows decoded;
};

static int set_up(void **state)
{
    stage_make_in(state, sizeof(struct scene));
    return 0;
}

static int list(struct scene *scene, const struct table *table, const struct backend *backend,
                uint64_t needs, bool exclusive)
{
    scene->stage.query.needs = needs;
    scene->stage.query.exclusive = exclusive;
    if (scene->stage.wire.length)
        stage_send(&scene->stage);
    return stage_list(&scene->stage, backend, table, stage_keep);
}

static int list_by_netlink(struct scene *scene, const struct table *table)
{
    return list(scene, table, &backend_route, UINT64_MAX, false);
}

static int list_lines(struct scene *scene, const struct table *table)
{
    return list(scene, table, &backend_route, UINT64_MAX & ~ROUTE_FURTHER_HOPS, false);
}

static int list_file(struct scene *scene, const struct table *table)
{
    return list(scene, table, &backend_proc_route, 0, true);
}

/* --- Messages --------------------------------------------------------------------------------- */

static void begin(struct scene *scene, uint8_t family, uint8_t prefix, uint8_t type)
{
    const struct rtmsg body = {.rtm_family = family,
                               .rtm_dst_len = prefix,
                               .rtm_table = RT_TABLE_MAIN,
                               .rtm_protocol = RTPROT_BOOT,
                               .rtm_scope = RT_SCOPE_UNIVERSE,
                               .rtm_type = type};

    wire_message(&scene->stage.wire, RTM_NEWROUTE, NLM_F_MULTI, 1);
    wire_put(&scene->stage.wire, &body, sizeof body);
}

static void put_address(struct scene *scene, uint16_t type, const char *text)
{
    const struct address address = ip(text);

    wire_attribute(&scene->stage.wire, type, address.bytes, address_size(&address));
}

static void end(struct scene *scene)
{
    wire_done(&scene->stage.wire, NLM_F_MULTI, 1, 0);
}

/* One message, decoded; it is forgotten then. */
static int decode(struct scene *scene)
{
    int result;

    memset(&scene->decoded, 0xa5, sizeof scene->decoded);
    result = route_decode(wire_last(&scene->stage.wire), &scene->decoded);
    scene->record = scene->decoded.record;
    return result;
}

static int decode_nexthop(struct scene *scene)
{
    const int result = route_decode_nexthop(&scene->decoded);

    scene->record = scene->decoded.record;
    return result;
}

static void a_route_has_the_values_of_its_message(void **state)
{
    struct scene *scene = *state;
    const struct route_record *route = &scene->record.route;

    begin(scene, AF_INET, 16, RTN_UNICAST);
    put_address(scene, RTA_DST, "10.5.0.0");
    put_address(scene, RTA_GATEWAY, "192.0.2.3");
    put_address(scene, RTA_PREFSRC, "192.0.2.1");
    wire_u32(&scene->stage.wire, RTA_OIF, 7);
    wire_u32(&scene->stage.wire, RTA_PRIORITY, 20);
    wire_u32(&scene->stage.wire, RTA_TABLE, 1000);
    assert_int_equal(decode(scene), 0);
    assert_int_equal(scene->record.kind, &kind_route);
    assert_int_equal(scene->record.has, ROUTE_FLAGS | ROUTE_GATEWAY | ROUTE_METRIC |
                                            ROUTE_INTERFACE | ROUTE_TABLE | ROUTE_TYPE |
                                            ROUTE_ORIGIN | ROUTE_SOURCE);
    assert_ip(&route->destination, "10.5.0.0");
    assert_ip(&route->gateway, "192.0.2.3");
    assert_ip(&route->source, "192.0.2.1");
    assert_int_equal(route->prefix, 16);
    assert_int_equal(route->interface, 7);
    assert_int_equal(route->metric, 20);
    assert_int_equal(route->table, 1000);
    assert_int_equal(route->type, RTN_UNICAST);
    assert_int_equal(route->protocol, RTPROT_BOOT);
    assert_int_equal(route->flags, RTF_UP | RTF_GATEWAY);
}

static void metrics_are_taken_where_they_are_set(void **state)
{
    struct scene *scene = *state;
    struct {
        struct nlattr header;
        uint32_t value; /* cppcheck-suppress unusedStructMember */
    } metrics[] = {{{8, RTAX_MTU}, 1400},
                   {{8, RTAX_ADVMSS}, 1000},
                   {{8, RTAX_WINDOW}, 0},
                   {{8, RTAX_RTT}, 100}};

    begin(scene, AF_INET, 0, RTN_UNICAST);
    wire_attribute(&scene->stage.wire, RTA_METRICS, metrics, sizeof metrics);
    assert_int_equal(decode(scene), 0);
    assert_true(scene->record.has & ROUTE_MTU && scene->record.has & ROUTE_MSS);
    assert_false(scene->record.has & ROUTE_WINDOW);
    assert_int_equal(scene->record.route.mtu, 1400);
    assert_int_equal(scene->record.route.mss, 1000);
    assert_int_equal(scene->record.route.irtt, 12);
}

/* fib_flag_trans(), net/ipv4/fib_trie.c */
static void flags_of_ipv4_are_those_of_the_file(void **state)
{
    static const struct {
        uint8_t type, prefix;
        uint32_t flags;
    } cases[] = {
        {RTN_UNICAST, 24, RTF_UP},
        {RTN_UNICAST, 32, RTF_UP | RTF_HOST},
        {RTN_LOCAL, 8, RTF_UP},
        {RTN_BLACKHOLE, 16, RTF_UP},
        {RTN_THROW, 16, RTF_UP},
        {RTN_UNREACHABLE, 16, RTF_UP | RTF_REJECT},
        {RTN_PROHIBIT, 32, RTF_UP | RTF_REJECT | RTF_HOST},
    };
    struct scene *scene = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(scene, AF_INET, cases[i].prefix, cases[i].type);
        assert_int_equal(decode(scene), 0);
        assert_int_equal(scene->record.route.flags, cases[i].flags);
    }
}

static void flags_of_ipv6_are_those_of_the_file(void **state)
{
    static const struct {
        uint8_t type, prefix, protocol;
        uint32_t flags;
    } cases[] = {
        {RTN_UNICAST, 64, RTPROT_BOOT, RTF_UP},
        {RTN_BLACKHOLE, 48, RTPROT_BOOT, 0x00200200},
        {RTN_UNREACHABLE, 48, RTPROT_BOOT, 0x00200200},
        {RTN_PROHIBIT, 48, RTPROT_BOOT, 0x00200200},
        {RTN_THROW, 48, RTPROT_BOOT, 0x00200200},
        {RTN_LOCAL, 128, RTPROT_KERNEL, 0x80200001},
        {RTN_LOCAL, 48, RTPROT_BOOT, 0x80000001},
        {RTN_ANYCAST, 128, RTPROT_KERNEL, 0x00300001},
        {RTN_ANYCAST, 128, RTPROT_BOOT, RTF_UP},
        {RTN_UNICAST, 0, RTPROT_RA, RTF_UP}, /* as programs make it */
        {RTN_UNICAST, 64, RTPROT_RA, RTF_UP},
    };
    struct scene *scene = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(scene, AF_INET6, cases[i].prefix, cases[i].type);
        ((struct rtmsg *)NLMSG_DATA(wire_last(&scene->stage.wire)))->rtm_protocol =
            cases[i].protocol;
        assert_int_equal(decode(scene), 0);
        assert_int_equal(scene->record.route.flags, cases[i].flags);
    }
}

static void a_route_that_expires_says_when(void **state)
{
    const struct rta_cacheinfo never = {.rta_clntref = 1}, soon = {.rta_expires = 59800};
    struct scene *scene = *state;

    begin(scene, AF_INET6, 64, RTN_UNICAST);
    wire_attribute(&scene->stage.wire, RTA_CACHEINFO, &never, sizeof never);
    assert_int_equal(decode(scene), 0);
    assert_false(scene->record.has & ROUTE_EXPIRES);
    begin(scene, AF_INET6, 64, RTN_UNICAST);
    wire_attribute(&scene->stage.wire, RTA_CACHEINFO, &soon, sizeof soon);
    assert_int_equal(decode(scene), 0);
    assert_int_equal(scene->record.route.expires, 598);
    assert_true(scene->record.route.flags & 0x00400000); /* RTF_EXPIRES */
}

static void an_ipv4_route_can_have_an_ipv6_gateway(void **state)
{
    const struct address address = ip("2001:db8::2");
    uint8_t via[2 + 16]; /* struct rtvia */
    struct scene *scene = *state;

    memcpy(via, &(uint16_t){AF_INET6}, 2);
    memcpy(via + 2, address.bytes, 16);
    begin(scene, AF_INET, 16, RTN_UNICAST);
    wire_attribute(&scene->stage.wire, RTA_VIA, via, sizeof via);
    assert_int_equal(decode(scene), 0);
    assert_ip(&scene->record.route.gateway, "2001:db8::2");
    assert_int_equal(scene->record.route.flags, RTF_UP | RTF_GATEWAY);
    /* cut short it is none */
    begin(scene, AF_INET, 16, RTN_UNICAST);
    wire_attribute(&scene->stage.wire, RTA_VIA, via, 17);
    assert_int_equal(decode(scene), 0);
    assert_false(scene->record.has & ROUTE_GATEWAY);
}

/* Two nexthops, the second of which has no gateway. */
static void put_nexthops(struct scene *scene)
{
    struct {
        struct rtnexthop first;
        struct nlattr header;
        uint8_t gateway[4]; /* cppcheck-suppress unusedStructMember */
        struct rtnexthop second;
    } hops = {
        .first = {.rtnh_len = 16, .rtnh_hops = 0, .rtnh_ifindex = 4},
        .header = {8, RTA_GATEWAY},
        .gateway = {192, 0, 2, 3},
        .second = {.rtnh_len = 8, .rtnh_hops = 2, .rtnh_ifindex = 5},
    };

    wire_attribute(&scene->stage.wire, RTA_MULTIPATH, &hops, sizeof hops);
}

static void each_nexthop_is_a_row_and_the_file_has_the_first(void **state)
{
    struct scene *scene = *state;
    const struct route_record *route = &scene->record.route;

    begin(scene, AF_INET, 16, RTN_UNICAST);
    put_nexthops(scene);
    assert_int_equal(decode(scene), 0);
    assert_int_equal(route->interface, 4);
    assert_int_equal(route->nexthop, 1);
    assert_int_equal(route->weight, 1);
    assert_int_equal(route->part, ROUTE_WHOLE);
    assert_int_equal(route->flags, RTF_UP | RTF_GATEWAY);
    assert_int_equal(decode_nexthop(scene), 1);
    assert_int_equal(route->interface, 5);
    assert_int_equal(route->nexthop, 2);
    assert_int_equal(route->weight, 3);
    assert_int_equal(route->part, ROUTE_FURTHER);
    assert_int_equal(route->flags, RTF_UP);
    assert_false(scene->record.has & ROUTE_GATEWAY);
    assert_int_equal(decode_nexthop(scene), 0);
}

static void attributes_are_held_to_their_ends(void **state)
{
    struct scene *scene = *state;
    struct nlmsghdr *message;

    begin(scene, AF_INET, 16, RTN_UNICAST);
    put_nexthops(scene);
    message = wire_last(&scene->stage.wire);
    for (uint32_t length = message->nlmsg_len; length-- > sizeof *message;) {
        message->nlmsg_len = length;
        int result = decode(scene);
        if (length == NLMSG_LENGTH(sizeof(struct rtmsg)))
            assert_int_equal(result, 0);
        else
            assert_int_equal(result, -EBADMSG);
    }
}

static void a_nexthop_that_goes_on_after_the_others_is_malformed(void **state)
{
    const struct rtnexthop hop = {.rtnh_len = 16, .rtnh_ifindex = 4};
    struct scene *scene = *state;

    begin(scene, AF_INET, 16, RTN_UNICAST);
    wire_attribute(&scene->stage.wire, RTA_MULTIPATH, &hop, sizeof hop);
    wire_u32(&scene->stage.wire, RTA_PRIORITY, 1); /* which would be its attribute */
    assert_int_equal(decode(scene), -EBADMSG);
}

static void a_prefix_longer_than_the_address_is_none(void **state)
{
    struct scene *scene = *state;

    begin(scene, AF_INET, 33, RTN_UNICAST);
    assert_int_equal(decode(scene), -EBADMSG);
    assert_int_equal(scene->record.has, 0);
    begin(scene, AF_INET6, 128, RTN_UNICAST);
    assert_int_equal(decode(scene), 0);
    begin(scene, 129, 8, RTN_UNICAST);
    assert_int_equal(decode(scene), -EBADMSG);
}

/* --- The dump --------------------------------------------------------------------------------- */

static void the_main_table_is_asked_for_strictly(void **state)
{
    struct scene *scene = *state;
    const struct nlmsghdr *request = (const void *)scene->stage.peer.requests[0];
    const struct rtmsg *body = (const void *)(request + 1);

    end(scene);
    assert_int_equal(list_by_netlink(scene, &table_route), 0);
    assert_int_equal(request->nlmsg_type, RTM_GETROUTE);
    assert_int_equal(request->nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
    assert_int_equal(request->nlmsg_len, NLMSG_LENGTH(sizeof *body) + 8);
    assert_int_equal(body->rtm_family, AF_INET);
    assert_int_equal(body->rtm_flags, 0);
    assert_int_equal(*(const uint32_t *)(const void *)((const char *)(body + 1) + 4),
                     RT_TABLE_MAIN);
}

static void routes_that_netstat_does_not_show_are_left_out(void **state)
{
    struct scene *scene = *state;

    begin(scene, AF_INET, 16, RTN_BROADCAST);
    begin(scene, AF_INET, 16, RTN_MULTICAST);
    begin(scene, AF_INET, 16, RTN_UNICAST);
    wire_u32(&scene->stage.wire, RTA_TABLE, RT_TABLE_LOCAL);
    begin(scene, AF_INET, 17, RTN_UNICAST);
    begin(scene, AF_INET, 18, RTN_UNICAST);
    ((struct rtmsg *)NLMSG_DATA(wire_last(&scene->stage.wire)))->rtm_flags = RTM_F_CLONED;
    end(scene);
    assert_int_equal(list_by_netlink(scene, &table_route), 0);
    assert_int_equal(scene->stage.kept.count, 1);
    assert_int_equal(scene->stage.kept.records[0].route.prefix, 17);
}

static void a_route_of_two_next_hops_is_one_line_of_the_file(void **state)
{
    struct scene *scene = *state;

    begin(scene, AF_INET, 16, RTN_UNICAST);
    put_nexthops(scene);
    end(scene);
    assert_int_equal(list_lines(scene, &table_route), 0);
    assert_int_equal(scene->stage.kept.count, 1);
    assert_int_equal(scene->stage.kept.records[0].route.nexthop, 1);
}

static void further_next_hops_are_listed_when_they_are_asked_for(void **state)
{
    struct scene *scene = *state;

    begin(scene, AF_INET, 16, RTN_UNICAST);
    put_nexthops(scene);
    end(scene);
    assert_int_equal(list_by_netlink(scene, &table_route), 0);
    assert_int_equal(scene->stage.kept.count, 2);
    assert_int_equal(scene->stage.kept.records[1].route.nexthop, 2);
}

static void the_cache_has_cloned_routes(void **state)
{
    struct scene *scene = *state;
    const struct rtmsg *body = (const void *)(scene->stage.peer.requests[0] + NLMSG_HDRLEN);

    begin(scene, AF_INET, 32, RTN_UNICAST);
    begin(scene, AF_INET, 32, RTN_UNICAST);
    put_address(scene, RTA_DST, "192.0.2.99");
    ((struct rtmsg *)NLMSG_DATA(wire_last(&scene->stage.wire)))->rtm_flags = RTM_F_CLONED;
    end(scene);
    assert_int_equal(list_by_netlink(scene, &table_route_cache), 0);
    assert_int_equal(body->rtm_flags, RTM_F_CLONED);
    assert_int_equal(scene->stage.kept.count, 1);
    assert_ip(&scene->stage.kept.records[0].route.destination, "192.0.2.99");
}

static void a_table_that_was_never_made_is_empty(void **state)
{
    static const char words[] = "ipv4: FIB table does not exist";
    struct scene *scene = *state;

    wire_done(&scene->stage.wire, NLM_F_MULTI | NLM_F_ACK_TLVS, 1, -ENOENT);
    wire_attribute(&scene->stage.wire, NLMSGERR_ATTR_MSG, words, sizeof words);
    assert_int_equal(list_by_netlink(scene, &table_route), 0);
    assert_int_equal(scene->stage.kept.count, 0);
    assert_int_equal(scene->stage.report.count, 0);
}

static void a_malformed_message_is_reported_and_the_others_come(void **state)
{
    struct scene *scene = *state;

    begin(scene, AF_INET, 44, RTN_UNICAST);
    begin(scene, AF_INET, 16, RTN_UNICAST);
    end(scene);
    assert_int_equal(list_by_netlink(scene, &table_route), 0);
    assert_int_equal(scene->stage.kept.count, 1);
    assert_true(report_says(&scene->stage.report, "route: a netlink message is malformed"));
    assert_true(scene->stage.report.partial);
}

static void routes_by_a_nexthop_object_that_is_not_told_are_left_to_the_file(void **state)
{
    struct scene *scene = *state;

    begin(scene, AF_INET, 16, RTN_UNICAST);
    wire_u32(&scene->stage.wire, RTA_NH_ID, 8);
    end(scene);
    assert_int_equal(list_by_netlink(scene, &table_route), -EOPNOTSUPP);
    assert_int_equal(scene->stage.kept.count, 0);
}

/* --- The files -------------------------------------------------------------------------------- */

static const char heading[] =
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT   \n";

static void rows_of_ipv4_come_from_their_file(void **state)
{
    struct scene *scene = *state;
    const struct route_record *route;
    char text[1024];

    snprintf(text, sizeof text, "%s%s%s%s", heading,
             "*\t0000020A\t00000000\t0201\t0\t0\t0\t0000FFFF\t0\t0\t0          \n",
             "eth0\t0000050A\t030200C0\t0003\t0\t0\t7\t0000FFFF\t1040\t3000\t12   \n",
             "lo\t0100070A\t00000000\t0005\t0\t0\t-1\tFFFFFFFF\t0\t0\t0   \n");
    tree_puts(&scene->stage.tree, "route", text);
    assert_int_equal(list_file(scene, &table_route), 0);
    route = &scene->stage.kept.records[1].route;
    assert_int_equal(scene->stage.report.count, 0);
    assert_int_equal(scene->stage.kept.count, 3);
    assert_int_equal(scene->stage.kept.records[0].route.flags, RTF_UP | RTF_REJECT);
    assert_false(scene->stage.kept.records[0].has & (ROUTE_DEVICE | ROUTE_GATEWAY | ROUTE_MSS));
    assert_text(&scene->stage.kept.records[1].route.device, "eth0", 4);
    assert_ip(&route->destination, "10.5.0.0");
    assert_ip(&route->gateway, "192.0.2.3");
    assert_int_equal(route->prefix, 16);
    assert_int_equal(route->mss, 1000);
    assert_int_equal(route->window, 3000);
    assert_int_equal(route->irtt, 12);
    assert_int_equal(route->metric, 7);
    assert_int_equal(scene->stage.kept.records[2].route.metric, UINT32_MAX);
    assert_int_equal(scene->stage.kept.records[2].route.prefix, 32);
}

#define NO_ADDRESS "00000000000000000000000000000000"

static void rows_of_ipv6_come_from_their_file(void **state)
{
    struct scene *scene = *state;
    const struct route_record *route;
    char text[1024];

    snprintf(text, sizeof text, "%s%s",
             "20010db8000900000000000000000000 30 20010db8009900000000000000000000 2f "
             "20010db8000000000000000000000003 0000004d 00000004 00000002 00400003     eth0\n",
             NO_ADDRESS " 00 " NO_ADDRESS " 00 " NO_ADDRESS
                        " ffffffff 00000002 00000000 00200200       lo\n");
    tree_puts(&scene->stage.tree, "ipv6_route", text);
    assert_int_equal(list_file(scene, &table_route6), 0);
    route = &scene->stage.kept.records[0].route;
    assert_int_equal(scene->stage.report.count, 0);
    assert_int_equal(scene->stage.kept.count, 2);
    assert_ip(&route->destination, "2001:db8:9::");
    assert_ip(&route->from, "2001:db8:99::");
    assert_ip(&route->gateway, "2001:db8::3");
    assert_int_equal(route->prefix, 48);
    assert_int_equal(route->from_prefix, 47);
    assert_int_equal(route->metric, 77);
    assert_int_equal(route->references, 4);
    assert_int_equal(route->use, 2);
    assert_int_equal(route->flags, 0x00400003);
    assert_int_equal(route->part, ROUTE_WHOLE);
    assert_text(&scene->stage.kept.records[0].route.device, "eth0", 4);
    assert_int_equal(scene->stage.kept.records[1].route.part, ROUTE_NULL);
}

/* Linux before 4.15 lists cached entries (RTF_CACHE) with the routes, and netstat only with -C. */
static void cached_rows_of_the_file_are_of_the_cache(void **state)
{
    struct scene *scene = *state;
    const uint64_t ipv6 = 0;

    tree_puts(&scene->stage.tree, "ipv6_route",
              "fe800000000000000000000000000000 40 " NO_ADDRESS " 00 " NO_ADDRESS
              " 00000100 00000000 00000000 00000001     eth0\n"
              "ff0200000000000000000000000000fb 80 " NO_ADDRESS
              " 00 ff0200000000000000000000000000fb 00000000 00000000 0000000d 01000001     "
              "eth0\n");
    assert_int_equal(list_file(scene, &table_route6), 0);
    assert_int_equal(scene->stage.kept.count, 1);
    assert_ip(&scene->stage.kept.records[0].route.destination, "fe80::");
    assert_int_equal(list(scene, &table_route6_cache, &backend_proc_route, ipv6, false), 0);
    assert_int_equal(scene->stage.kept.count, 1);
    assert_ip(&scene->stage.kept.records[0].route.destination, "ff02::fb");
    assert_non_null(backend_proc_route.remedy(&table_route6_cache, -EOPNOTSUPP));
}

/* kubernetes/apimachinery has such a line among its tests. */
static void an_address_of_33_digits_is_malformed(void **state)
{
    static const char *const parts[] = {NO_ADDRESS, " 40 ", NO_ADDRESS, " 00 ", NO_ADDRESS};
    struct scene *scene = *state;

    for (size_t longer = 0; longer <= 6; longer += 2) { /* 6: none */
        char text[256] = "";
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            strcat(text, parts[i]);
            strcat(text, i == longer ? "1" : "");
        }
        strcat(text, " 00000100 00000000 00000000 00000001     eth0");
        const struct line line = {.data = text, .length = strlen(text)};
        assert_int_equal(proc_route_decode_ipv6(&line, &scene->record), longer == 6 ? 0 : -EBADMSG);
    }
}

static void malformed_lines_are_skipped_counted_and_reported(void **state)
{
    struct scene *scene = *state;
    char text[1024];

    snprintf(text, sizeof text, "%s\neth0 zz\n%s", heading,
             "lo\t0100070A\t00000000\t0005\t0\t0\t0\tFFFFFFFF\t0\t0\t0");
    tree_puts(&scene->stage.tree, "route", text);
    assert_int_equal(list_file(scene, &table_route), 0);
    assert_int_equal(scene->stage.kept.count, 1);
    assert_true(
        report_says(&scene->stage.report, "/net/route is truncated: its last line has no newline"));
    assert_true(report_says(&scene->stage.report,
                            "/net/route: skipped 1 malformed line, the first is "
                            "line 3"));
    assert_int_equal(list_file(scene, &table_route6), -ENOENT);
}

static void a_file_without_its_heading_is_a_loss(void **state)
{
    struct scene *scene = *state;

    tree_puts(&scene->stage.tree, "route", "");
    tree_puts(&scene->stage.tree, "ipv6_route", "");
    assert_int_equal(list_file(scene, &table_route6), 0);
    assert_int_equal(scene->stage.report.count, 0);
    assert_int_equal(list_file(scene, &table_route), 0);
    assert_true(
        report_says(&scene->stage.report, "/net/route is empty: it lacks even the heading line"));
    assert_true(scene->stage.report.partial);
}

static void each_cut_of_a_line_is_malformed_or_whole(void **state)
{
    static const char line4[] = "lo\t0100070A\t00000000\t0005\t0\t0\t0\tFFFFFFFF\t0\t0\t0";
    static const char line6[] =
        NO_ADDRESS " 00 " NO_ADDRESS " 00 " NO_ADDRESS " ffffffff 00000002 00000000 00200200";
    struct scene *scene = *state;

    for (size_t length = 0; length < sizeof line4 - 1; length++) {
        const struct line line = {.data = (char *)(uintptr_t)line4, .length = length};
        assert_int_equal(proc_route_decode_ipv4(&line, &scene->record), -EBADMSG);
    }
    for (size_t length = 0; length < sizeof line6 - 8; length++) {
        const struct line line = {.data = (char *)(uintptr_t)line6, .length = length};
        assert_int_equal(proc_route_decode_ipv6(&line, &scene->record), -EBADMSG);
    }
}

/* A longer one would not fit into the row that is written of it. */
static void a_name_longer_than_that_of_any_interface_is_malformed(void **state)
{
    char name[INTERFACE_TEXT_MAX + 2] = "", line4[256], line6[256];
    struct scene *scene = *state;

    for (size_t length = INTERFACE_TEXT_MAX; length <= INTERFACE_TEXT_MAX + 1; length++) {
        const int expected = length > INTERFACE_TEXT_MAX ? -EBADMSG : 0;
        memset(name, 'x', length);
        struct line line = {.data = line4};
        line.length = (size_t)snprintf(
            line4, sizeof line4, "%s\t0100070A\t00000000\t0005\t0\t0\t0\tFFFFFFFF\t0\t0\t0", name);
        assert_int_equal(proc_route_decode_ipv4(&line, &scene->record), expected);
        line = (struct line){.data = line6};
        line.length = (size_t)snprintf(line6, sizeof line6,
                                       NO_ADDRESS " 00 " NO_ADDRESS " 00 " NO_ADDRESS
                                                  " ffffffff 00000002 00000000 00200200 %s",
                                       name);
        assert_int_equal(proc_route_decode_ipv6(&line, &scene->record), expected);
    }
}

/* 03e8 is 1000 in hexadecimal. */
static void a_large_table_of_ipv6_is_left_to_netlink(void **state)
{
    struct scene *scene = *state;

    tree_puts(&scene->stage.tree, "ipv6_route", "");
    tree_puts(&scene->stage.tree, "rt6_stats", "0004 000d 0010 03e8 0000 0000 0000\n");
    assert_int_equal(list(scene, &table_route6, &backend_proc_route, ROUTE_REFERENCES, false), 0);
    tree_puts(&scene->stage.tree, "rt6_stats", "0004 000d 0010 03e9 0000 0000 0000\n");
    assert_int_equal(list(scene, &table_route6, &backend_proc_route, ROUTE_REFERENCES, false),
                     -EOPNOTSUPP);
    /* unless it is all that may be asked */
    assert_int_equal(list(scene, &table_route6, &backend_proc_route, ROUTE_REFERENCES, true), 0);
    assert_int_equal(list(scene, &table_route6, &backend_proc_route, 0, false), 0);
}

/* --- Hosts ------------------------------------------------------------------------------------ */

static void a_destination_with_bits_after_its_prefix_is_a_host(void **state)
{
    struct record record = {.route = {.prefix = 20, .destination = IPV4(10, 1, 0x10)}};

    (void)state;
    assert_false(route_is_to_host(&record));
    record.route.destination.bytes[2] = 0x11;
    assert_true(route_is_to_host(&record));
    record.route = (struct route_record){.prefix = 32, .destination = IPV4(10)};
    assert_true(route_is_to_host(&record));
    record.route = (struct route_record){.prefix = 0, .destination = IPV4(0)};
    assert_false(route_is_to_host(&record));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, stage_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_route_has_the_values_of_its_message),
        TEST(metrics_are_taken_where_they_are_set),
        TEST(flags_of_ipv4_are_those_of_the_file),
        TEST(flags_of_ipv6_are_those_of_the_file),
        TEST(a_route_that_expires_says_when),
        TEST(an_ipv4_route_can_have_an_ipv6_gateway),
        TEST(each_nexthop_is_a_row_and_the_file_has_the_first),
        TEST(attributes_are_held_to_their_ends),
        TEST(a_nexthop_that_goes_on_after_the_others_is_malformed),
        TEST(a_prefix_longer_than_the_address_is_none),
        TEST(the_main_table_is_asked_for_strictly),
        TEST(routes_that_netstat_does_not_show_are_left_out),
        TEST(a_route_of_two_next_hops_is_one_line_of_the_file),
        TEST(further_next_hops_are_listed_when_they_are_asked_for),
        TEST(the_cache_has_cloned_routes),
        TEST(a_table_that_was_never_made_is_empty),
        TEST(a_malformed_message_is_reported_and_the_others_come),
        TEST(routes_by_a_nexthop_object_that_is_not_told_are_left_to_the_file),
        TEST(rows_of_ipv4_come_from_their_file),
        TEST(rows_of_ipv6_come_from_their_file),
        TEST(cached_rows_of_the_file_are_of_the_cache),
        TEST(an_address_of_33_digits_is_malformed),
        TEST(malformed_lines_are_skipped_counted_and_reported),
        TEST(a_file_without_its_heading_is_a_loss),
        TEST(each_cut_of_a_line_is_malformed_or_whole),
        TEST(a_name_longer_than_that_of_any_interface_is_malformed),
        TEST(a_large_table_of_ipv6_is_left_to_netlink),
        TEST(a_destination_with_bits_after_its_prefix_is_a_host),
    };

    return cmocka_run_group_tests_name("route", tests, NULL, NULL);
}
