/* SPDX-License-Identifier: MIT */
/* Interfaces: from netlink messages with their addresses, and from /proc/net/dev. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/interface/decode.h"
#include "backend/proc/lines.h"
#include "fastnet/field.h"
#include "kit.h"

enum { ROWS_MAX = 8, TEXT_MAX = 256 };

struct row {
    struct record record;
    char name[TEXT_MAX], addresses[TEXT_MAX];
};

struct scene {
    struct stage stage;
    struct row rows[ROWS_MAX];
    size_t count;
    struct record record; /* of a message or a line decoded by itself */
};

static int set_up(void **state)
{
    stage_make_in(state, sizeof(struct scene));
    return 0;
}

static void copy(char text[TEXT_MAX], struct text from)
{
    assert_in_range(from.length, 0, TEXT_MAX - 1);
    if (from.length)
        memcpy(text, from.data, from.length);
    text[from.length] = '\0';
}

static int keep(const struct record *record, void *arg)
{
    struct scene *scene = arg;
    struct row *row = &scene->rows[scene->count];
    const struct field *addresses = field_find(&kind_interface, "addresses", strlen("addresses"));
    const struct context none = {0};
    struct value value;

    assert_in_range(scene->count, 0, ROWS_MAX - 1);
    row->record = *record;
    copy(row->name, record->interface.name);
    value = field_value(addresses, record, &none);
    *value_write(row->addresses, &value, NULL) = '\0';
    scene->count++;
    return 0;
}

static int list(struct scene *scene, const struct backend *backend, uint64_t needs)
{
    scene->stage.query.needs = needs;
    scene->count = 0;
    return stage_list(&scene->stage, backend, &table_interfaces, keep);
}

/* --- Messages --------------------------------------------------------------------------------- */

static void put_string(struct scene *scene, uint16_t type, const char *string)
{
    wire_attribute(&scene->stage.wire, type, string, strlen(string) + 1);
}

static void begin_link(struct scene *scene, uint32_t sequence, int index, const char *name)
{
    const struct ifinfomsg body = {
        .ifi_type = 1, .ifi_index = index, .ifi_flags = IFF_UP | IFF_RUNNING | 0x10000};

    wire_message(&scene->stage.wire, RTM_NEWLINK, NLM_F_MULTI, sequence);
    wire_put(&scene->stage.wire, &body, sizeof body);
    put_string(scene, IFLA_IFNAME, name);
}

static void put_address(struct scene *scene, unsigned index, uint8_t prefix, const char *local,
                        const char *label)
{
    const struct address address = ip(local);
    const struct ifaddrmsg body = {
        .ifa_family = address.family, .ifa_prefixlen = prefix, .ifa_index = index};

    wire_message(&scene->stage.wire, RTM_NEWADDR, NLM_F_MULTI, 1);
    wire_put(&scene->stage.wire, &body, sizeof body);
    if (address.family == AF_INET)
        wire_attribute(&scene->stage.wire, IFA_LOCAL, address.bytes, 4);
    wire_attribute(&scene->stage.wire, IFA_ADDRESS, address.bytes, address_size(&address));
    if (label)
        put_string(scene, IFA_LABEL, label);
}

static void answer(struct scene *scene, uint32_t sequence)
{
    stage_send_done(&scene->stage, sequence, 0);
}

static int decode(struct scene *scene)
{
    memset(&scene->record, 0xa5, sizeof scene->record);
    return link_decode(wire_last(&scene->stage.wire), &scene->record);
}

