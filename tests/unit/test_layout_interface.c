/* SPDX-License-Identifier: MIT */
/* The lines of netstat -i and -ie, byte for byte, trailing blanks aside. */
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/socket.h>

#include "kit.h"

static const char *written(const struct interface_layout *layout, const struct record *record,
                           unsigned times)
{
    struct output output;
    struct sink *sink = sink_create(&sink_interface, layout, output_begin(&output), &no_names);

    assert_non_null(sink);
    for (unsigned i = 0; i < times; i++) {
        sink_begin(sink);
        if (record)
            sink->ops->row(sink, record);
        sink_end(sink);
    }
    return output_end(&output, sink);
}

static const char *row(const struct record *record)
{
    return written(&(struct interface_layout){.extended = false}, record, 1);
}

static const char *lines(const struct record *record)
{
    return written(&(struct interface_layout){.extended = true}, record, 1);
}

static struct record ethernet(void)
{
    struct record record = {
        .kind = &kind_interface,
        .has = UINT64_MAX,
        .interface = {.name = {"eth0", 4},
                      .flags = IFF_UP | IFF_BROADCAST | IFF_RUNNING | IFF_MULTICAST | 0x10000,
                      .mtu = 1500,
                      .queue = 1000,
                      .type = ARPHRD_ETHER,
                      .lladdr = {2, 0, 0, 0xab, 0xcd, 0xef}}};

    for (unsigned i = 0; i < INTERFACE_COUNTERS_MAX; i++)
        record.interface.counters[i] = i + 1;
    return record;
}

static void an_interface_is_a_line(void **state)
{
    struct record record = ethernet();

    (void)state;
    assert_string_equal(row(&record), "eth0             1500        2      3      4 5            "
                                      "10     11     12     13 BMRU\n");
}

static void every_flag_has_its_letter(void **state)
{
    struct record record = ethernet();

    (void)state;
    record.interface.flags = 0;
    assert_non_null(strstr(row(&record), " [NO FLAGS]\n"));
    record.interface.flags = 0x10000; /* ioctl(2) has no room for it */
    assert_non_null(strstr(row(&record), " [NO FLAGS]\n"));
    record.interface.flags = IFF_ALLMULTI | IFF_DEBUG | IFF_LOOPBACK | IFF_DYNAMIC | IFF_PROMISC |
                             IFF_NOTRAILERS | IFF_NOARP | IFF_POINTOPOINT | IFF_SLAVE | IFF_MASTER;
    assert_non_null(strstr(row(&record), " ADLdPNOPsm\n"));
    record.has &= ~INTERFACE_FLAGS;
    assert_non_null(strstr(row(&record), "     13 -\n"));
}

static void a_label_has_no_statistics(void **state)
{
    struct record record = ethernet();

    (void)state;
    record.has &= ~INTERFACE_COUNTERS;
    record.interface.name = (struct text){"eth0:1", 6};
    assert_string_equal(row(&record), "eth0:1           1500      - no statistics available -     "
                                      "                   BMRU\n");
}

static void a_name_cannot_forge_a_column(void **state)
{
    struct record record = ethernet();

    (void)state;
    record.interface.name = (struct text){"a b\n\033", 5};
    assert_memory_equal(row(&record), "a\\x20b\\x0a\\x1b ", 14);
    assert_memory_equal(lines(&record), "a\\x20b\\x0a\\x1b: ", 15);
}

static void the_title_comes_once_and_the_heading_each_time(void **state)
{
    const struct interface_layout layout = {.header = true}, extended = {true, true};

    (void)state;
    assert_string_equal(
        written(&layout, NULL, 2),
        "Kernel Interface table\n"
        "Iface             MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg\n"
        "Iface             MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg\n");
    assert_string_equal(written(&extended, NULL, 2), "Kernel Interface table\n");
}

static void an_interface_in_full_is_as_ifconfig_has_it(void **state)
{
    static const struct interface_address addresses[] = {
        {.local = {IPV4(10, 9, 9, 9), 25}, .label = "eth0:1"},
        {.local = {IPV4(192, 0, 2, 1), 23}, .broadcast = IPV4(192, 0, 3, 255), .label = "eth0"},
        {.local = {IPV6(0xfe, 0x80, [15] = 1), 64}},
        {.local = {IPV6(0x20, 0x01, [15] = 1), 48}},
    };
    struct record record = ethernet();

    (void)state;
    record.interface.addresses = addresses;
    record.interface.address_count = 4;
    record.interface.counters[RX_BYTES] = 1024;
    record.interface.counters[TX_BYTES] = 1049600;
    assert_string_equal(lines(&record),
                        "eth0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500\n"
                        "        inet 192.0.2.1  netmask 255.255.254.0  broadcast 192.0.3.255\n"
                        "        inet6 fe80::1  prefixlen 64  scopeid 0x20<link>\n"
                        "        inet6 2001::1  prefixlen 48  scopeid 0x0<global>\n"
                        "        ether 02:00:00:ab:cd:ef  txqueuelen 1000  (Ethernet)\n"
                        "        RX packets 2  bytes 1024 (1024.0 B)\n"
                        "        RX errors 3  dropped 4  overruns 5  frame 6\n"
                        "        TX packets 10  bytes 1049600 (1.0 MiB)\n"
                        "        TX errors 11  dropped 12 overruns 13  carrier 15  collisions 14\n"
                        "\n");
}

