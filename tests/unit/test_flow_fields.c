/* SPDX-License-Identifier: MIT */
/* The fields of flows, expectations, and their counters. */
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "fastnet/flow_names.h"
#include "fastnet/hosts.h"
#include "fastnet/labels.h"
#include "fastnet/namespace.h"
#include "flow_rows.h"
#include "kit.h"

/* The names of the manual: once released they stay. */
static const char *const flow_columns[] = {
    "protocol",
    "protocol_number",
    "family",
    "state",
    "timeout",
    "orig_src",
    "orig_dst",
    "orig_sport",
    "orig_dport",
    "orig_packets",
    "orig_bytes",
    "reply_src",
    "reply_dst",
    "reply_sport",
    "reply_dport",
    "reply_packets",
    "reply_bytes",
    "status",
    "mark",
    "zone",
    "orig_zone",
    "reply_zone",
    "secmark",
    "secctx",
    "helper",
    "labels",
    "id",
    "references",
    "start",
    "stop",
    "age",
    "icmp_type",
    "icmp_code",
    "icmp_id",
    "orig_srckey",
    "orig_dstkey",
    "reply_srckey",
    "reply_dstkey",
    "orig_vtag",
    "reply_vtag",
    "role",
    "event",
    "sender",
    "process",
    "from",
    "to",
    "nat",
    "traffic",
    "details",
    "orig_pid",
    "orig_process",
    "orig_processes",
    "orig_netns",
    "reply_pid",
    "reply_process",
    "reply_processes",
    "reply_netns",
};

static void the_promised_names_are_there_in_order(void **state)
{
    static const char *const expectations[] = {
        "protocol",   "family",       "timeout",      "src",        "dst",        "sport",
        "dport",      "mask_src",     "mask_dst",     "mask_sport", "mask_dport", "master_src",
        "master_dst", "master_sport", "master_dport", "zone",       "flags",      "class",
        "helper",     "id",           "event",
    };
    static const char *const statistics[] = {
        "cpu",        "searched",       "found",         "new",
        "invalid",    "ignore",         "delete",        "delete_list",
        "insert",     "insert_failed",  "drop",          "early_drop",
        "error",      "search_restart", "clash_resolve", "chaintoolong",
        "expect_new", "expect_create",  "expect_delete",
    };
    static const char *const usage[] = {
        "entries",
        "maximum",
        "percent_full",
        "buckets",
        "average_chain",
        "entry_size",
        "entry_size_estimated",
        "memory",
        "drop",
        "early_drop",
        "sysctl",
    };

    (void)state;
    ASSERT_NAMES(&kind_flow, flow_columns);
    ASSERT_NAMES(&kind_expectation, expectations);
    ASSERT_NAMES(&kind_flow_statistics, statistics);
    ASSERT_NAMES(&kind_flow_usage, usage);
}

static void only_states_are_coloured(void **state)
{
    static const struct kind *const kinds[] = {&kind_flow, &kind_expectation, &kind_flow_statistics,
                                               &kind_flow_usage};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (size_t j = 0; j < kinds[i]->field_count; j++)
            assert_int_equal(kinds[i]->fields[j].coloured,
                             strcmp(kinds[i]->fields[j].name, "state") == 0);
    }
}

/* --- Flows ------------------------------------------------------------------------------------ */

static struct record full_flow(void)
{
    struct record record = tcp_flow();
    struct flow_record *flow = &record.flow;

    record.has = UINT64_MAX;
    flow->way[WAY_ORIG].packets = 1;
    flow->way[WAY_ORIG].bytes = UINT64_MAX;
    flow->way[WAY_REPLY].packets = 3;
    flow->way[WAY_REPLY].bytes = 4;
    flow->zone = flow->way[WAY_ORIG].zone = flow->way[WAY_REPLY].zone = 0;
    flow->secmark = 5;
    flow->use = 6;
    flow->way[WAY_ORIG].vtag = 7;
    flow->way[WAY_REPLY].vtag = 4294967295;
    flow->sender = 8;
    flow->role = 1;
    flow->start = 1795180878 * SECOND + 848635998;
    flow->stop = 1795180880 * SECOND;
    flow->received = 1795180881 * SECOND;
    flow->event = FLOW_DESTROY;
    flow->helper = (struct text){"a b", 3};
    flow->secctx = (struct text){"u:r:t", 5};
    return record;
}

