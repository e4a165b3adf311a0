/* SPDX-License-Identifier: MIT */
/* Interfaces out of rtnetlink messages. */
#include <errno.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "fastnet/hosts.h"
#include "fastnet/interfaces.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "kit.h"

enum { LINKS_MAX = 8 };

struct links {
    struct interface interfaces[LINKS_MAX];
    char names[LINKS_MAX][32];
    size_t count;
    int answer;
};

static int keep(const struct interface *interface, void *arg)
{
    struct links *links = arg;

    assert_in_range(links->count, 0, LINKS_MAX - 1);
    links->interfaces[links->count] = *interface;
    snprintf(links->names[links->count++], sizeof links->names[0], "%s", interface->name);
    return links->answer;
}

static void add_link(struct wire *wire, int index, const char *name, size_t length)
{
    const struct ifinfomsg header = {.ifi_index = index, .ifi_type = ARPHRD_ETHER};

    wire_message(wire, RTM_NEWLINK, NLM_F_MULTI, 1);
    wire_put(wire, &header, sizeof header);
    if (name)
        wire_attribute(wire, IFLA_IFNAME, name, length);
}

static int list(struct wire *wire, struct links *links, struct peer *peer)
{
    struct report report = {.partial = false};
    struct netlink *netlink;
    int result;

    peer_init(peer);
    wire_done(wire, NLM_F_MULTI, 1, 0);
    peer_add_wire(peer, wire);
    netlink = netlink_create(&peer->netlink);
    result = links_dump(netlink, keep, links, &report);
    assert_int_equal(report.count, 0);
    netlink_destroy(netlink);
    peer_finish(peer);
    return result;
}

static void an_interface_has_the_values_of_its_message(void **state)
{
    const uint32_t master = 7;
    const int32_t netns = 0;
    struct links links = {.count = 0};
    struct wire wire = {.length = 0};
    struct peer peer;

    (void)state;
    add_link(&wire, 3, "eth0", 5);
    wire_attribute(&wire, IFLA_MASTER, &master, sizeof master);
    wire_attribute(&wire, IFLA_LINK_NETNSID, &netns, sizeof netns);
    add_link(&wire, 4, "a\x1b\xff", 3);             /* no NUL ends it */
    wire_attribute(&wire, IFLA_MASTER, &master, 3); /* too short */
    assert_int_equal(list(&wire, &links, &peer), 0);
    assert_int_equal(links.count, 2);
    assert_int_equal(links.interfaces[0].index, 3);
    assert_int_equal(links.interfaces[0].hardware, ARPHRD_ETHER);
    assert_int_equal(links.interfaces[0].master, 7);
    assert_int_equal(links.interfaces[0].netns, 0);
    assert_string_equal(links.names[0], "eth0");
    assert_int_equal(links.interfaces[1].master, 0);
    assert_int_equal(links.interfaces[1].netns, -1);
    assert_string_equal(links.names[1], "a\x1b\xff");
}

static void an_interface_without_a_name_is_left_to_be_asked_for(void **state)
{
    struct links links = {.count = 0};
    struct wire wire = {.length = 0};
    struct peer peer;

    (void)state;
    add_link(&wire, 3, NULL, 0);
    add_link(&wire, 4, "0123456789abcdef", 17); /* longer than names are */
    add_link(&wire, 0, "eth1", 5);
    wire_message(&wire, RTM_NEWLINK, NLM_F_MULTI, 1); /* too short */
    wire_put(&wire, "123456789012345", 15);
    wire_message(&wire, RTM_NEWADDR, NLM_F_MULTI, 1);
    assert_int_equal(list(&wire, &links, &peer), 0);
    assert_int_equal(links.count, 0);
}

static void no_statistics_are_asked_for(void **state)
{
    struct links links = {.answer = -ENOMEM};
    struct wire wire = {.length = 0};
    struct peer peer;
    struct nlmsghdr header;

    (void)state;
    add_link(&wire, 3, "eth0", 5);
    assert_int_equal(list(&wire, &links, &peer), -ENOMEM);
    memcpy(&header, peer.requests[0], sizeof header);
    assert_int_equal(header.nlmsg_type, RTM_GETLINK);
    assert_int_equal(header.nlmsg_len, sizeof header + sizeof(struct ifinfomsg) + 8);
    assert_memory_equal(peer.requests[0] + sizeof header + sizeof(struct ifinfomsg) + 4,
                        (&(const uint32_t[]){RTEXT_FILTER_SKIP_STATS}), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interface_has_the_values_of_its_message),
        cmocka_unit_test(an_interface_without_a_name_is_left_to_be_asked_for),
        cmocka_unit_test(no_statistics_are_asked_for),
    };

    return cmocka_run_group_tests_name("links", tests, NULL, NULL);
}
