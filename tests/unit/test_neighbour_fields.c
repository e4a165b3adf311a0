/* SPDX-License-Identifier: MIT */
/* The fields of a neighbour, and how link-layer addresses are written, sorted and counted. */
#include <errno.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "../helpers/libc.h"
#include "engine/groups.h"
#include "engine/rows.h"
#include "fastnet/hardware.h"
#include "fastnet/hosts.h"
#include "fastnet/interfaces.h"
#include "kept_rows.h"
#include "kit.h"

/* Stands in for a machine whose interfaces have their hardware type for index: "if778" is a tunnel.
 */

enum { GONE = 4711 };

int ioctl(int fd, ioctl_request what, ...)
{
    va_list arguments;
    struct ifreq *request;

    va_start(arguments, what);
    request = va_arg(arguments, struct ifreq *);
    va_end(arguments);
    assert_true(fd >= 0);
    if (what == SIOCGIFNAME && request->ifr_ifindex == GONE) {
        errno = ENODEV;
        return -1;
    }
    if (what == SIOCGIFNAME)
        snprintf(request->ifr_name, IFNAMSIZ, "if%d", request->ifr_ifindex);
    else
        request->ifr_hwaddr.sa_family = (unsigned short)strtoul(request->ifr_name + 2, NULL, 10);
    return 0;
}

static struct context names;

static int make_names(void **state)
{
    (void)state;
    names.netns.interfaces = interfaces_create();
    return names.netns.interfaces ? 0 : -1;
}

static int drop_names(void **state)
{
    (void)state;
    interfaces_destroy(names.netns.interfaces);
    return 0;
}

static struct record record_of(uint32_t interface, const char *lladdr, size_t length)
{
    struct record record = {.kind = &kind_neighbour, .has = NEIGHBOUR_INTERFACE | NEIGHBOUR_LLADDR};

    record.neighbour.address = ip("192.0.2.1");
    record.neighbour.interface = interface;
    record.neighbour.lladdr_length = (uint8_t)length;
    if (length)
        memcpy(record.neighbour.lladdr, lladdr, length);
    return record;
}

/* With the names of interfaces. */
static const char *name_of(const char *field, const struct record *record)
{
    return text_of(field, record, &names);
}

static const char *written(sink_create_fn create, const char *name, const struct record *record)
{
    const struct field *column = field_find(&kind_neighbour, name, strlen(name));
    struct output output;

    output_columns(&output, create,
                   (struct sink_options){.context = &names, .columns = &column, .count = 1});
    output_row(&output, record);
    return output_text(&output);
}

static void promised_columns_are_there(void **state)
{
    static const char *const promised[] = {
        "address",  "family", "address_host", "lladdr", "interface",     "interface_index",
        "hardware", "state",  "flags",        "origin", "used",          "confirmed",
        "updated",  "probes", "references",   "master", "link_netns_id", "type",
        "vlan",     "vni",    "port",
    };

    (void)state;
    ASSERT_NAMES(&kind_neighbour, promised);
}

static void missing_members_are_unknown(void **state)
{
    const struct record bare = {.kind = &kind_neighbour, .neighbour = {.address = IPV6(0)}};

    (void)state;
    for (size_t i = 0; i < kind_neighbour.field_count; i++) {
        const struct field *field = &kind_neighbour.fields[i];
        bool known = strcmp(field->name, "address") == 0 || strcmp(field->name, "family") == 0;
        assert_int_equal(field_value(field, &bare, &no_names).type,
                         known ? field->type : VALUE_UNKNOWN);
    }
}

static void link_layer_addresses_of_any_length_are_written_in_full(void **state)
{
    char bytes[LLADDR_MAX], expected[3 * LLADDR_MAX + 1] = "";

    (void)state;
    for (size_t i = 0; i < LLADDR_MAX; i++)
        bytes[i] = (char)(0xf0 + i);
    for (size_t length = 1; length <= LLADDR_MAX; length++) {
        struct record record = record_of(ARPHRD_ETHER, bytes, length);
        snprintf(expected + (length > 1 ? 3 * length - 4 : 0), 4, length > 1 ? ":%02x" : "%02x",
                 (unsigned char)bytes[length - 1]);
        assert_string_equal(name_of("lladdr", &record), expected);
    }
}