static void a_flow_shows_every_member(void **state)
{
    static const char *const expected[][2] = {
        {"protocol", "tcp"},
        {"protocol_number", "6"},
        {"family", "inet"},
        {"state", "ESTABLISHED"},
        {"timeout", "43199"},
        {"orig_src", "192.0.2.1"},
        {"orig_dst", "198.51.100.2"},
        {"orig_sport", "40000"},
        {"orig_dport", "443"},
        {"orig_packets", "1"},
        {"orig_bytes", "18446744073709551615"},
        {"reply_src", "198.51.100.2"},
        {"reply_dst", "192.0.2.1"},
        {"reply_sport", "443"},
        {"reply_dport", "40000"},
        {"reply_packets", "3"},
        {"reply_bytes", "4"},
        {"status", "SEEN_REPLY,ASSURED,CONFIRMED"},
        {"mark", "7"},
        {"secmark", "5"},
        {"secctx", "u:r:t"},
        {"helper", "a\\x20b"},
        {"labels", "-"},
        {"id", "3645521714"},
        {"references", "6"},
        {"start", "2026-11-20T13:21:18.848635Z"},
        {"stop", "2026-11-20T13:21:20.000000Z"},
        {"age", "1.151"},
        {"orig_vtag", "7"},
        {"reply_vtag", "4294967295"},
        {"role", "server"},
        {"event", "DESTROY"},
        {"time", "2026-11-20T13:21:21.000000Z"},
        {"sender", "8"},
        {"process", "-"},
        {NULL, NULL},
    };
    const struct record record = full_flow();

    (void)state;
    assert_fields(&record, expected);
}

static void protocols_without_a_name_are_numbers(void **state)
{
    struct record record = flow_of(150, 599, "192.0.2.1", "192.0.2.4", 1, 2);

    (void)state;
    assert_field("protocol", &record, "150");
    assert_field("protocol_number", &record, "150");
    assert_field("state", &record, "-");
    assert_field("orig_sport", &record, "-");
    assert_field("reply_dport", &record, "-");
    record.flow.way[WAY_ORIG].tuple.protocol = 255;
    assert_field("protocol", &record, "255");
    record.flow.way[WAY_ORIG].tuple.protocol = IPPROTO_ICMPV6;
    assert_field("protocol", &record, "icmpv6");
    record.flow.way[WAY_ORIG].tuple.protocol = IPPROTO_UDPLITE;
    assert_field("protocol", &record, "udplite");
}

static void only_protocols_with_ports_have_some(void **state)
{
    const struct record icmp = icmp_flow(), gre = gre_flow();
    const struct record sctp = sctp_flow();

    (void)state;
    assert_field("orig_sport", &icmp, "-");
    assert_field("icmp_type", &icmp, "8");
    assert_field("icmp_code", &icmp, "0");
    assert_field("icmp_id", &icmp, "4711");
    assert_field("orig_srckey", &icmp, "-");
    assert_field("reply_sport", &gre, "-");
    assert_field("orig_srckey", &gre, "16");
    assert_field("orig_dstkey", &gre, "43981");
    assert_field("reply_srckey", &gre, "43981");
    assert_field("reply_dstkey", &gre, "16");
    assert_field("icmp_id", &gre, "-");
    assert_field("orig_dport", &sctp, "36412");
    assert_field("state", &sctp, "ESTABLISHED");
}

static void port_0_is_a_port_and_untracked_protocols_have_no_port(void **state)
{
    static const char *const ports[] = {"orig_sport", "orig_dport", "reply_sport", "reply_dport"};
    static const char *const keys[] = {"orig_srckey", "orig_dstkey", "reply_srckey",
                                       "reply_dstkey"};
    const struct record udp = flow_of(IPPROTO_UDP, 1, "2001::1", "2001::2", 0, 0);
    const struct record gre = flow_of(IPPROTO_GRE, 1, "2001::1", "2001::2", 0, 0);
    const struct record dccp = flow_without_ports(IPPROTO_DCCP);
    const struct record no_keys = flow_without_ports(IPPROTO_GRE);

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        assert_field(ports[i], &udp, "0");
        assert_field(ports[i], &dccp, "-");
        assert_field(keys[i], &gre, "0");
        assert_field(keys[i], &no_keys, "-");
    }
}