static void the_scope_is_known_by_the_address(void **state)
{
    static const struct {
        const char *address, *words;
    } cases[] = {
        {"::1", "scopeid 0x10<host>"},          {"fe80::1", "scopeid 0x20<link>"},
        {"febf::1", "scopeid 0x20<link>"},      {"fec0::1", "scopeid 0x40<site>"},
        {"fd00::1", "scopeid 0x0<global>"},     {"::192.0.2.1", "scopeid 0x80<compat,global>"},
        {"2001:db8::1", "scopeid 0x0<global>"}, {"::ffff:192.0.2.1", "scopeid 0x0<global>"},
    };
    struct interface_address address = {.local.prefix = 64};
    struct record record = ethernet();

    (void)state;
    record.interface.addresses = &address;
    record.interface.address_count = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        address.local.address = ip(cases[i].address);
        if (!strstr(lines(&record), cases[i].words))
            fail_msg("%s is not %s: %s", cases[i].address, cases[i].words, lines(&record));
    }
}

static void hardware_is_named_as_net_tools_names_it(void **state)
{
    static const struct {
        uint16_t type;
        const char *words;
    } cases[] = {
        {ARPHRD_LOOPBACK, "        loop  txqueuelen 1000  (Local Loopback)\n"},
        {ARPHRD_TUNNEL, "        tunnel   txqueuelen 1000  (IPIP Tunnel)\n"},
        {ARPHRD_SIT, "        sit  txqueuelen 1000  (IPv6-in-IPv4)\n"},
        {ARPHRD_PPP, "        ppp  txqueuelen 1000  (Point-to-Point Protocol)\n"},
        {ARPHRD_FDDI, "        fddi 02-00-00-AB-CD-EF  txqueuelen 1000  (Fiber Distributed "},
        {ARPHRD_EUI64, "        eui64 02:00:00:AB:CD:EF:11:22  txqueuelen 1000  (Generic EUI-64)"},
        {0xfffe, "        unspec 02-00-00-AB-CD-EF-11-22-00-00-00-00-00-00-00-00  txqueuelen 1000 "
                 " (UNSPEC)\n"},
    };
    struct record record = ethernet();

    (void)state;
    memset(record.interface.lladdr + 6, 0x11, 1);
    memset(record.interface.lladdr + 7, 0x22, 1);
    memset(record.interface.lladdr + 8, 0x33, 8);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        record.interface.type = cases[i].type;
        if (!strstr(lines(&record), cases[i].words))
            fail_msg("not %s: %s", cases[i].words, lines(&record));
    }
}

static void flags_in_full_are_a_signed_number(void **state)
{
    struct record record = ethernet();

    (void)state;
    record.interface.flags = 0;
    assert_memory_equal(lines(&record), "eth0: flags=0<  mtu 1500\n", 25);
    record.interface.flags = IFF_DYNAMIC | IFF_UP;
    assert_memory_equal(lines(&record), "eth0: flags=-32767<UP,DYNAMIC>  mtu", 35);
    record.interface.flags = IFF_PORTSEL;
    assert_memory_equal(lines(&record), "eth0: flags=8192  mtu", 21);
}

static void a_point_to_point_link_has_a_destination(void **state)
{
    const struct interface_address address = {
        .local = {IPV4(10, 0, 0, 1), 32}, .peer = IPV4(10, 0, 0, 2), .label = "eth0"};
    struct record record = ethernet();

    (void)state;
    record.interface.flags = IFF_UP | IFF_POINTOPOINT;
    record.interface.addresses = &address;
    record.interface.address_count = 1;
    assert_non_null(strstr(
        lines(&record), "        inet 10.0.0.1  netmask 255.255.255.255  destination 10.0.0.2\n"));
}

static void bytes_are_shown_in_units(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *words;
    } cases[] = {
        {0, "(0.0 B)"},
        {1024, "(1024.0 B)"},
        {1025, "(1.0 KiB)"},
        {1126, "(1.0 KiB)"},
        {1127, "(1.1 KiB)"},
        {UINT64_C(1) << 30, "(1024.0 MiB)"},
        {UINT64_C(3) << 30, "(3.0 GiB)"},
        {UINT64_C(5) << 40, "(5.0 TiB)"},
        {UINT64_C(7) << 50, "(7.0 PiB)"},
        {UINT64_MAX, "(16.0 EiB)"},
    };
    struct record record = ethernet();

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        record.interface.counters[RX_BYTES] = cases[i].bytes;
        if (!strstr(lines(&record), cases[i].words))
            fail_msg("%llu is not %s: %s", (unsigned long long)cases[i].bytes, cases[i].words,
                     lines(&record));
    }
}

static void an_old_card_says_where_it_sits(void **state)
{
    struct record record = ethernet();

    (void)state;
    record.interface.base_address = 0xff;
    assert_null(strstr(lines(&record), "device"));
    record.interface.irq = 11;
    record.interface.base_address = 0x300;
    record.interface.memory_start = 0xd0000;
    record.interface.memory_end = 0xd3fff;
    record.interface.dma = 3;
    assert_non_null(strstr(lines(&record), "        device interrupt 11  base 0x300  memory "
                                           "0xd0000-d3fff    dma 0x3\n\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interface_is_a_line),
        cmocka_unit_test(every_flag_has_its_letter),
        cmocka_unit_test(a_label_has_no_statistics),
        cmocka_unit_test(a_name_cannot_forge_a_column),
        cmocka_unit_test(the_title_comes_once_and_the_heading_each_time),
        cmocka_unit_test(an_interface_in_full_is_as_ifconfig_has_it),
        cmocka_unit_test(the_scope_is_known_by_the_address),
        cmocka_unit_test(hardware_is_named_as_net_tools_names_it),
        cmocka_unit_test(flags_in_full_are_a_signed_number),
        cmocka_unit_test(a_point_to_point_link_has_a_destination),
        cmocka_unit_test(bytes_are_shown_in_units),
        cmocka_unit_test(an_old_card_says_where_it_sits),
    };

    return cmocka_run_group_tests_name("layout_interface", tests, NULL, NULL);
}