static void an_interface_has_the_values_of_its_message(void **state)
{
    const struct rtnl_link_ifmap map = {
        .mem_start = 0xf000, .mem_end = 0xffff, .base_addr = 0x300, .irq = 11, .dma = 3};
    const uint8_t lladdr[] = {2, 0, 0, 0xab, 0xcd, 0xef};
    const uint8_t operstate = 6;
    struct scene *scene = *state;
    const struct interface_record *interface = &scene->record.interface;

    begin_link(scene, 1, 7, "eth0");
    wire_u32(&scene->stage.wire, IFLA_MTU, 1500);
    wire_u32(&scene->stage.wire, IFLA_TXQLEN, 1000);
    wire_u32(&scene->stage.wire, IFLA_MASTER, 9);
    wire_attribute(&scene->stage.wire, IFLA_OPERSTATE, &operstate, 1);
    wire_attribute(&scene->stage.wire, IFLA_ADDRESS, lladdr, sizeof lladdr);
    wire_attribute(&scene->stage.wire, IFLA_MAP, &map, sizeof map);
    put_string(scene, IFLA_IFALIAS, "up");
    assert_int_equal(decode(scene), 0);
    assert_int_equal(scene->record.has, INTERFACE_INDEX | INTERFACE_FLAGS | INTERFACE_TYPE |
                                            INTERFACE_MTU | INTERFACE_QUEUE | INTERFACE_MASTER |
                                            INTERFACE_STATE | INTERFACE_LLADDR | INTERFACE_MAP |
                                            INTERFACE_ALIAS);
    assert_text(&interface->name, "eth0", 4);
    assert_memory_equal(interface->lladdr, lladdr, sizeof lladdr);
    assert_text(&interface->alias, "up", 2);
    assert_int_equal(interface->index, 7);
    assert_int_equal(interface->mtu, 1500);
    assert_int_equal(interface->queue, 1000);
    assert_int_equal(interface->master, 9);
    assert_int_equal(interface->state, 6);
    assert_int_equal(interface->irq, 11);
    assert_int_equal(interface->dma, 3);
    assert_int_equal(interface->base_address, 0x300);
    assert_int_equal(interface->memory_end, 0xffff);
    assert_int_equal(interface->lladdr_length, 6);
}

/* dev_seq_printf_stats(), net/core/net-procfs.c */
static void counters_are_added_up_as_in_the_file(void **state)
{
    struct rtnl_link_stats64 stats;
    struct scene *scene = *state;
    const uint64_t *counters = scene->record.interface.counters;
    const uint64_t *details = scene->record.interface.details;
    uint64_t number = 1;

    memset(&stats, 0, sizeof stats);
    for (size_t i = 0; i < sizeof stats / 8; i++, number *= 2)
        memcpy((char *)&stats + 8 * i, &number, 8);
    begin_link(scene, 1, 7, "eth0");
    wire_attribute(&scene->stage.wire, IFLA_STATS64, &stats, sizeof stats);
    assert_int_equal(decode(scene), 0);
    assert_true(scene->record.has & INTERFACE_COUNTERS);
    assert_int_equal(counters[RX_BYTES], stats.rx_bytes);
    assert_int_equal(counters[RX_DROPPED], stats.rx_dropped + stats.rx_missed_errors);
    assert_int_equal(counters[RX_FRAME], stats.rx_length_errors + stats.rx_over_errors +
                                             stats.rx_crc_errors + stats.rx_frame_errors);
    assert_int_equal(counters[TX_CARRIER], stats.tx_carrier_errors + stats.tx_aborted_errors +
                                               stats.tx_window_errors + stats.tx_heartbeat_errors);
    assert_int_equal(counters[TX_COMPRESSED], stats.tx_compressed);
    assert_true(scene->record.has & INTERFACE_DETAILS && scene->record.has & INTERFACE_NOHANDLER);
    assert_int_equal(details[RX_MISSED], stats.rx_missed_errors);
    assert_int_equal(details[RX_LENGTH_ERRORS], stats.rx_length_errors);
    assert_int_equal(details[RX_OVER_ERRORS], stats.rx_over_errors);
    assert_int_equal(details[RX_CRC_ERRORS], stats.rx_crc_errors);
    assert_int_equal(details[RX_FRAME_ERRORS], stats.rx_frame_errors);
    assert_int_equal(details[RX_NOHANDLER], stats.rx_nohandler);
    assert_int_equal(details[TX_ABORTED_ERRORS], stats.tx_aborted_errors);
    assert_int_equal(details[TX_CARRIER_ERRORS], stats.tx_carrier_errors);
    assert_int_equal(details[TX_HEARTBEAT_ERRORS], stats.tx_heartbeat_errors);
    assert_int_equal(details[TX_WINDOW_ERRORS], stats.tx_window_errors);
    /* what an older kernel has less is enough, what is shorter still is not */
    begin_link(scene, 1, 7, "eth0");
    wire_attribute(&scene->stage.wire, IFLA_STATS64, &stats, 184); /* 23 counters */
    assert_int_equal(decode(scene), 0);
    assert_true(scene->record.has & INTERFACE_COUNTERS && scene->record.has & INTERFACE_DETAILS);
    assert_false(scene->record.has & INTERFACE_NOHANDLER);
    assert_int_equal(details[RX_NOHANDLER], 0);
    begin_link(scene, 1, 7, "eth0");
    wire_attribute(&scene->stage.wire, IFLA_STATS64, &stats, 176);
    assert_int_equal(decode(scene), 0);
    assert_false(scene->record.has & (INTERFACE_COUNTERS | INTERFACE_DETAILS));
}