static void states_have_the_names_of_their_protocol(void **state)
{
    static const char *const tcp[] = {"NONE",     "SYN_SENT",   "SYN_RECV", "ESTABLISHED",
                                      "FIN_WAIT", "CLOSE_WAIT", "LAST_ACK", "TIME_WAIT",
                                      "CLOSE",    "SYN_SENT2",  "-"};
    static const char *const sctp[] = {"NONE",
                                       "CLOSED",
                                       "COOKIE_WAIT",
                                       "COOKIE_ECHOED",
                                       "ESTABLISHED",
                                       "SHUTDOWN_SENT",
                                       "SHUTDOWN_RECD",
                                       "SHUTDOWN_ACK_SENT",
                                       "HEARTBEAT_SENT",
                                       "HEARTBEAT_ACKED",
                                       "-"};
    static const char *const dccp[] = {"NONE",   "REQUEST",  "RESPOND", "PARTOPEN",
                                       "OPEN",   "CLOSEREQ", "CLOSING", "TIMEWAIT",
                                       "IGNORE", "INVALID",  "-"};
    struct record record = full_flow();

    (void)state;
    for (uint8_t number = 0; number < 11; number++) {
        record.flow.state = number;
        record.flow.way[WAY_ORIG].tuple.protocol = IPPROTO_TCP;
        assert_field("state", &record, tcp[number]);
        record.flow.way[WAY_ORIG].tuple.protocol = IPPROTO_SCTP;
        assert_field("state", &record, sctp[number]);
        record.flow.way[WAY_ORIG].tuple.protocol = IPPROTO_DCCP;
        assert_field("state", &record, dccp[number]);
        record.flow.way[WAY_ORIG].tuple.protocol = IPPROTO_UDP;
        assert_field("state", &record, "-");
    }
}

static void status_bits_have_their_kernel_names(void **state)
{
    struct record record = udp_flow();

    (void)state;
    record.flow.status = 0xffff | 1U << 31;
    assert_field("status", &record,
                 "EXPECTED,SEEN_REPLY,ASSURED,CONFIRMED,SRC_NAT,DST_NAT,SEQ_ADJUST,SRC_NAT_DONE,"
                 "DST_NAT_DONE,DYING,FIXED_TIMEOUT,TEMPLATE,NAT_CLASH,HELPER,OFFLOAD,HW_OFFLOAD,"
                 "31");
    record.flow.status = 0;
    assert_int_equal(value_of("status", &record, &no_names).type, VALUE_FLAGS);
}

static void a_zone_is_zero_unless_the_kernel_says_otherwise(void **state)
{
    struct record record = udp_flow();

    (void)state;
    record.flow.zone = 3;
    record.flow.way[WAY_ORIG].zone = 4;
    record.flow.way[WAY_REPLY].zone = 5;
    assert_field("zone", &record, "0");
    assert_field("orig_zone", &record, "0");
    record.has |= FLOW_ZONE;
    assert_field("zone", &record, "3");
    assert_field("orig_zone", &record, "3");
    assert_field("reply_zone", &record, "3");
    record.has = FLOW_ORIG | FLOW_ORIG_ZONE;
    assert_field("zone", &record, "0");
    assert_field("orig_zone", &record, "4");
    assert_field("reply_zone", &record, "0");
    record.has = FLOW_ORIG | FLOW_REPLY_ZONE;
    assert_field("orig_zone", &record, "0");
    assert_field("reply_zone", &record, "5");
}

static void a_mapped_address_is_the_ipv4_address(void **state)
{
    const struct record record = icmpv6_flow();

    (void)state;
    assert_field("family", &record, "inet6");
    assert_field("orig_src", &record, "::1");
    assert_field("orig_dst", &record, "1.2.3.4");
    assert_int_equal(value_of("orig_dst", &record, &no_names).address.family, AF_INET);
}

