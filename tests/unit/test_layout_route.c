/* SPDX-License-Identifier: MIT */
/* The lines of netstat -r, byte for byte, trailing blanks aside. */
#include <linux/route.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/hosts.h"
#include "fastnet/interfaces.h"
#include "fastnet/namespace.h"
#include "fastnet/networks.h"
#include "kit.h"

static const char *written(const struct route_layout *layout, const struct context *context,
                           int section, const struct record *record)
{
    return output_of(&sink_route, layout, context, section, record, record != NULL);
}

/* A row by the numbers -e was given, numeric. */
static const char *row(unsigned extended, const struct record *record)
{
    const struct route_layout layout = {.extended = extended, .numeric = true};

    return written(&layout, &no_names, -1, record);
}

static struct record route_record(const char *destination, uint8_t prefix, uint32_t flags,
                                  const char *gateway)
{
    struct record record = {.kind = &kind_route, .has = ROUTE_FLAGS | ROUTE_METRIC | ROUTE_DEVICE};
    struct route_record *route = &record.route;

    route->prefix = prefix;
    route->flags = flags;
    route->device = (struct text){"eth0", 4};
    route->destination = ip(destination);
    if (gateway) {
        route->gateway = ip(gateway);
        record.has |= ROUTE_GATEWAY;
    }
    return record;
}

static struct record with_metrics(void)
{
    struct record record = route_record("10.5.0.0", 16, RTF_UP | RTF_GATEWAY, "192.0.2.3");

    record.has |= ROUTE_MSS | ROUTE_WINDOW | ROUTE_IRTT;
    record.route.metric = 7;
    record.route.mss = 1000;
    record.route.window = 3000;
    record.route.irtt = 12;
    return record;
}

static void a_route_has_mss_window_and_irtt(void **state)
{
    struct record record = with_metrics();

    (void)state;
    assert_string_equal(
        row(0, &record),
        "10.5.0.0        192.0.2.3       255.255.0.0     UG     1040 3000      12 eth0\n");
}

static void extended_it_has_metric_references_and_use(void **state)
{
    struct record record = with_metrics();

    (void)state;
    assert_string_equal(
        row(1, &record),
        "10.5.0.0        192.0.2.3       255.255.0.0     UG    7      0        0 eth0\n");
    record.route.metric = UINT32_MAX;
    assert_string_equal(
        row(1, &record),
        "10.5.0.0        192.0.2.3       255.255.0.0     UG    -1     0        0 eth0\n");
}

static void twice_extended_it_has_all_and_the_interface_uncut(void **state)
{
    struct record record = with_metrics();

    (void)state;
    assert_string_equal(row(2, &record),
                        "10.5.0.0        192.0.2.3       255.255.0.0     UG    7      0        0 "
                        "eth0     1040  3000   12\n");
    record.route.device = (struct text){"a-long-name-has", 15};
    assert_string_equal(row(2, &record),
                        "10.5.0.0        192.0.2.3       255.255.0.0     UG    7      0        0 "
                        "a-long-name-has   1040  3000   12\n");
}

static void a_route_that_is_rejected_leads_nowhere(void **state)
{
    struct record record = route_record("10.2.0.1", 32, RTF_UP | RTF_HOST | RTF_REJECT, NULL);

    (void)state;
    assert_string_equal(
        row(0, &record),
        "10.2.0.1        -               255.255.255.255 !H        - -          - -\n");
    assert_string_equal(
        row(1, &record),
        "10.2.0.1        -               255.255.255.255 !H    0      -        0 -\n");
    assert_string_equal(row(2, &record),
                        "10.2.0.1        -               255.255.255.255 !H    0      -        0 "
                        "-        -     -      -\n");
}

static void without_an_interface_there_is_a_star(void **state)
{
    struct record record = route_record("10.1.0.0", 16, RTF_UP, NULL);

    (void)state;
    record.has &= ~ROUTE_DEVICE;
    assert_string_equal(
        row(0, &record),
        "10.1.0.0        0.0.0.0         255.255.0.0     U         0 0          0 *\n");
}

static void an_interface_without_a_name_has_its_number(void **state)
{
    struct record record = route_record("10.1.0.0", 1, RTF_UP, NULL);

    (void)state;
    record.has = ROUTE_FLAGS | ROUTE_METRIC | ROUTE_INTERFACE;
    record.route.interface = 4711;
    assert_string_equal(
        row(0, &record),
        "10.1.0.0        0.0.0.0         128.0.0.0       U         0 0          0 4711\n");
}