static void an_interface_without_a_name_is_none(void **state)
{
    struct scene *scene = *state;
    struct nlmsghdr *message;

    begin_link(scene, 1, 7, "");
    assert_int_equal(decode(scene), -EBADMSG);
    assert_int_equal(scene->record.has, 0);
    begin_link(scene, 1, 7, "eth0");
    message = wire_last(&scene->stage.wire);
    message->nlmsg_len -= 3; /* the padding of the name, which need not be there */
    assert_int_equal(decode(scene), 0);
    while (--message->nlmsg_len > sizeof *message)
        assert_int_equal(decode(scene), -EBADMSG);
}

static void a_lladdr_longer_than_the_longest_is_none(void **state)
{
    uint8_t lladdr[LLADDR_MAX + 1];
    struct scene *scene = *state;

    memset(lladdr, 0xff, sizeof lladdr);
    for (size_t length = 0; length <= sizeof lladdr; length++) {
        begin_link(scene, 1, 7, "ib0");
        wire_attribute(&scene->stage.wire, IFLA_ADDRESS, lladdr, length);
        assert_int_equal(decode(scene), 0);
        assert_int_equal(!(scene->record.has & INTERFACE_LLADDR), length > LLADDR_MAX);
        assert_int_equal(scene->record.interface.lladdr_length, length > LLADDR_MAX ? 0 : length);
    }
}

static void an_address_has_the_values_of_its_message(void **state)
{
    const struct ifaddrmsg body = {
        .ifa_family = AF_INET, .ifa_prefixlen = 24, .ifa_index = 3, .ifa_flags = IFA_F_PERMANENT};
    const uint8_t local[] = {10, 0, 0, 1}, peer[] = {10, 0, 0, 2}, broadcast[] = {10, 0, 0, 255};
    struct interface_address address;
    struct scene *scene = *state;

    wire_message(&scene->stage.wire, RTM_NEWADDR, 0, 1);
    wire_put(&scene->stage.wire, &body, sizeof body);
    wire_attribute(&scene->stage.wire, IFA_ADDRESS, peer, 4);
    wire_attribute(&scene->stage.wire, IFA_LOCAL, local, 4);
    wire_attribute(&scene->stage.wire, IFA_BROADCAST, broadcast, 4);
    put_string(scene, IFA_LABEL, "a-label-longer-than-any-is");
    assert_int_equal(address_decode(wire_last(&scene->stage.wire), &address), 0);
    assert_int_equal(address.interface, 3);
    assert_ip(&address.local.address, "10.0.0.1");
    assert_ip(&address.peer, "10.0.0.2");
    assert_ip(&address.broadcast, "10.0.0.255");
    assert_string_equal(address.label, "a-label-longer-");
    assert_int_equal(address.flags, IFA_F_PERMANENT);
    wire_u32(&scene->stage.wire, IFA_FLAGS,
             IFA_F_PERMANENT | IFA_F_NOPREFIXROUTE); /* what does not fit there */
    assert_int_equal(address_decode(wire_last(&scene->stage.wire), &address), 0);
    assert_int_equal(address.flags, IFA_F_PERMANENT | IFA_F_NOPREFIXROUTE);
    ((struct ifaddrmsg *)NLMSG_DATA(wire_last(&scene->stage.wire)))->ifa_prefixlen = 33;
    assert_int_equal(address_decode(wire_last(&scene->stage.wire), &address), -EBADMSG);
    ((struct ifaddrmsg *)NLMSG_DATA(wire_last(&scene->stage.wire)))->ifa_family = 129;
    assert_int_equal(address_decode(wire_last(&scene->stage.wire), &address), -EAFNOSUPPORT);
}