static void the_age_of_a_flow_that_goes_on_is_until_now(void **state)
{
    struct record record = udp_flow();

    (void)state;
    record.has |= FLOW_START;
    record.flow.start = (uint64_t)(time(NULL) - 1000) * SECOND;
    assert_in_range(value_of("age", &record, &no_names).number, 1000000, 1060000);
    record.flow.start = (uint64_t)(time(NULL) + 1000) * SECOND; /* the clock was set back */
    assert_field("age", &record, "-");
    record.has |= FLOW_STOP; /* it began after it ended */
    record.flow.stop = record.flow.start - 1;
    assert_field("age", &record, "-");
    record.flow.stop = record.flow.start;
    assert_field("age", &record, "0.000");
}

/* Those that conntrack itself shows as unknown, and what else -p takes. */
static void protocols_of_ip_have_names(void **state)
{
    static const struct {
        uint8_t number;
        const char *word;
    } protocols[] = {{2, "igmp"},  {50, "esp"},   {51, "ah"},    {89, "ospf"},
                     {103, "pim"}, {112, "vrrp"}, {115, "l2tp"}, {4, "ipip"}};

    (void)state;
    for (size_t i = 0; i < COUNT(protocols); i++) {
        const struct record record =
            flow_of(protocols[i].number, 599, "192.0.2.1", "192.0.2.4", 1, 2);
        assert_field("protocol", &record, protocols[i].word);
        assert_int_equal(flow_protocol_of_word(protocols[i].word), protocols[i].number);
        assert_null(flow_protocol_name(protocols[i].number).data); /* "unknown" in its lines */
    }
    assert_int_equal(flow_protocol_of_word("ICMPv6"), IPPROTO_ICMPV6);
    assert_int_equal(flow_protocol_of_word("IPSEC-ESP"), IPPROTO_ESP);
    assert_int_equal(flow_protocol_of_word("CPHB"), 73); /* the alias of rspf in protocols(5) */
    assert_int_equal(flow_protocol_of_word("nonsense"), -1);
}

static void details_distinguish_flows_without_ports(void **state)
{
    struct record record = flow_of(IPPROTO_ICMP, 29, "192.0.2.1", "192.0.2.4", 77, 0);
    struct flow_tuple *orig = &record.flow.way[WAY_ORIG].tuple;
    struct flow_tuple *reply = &record.flow.way[WAY_REPLY].tuple;

    (void)state;
    orig->icmp_type = 8;
    orig->icmp_code = 0;
    assert_field("details", &record, "icmp_id=77");
    orig->icmp_type = 13;
    assert_field("details", &record, "icmp_type=13,icmp_code=0,icmp_id=77");
    record = flow_of(IPPROTO_GRE, 29, "192.0.2.1", "192.0.2.4", 1, 2);
    orig->has_ports = reply->has_ports = true;
    reply->src_port = 2;
    reply->dst_port = 3;
    assert_field("details", &record, "orig_srckey=1,orig_dstkey=2,reply_srckey=2,reply_dstkey=3");
    record = flow_of(IPPROTO_TCP, 29, "192.0.2.1", "192.0.2.4", 1, 2);
    assert_field("details", &record, "-");
    record.has |= FLOW_ORIG_ZONE;
    record.flow.way[WAY_ORIG].zone = 7;
    assert_field("details", &record, "orig_zone=7");
    record.has |= FLOW_REPLY_ZONE;
    record.flow.way[WAY_REPLY].zone = 8;
    assert_field("details", &record, "orig_zone=7,reply_zone=8");
}