static void an_empty_link_layer_address_is_not_an_unknown_one(void **state)
{
    struct record record = record_of(ARPHRD_ETHER, "", 0);

    (void)state;
    assert_string_equal(name_of("lladdr", &record), "-");
    assert_string_equal(written(sink_ndjson_create, "lladdr", &record), "{\"lladdr\":\"\"}\n");
    assert_string_equal(written(sink_csv_create, "lladdr", &record), "\"\"\r\n");
    assert_string_equal(written(sink_table_create, "lladdr", &record), "-\n");
    record.has &= ~NEIGHBOUR_LLADDR;
    assert_string_equal(written(sink_ndjson_create, "lladdr", &record), "{\"lladdr\":null}\n");
}

static void link_layer_addresses_are_text_in_every_form(void **state)
{
    const struct record record = record_of(ARPHRD_ETHER, "\x02\0\x5e\x10\0\xff", 6);

    (void)state;
    assert_string_equal(written(sink_ndjson_create, "lladdr", &record),
                        "{\"lladdr\":\"02:00:5e:10:00:ff\"}\n");
    assert_string_equal(written(sink_csv_create, "lladdr", &record), "02:00:5e:10:00:ff\r\n");
    assert_string_equal(written(sink_table_create, "lladdr", &record), "02:00:5e:10:00:ff\n");
}

static void a_tunnels_link_layer_address_is_one_of_ip(void **state)
{
    static const char ipv6[] = "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01";
    static const uint32_t over_ipv4[] = {ARPHRD_TUNNEL, ARPHRD_SIT, ARPHRD_IPGRE};
    static const uint32_t over_ipv6[] = {ARPHRD_TUNNEL6, ARPHRD_IP6GRE};
    struct record record;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        record = record_of(over_ipv4[i], "\xc0\0\2\x07", 4);
        assert_string_equal(name_of("lladdr", &record), "192.0.2.7");
        record = record_of(over_ipv4[i], ipv6, 5); /* none of IPv4 */
        assert_string_equal(name_of("lladdr", &record), "20:01:0d:b8:00");
    }
    for (size_t i = 0; i < 2; i++) {
        record = record_of(over_ipv6[i], ipv6, 16);
        assert_string_equal(name_of("lladdr", &record), "2001:db8::1");
        record = record_of(over_ipv6[i], ipv6, 4);
        assert_string_equal(name_of("lladdr", &record), "20:01:0d:b8");
    }
    record = record_of(ARPHRD_ETHER, "\xc0\0\2\x07", 4);
    assert_string_equal(name_of("lladdr", &record), "c0:00:02:07");
}

static void link_layer_addresses_are_sorted_by_their_bytes(void **state)
{
    struct record low = record_of(ARPHRD_ETHER, "\x02\0", 2);
    struct record longer = record_of(ARPHRD_ETHER, "\x02\0\0", 3);
    struct record high = record_of(ARPHRD_ETHER, "\x80", 1);
    struct value a = value_of("lladdr", &low, &names);
    struct value b = value_of("lladdr", &longer, &names);
    struct value c = value_of("lladdr", &high, &names);

    (void)state;
    assert_true(value_compare(&a, &b) < 0);
    assert_true(value_compare(&c, &b) > 0);
    assert_int_equal(value_compare(&a, &a), 0);
}

/* Values outlive the record that they were made of. */
static void link_layer_addresses_and_names_are_counted(void **state)
{
    const struct listing listing = {.count_by = {field_find(&kind_neighbour, "lladdr", 6),
                                                 field_find(&kind_neighbour, "interface", 9)},
                                    .count_by_count = 2};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    for (int i = 0; i < 5; i++) {
        struct record record = record_of(0, i % 2 ? "\x02\0" : "\x02\1", 2);
        snprintf(record.neighbour.interface_name, INTERFACE_NAME_SIZE, "eth%d", i % 2);
        assert_int_equal(groups_add(groups, &record, &names), 0);
        memset(&record, 0xa5, sizeof record);
    }
    assert_int_equal(groups_finish(groups, &rows), 0);
    assert_int_equal(rows.count, 2);
    assert_int_equal(row_at(&rows, 0)->count.count, 3);
    assert_memory_equal(row_at(&rows, 0)->count.values[0].text.data, "\x02\1", 2);
    assert_string_equal(row_at(&rows, 0)->count.values[1].name.string, "eth0");
    assert_int_equal(row_at(&rows, 1)->count.count, 2);
    assert_string_equal(row_at(&rows, 1)->count.values[1].name.string, "eth1");
    rows_clear(&rows);
    groups_destroy(groups);
}