/* Without headings rows of two namespaces are in one section. */
static void an_index_has_another_name_in_another_namespace(void **state)
{
    const struct route_layout layout = {.numeric = true};
    const struct netns blue = {.id = 1}, red = {.id = 2};
    struct context context = {.netns = {.interfaces = one_interface("one"), .netns = &blue}};
    struct record record = route_record("10.1.0.0", 16, RTF_UP, NULL);
    struct output output;
    struct sink *sink = sink_create(&sink_route, &layout, output_begin(&output), &context);

    (void)state;
    record.has = ROUTE_FLAGS | ROUTE_METRIC | ROUTE_INTERFACE;
    record.route.interface = 7;
    sink->ops->row(sink, &record);
    interfaces_destroy(context.netns.interfaces);
    context.netns = (struct netns_lookups){.interfaces = one_interface("two"), .netns = &red};
    sink->ops->row(sink, &record);
    interfaces_destroy(context.netns.interfaces);
    assert_string_equal(
        output_end(&output, sink),
        "10.1.0.0        0.0.0.0         255.255.0.0     U         0 0          0 one\n"
        "10.1.0.0        0.0.0.0         255.255.0.0     U         0 0          0 two\n");
}

static void an_ipv6_gateway_of_ipv4_is_a_flag_only(void **state)
{
    struct record record = route_record("10.1.0.0", 16, RTF_UP | RTF_GATEWAY, NULL);

    (void)state;
    record.has |= ROUTE_GATEWAY;
    record.route.gateway = ip("2000::");
    assert_string_equal(
        row(0, &record),
        "10.1.0.0        0.0.0.0         255.255.0.0     UG        0 0          0 eth0\n");
}

static void an_interface_cannot_forge_a_column(void **state)
{
    struct record record = route_record("10.1.0.0", 16, RTF_UP, NULL);

    (void)state;
    record.route.device = (struct text){"a b\033", 4};
    assert_non_null(strstr(row(0, &record), " a\\x20b\\x1b\n"));
}

static void a_route_of_ipv6_has_its_prefix_after_it(void **state)
{
    struct record record = route_record("2001:db8:5::", 48, 0x00400003, "2001:db8::3");

    (void)state;
    record.has |= ROUTE_REFERENCES;
    record.route.metric = 1024;
    record.route.references = 2;
    assert_string_equal(row(0, &record), "2001:db8:5::/48                2001:db8::3              "
                                         "  UGe  1024 2      0 eth0\n");
}

static void references_that_are_not_known_are_no_number(void **state)
{
    struct record record = route_record("::1", 128, 0x80200001, NULL);

    (void)state;
    assert_string_equal(row(0, &record), "::1/128                        ::                       "
                                         "  Un   0   -      0 eth0\n");
}

static void rejected_ipv6_routes_show_it_in_their_flags(void **state)
{
    struct record record = route_record("::", 0, 0x00200200, NULL);

    (void)state;
    record.route.metric = UINT32_MAX;
    record.has |= ROUTE_REFERENCES;
    record.route.references = 2;
    record.route.device = (struct text){"lo", 2};
    assert_string_equal(row(0, &record), "::/0                           ::                       "
                                         "  !n   -1  2      0 lo\n");
}

static void each_section_has_its_heading(void **state)
{
    struct route_layout layout = {.sections = {{AF_INET, false}, {AF_INET6, true}, {AF_INET, true}},
                                  .header = true};

    (void)state;
    assert_string_equal(written(&layout, &no_names, 0, NULL),
                        "Kernel IP routing table\nDestination     Gateway         Genmask         "
                        "Flags   MSS Window  irtt Iface\n");
    assert_string_equal(written(&layout, &no_names, 1, NULL),
                        "Kernel IPv6 routing cache\nDestination                    Next Hop       "
                        "            Flag Met Ref  Use If\n");
    layout.extended = 2;
    assert_string_equal(written(&layout, &no_names, 2, NULL),
                        "Kernel IP routing cache\nSource          Destination     Gateway         "
                        "Flags Metric Ref    Use Iface    MSS   Window irtt  TOS HHRef HHUptod     "
                        "SpecDst\n");
    layout.header = false;
    assert_string_equal(written(&layout, &no_names, 0, NULL), "");
}

static void a_cached_route_has_no_mask(void **state)
{
    const struct route_layout layout = {.sections = {{AF_INET, true}}, .numeric = true};
    struct record record =
        route_record("203.0.113.9", 32, RTF_UP | RTF_HOST | RTF_GATEWAY, "192.0.2.3");

    (void)state;
    assert_string_equal(
        written(&layout, &no_names, 0, &record),
        "0.0.0.0         203.0.113.9     192.0.2.3       G         0 0          0 eth0\n");
}

/* --- Names ------------------------------------------------------------------------------------ */