static void each_end_has_its_own_socket(void **state)
{
    static const struct context nothing;
    const struct netns web = {.id = 12, .name = "web"}, unnamed = {.id = 13};
    struct record record = udp_flow();

    (void)state;
    record.flow.netns[WAY_ORIG] = &web;
    assert_field("orig_netns", &record, "-");
    record.has |= FLOW_ORIG_SOCKET;
    assert_field("orig_netns", &record, "web");
    assert_field("reply_netns", &record, "-");
    record.has |= FLOW_REPLY_SOCKET;
    assert_field("reply_netns", &record, "-");
    record.flow.netns[WAY_REPLY] = &unnamed;
    assert_field("reply_netns", &record, "13");
    assert_field("reply_pid", &record, "-");
    /* no process can hold a socket without a file, so the list is known to be empty */
    assert_int_equal(
        field_value(field_named(&kind_flow, "reply_processes"), &record, &nothing).type,
        VALUE_OWNERS);
}

static void labels_are_names_or_bits(void **state)
{
    const struct context context = {.labels = make_labels()};
    struct record record = udp_flow();

    (void)state;
    assert_field("labels", &record, "-");
    record.has |= FLOW_LABELS;
    record.flow.labels[0] = 1U << 0 | 1U << 1 | 1U << 31;
    record.flow.labels[1] = 1;
    record.flow.labels[2] = 1;
    record.flow.labels[3] = 1U << 31;
    assert_field("labels", &record, "0,1,31,32,64,127");
    assert_string_equal(text_of("labels", &record, &context),
                        "zero,with\\x20blank,31,32,far-off,last");
    labels_destroy(context.labels);
}

static void events_and_roles_out_of_range_are_unknown(void **state)
{
    struct record record = full_flow();

    (void)state;
    record.flow.event = FLOW_NEW;
    assert_field("event", &record, "NEW");
    record.flow.event = FLOW_UPDATE;
    assert_field("event", &record, "UPDATE");
    record.flow.event = 3;
    assert_field("event", &record, "-");
    record.flow.role = 0;
    assert_field("role", &record, "client");
    record.flow.role = 2;
    assert_field("role", &record, "-");
}

/* --- Expectations, counters, usage ------------------------------------------------------------ */

static void an_expectation_shows_every_member(void **state)
{
    static const char *const expected[][2] = {
        {"protocol", "tcp"},
        {"family", "inet"},
        {"timeout", "299"},
        {"src", "127.0.0.1"},
        {"dst", "127.0.0.2"},
        {"sport", "0"},
        {"dport", "51210"},
        {"mask_src", "255.255.255.255"},
        {"mask_dst", "255.255.255.0"},
        {"mask_sport", "0"},
        {"mask_dport", "65535"},
        {"master_src", "127.0.0.3"},
        {"master_dst", "127.0.0.4"},
        {"master_sport", "48534"},
        {"master_dport", "2121"},
        {"zone", "-"},
        {"flags", "PERMANENT,INACTIVE,USERSPACE,3"},
        {"class", "2"},
        {"helper", "ftp"},
        {"id", "99"},
        {"event", "NEW"},
        {"time", "2026-11-20T13:21:21.000000Z"},
        {NULL, NULL},
    };
    struct record record = {.kind = &kind_expectation, .has = ~FLOW_ZONE};
    struct expectation_record *expectation = &record.expectation;

    (void)state;
    expectation->family = AF_INET;
    expectation->timeout = 299;
    expectation->flags = 15;
    expectation->class = 2;
    expectation->id = 99;
    expectation->helper = (struct text){"ftp", 3};
    expectation->received = 1795180881 * SECOND;
    expectation->orig = flow_tuple_of(IPPROTO_TCP, "127.0.0.1", "127.0.0.2", 0, 51210);
    expectation->mask = flow_tuple_of(IPPROTO_TCP, "255.255.255.255", "255.255.255.0", 0, 65535);
    expectation->master = flow_tuple_of(IPPROTO_TCP, "127.0.0.3", "127.0.0.4", 48534, 2121);
    assert_fields(&record, expected);
    record.has |= FLOW_ZONE;
    assert_field("zone", &record, "0");
}