/* --- The two dumps ---------------------------------------------------------------------------- */

/* Two interfaces; their addresses as the kernel dumps them: IPv4 of all, then IPv6 of all. */
static void put_two(struct scene *scene)
{
    put_address(scene, 1, 8, "127.0.0.1", "lo");
    put_address(scene, 7, 24, "192.0.2.1", "eth0");
    put_address(scene, 7, 25, "192.0.2.2", "eth0:1");
    put_address(scene, 7, 26, "192.0.2.3", "eth0:1");
    put_address(scene, 1, 128, "::1", NULL);
    put_address(scene, 7, 64, "2001:db8::1", NULL);
    answer(scene, 1);
    begin_link(scene, 2, 7, "eth0");
    begin_link(scene, 2, 9, "eth1");
    begin_link(scene, 2, 1, "lo");
    answer(scene, 2);
}

static void addresses_find_their_interface(void **state)
{
    struct scene *scene = *state;

    put_two(scene);
    assert_int_equal(list(scene, &backend_link, INTERFACE_ADDRESSES), 0);
    assert_int_equal(scene->stage.report.count, 0);
    assert_int_equal(scene->count, 4);
    assert_string_equal(scene->rows[0].name, "eth0");
    assert_string_equal(scene->rows[0].addresses,
                        "192.0.2.1/24,192.0.2.2/25,192.0.2.3/26,2001:db8::1/64");
    assert_int_equal(scene->rows[0].record.interface.address_count, 4);
    assert_string_equal(scene->rows[2].addresses, "-");
    assert_string_equal(scene->rows[3].addresses, "127.0.0.1/8,::1/128");
}

static void addresses_are_counted_by_their_flags(void **state)
{
    static const struct interface_address addresses[] = {
        {.flags = IFA_F_PERMANENT},
        {.flags = IFA_F_PERMANENT | IFA_F_TENTATIVE | IFA_F_DADFAILED},
        {.flags = IFA_F_TENTATIVE},
    };
    struct record record = {.kind = &kind_interface,
                            .has = INTERFACE_ADDRESSES,
                            .interface = {.addresses = addresses, .address_count = 3}};

    (void)state;
    assert_field("addresses_failed", &record, "1");
    assert_field("addresses_tentative", &record, "2");
    record.interface.labelled = true; /* it has one address of its label */
    assert_field("addresses_failed", &record, "-");
}

/* As in a new namespace, whose loopback is down. */
static void no_interface_need_have_an_address(void **state)
{
    struct scene *scene = *state;

    answer(scene, 1);
    begin_link(scene, 2, 1, "lo");
    answer(scene, 2);
    assert_int_equal(list(scene, &backend_link, INTERFACE_ADDRESSES), 0);
    assert_int_equal(scene->count, 1);
    assert_true(scene->rows[0].record.has & INTERFACE_ADDRESSES);
    assert_int_equal(scene->rows[0].record.interface.address_count, 0);
    assert_null(scene->rows[0].record.interface.addresses);
    assert_string_equal(scene->rows[0].addresses, "-");
}

static void a_label_is_a_row_of_its_own_once(void **state)
{
    struct scene *scene = *state;

    put_two(scene);
    assert_int_equal(list(scene, &backend_link, INTERFACE_ADDRESSES), 0);
    assert_string_equal(scene->rows[1].name, "eth0:1");
    assert_true(scene->rows[1].record.interface.labelled);
    assert_string_equal(scene->rows[1].addresses, "-");
    assert_int_equal(scene->rows[1].record.interface.address_count, 1);
    assert_false(scene->rows[0].record.interface.labelled);
}

static void addresses_are_not_asked_for_when_nobody_shows_them(void **state)
{
    struct scene *scene = *state;
    const struct nlmsghdr *request = (const void *)scene->stage.peer.requests[0];

    begin_link(scene, 1, 7, "eth0");
    answer(scene, 1);
    assert_int_equal(list(scene, &backend_link, INTERFACE_MTU), 0);
    assert_int_equal(scene->stage.peer.request_count, 1);
    assert_int_equal(request->nlmsg_type, RTM_GETLINK);
    assert_int_equal(scene->count, 1);
    assert_false(scene->rows[0].record.has & INTERFACE_ADDRESSES);
}

