/* SPDX-License-Identifier: MIT */
/* The lines of net-tools' arp, and where they differ on purpose. */
#include <linux/if_arp.h>
#include <linux/neighbour.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/hosts.h"
#include "fastnet/interfaces.h"
#include "fastnet/namespace.h"
#include "kit.h"

static const struct arp_totals nothing = {.skipped = 0};
static const struct arp_layout linux_style = {.numeric = true, .totals = &nothing};
static const struct arp_layout bsd_style = {.numeric = true, .bsd = true, .totals = &nothing};

static const char *host_name; /* of every address */

int getnameinfo(const struct sockaddr *address, socklen_t length, char *host, socklen_t host_size,
                char *service, socklen_t service_size, int flags)
{
    (void)address;
    (void)length;
    (void)service;
    (void)service_size;
    (void)flags;
    snprintf(host, host_size, "%s", host_name);
    return 0;
}

static struct record entry(uint16_t state, const char *lladdr, size_t length)
{
    struct record record = {.kind = &kind_neighbour,
                            .has = NEIGHBOUR_INTERFACE | NEIGHBOUR_HARDWARE | NEIGHBOUR_STATE};

    record.neighbour.address = ip("192.0.2.10");
    strcpy(record.neighbour.interface_name, "eth0");
    record.neighbour.hardware = ARPHRD_ETHER;
    record.neighbour.state = state;
    record.neighbour.lladdr_length = (uint8_t)length;
    if (lladdr) {
        memcpy(record.neighbour.lladdr, lladdr, length);
        record.has |= NEIGHBOUR_LLADDR;
    }
    return record;
}

static struct record proxy(void)
{
    struct record record = entry(0, NULL, 0);

    record.has &= ~NEIGHBOUR_STATE;
    record.neighbour.flags = NTF_PROXY;
    return record;
}

/* What is written of a row, or of none. */
static const char *written(const struct arp_layout *layout, const struct context *context,
                           const struct record *record)
{
    return output_of(&sink_arp, layout, context, -1, record, record != NULL);
}

static void assert_lines(const struct record *record, const char *bsd, const char *table)
{
    assert_string_equal(written(&bsd_style, &no_names, record), bsd);
    assert_string_equal(written(&linux_style, &no_names, record), table);
}

static void states_become_the_flags_of_arp(void **state)
{
    static const uint16_t complete[] = {NUD_REACHABLE, NUD_STALE, NUD_DELAY, NUD_PROBE};
    struct record record;

    (void)state;
    for (size_t i = 0; i < sizeof complete / sizeof *complete; i++) {
        record = entry(complete[i], "\x02\0\x5e\x10\0\xff", 6);
        assert_lines(&record, "? (192.0.2.10) at 02:00:5e:10:00:ff [ether] on eth0\n",
                     "192.0.2.10               ether   02:00:5e:10:00:ff   C                     "
                     "eth0\n");
    }
    record = entry(NUD_PERMANENT, "\x02\0\x5e\x10\0\xff", 6);
    assert_lines(&record, "? (192.0.2.10) at 02:00:5e:10:00:ff [ether] PERM on eth0\n",
                 "192.0.2.10               ether   02:00:5e:10:00:ff   CM                    "
                 "eth0\n");
    record = entry(NUD_FAILED, NULL, 0);
    assert_lines(&record, "? (192.0.2.10) at <incomplete> on eth0\n",
                 "192.0.2.10                       (incomplete)                              "
                 "eth0\n");
    record = entry(NUD_INCOMPLETE, NULL, 0);
    assert_lines(&record, "? (192.0.2.10) at <incomplete> on eth0\n",
                 "192.0.2.10                       (incomplete)                              "
                 "eth0\n");
}

static void a_proxy_answers_from_its_interface_or_from_all(void **state)
{
    struct record record = proxy();

    (void)state;
    assert_lines(&record, "? (192.0.2.10) at <from_interface> PERM PUB on eth0\n",
                 "192.0.2.10               *       <from_interface>    MP                    "
                 "eth0\n");
    record.has &= ~NEIGHBOUR_INTERFACE;
    assert_lines(&record, "? (192.0.2.10) at <from_interface> PERM PUB on *\n",
                 "192.0.2.10               *       <from_interface>    MP                    *\n");
}