static void networks_have_names_and_everywhere_is_the_default(void **state)
{
    static const char lines[] =
        "# nothing\nhome 192.0.2.0 lan\nshort 10\nbad 300.1\nhome2 192.0.2\n";
    const struct route_layout layout = {.numeric = false};
    struct context context = {0};
    struct tree tree;
    struct record record;
    char path[128];

    (void)state;
    tree_make(&tree);
    tree_puts(&tree, "networks", lines);
    snprintf(path, sizeof path, "%s/net/networks", tree.root);
    context.networks = networks_create(path);
    assert_non_null(context.networks);
    record = route_record("0.0.0.0", 0, RTF_UP, NULL);
    assert_memory_equal(written(&layout, &context, -1, &record), "default         0.0.0.0  ", 25);
    record = route_record("0.0.0.0", 1, RTF_UP, NULL);
    assert_memory_equal(written(&layout, &context, -1, &record), "0.0.0.0         0.0.0.0  ", 25);
    record = route_record("192.0.2.0", 24, RTF_UP, NULL);
    assert_memory_equal(written(&layout, &context, -1, &record), "home            0.0.0.0  ", 25);
    record = route_record("10.0.0.0", 8, RTF_UP, NULL);
    assert_memory_equal(written(&layout, &context, -1, &record), "short           0.0.0.0  ", 25);
    record = route_record("192.0.2.0", 32, RTF_UP | RTF_HOST, NULL);
    assert_memory_equal(written(&layout, &context, -1, &record), "192.0.2.0       0.0.0.0  ", 25);
    record = route_record("44.1.0.0", 16, RTF_UP, NULL); /* 300 is 44 and a carry */
    assert_memory_equal(written(&layout, &context, -1, &record), "44.1.0.0        0.0.0.0  ", 25);
    record = route_record("::", 0, RTF_UP, NULL);
    assert_memory_equal(written(&layout, &context, -1, &record), "[::]/0                  ", 24);
    networks_destroy(context.networks);
    tree_remove(&tree);
}

static void a_network_is_found_by_each_of_its_names(void **state)
{
    static const char lines[] = "bad 300.1 bad\nhome 192.0.2.0 lan den # attic\nhome 10\nlan 11\n";
    static const uint8_t expected[] = {192, 0, 2, 0};
    static const char *const names[] = {"home", "lan", "den"};
    static const char *const others[] = {"bad", "attic", "HOME", "192.0.2.0", ""};
    struct tree tree;
    uint8_t found[4];
    char path[128];

    (void)state;
    tree_make(&tree);
    tree_puts(&tree, "networks", lines);
    snprintf(path, sizeof path, "%s/net/networks", tree.root);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        memset(found, 0, sizeof found);
        assert_true(networks_find(path, names[i], found));
        assert_memory_equal(found, expected, sizeof expected);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(networks_find(path, others[i], found));
    tree_remove(&tree);
}

static void a_file_of_networks_that_is_not_there_names_nothing(void **state)
{
    const struct address address = ip("127.0.0.0");
    struct networks *networks = networks_create("/nonexistent/networks");
    uint8_t found[4];

    (void)state;
    assert_false(networks_find("/nonexistent/networks", "home", found));
    assert_non_null(networks);
    assert_null(networks_name(networks, &address));
    assert_null(networks_name(NULL, &address));
    networks_destroy(networks);
    networks_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_route_has_mss_window_and_irtt),
        cmocka_unit_test(extended_it_has_metric_references_and_use),
        cmocka_unit_test(twice_extended_it_has_all_and_the_interface_uncut),
        cmocka_unit_test(a_route_that_is_rejected_leads_nowhere),
        cmocka_unit_test(without_an_interface_there_is_a_star),
        cmocka_unit_test(an_interface_without_a_name_has_its_number),
        cmocka_unit_test(an_index_has_another_name_in_another_namespace),
        cmocka_unit_test(an_ipv6_gateway_of_ipv4_is_a_flag_only),
        cmocka_unit_test(an_interface_cannot_forge_a_column),
        cmocka_unit_test(a_route_of_ipv6_has_its_prefix_after_it),
        cmocka_unit_test(references_that_are_not_known_are_no_number),
        cmocka_unit_test(rejected_ipv6_routes_show_it_in_their_flags),
        cmocka_unit_test(each_section_has_its_heading),
        cmocka_unit_test(a_cached_route_has_no_mask),
        cmocka_unit_test(networks_have_names_and_everywhere_is_the_default),
        cmocka_unit_test(a_network_is_found_by_each_of_its_names),
        cmocka_unit_test(a_file_of_networks_that_is_not_there_names_nothing),
    };

    return cmocka_run_group_tests_name("layout_route", tests, NULL, NULL);
}