/* A discipline of an interface; parent TC_H_ROOT, or another one. */
static void put_queue(struct scene *scene, int index, uint32_t parent, uint32_t drops)
{
    const struct tcmsg body = {.tcm_ifindex = index, .tcm_parent = parent};
    const struct {
        struct nlattr header;
        struct gnet_stats_queue stats;
    } nested = {{sizeof nested, TCA_STATS_QUEUE}, {.qlen = 1, .drops = drops, .overlimits = 9}};

    wire_message(&scene->stage.wire, RTM_NEWQDISC, NLM_F_MULTI, 1);
    wire_put(&scene->stage.wire, &body, sizeof body);
    wire_attribute(&scene->stage.wire, TCA_STATS2, &nested, sizeof nested);
}

static void drops_are_those_of_the_root_of_the_interface(void **state)
{
    struct scene *scene = *state;

    put_queue(scene, 9, TC_H_ROOT, 3);
    put_queue(scene, 7, TC_H_INGRESS, 2);
    put_queue(scene, 7, TC_H_ROOT, 17);
    put_queue(scene, 7, 1, 16);
    answer(scene, 1);
    begin_link(scene, 2, 7, "eth0");
    begin_link(scene, 2, 8, "dummy0");
    begin_link(scene, 2, 9, "eth1");
    answer(scene, 2);
    assert_int_equal(list(scene, &backend_link, INTERFACE_QUEUE_DROPS), 0);
    assert_int_equal(scene->stage.report.count, 0);
    assert_field("tx_queue_drops", &scene->rows[0].record, "17");
    assert_field("tx_queue_drops", &scene->rows[1].record, "-");
    assert_field("tx_queue_drops", &scene->rows[2].record, "3");
}

static void a_kernel_without_disciplines_has_interfaces_all_the_same(void **state)
{
    struct scene *scene = *state;

    wire_done(&scene->stage.wire, NLM_F_MULTI, 1, -EOPNOTSUPP);
    peer_add_wire(&scene->stage.peer, &scene->stage.wire);
    scene->stage.wire.length = 0;
    begin_link(scene, 2, 7, "eth0");
    answer(scene, 2);
    assert_int_equal(list(scene, &backend_link, INTERFACE_QUEUE_DROPS), 0);
    assert_int_equal(scene->count, 1);
    assert_field("tx_queue_drops", &scene->rows[0].record, "-");
}

static void a_malformed_message_is_reported_and_the_others_come(void **state)
{
    struct scene *scene = *state;

    begin_link(scene, 1, 7, "");
    begin_link(scene, 1, 8, "eth1");
    answer(scene, 1);
    assert_int_equal(list(scene, &backend_link, INTERFACE_MTU), 0);
    assert_int_equal(scene->count, 1);
    assert_true(report_says(&scene->stage.report, "dev: a netlink message is malformed"));
}

/* --- The file --------------------------------------------------------------------------------- */

static const char heading[] =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n";

