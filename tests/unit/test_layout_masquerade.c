/* SPDX-License-Identifier: MIT */
/* The lines of netstat -M, byte for byte. */
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "kit.h"

static struct record flow_record(uint8_t protocol)
{
    struct record record = {
        .kind = &kind_flow,
        .has = FLOW_ORIG | FLOW_REPLY | FLOW_TIMEOUT | FLOW_STATUS | FLOW_ID,
        .flow = {.family = AF_INET,
                 .timeout = 431,
                 .status = IPS_SRC_NAT | IPS_SRC_NAT_DONE,
                 .way = {{.tuple = {.src = IPV4(10, 0, 0, 2),
                                    .dst = IPV4(192, 0, 2, 9),
                                    .src_port = 40000,
                                    .dst_port = 80,
                                    .protocol = protocol}},
                         {.tuple = {.src = IPV4(192, 0, 2, 9),
                                    .dst = IPV4(203, 0, 113, 1),
                                    .src_port = 80,
                                    .dst_port = 6000,
                                    .protocol = protocol}}}},
    };

    return record;
}

/* The rows, so many times the same one. */
static const char *written(const struct masquerade_layout *layout, const struct record *record,
                           int rows)
{
    struct output output;
    struct sink *sink = sink_create(&sink_masquerade, layout, output_begin(&output), &no_names);

    assert_non_null(sink);
    sink_begin(sink);
    for (; rows > 0; rows--)
        sink->ops->row(sink, record);
    sink_end(sink);
    return output_end(&output, sink);
}

static const struct masquerade_layout numeric = {.numeric_hosts = true, .numeric_ports = true};

static void a_connection_shows_its_first_addresses_and_translated_port(void **state)
{
    struct record record = flow_record(IPPROTO_TCP);

    (void)state;
    assert_string_equal(written(&numeric, &record, 1),
                        "tcp   7:11.00 10.0.0.2             192.0.2.9            "
                        "40000 -> 80 (6000)\n");
}

static void the_heading_comes_with_the_first_row_and_not_without(void **state)
{
    struct masquerade_layout layout = numeric;
    struct record record = flow_record(IPPROTO_UDP);

    (void)state;
    layout.header = true;
    assert_string_equal(written(&layout, &record, 0), "");
    assert_string_equal(
        written(&layout, &record, 2),
        "IP masquerading entries\n"
        "prot   expire source               destination          ports\n"
        "udp   7:11.00 10.0.0.2             192.0.2.9            40000 -> 80 (6000)\n"
        "udp   7:11.00 10.0.0.2             192.0.2.9            40000 -> 80 (6000)\n");
}

static void sequence_numbers_are_0_unless_the_kernel_changes_them(void **state)
{
    struct masquerade_layout layout = numeric;
    struct record record = flow_record(IPPROTO_TCP);

    (void)state;
    layout.extended = layout.header = true;
    assert_string_equal(written(&layout, &record, 1),
                        "IP masquerading entries\n"
                        "prot   expire    initseq delta prevd source               "
                        "destination          ports\n"
                        "tcp   7:11.00          0     0     0 10.0.0.2             "
                        "192.0.2.9            40000 -> 80 (6000)\n");
    record.flow.status |= IPS_SEQ_ADJUST;
    layout.header = false;
    assert_string_equal(written(&layout, &record, 1),
                        "tcp   7:11.00          -     -     - 10.0.0.2             "
                        "192.0.2.9            40000 -> 80 (6000)\n");
    record.flow.status = 0;
    record.has &= ~FLOW_ID;
    assert_non_null(strstr(written(&layout, &record, 1), " -     -     - 10."));
}

static void icmp_has_its_id_for_a_port_and_type_and_code_for_the_other(void **state)
{
    struct record record = flow_record(IPPROTO_ICMP);

    (void)state;
    record.flow.way[WAY_ORIG].tuple.src_port = 77;
    record.flow.way[WAY_ORIG].tuple.icmp_type = 8;
    record.flow.way[WAY_ORIG].tuple.icmp_code = 1;
    record.flow.way[WAY_REPLY].tuple.src_port = 78;
    assert_string_equal(written(&numeric, &record, 1),
                        "icmp  7:11.00 10.0.0.2             192.0.2.9            "
                        "77 -> 2049 (78)\n");
}

static void a_wide_text_shifts_the_next_columns(void **state)
{
    struct record record = flow_record(IPPROTO_UDPLITE);

    (void)state;
    record.flow.family = AF_INET6;
    record.flow.timeout = 432000;
    record.flow.way[WAY_ORIG].tuple.src = ip("2001:db8:1111:2222::6666");
    record.flow.way[WAY_ORIG].tuple.dst = ip("2001:db8::9");
    assert_string_equal(written(&numeric, &record, 1),
                        "udplite 7200:00.00 2001:db8:1111:2222::6666 2001:db8::9          "
                        "40000 -> 80 (6000)\n");
    record.has &= ~FLOW_TIMEOUT;
    record.flow.way[WAY_ORIG].tuple.protocol = 222;
    record.flow.way[WAY_ORIG].tuple.src_port = 0;
    assert_string_equal(written(&numeric, &record, 1),
                        "222      -    2001:db8:1111:2222::6666 2001:db8::9          "
                        "* -> 80 (6000)\n");
}

static void esp_has_its_name_and_no_ports(void **state)
{
    struct record record = flow_record(IPPROTO_ESP);

    (void)state;
    record.flow.timeout = 59;
    record.flow.way[WAY_ORIG].tuple.src_port = record.flow.way[WAY_ORIG].tuple.dst_port =
        record.flow.way[WAY_REPLY].tuple.dst_port = 0;
    assert_string_equal(written(&numeric, &record, 1),
                        "esp   0:59.00 10.0.0.2             192.0.2.9            * -> * (*)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_shows_its_first_addresses_and_translated_port),
        cmocka_unit_test(the_heading_comes_with_the_first_row_and_not_without),
        cmocka_unit_test(sequence_numbers_are_0_unless_the_kernel_changes_them),
        cmocka_unit_test(icmp_has_its_id_for_a_port_and_type_and_code_for_the_other),
        cmocka_unit_test(a_wide_text_shifts_the_next_columns),
        cmocka_unit_test(esp_has_its_name_and_no_ports),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