static void a_device_is_its_name_or_else_its_index(void **state)
{
    struct record record = record_of(ARPHRD_IPGRE, "", 0);

    (void)state;
    assert_string_equal(name_of("interface", &record), "if778");
    assert_string_equal(name_of("interface_index", &record), "778");
    assert_string_equal(name_of("hardware", &record), "gre");
    record.neighbour.interface = GONE; /* during the dump */
    assert_string_equal(name_of("interface", &record), "4711");
    assert_string_equal(name_of("hardware", &record), "-");
    record.neighbour.interface = 12345;
    assert_string_equal(name_of("hardware", &record), "12345");
    record.neighbour.interface = 0;
    strcpy(record.neighbour.interface_name, "e\x1b th");
    assert_string_equal(name_of("interface", &record), "e\\x1b\\x20th");
    assert_string_equal(name_of("interface_index", &record), "-");
}

static void every_state_has_its_kernel_name(void **state)
{
    static const struct {
        uint16_t state;
        const char *name;
    } states[] = {
        {NUD_NONE, "NONE"},     {NUD_INCOMPLETE, "INCOMPLETE"}, {NUD_REACHABLE, "REACHABLE"},
        {NUD_STALE, "STALE"},   {NUD_DELAY, "DELAY"},           {NUD_PROBE, "PROBE"},
        {NUD_FAILED, "FAILED"}, {NUD_NOARP, "NOARP"},           {NUD_PERMANENT, "PERMANENT"},
        {0x100, "-"},           {NUD_STALE | NUD_DELAY, "-"},
    };
    struct record record = record_of(ARPHRD_ETHER, "", 0);

    (void)state;
    record.has |= NEIGHBOUR_STATE;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        record.neighbour.state = states[i].state;
        assert_string_equal(name_of("state", &record), states[i].name);
    }
}

static void flags_are_names_and_unknown_flags_are_a_number(void **state)
{
    struct record record = record_of(ARPHRD_ETHER, "", 0);

    (void)state;
    record.has |= NEIGHBOUR_FLAGS;
    assert_string_equal(name_of("flags", &record), "-");
    record.neighbour.flags = NTF_ROUTER | NTF_EXT_LEARNED | 1 << 8 | 1u << 31;
    assert_string_equal(name_of("flags", &record), "extern_learn,router,managed,31");
    record.neighbour.flags = 0x7ff;
    assert_string_equal(
        name_of("flags", &record),
        "use,self,master,proxy,extern_learn,offloaded,sticky,router,managed,locked,extern_valid");
    record.neighbour.flags = NTF_OFFLOADED | NTF_PROXY;
    assert_string_equal(written(sink_ndjson_create, "flags", &record),
                        "{\"flags\":[\"proxy\",\"offloaded\"]}\n");
}