static void a_call_sign_is_shown_as_one(void **state)
{
    struct record record = entry(NUD_STALE, "\x9c\x60\x86\x82\x98\x98\x6b", 7);

    (void)state;
    record.neighbour.hardware = ARPHRD_AX25;
    assert_lines(&record, "? (192.0.2.10) at N0CALL-5 [ax25] on eth0\n",
                 "192.0.2.10               ax25    N0CALL-5            C                     "
                 "eth0\n");
}

static void a_cut_address_shows_its_bytes(void **state)
{
    struct record record = entry(NUD_STALE, "\x80\0\0\x48\xfe\x80\0\0\0", 9);

    (void)state;
    record.has = (record.has & ~NEIGHBOUR_LLADDR) | NEIGHBOUR_LLADDR_CUT;
    assert_lines(&record, "? (192.0.2.10) at 80:00:00:48:fe:80:00:00:00 [ether] on eth0\n",
                 "192.0.2.10               ether   80:00:00:48:fe:80:00:00:00 C               "
                 "      eth0\n");
}

static void link_layer_addresses_of_0_to_32_bytes_are_in_full(void **state)
{
    static const char bytes[LLADDR_MAX + 1] = "\x80\0\0\x48\xfe\x80\0\0\0\0\0\0\x02\0\x5e\x10\0\xff"
                                              "\x11\x22";
    struct record record = entry(NUD_STALE, bytes, 20); /* InfiniBand */

    (void)state;
    record.neighbour.hardware = ARPHRD_INFINIBAND; /* which Debian's arp takes for Ethernet */
    assert_lines(
        &record,
        "? (192.0.2.10) at 80:00:00:48:fe:80:00:00:00:00:00:00:02:00:5e:10:00:ff:11:22 "
        "[ether] on eth0\n",
        "192.0.2.10               ether   "
        "80:00:00:48:fe:80:00:00:00:00:00:00:02:00:5e:10:00:ff:11:22 C                     "
        "eth0\n");
    record = entry(NUD_STALE, "", 0);
    record.neighbour.hardware = ARPHRD_TUNNEL;
    assert_lines(&record, "? (192.0.2.10) at  [tunnel] on eth0\n",
                 "192.0.2.10               tunnel                      C                     "
                 "eth0\n");
    record = entry(NUD_STALE, bytes, LLADDR_MAX);
    assert_int_equal(strlen(written(&bsd_style, &no_names, &record)),
                     strlen("? (192.0.2.10) at  [ether] on eth0\n") + 3 * (size_t)LLADDR_MAX - 1);
}

static void an_interface_that_has_gone_is_its_index(void **state)
{
    struct context context = {.netns.interfaces = interfaces_create()};
    struct record record = proxy();

    (void)state;
    record.neighbour.interface = 2000000001;
    record.has &= ~NEIGHBOUR_HARDWARE;
    assert_string_equal(written(&bsd_style, &context, &record),
                        "? (192.0.2.10) at <from_interface> PERM PUB on 2000000001\n");
    interfaces_destroy(context.netns.interfaces);
}

static void an_index_has_another_name_in_another_namespace(void **state)
{
    const struct netns blue = {.id = 1}, red = {.id = 2};
    struct context context = {.netns = {.interfaces = one_interface("one"), .netns = &blue}};
    struct record record = proxy();
    struct output output;
    struct sink *sink = sink_create(&sink_arp, &bsd_style, output_begin(&output), &context);

    (void)state;
    record.neighbour.interface = 7;
    sink_begin(sink);
    sink->ops->row(sink, &record);
    interfaces_destroy(context.netns.interfaces);
    context.netns = (struct netns_lookups){.interfaces = one_interface("two"), .netns = &red};
    sink->ops->row(sink, &record);
    sink_end(sink);
    interfaces_destroy(context.netns.interfaces);
    assert_string_equal(output_end(&output, sink),
                        "? (192.0.2.10) at <from_interface> PERM PUB on one\n"
                        "? (192.0.2.10) at <from_interface> PERM PUB on two\n");
}

static void an_awkward_interface_breaks_no_line(void **state)
{
    struct record record = entry(NUD_FAILED, NULL, 0);

    (void)state;
    strcpy(record.neighbour.interface_name, "a\x1b[1m\n\\\xff");
    assert_string_equal(written(&bsd_style, &no_names, &record),
                        "? (192.0.2.10) at <incomplete> on a\\x1b[1m\\x0a\\\\\\xff\n");
}

