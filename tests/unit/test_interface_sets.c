/* SPDX-License-Identifier: MIT */
/* Which interfaces have an address: added one by one, and from the files of a tree that is made. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/interface_sets.h"
#include "kit.h"

static struct address ipv4(uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
    return (struct address){AF_INET, {a, b, c, d}};
}

/* The names of the set, joined by spaces. */
static const char *joined(struct interface_set set, char text[256])
{
    *text = '\0';
    for (size_t i = 0; i < set.count; i++)
        text_list(text, 256, " ", as_text(set.names[i]));
    return text;
}

static void assert_address(const struct interface_sets *sets, struct address address,
                           const char *names)
{
    char text[256];

    assert_string_equal(joined(interface_sets_of_address(sets, &address), text), names);
}

static struct interface_sets *machine(void)
{
    static const struct address link_local = {AF_INET6, {0xfe, 0x80, [15] = 1}};
    const struct address first = ipv4(192, 0, 2, 1), loopback = ipv4(127, 0, 0, 1);
    struct interface_sets *sets = interface_sets_create();

    assert_int_equal(interface_sets_add_address(sets, as_text("lo"), &loopback, 32), 0);
    assert_int_equal(interface_sets_add(sets, as_text("wg0")), 0);
    assert_int_equal(interface_sets_add_address(sets, as_text("eth1"), &link_local, 128), 0);
    assert_int_equal(interface_sets_add_address(sets, as_text("eth0"), &first, 32), 0);
    assert_int_equal(interface_sets_add_address(sets, as_text("eth0"), &link_local, 128), 0);
    assert_int_equal(interface_sets_finish(sets), 0);
    return sets;
}

static void an_address_belongs_to_its_interface(void **state)
{
    struct interface_sets *sets = machine();

    (void)state;
    assert_address(sets, ipv4(192, 0, 2, 1), "eth0");
    assert_address(sets, ipv4(192, 0, 2, 2), "");
    assert_address(sets, (struct address){AF_INET6, {0xfe, 0x80, [15] = 1}}, "eth1 eth0");
    interface_sets_destroy(sets);
}

static void a_wildcard_belongs_to_all_interfaces_by_name(void **state)
{
    struct interface_sets *sets = machine();

    (void)state;
    assert_address(sets, ipv4(0, 0, 0, 0), "eth0 eth1 lo wg0");
    assert_address(sets, (struct address){AF_INET6, {0}}, "eth0 eth1 lo wg0");
    interface_sets_destroy(sets);
}

static void each_loopback_address_belongs_to_lo(void **state)
{
    struct interface_sets *sets = machine();

    (void)state;
    assert_address(sets, ipv4(127, 0, 0, 53), "lo");
    interface_sets_destroy(sets);
}

static void an_interface_is_found_by_its_name(void **state)
{
    struct interface_sets *sets = machine();
    char text[256];

    (void)state;
    assert_string_equal(joined(interface_sets_of_name(sets, "wg0"), text), "wg0");
    assert_string_equal(joined(interface_sets_of_name(sets, "wg1"), text), "");
    interface_sets_destroy(sets);
}

static void without_interfaces_every_set_is_empty(void **state)
{
    struct interface_sets *sets = interface_sets_create();

    (void)state;
    assert_int_equal(interface_sets_finish(sets), 0);
    assert_address(sets, ipv4(0, 0, 0, 0), "");
    assert_address(sets, ipv4(192, 0, 2, 1), "");
    assert_address(sets, ipv4(127, 0, 0, 1), "");
    interface_sets_destroy(sets);
    interface_sets_destroy(NULL);
}

static void names_that_no_interface_can_have_are_left_out(void **state)
{
    struct interface_sets *sets = interface_sets_create();

    (void)state;
    assert_int_equal(interface_sets_add(sets, as_text("")), 0);
    assert_int_equal(interface_sets_add(sets, as_text("sixteen-letters!")), 0);
    assert_int_equal(interface_sets_add(sets, as_text("fifteen-letters")), 0);
    assert_int_equal(interface_sets_add(sets, as_text("fifteen-letters")), 0);
    assert_int_equal(interface_sets_finish(sets), 0);
    assert_address(sets, ipv4(0, 0, 0, 0), "fifteen-letters");
    interface_sets_destroy(sets);
}

static void a_tree_has_the_networks_of_ipv4_and_the_addresses_of_ipv6(void **state)
{
    const struct tree *tree = *state;
    struct interface_sets *sets = interface_sets_create();

    tree_puts(tree, "dev",
              "Inter-|   Receive   |  Transmit\n face |bytes    packets\n"
              "    lo: 1 2 3\n  eth0: 1 2 3\n  tun0:0 0\n");
    tree_puts(tree, "if_inet6",
              "00000000000000000000000000000001 01 80 10 80       lo\n"
              "fd000000000000000000000000000002 02 40 00 80     eth0\n"
              "fd0000000000000000000000000000 02 40 00 80     eth0\n");
    /* numbers are in network byte order: the same text on each machine that wrote them */
    char routes[512];
    const uint8_t network[] = {192, 0, 2, 0}, mask[] = {255, 255, 255, 0};
    uint32_t numbers[2];
    memcpy(&numbers[0], network, sizeof network);
    memcpy(&numbers[1], mask, sizeof mask);
    snprintf(routes, sizeof routes,
             "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n"
             "eth0 00000000 010200C0 0003 0 0 0 00000000 0 0 0\n"
             "eth0 %08X 00000000 0001 0 0 0 %08X 0 0 0\neth0 broken\n",
             numbers[0], numbers[1]);
    tree_puts(tree, "route", routes);
    assert_int_equal(interface_sets_of_tree(sets, tree->root), 0);
    assert_int_equal(interface_sets_finish(sets), 0);
    assert_address(sets, ipv4(0, 0, 0, 0), "eth0 lo tun0");
    assert_address(sets, ipv4(192, 0, 2, 77), "eth0");
    assert_address(sets, ipv4(192, 0, 3, 77), "");
    assert_address(sets, ipv4(127, 1, 2, 3), "lo");
    assert_address(sets, (struct address){AF_INET6, {0xfd, [15] = 2}}, "eth0");
    assert_address(sets, (struct address){AF_INET6, {[15] = 1}}, "lo");
    interface_sets_destroy(sets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_belongs_to_its_interface),
        cmocka_unit_test(a_wildcard_belongs_to_all_interfaces_by_name),
        cmocka_unit_test(each_loopback_address_belongs_to_lo),
        cmocka_unit_test(an_interface_is_found_by_its_name),
        cmocka_unit_test(without_interfaces_every_set_is_empty),
        cmocka_unit_test(names_that_no_interface_can_have_are_left_out),
        IN_TREE(a_tree_has_the_networks_of_ipv4_and_the_addresses_of_ipv6),
    };
    return cmocka_run_group_tests_name("interface_sets", tests, NULL, NULL);
}