static void the_rest_is_numbers_times_and_names(void **state)
{
    struct record record = record_of(ARPHRD_ETHER, "", 0);
    struct neighbour_record *neighbour = &record.neighbour;

    (void)state;
    record.has = UINT64_MAX;
    neighbour->hardware = ARPHRD_INFINIBAND;
    neighbour->used_ms = 1250;
    neighbour->confirmed_ms = 10;
    neighbour->updated_ms = UINT64_C(42949672950);
    neighbour->references = 3;
    neighbour->probes = 4;
    neighbour->master = ARPHRD_ETHER;
    neighbour->netns = 5;
    neighbour->vlan = 6;
    neighbour->vni = 7;
    neighbour->port = 8;
    neighbour->protocol = RTPROT_BGP;
    neighbour->type = RTN_MULTICAST;
    assert_string_equal(name_of("used", &record), "1.250");
    assert_string_equal(name_of("confirmed", &record), "0.010");
    assert_string_equal(name_of("updated", &record), "42949672.950");
    assert_string_equal(name_of("references", &record), "3");
    assert_string_equal(name_of("probes", &record), "4");
    assert_string_equal(name_of("master", &record), "if1");
    assert_string_equal(name_of("link_netns_id", &record), "5");
    assert_string_equal(name_of("vlan", &record), "6");
    assert_string_equal(name_of("vni", &record), "7");
    assert_string_equal(name_of("port", &record), "8");
    assert_string_equal(name_of("origin", &record), "bgp");
    assert_string_equal(name_of("type", &record), "multicast");
    assert_string_equal(name_of("hardware", &record), "infiniband");
    neighbour->protocol = 77;
    assert_string_equal(name_of("origin", &record), "77");
    neighbour->type = 200;
    assert_string_equal(name_of("type", &record), "-");
    neighbour->netns = -1;
    assert_string_equal(name_of("link_netns_id", &record), "-");
}

static void hardware_is_known_by_type_and_by_net_tools_name(void **state)
{
    (void)state;
    assert_string_equal(hardware_by_type(ARPHRD_LOOPBACK)->net_tools, "loop");
    assert_null(hardware_by_type(ARPHRD_INFINIBAND)->net_tools);
    assert_null(hardware_by_type(12345));
    assert_int_equal(hardware_by_net_tools("ether")->type, ARPHRD_ETHER);
    assert_true(hardware_by_net_tools("fddi")->arp);
    assert_false(hardware_by_net_tools("ppp")->arp);
    assert_null(hardware_by_net_tools("infiniband"));
    assert_null(hardware_by_net_tools("loopback"));
}

static void assert_means(const struct kind *kind, const char *typed, const char *name)
{
    const struct field *field = field_find(kind, typed, strlen(typed));
    struct field counted;

    assert_non_null(field);
    assert_string_equal(field->name, name);
    field_counted(&counted, field, 0);
    assert_true(field_is_named(&counted, typed, strlen(typed)));
}

static void mac_is_another_word_for_lladdr(void **state)
{
    char other[FIELD_OTHER];

    (void)state;
    assert_means(&kind_neighbour, "mac", "lladdr");
    assert_means(&kind_interface, "MAC", "lladdr");
    assert_means(&kind_traffic, "src_mac", "src_lladdr");
    assert_means(&kind_traffic, "dst-mac", "dst_lladdr");
    assert_null(field_find(&kind_neighbour, "ma", 2));
    assert_null(field_find(&kind_neighbour, "macs", 4));
    assert_null(field_find(&kind_socket, "mac", 3));
    assert_null(field_other_name(field_named(&kind_neighbour, "address"), other));
    assert_string_equal(field_other_name(field_named(&kind_traffic, "src_lladdr"), other),
                        "src_mac");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promised_columns_are_there),
        cmocka_unit_test(missing_members_are_unknown),
        cmocka_unit_test(link_layer_addresses_of_any_length_are_written_in_full),
        cmocka_unit_test(an_empty_link_layer_address_is_not_an_unknown_one),
        cmocka_unit_test(link_layer_addresses_are_text_in_every_form),
        cmocka_unit_test(a_tunnels_link_layer_address_is_one_of_ip),
        cmocka_unit_test(link_layer_addresses_are_sorted_by_their_bytes),
        cmocka_unit_test(mac_is_another_word_for_lladdr),
        cmocka_unit_test(link_layer_addresses_and_names_are_counted),
        cmocka_unit_test(a_device_is_its_name_or_else_its_index),
        cmocka_unit_test(every_state_has_its_kernel_name),
        cmocka_unit_test(flags_are_names_and_unknown_flags_are_a_number),
        cmocka_unit_test(the_rest_is_numbers_times_and_names),
        cmocka_unit_test(hardware_is_known_by_type_and_by_net_tools_name),
    };

    return cmocka_run_group_tests_name("neighbour_fields", tests, make_names, drop_names);
}
