/* SPDX-License-Identifier: MIT */
/* Ways of packets that rules of nftables do not decide about: from interfaces and families that a
 * peer lists. Programs depend on the kernel that runs the test, so no peer has them. */
#include "backend/firewall/other_ways.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit.h"
#include "peer.h"

enum { FOU = 40 };

/* The answers of a kernel: its interfaces with queueing disciplines, and its families. */
struct ways_world {
    const char *qdisc, *kind;
    uint8_t xdp;
    uint16_t fou; /* family */
    bool has_port;
    int error; /* result of the dump of interfaces */
};

static void add_text(struct wire *wire, uint16_t type, const char *text)
{
    wire_attribute(wire, type, text, strlen(text) + 1);
}

/* Adds an attribute with one attribute in it. */
static void add_nested(struct wire *wire, uint16_t type, uint16_t inner, const void *data,
                       size_t size)
{
    struct wire nested = {.length = 0};
    const uint16_t inner_length = (uint16_t)(sizeof(struct nlattr) + size);
    const struct nlattr header = {inner_length, inner};

    memcpy(nested.data, &header, sizeof header);
    memcpy(nested.data + sizeof header, data, size);
    wire_attribute(wire, type | NLA_F_NESTED, nested.data, NLA_ALIGN(inner_length));
}

static void add_family(struct wire *wire, const char *name, uint16_t id)
{
    wire_message(wire, GENL_ID_CTRL, NLM_F_MULTI, 3);
    wire_put(wire, &(struct genlmsghdr){.cmd = CTRL_CMD_NEWFAMILY}, sizeof(struct genlmsghdr));
    add_text(wire, CTRL_ATTR_FAMILY_NAME, name);
    wire_attribute(wire, CTRL_ATTR_FAMILY_ID, &id, sizeof id);
}

static void peer_answers(struct peer *peer, const struct ways_world *world)
{
    struct wire qdiscs = {.length = 0}, links = qdiscs, families = qdiscs, ports = qdiscs;

    wire_message(&qdiscs, RTM_NEWQDISC, NLM_F_MULTI, 1);
    wire_put(&qdiscs, &(struct tcmsg){.tcm_ifindex = 2}, sizeof(struct tcmsg));
    add_text(&qdiscs, TCA_KIND, world->qdisc ? world->qdisc : "fq_codel");
    wire_done(&qdiscs, NLM_F_MULTI, 1, 0);
    wire_message(&links, RTM_NEWLINK, NLM_F_MULTI, 2);
    wire_put(&links, &(struct ifinfomsg){.ifi_index = 2}, sizeof(struct ifinfomsg));
    if (world->kind)
        add_nested(&links, IFLA_LINKINFO, IFLA_INFO_KIND, world->kind, strlen(world->kind) + 1);
    add_nested(&links, IFLA_XDP, IFLA_XDP_ATTACHED, &world->xdp, sizeof world->xdp);
    wire_done(&links, NLM_F_MULTI, 2, world->error);
    add_family(&families, "nlctrl", GENL_ID_CTRL);
    if (world->fou)
        add_family(&families, "fou", world->fou);
    wire_done(&families, NLM_F_MULTI, 3, 0);
    peer_add_wire(peer, &qdiscs);
    peer_add_wire(peer, &links);
    peer_add_wire(peer, &families);
    if (!world->fou)
        return;
    if (world->has_port) {
        wire_message(&ports, FOU, NLM_F_MULTI, 4);
        wire_put(&ports, &(struct genlmsghdr){.cmd = 3}, sizeof(struct genlmsghdr));
    }
    wire_done(&ports, NLM_F_MULTI, 4, 0);
    peer_add_wire(peer, &ports);
}

/* Returns the way that is found, or "". */
static const char *way_in(const struct ways_world *world, const char *proc_root)
{
    struct peer peer;
    struct netlink *netlink;
    const char *way;

    peer_init(&peer);
    peer_answers(&peer, world);
    netlink = netlink_create(&peer.netlink);
    way = firewall_other_way(netlink, proc_root);
    netlink_destroy(netlink);
    peer_finish(&peer);
    return way ? way : "";
}

static const char *way_of(struct ways_world world)
{
    return way_in(&world, "/nonexistent");
}

/* Without rights, nobody knows whether there are programs of type sk_lookup. */
static void assert_no_way(const char *way)
{
    if (*way)
        assert_non_null(strstr(way, "sk_lookup"));
}

static void an_ordinary_machine_has_no_other_way(void **state)
{
    (void)state;
    assert_no_way(way_of((struct ways_world){.kind = "veth"}));
    assert_no_way(way_of((struct ways_world){.fou = FOU})); /* the module has no port */
}

static void filters_of_tc_are_another_way(void **state)
{
    (void)state;
    assert_non_null(strstr(way_of((struct ways_world){.qdisc = "clsact"}), "filters of tc"));
    assert_non_null(strstr(way_of((struct ways_world){.qdisc = "ingress"}), "filters of tc"));
    assert_non_null(strstr(way_of((struct ways_world){.error = -EPERM}), "does not list"));
}

static void programs_of_an_interface_are_another_way(void **state)
{
    (void)state;
    assert_non_null(strstr(way_of((struct ways_world){.xdp = XDP_ATTACHED_SKB}), "XDP"));
    assert_non_null(strstr(way_of((struct ways_world){.xdp = XDP_ATTACHED_DRV}), "XDP"));
    assert_non_null(strstr(way_of((struct ways_world){.kind = "netkit"}), "netkit"));
}

static void packets_in_udp_packets_are_another_way(void **state)
{
    (void)state;
    assert_non_null(strstr(way_of((struct ways_world){.fou = FOU, .has_port = true}), "fou"));
}

static const char *way_with_sctp_port(const char *port)
{
    const char *const folders[] = {"", "/sys", "/sys/net", "/sys/net/sctp"};
    char directory[] = "/tmp/fastnet-other-ways-XXXXXX", path[64];
    const char *way;
    FILE *file;

    assert_non_null(mkdtemp(directory));
    for (size_t i = 1; i < COUNT(folders); i++) {
        snprintf(path, sizeof path, "%s%s", directory, folders[i]);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    snprintf(path, sizeof path, "%s/sys/net/sctp/udp_port", directory);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(port, file) >= 0);
    assert_int_equal(fclose(file), 0);
    way = way_in(&(struct ways_world){.fou = 0}, directory);
    unlink(path);
    for (size_t i = COUNT(folders); i-- > 0;) {
        snprintf(path, sizeof path, "%s%s", directory, folders[i]);
        rmdir(path);
    }
    return way;
}

static void sctp_in_udp_is_another_way(void **state)
{
    (void)state;
    assert_non_null(strstr(way_with_sctp_port("9899\n"), "SCTP"));
    assert_no_way(way_with_sctp_port("0\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ordinary_machine_has_no_other_way),
        cmocka_unit_test(filters_of_tc_are_another_way),
        cmocka_unit_test(programs_of_an_interface_are_another_way),
        cmocka_unit_test(packets_in_udp_packets_are_another_way),
        cmocka_unit_test(sctp_in_udp_is_another_way),
    };
    return cmocka_run_group_tests_name("other_ways", tests, NULL, NULL);
}