static void names_and_counters_come_from_the_file(void **state)
{
    struct scene *scene = *state;
    char text[1024];

    snprintf(text, sizeof text, "%s%s%s", heading,
             "    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
             "enp0:18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
    tree_puts(&scene->stage.tree, "dev", text);
    assert_int_equal(list(scene, &backend_proc_dev, 0), 0);
    assert_int_equal(scene->stage.report.count, 0);
    assert_int_equal(scene->count, 2);
    assert_string_equal(scene->rows[0].name, "lo");
    assert_int_equal(scene->rows[0].record.has, INTERFACE_COUNTERS);
    for (size_t i = 0; i < INTERFACE_COUNTERS_MAX; i++)
        assert_int_equal(scene->rows[0].record.interface.counters[i], i + 1);
    assert_string_equal(scene->rows[1].name, "enp0");
    assert_true(scene->rows[1].record.interface.counters[RX_BYTES] == UINT64_MAX);
}

static void a_name_may_have_a_colon(void **state)
{
    struct scene *scene = *state;
    char text[1024];

    snprintf(text, sizeof text, "%s%s", heading,
             "eth0:1: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
             "team0:1:17 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
    tree_puts(&scene->stage.tree, "dev", text);
    assert_int_equal(list(scene, &backend_proc_dev, 0), 0);
    assert_int_equal(scene->stage.report.count, 0);
    assert_int_equal(scene->count, 2);
    assert_string_equal(scene->rows[0].name, "eth0:1");
    assert_int_equal(scene->rows[0].record.interface.counters[RX_BYTES], 1);
    assert_string_equal(scene->rows[1].name, "team0:1");
    assert_int_equal(scene->rows[1].record.interface.counters[RX_BYTES], 17);
}

static void malformed_lines_are_skipped_counted_and_reported(void **state)
{
    struct scene *scene = *state;
    char text[1024];

    snprintf(text, sizeof text, "%s%s", heading,
             "lo: 1 2 3\n: 1\n\neth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16");
    tree_puts(&scene->stage.tree, "dev", text);
    assert_int_equal(list(scene, &backend_proc_dev, 0), 0);
    assert_int_equal(scene->count, 1);
    assert_true(report_says(&scene->stage.report, "/net/dev: skipped 2 malformed lines"));
    assert_true(
        report_says(&scene->stage.report, "/net/dev is truncated: its last line has no newline"));
    assert_true(scene->stage.report.partial);
}

static void an_empty_file_is_a_loss(void **state)
{
    struct scene *scene = *state;

    tree_puts(&scene->stage.tree, "dev", "");
    assert_int_equal(list(scene, &backend_proc_dev, 0), 0);
    assert_true(report_says(&scene->stage.report, "/net/dev is empty"));
}

static void a_file_that_is_not_there_is_a_loss(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(list(scene, &backend_proc_dev, 0), 0);
    assert_true(report_says(&scene->stage.report, "cannot open"));
    assert_true(scene->stage.report.partial);
}

static void a_first_line_that_is_no_heading_is_malformed(void **state)
{
    struct scene *scene = *state;

    tree_puts(&scene->stage.tree, "dev",
              "what is this\nlo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
    assert_int_equal(list(scene, &backend_proc_dev, 0), 0);
    assert_int_equal(scene->count, 1);
    assert_true(report_says(&scene->stage.report, "skipped 1 malformed line"));
}

static void what_the_file_lacks_is_reported_when_it_was_asked_for(void **state)
{
    struct scene *scene = *state;

    tree_puts(&scene->stage.tree, "dev", "lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
    assert_int_equal(list(scene, &backend_proc_dev, INTERFACE_COUNTERS), 0);
    assert_false(scene->stage.report.partial);
    assert_int_equal(list(scene, &backend_proc_dev, INTERFACE_MTU), 0);
    assert_true(report_says(&scene->stage.report, "has only their names and counters"));
    assert_true(scene->stage.report.partial);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, stage_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_interface_has_the_values_of_its_message),
        TEST(counters_are_added_up_as_in_the_file),
        TEST(an_interface_without_a_name_is_none),
        TEST(a_lladdr_longer_than_the_longest_is_none),
        TEST(an_address_has_the_values_of_its_message),
        TEST(addresses_find_their_interface),
        TEST(no_interface_need_have_an_address),
        cmocka_unit_test(addresses_are_counted_by_their_flags),
        TEST(a_label_is_a_row_of_its_own_once),
        TEST(addresses_are_not_asked_for_when_nobody_shows_them),
        TEST(drops_are_those_of_the_root_of_the_interface),
        TEST(a_kernel_without_disciplines_has_interfaces_all_the_same),
        TEST(a_malformed_message_is_reported_and_the_others_come),
        TEST(names_and_counters_come_from_the_file),
        TEST(a_name_may_have_a_colon),
        TEST(malformed_lines_are_skipped_counted_and_reported),
        TEST(an_empty_file_is_a_loss),
        TEST(a_file_that_is_not_there_is_a_loss),
        TEST(a_first_line_that_is_no_heading_is_malformed),
        TEST(what_the_file_lacks_is_reported_when_it_was_asked_for),
    };

    return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