static void only_the_first_row_has_a_heading_above(void **state)
{
    struct arp_layout layout = linux_style;
    const struct record record = proxy();

    (void)state;
    layout.header = true;
    assert_string_equal(written(&layout, &no_names, NULL), "");
    assert_string_equal(
        written(&layout, &no_names, &record),
        "Address                  HWtype  HWaddress           Flags Mask            Iface\n"
        "192.0.2.10               *       <from_interface>    MP                    eth0\n");
    layout.bsd = true;
    assert_int_equal(*written(&layout, &no_names, &record), '?');
}

static void hosts_are_named_escaped_and_not_cut_short(void **state)
{
    struct context context = {.hosts = hosts_create()};
    struct arp_layout layout = bsd_style;
    const struct record record = proxy();
    char longest[1200];

    (void)state;
    layout.numeric = false;
    host_name = "\x1b]0;a-host.with-more-than-23-characters.example.test";
    assert_int_equal(hosts_add(context.hosts, &record.neighbour.address), 0);
    assert_int_equal(hosts_resolve(context.hosts, 5000, NULL), 0);
    assert_string_equal(written(&layout, &context, &record),
                        "\\x1b]0;a-host.with-more-than-23-characters.example.test (192.0.2.10) at "
                        "<from_interface> PERM PUB on eth0\n");
    layout.bsd = false;
    assert_string_equal(written(&layout, &context, &record),
                        "\\x1b]0;a-host.with-more-than-23-characters.example.test  *       "
                        "<from_interface>    MP                    eth0\n");
    hosts_destroy(context.hosts);

    memset(longest, '\x1b', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    host_name = longest;
    context.hosts = hosts_create();
    assert_int_equal(hosts_add(context.hosts, &record.neighbour.address), 0);
    assert_int_equal(hosts_resolve(context.hosts, 5000, NULL), 0);
    assert_true(strlen(written(&layout, &context, &record)) >= (size_t)4 * (NI_MAXHOST - 1));
    hosts_destroy(context.hosts);
}

static void a_missing_entry_has_the_message_of_arp(void **state)
{
    struct arp_totals totals = {.skipped = 4};
    struct arp_layout layout = linux_style;
    const struct record record = proxy();

    (void)state;
    layout.totals = &totals;
    assert_string_equal(written(&layout, &no_names, NULL), "");
    layout.chosen = true;
    assert_string_equal(written(&layout, &no_names, NULL), "arp: in 4 entries no match found.\n");
    layout.host = "a\x1bz";
    memcpy(layout.host_address, "\xc0\0\2\x0a", 4);
    assert_string_equal(written(&layout, &no_names, NULL), "a\\x1bz (192.0.2.10) -- no entry\n");
    layout.verbose = true;
    assert_string_equal(written(&layout, &no_names, NULL),
                        "Entries: 4\tSkipped: 4\tFound: 0\na\\x1bz (192.0.2.10) -- no entry\n");
    layout.bsd = true;
    assert_string_equal(written(&layout, &no_names, &record),
                        "? (192.0.2.10) at <from_interface> PERM PUB on eth0\n"
                        "Entries: 5\tSkipped: 4\tFound: 1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_become_the_flags_of_arp),
        cmocka_unit_test(a_proxy_answers_from_its_interface_or_from_all),
        cmocka_unit_test(link_layer_addresses_of_0_to_32_bytes_are_in_full),
        cmocka_unit_test(a_call_sign_is_shown_as_one),
        cmocka_unit_test(a_cut_address_shows_its_bytes),
        cmocka_unit_test(an_interface_that_has_gone_is_its_index),
        cmocka_unit_test(an_index_has_another_name_in_another_namespace),
        cmocka_unit_test(an_awkward_interface_breaks_no_line),
        cmocka_unit_test(only_the_first_row_has_a_heading_above),
        cmocka_unit_test(hosts_are_named_escaped_and_not_cut_short),
        cmocka_unit_test(a_missing_entry_has_the_message_of_arp),
    };

    return cmocka_run_group_tests_name("layout of arp", tests, NULL, NULL);
}