static void counters_belong_to_flows_or_to_expectations(void **state)
{
    struct record record = {.kind = &kind_flow_statistics};

    (void)state;
    record.statistics.cpu = 3;
    for (uint32_t i = 0; i < FLOW_COUNTERS; i++)
        record.statistics.counters[i] = 100 + i;
    record.has = UINT32_MAX & ~(UINT64_C(1) << CTA_STATS_NEW);
    assert_field("cpu", &record, "3");
    assert_field("searched", &record, "101");
    assert_field("new", &record, "-");
    assert_field("drop", &record, "110");
    assert_field("early_drop", &record, "111");
    assert_field("chaintoolong", &record, "115");
    assert_field("expect_new", &record, "-");
    record.statistics.expectations = true;
    assert_field("searched", &record, "-");
    assert_field("expect_new", &record, "101");
    assert_field("expect_create", &record, "102");
    assert_field("expect_delete", &record, "-"); /* the bit of "new", above */
}

static void usage_shows_what_follows_from_it(void **state)
{
    struct record record = {.kind = &kind_flow_usage,
                            .has = USAGE_ENTRIES | USAGE_MAXIMUM | USAGE_BUCKETS | USAGE_DROPS,
                            .usage = {.entries = 100000,
                                      .maximum = 262144,
                                      .buckets = 65536,
                                      .entry_size = 256,
                                      .drop = 12,
                                      .early_drop = 3}};
    const bool wide = FLOW_BUCKET_SIZE == 8;

    (void)state;
    assert_field("entries", &record, "100000");
    assert_field("maximum", &record, "262144");
    assert_field("percent_full", &record, "38.146");
    assert_field("buckets", &record, "65536");
    assert_field("average_chain", &record, "3.051");
    assert_field("entry_size", &record, "320");
    assert_field("entry_size_estimated", &record, "yes");
    assert_field("memory", &record, wide ? "32524288" : "32262144");
    assert_field("drop", &record, "12");
    assert_field("early_drop", &record, "3");
    assert_field("sysctl", &record, "net.netfilter.nf_conntrack_max");
    record.has |= USAGE_ENTRY_SIZE;
    assert_field("entry_size", &record, "256");
    assert_field("entry_size_estimated", &record, "no");
    assert_field("memory", &record, wide ? "26124288" : "25862144");
}

static void usage_that_cannot_be_known_is_unknown(void **state)
{
    static const char *const names[] = {"maximum",       "percent_full", "buckets",
                                        "average_chain", "memory",       "drop"};
    struct record record = {.kind = &kind_flow_usage, .has = USAGE_ENTRIES};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_field(names[i], &record, "-");
    record.has |= USAGE_MAXIMUM | USAGE_BUCKETS;
    assert_field("maximum", &record, "0"); /* no limit */
    assert_field("percent_full", &record, "-");
    assert_field("average_chain", &record, "-");
    record.usage.maximum = record.usage.entries = UINT64_MAX; /* as a captured tree may have it */
    assert_field("percent_full", &record, "100.000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_promised_names_are_there_in_order),
        cmocka_unit_test(only_states_are_coloured),
        cmocka_unit_test(a_flow_shows_every_member),
        cmocka_unit_test(protocols_without_a_name_are_numbers),
        cmocka_unit_test(only_protocols_with_ports_have_some),
        cmocka_unit_test(port_0_is_a_port_and_untracked_protocols_have_no_port),
        cmocka_unit_test(states_have_the_names_of_their_protocol),
        cmocka_unit_test(status_bits_have_their_kernel_names),
        cmocka_unit_test(a_zone_is_zero_unless_the_kernel_says_otherwise),
        cmocka_unit_test(a_mapped_address_is_the_ipv4_address),
        cmocka_unit_test(the_age_of_a_flow_that_goes_on_is_until_now),
        cmocka_unit_test(protocols_of_ip_have_names),
        cmocka_unit_test(details_distinguish_flows_without_ports),
        cmocka_unit_test(each_end_has_its_own_socket),
        cmocka_unit_test(labels_are_names_or_bits),
        cmocka_unit_test(events_and_roles_out_of_range_are_unknown),
        cmocka_unit_test(an_expectation_shows_every_member),
        cmocka_unit_test(counters_belong_to_flows_or_to_expectations),
        cmocka_unit_test(usage_shows_what_follows_from_it),
        cmocka_unit_test(usage_that_cannot_be_known_is_unknown),
    };

    return cmocka_run_group_tests_name("flow_fields", tests, set_time_zone, NULL);
}
