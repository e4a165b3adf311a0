/* SPDX-License-Identifier: MIT */
/* Which flows conntrack's options ask for, and which of them go together. */
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/personality.h"
#include "ct_line.h"
#include "kit.h"
#include "predicates.h"

/* A line that names the option stands before the one that names its argument. */
#define STATUSES                                                                                   \
    "--status: ASSURED, SEEN_REPLY, UNREPLIED, SRC_NAT, DST_NAT, EXPECTED, FIXED_TIMEOUT, "        \
    "OFFLOAD, HW_OFFLOAD, UNSET\nconntrack: Bad parameter "
#define ADDRESS(name) "--" name ": an address, or ADDRESS/LENGTH\nconntrack: Invalid IP address "
#define TRANSLATED(name)                                                                           \
    "--" name ": ADDRESS, ADDRESS:PORT, [ADDRESS]:PORT, :PORT, or nothing\nconntrack: Invalid IP " \
    "address or port "
#define MARK "--mark: MARK or MARK/MASK, numbers of at most 4294967295\nconntrack: Bad parameter "
#define LABELS                                                                                     \
    "--label: names of connlabel.conf, or numbers of at most 127\nconntrack: unknown label "
#define PROTOCOL                                                                                   \
    "--protonum: a number of at most 255, or a name: tcp, udp, icmp, sctp, gre ...\nconntrack: "
#define FAMILY "--family: ipv4 or ipv6\nconntrack: "

static void assert_asks(const char *line, const char *expected)
{
    assert_string_equal(said_of(ct_where(line)), expected);
}

/* --- Which flows ------------------------------------------------------------------------------ */

static void families_are_named(void **state)
{
    (void)state;
    assert_asks("-f ipv4", "family = 2");
    assert_asks("--family=ipv6", "family = 10");
    assert_asks("-f ipv4x", "family = 2"); /* as the original */
    assert_asks("-f ipv66", "family = 10");
    assert_string_equal(
        said_of(conntrack_filter_where(ct_filter("-L expect -f ipv6"), &kind_expectation)),
        "family = 10");
    WRONG(FAMILY "`ipx' unsupported protocol", "-f", "ipx");
    WRONG(FAMILY "`inet' unsupported protocol", "-f", "inet");
    WRONG(FAMILY "`inet6' unsupported protocol", "-f", "inet6");
    WRONG("mismatched address family", "-f", "ipv4", "-f", "ipv6");
}

static void addresses_are_of_a_direction_and_an_end(void **state)
{
    (void)state;
    assert_asks("-s 1.1.1.1 -d 2.2.2.0/24 -r 3.3.3.3 -q 4.4.4.4",
                "orig_src in 1.1.1.1/255.255.255.255 and orig_dst in 2.2.2.0/255.255.255.0 and "
                "reply_src in 3.3.3.3/255.255.255.255 and reply_dst in 4.4.4.4/255.255.255.255 and "
                "family = 2");
}

static void addresses_have_several_names(void **state)
{
    static const struct {
        const char *name, *field;
    } names[] = {
        {"--src=::1", "orig_src"},        {"--orig-src=::1", "orig_src"},
        {"--dst=::1", "orig_dst"},        {"--orig-dst=::1", "orig_dst"},
        {"--reply-src=::1", "reply_src"}, {"--reply-dst=::1", "reply_dst"},
        {"--orig-s=::1", "orig_src"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        char expected[128];
        snprintf(expected, sizeof expected,
                 "%s in ::1/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff and family = 10",
                 names[i].field);
        assert_asks(names[i].name, expected);
    }
}

static void families_of_addresses_may_not_differ(void **state)
{
    (void)state;
    WRONG("mismatched address family", "-s", "1.2.3.4", "-d", "::1");
    WRONG("mismatched address family", "-f", "ipv6", "-s", "1.2.3.4");
    WRONG("mismatched address family", "-s", "1.2.3.4", "-f", "ipv6");
    WRONG("mismatched address family", "-s", "1.2.3.4", "-n", "::1");
    WRONG("mismatched address family", "-s", "1.2.3.4", "--mask-src", "ffff::");
}

static void an_address_that_is_none_is_named(void **state)
{
    (void)state;
    WRONG(ADDRESS("orig-src") "`host'", "-s", "host");
    WRONG(ADDRESS("dst") "`1.2.3.4/33'", "--dst=1.2.3.4/33");
    WRONG(ADDRESS("reply-src") "`'", "-r", "");
    WRONG(ADDRESS("mask-dst") "`x'", "-d", "1.2.3.4", "--mask-dst", "x");
    WRONG(TRANSLATED("src-nat") "`1.2.3.4:x'", "-n", "1.2.3.4:x");
    WRONG(TRANSLATED("dst-nat") "`[::1'", "-g[::1");
    WRONG(TRANSLATED("any-nat") "`x'", "-j", "x");
}

static void masks_are_of_the_original_ends(void **state)
{
    (void)state;
    assert_asks("-s 10.1.2.3 --mask-src 255.0.255.0 -d 10.1.2.3 --mask-dst 255.255.0.0",
                "orig_src in 10.0.2.0/255.0.255.0 and orig_dst in 10.1.0.0/255.255.0.0 and "
                "family = 2");
    assert_asks("--mask-src ffff:: -s 2001:db8::1", /* in any order */
                "orig_src in 2001::/ffff:: and family = 10");
    WRONG("Can't use --mask-src without --src", "--mask-src", "255.0.0.0");
    WRONG("Can't use --mask-dst without --dst", "-s", "1.1.1.1", "--mask-dst", "255.0.0.0");
}

static void a_status_is_what_is_set_and_what_is_not(void **state)
{
    static const struct {
        const char *text;
        uint32_t status, mask;
    } statuses[] = {
        {"ASSURED", IPS_ASSURED, IPS_ASSURED},
        {"!ASSURED", 0, IPS_ASSURED},
        {"SEEN_REPLY,ASSURED", IPS_SEEN_REPLY | IPS_ASSURED, IPS_SEEN_REPLY | IPS_ASSURED},
        {"UNREPLIED", 0, IPS_SEEN_REPLY},
        {"!UNREPLIED", IPS_SEEN_REPLY, IPS_SEEN_REPLY},
        {"assured,!EXPECTED", IPS_ASSURED, IPS_ASSURED | IPS_EXPECTED},
        {"UNSET", 0, 0},
        {"SRC_NAT,ASSURED,!DST_NAT", IPS_ASSURED | IPS_SRC_NAT,
         IPS_ASSURED | IPS_SRC_NAT | IPS_DST_NAT},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(statuses); i++) {
        char line[64], expected[64];
        snprintf(line, sizeof line, "-u %s", statuses[i].text);
        snprintf(expected, sizeof expected, "status & %#x = %#x", statuses[i].mask,
                 statuses[i].status);
        assert_asks(line, expected);
    }
    WRONG(STATUSES "`FOO'", "-u", "FOO");
    WRONG(STATUSES "`ASSURED,'", "--status=ASSURED,");
    WRONG(STATUSES "`!'", "-u", "!");
}

static void marks_zones_and_the_like_are_numbers(void **state)
{
    (void)state;
    assert_asks("-m 0x10/0xf0 -c 7 -w 1 --orig-zone=0x2 --reply-zone 65535",
                "mark & 0xf0 = 0x10 and any_secmark = 7 and zone = 1 and own_orig_zone = 2 and "
                "own_reply_zone = 65535");
    assert_asks("-m5", "mark & 0xffffffff = 0x5");
    WRONG(MARK "`x'", "-m", "x");
    WRONG(MARK "`1/y'", "--mark=1/y");
}

/* Where the original takes a 0 for them. */
static void numbers_that_are_none_are_named_with_their_option(void **state)
{
    static const struct {
        const char *option, *argument, *name;
        unsigned long long max;
    } numbers[] = {
        {"-w", "65536", "zone", 65535},
        {"--orig-zone", "x", "orig-zone", 65535},
        {"--reply-zone", "-1", "reply-zone", 65535},
        {"-c", "4294967296", "secmark", 4294967295},
        {"-b", "2147483648", "buffer-size", 2147483647},
        {"--sport", "65536", "sport", 65535},
        {"--icmp-type", "256", "icmp-type", 255},
        {"--icmp-code", "256", "icmp-code", 255},
        {"--icmpv6-code", "", "icmpv6-code", 255},
        {"--icmp-id", "0x10000", "icmp-id", 65535},
        {"--srckey", "65536", "srckey", 65535},
        {"--orig-vtag", "4294967296", "orig-vtag", 4294967295},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        const struct ct_parsed parsed = PARSE("-E", numbers[i].option, numbers[i].argument);
        char expected[256];
        snprintf(expected, sizeof expected,
                 "conntrack: --%s: a number of at most %llu\nconntrack: Bad parameter `%s'\n",
                 numbers[i].name, numbers[i].max, numbers[i].argument);
        assert_int_equal(parsed.status, STATUS_PARAMETER);
        assert_memory_equal(parsed.said, expected, strlen(expected));
    }
}

static void labels_without_a_name_are_numbers(void **state)
{
    (void)state;
    assert_asks("-l 0,33,127", "labels & 0x8000000000000000:0x200000001 = "
                               "0x8000000000000000:0x200000001");
    WRONG(LABELS "'128'", "-l", "128");
    WRONG(LABELS "'no such label'", "--label=no such label");
    WRONG(LABELS "'1,,2'", "-l", "1,,2");
}

static void nat_may_be_named_or_left_open(void **state)
{
    (void)state;
    assert_asks("-n192.0.2.1:80",
                "((src_nat_address = 192.0.2.1 and src_nat_port = 80)) and family = 2");
    assert_asks("-g[2001:db8::1]:443 -p tcp",
                "protocol = 6 and ((dst_nat_address = 2001:db8::1 and dst_nat_port = 443)) and "
                "family = 10");
    assert_asks("-n -g", "((src_nat_address is known or src_nat_port is known)) and "
                         "((dst_nat_address is known or dst_nat_port is known))");
    assert_asks("--any-nat=10.0.0.1",
                "((src_nat_address = 10.0.0.1) or (dst_nat_address = 10.0.0.1)) and family = 2");
    assert_asks("-n 192.0.2.1", "((src_nat_address = 192.0.2.1)) and family = 2");
    assert_asks("-j :80", "((src_nat_port = 80) or (dst_nat_port = 80))");
}

static void any_nat_is_both_already(void **state)
{
    static const char said[] = "cannot specify `--src-nat' or `--dst-nat' with `--any-nat'";

    (void)state;
    WRONG(said, "-j", "-n");
    WRONG(said, "-g", "-j");
}

/* --- By protocol ------------------------------------------------------------------------------ */

static void ports_are_of_protocols_that_have_some(void **state)
{
    static const struct {
        const char *name;
        int number;
    } protocols[] = {{"tcp", 6},    {"udp", 17},  {"udplite", 136},
                     {"sctp", 132}, {"dccp", 33}, {"6", 6}};

    (void)state;
    for (size_t i = 0; i < COUNT(protocols); i++) {
        char line[128], expected[128];
        snprintf(line, sizeof line,
                 "-p %s --sport 1 --dport 2 --reply-port-src 3 --reply-port-dst 0xffff",
                 protocols[i].name);
        snprintf(expected, sizeof expected,
                 "protocol = %d and orig_sport = 1 and orig_dport = 2 and reply_sport = 3 and "
                 "reply_dport = 65535",
                 protocols[i].number);
        assert_asks(line, expected);
    }
    assert_asks("-p udp --orig-port-src=7", "protocol = 17 and orig_sport = 7");
    assert_asks("-p udp --orig-port-dst=7", "protocol = 17 and orig_dport = 7");
}

static void a_protocol_may_follow_its_options(void **state)
{
    (void)state;
    assert_asks("--dport 443 --state TIME_WAIT -p tcp",
                "orig_dport = 443 and state = TIME_WAIT and protocol = 6");
}

static void each_protocol_has_options_of_its_own(void **state)
{
    (void)state;
    assert_asks("-p icmp --icmp-type 8 --icmp-code 1 --icmp-id 300",
                "protocol = 1 and icmp_type = 8 and icmp_code = 1 and icmp_id = 300");
    assert_asks("-p icmpv6 --icmpv6-type=128 --icmpv6-code=2 --icmpv6-id=65535",
                "protocol = 58 and icmp_type = 128 and icmp_code = 2 and icmp_id = 65535");
    assert_asks("-p gre --srckey 0x10 --dstkey 2 --reply-key-src 3 --reply-key-dst 4",
                "protocol = 47 and orig_srckey = 16 and orig_dstkey = 2 and reply_srckey = 3 and "
                "reply_dstkey = 4");
    assert_asks("-p gre --orig-key-dst=5", "protocol = 47 and orig_dstkey = 5");
    assert_asks("-p sctp --orig-vtag 1 --reply-vtag 4294967295 --state COOKIE_WAIT",
                "protocol = 132 and orig_vtag = 1 and reply_vtag = 4294967295 and "
                "state = COOKIE_WAIT");
    assert_asks("-p dccp --role server --state OPEN",
                "protocol = 33 and role = 1 and state = OPEN");
    assert_asks("-p dccp --role=client", "protocol = 33 and role = 0");
}

static void an_option_of_another_protocol_is_named(void **state)
{
    static const struct {
        const char *protocol, *option, *argument;
    } others[] = {
        {"tcp", "icmp-type", "8"},  {"tcp", "orig-vtag", "8"},   {"tcp", "role", "client"},
        {"udp", "state", "CLOSE"},  {"icmp", "sport", "8"},      {"icmp", "icmpv6-type", "8"},
        {"icmpv6", "icmp-id", "8"}, {"gre", "dport", "8"},       {"sctp", "srckey", "8"},
        {"253", "sport", "1"},      {"dccp", "reply-vtag", "1"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        char option[64], said[128];
        snprintf(option, sizeof option, "--%s", others[i].option);
        snprintf(said, sizeof said, "%s cannot be used with the protocol of -p", option);
        WRONG(said, "-p", others[i].protocol, option, others[i].argument);
        snprintf(said, sizeof said, "%s needs a protocol: -p tcp, for example", option);
        WRONG(said, option, others[i].argument);
    }
}

static void names_that_are_none_of_a_protocol_are_named(void **state)
{
    (void)state;
    WRONG(PROTOCOL "`foo' unsupported protocol", "-p", "foo");
    WRONG(PROTOCOL "`256' unsupported protocol", "-p", "256");
    WRONG("--state: NONE, SYN_SENT, SYN_RECV, ESTABLISHED, FIN_WAIT, CLOSE_WAIT, LAST_ACK, "
          "TIME_WAIT, CLOSE, SYN_SENT2\nconntrack: unknown state `FOO'",
          "-p", "tcp", "--state", "FOO");
    WRONG("--state: NONE, REQUEST, RESPOND, PARTOPEN, OPEN, CLOSEREQ, CLOSING, TIMEWAIT, IGNORE, "
          "INVALID\nconntrack: unknown state `CLOSE'",
          "--state", "CLOSE", "-p", "dccp");
    WRONG("--role: client or server\nconntrack: unknown role `both'", "-p", "dccp", "--role",
          "both");
}

/* --- One flow --------------------------------------------------------------------------------- */

static void one_flow_needs_a_whole_tuple(void **state)
{
    (void)state;
    WRONG("You need to supply the `--protonum' option for this command", "-G");
    WRONG("you have to specify `--src' and `--dst'", "-G", "-p", "tcp");
    WRONG("you have to specify `--src' and `--dst'", "-G", "-p", "tcp", "-s", "1.1.1.1");
    WRONG("you have to specify `--reply-src' and `--reply-dst'", "-G", "-p", "tcp", "-r",
          "1.1.1.1");
    WRONG("you have to specify `--sport' and `--dport'", "-G", "-p", "tcp", "-s", "1.1.1.1", "-d",
          "2.2.2.2");
    WRONG("you have to specify `--sport' and `--dport'", "-G", "-p", "udp", "-s", "1.1.1.1", "-d",
          "2.2.2.2", "--sport", "1");
    WRONG("you have to specify `--reply-port-src' and `--reply-port-dst'", "-G", "-p", "udp", "-r",
          "1.1.1.1", "-q", "2.2.2.2", "--sport", "1", "--dport", "2");
    WRONG("you have to specify `--src' and `--dst'", "-G", "expect", "-p", "icmp");
}

/* The kernel would look for the address that is left of it. */
static void one_flow_is_named_by_whole_addresses(void **state)
{
    static const char said[] = "this command needs addresses without a prefix length";

    (void)state;
    WRONG(said, "-G", "-p", "253", "-s", "1.1.1.0/24", "-d", "2.2.2.2");
    WRONG(said, "-G", "-p", "253", "-s", "1.1.1.1", "-d", "2.2.2.2/31");
    WRONG(said, "-G", "-p", "253", "-s", "2001:db8::1/96", "-d", "2001:db8::2");
    WRONG(said, "-G", "-p", "253", "-r", "1.1.1.1", "-q", "2.2.2.2/31");
    WRONG(said, "-G", "expect", "-p", "253", "-s", "1.1.1.1", "-d", "2.2.2.2/31");
    ACCEPT("-G", "-p", "253", "-s", "1.1.1.1/32", "-d", "2.2.2.2/32", "-r", "2.0.0.0/8");
    ACCEPT("-G", "-p", "253", "-s", "2001:db8::1/128", "-d", "2001:db8::2");
}

/* It has but one. */
static void an_expectation_is_not_named_by_the_reply(void **state)
{
    (void)state;
    assert_int_equal(PARSE("-G", "expect", "-p", "icmp", "-r", "1.1.1.1", "-q", "2.2.2.2").status,
                     STATUS_PARAMETER);
}

static void one_flow_may_be_named_by_either_direction(void **state)
{
    (void)state;
    ACCEPT("-G", "-p", "tcp", "-s", "1.1.1.1", "-d", "2.2.2.2", "--sport", "1", "--dport", "2");
    ACCEPT("-G", "-p", "tcp", "-r", "1.1.1.1", "-q", "2.2.2.2", "--reply-port-src", "1",
           "--reply-port-dst", "2", "-w", "7");
    ACCEPT("-G", "-p", "icmp", "-s", "1.1.1.1", "-d", "2.2.2.2");
    ACCEPT("-G", "expect", "-p", "tcp", "-s", "1.1.1.1", "-d", "2.2.2.2", "--sport", "0", "--dport",
           "2");
}

/* The record that stands for it; of what is not named nothing is said. */
static void one_flow_is_asked_for_by_a_record(void **state)
{
    const struct record *key = conntrack_filter_key(
        ct_filter("-G -p udp -r 1.1.1.1 -q 2.2.2.2 --reply-port-src 1 --reply-port-dst 2 -w 7"),
        &kind_flow);

    (void)state;
    assert_ptr_equal(key->kind, &kind_flow);
    assert_int_equal(key->has, FLOW_REPLY | FLOW_ZONE);
    assert_int_equal(key->flow.family, AF_INET);
    assert_int_equal(key->flow.zone, 7);
    assert_ip(&key->flow.way[WAY_REPLY].tuple.src, "1.1.1.1");
    assert_ip(&key->flow.way[WAY_REPLY].tuple.dst, "2.2.2.2");
    assert_int_equal(key->flow.way[WAY_REPLY].tuple.protocol, IPPROTO_UDP);
    assert_int_equal(key->flow.way[WAY_REPLY].tuple.src_port, 1);
    assert_int_equal(key->flow.way[WAY_REPLY].tuple.dst_port, 2);
    key = conntrack_filter_key(ct_filter("-G expect -p tcp -s ::1 -d ::2 --sport 3 --dport 4"),
                               &kind_expectation);
    assert_ptr_equal(key->kind, &kind_expectation);
    assert_int_equal(key->expectation.family, AF_INET6);
    assert_ip(&key->expectation.orig.dst, "::2");
    assert_int_equal(key->expectation.orig.dst_port, 4);
    assert_int_equal(key->expectation.orig.protocol, IPPROTO_TCP);
}

/* What else is asked for of a flow says nothing about the expectations that it may have. */
static void expectations_are_asked_for_by_their_family_only(void **state)
{
    (void)state;
    assert_string_equal(
        said_of(conntrack_filter_where(ct_filter("-m 1 -n 10.0.0.1 -p tcp"), &kind_expectation)),
        "family = 2");
    assert_null(conntrack_filter_where(ct_filter("-m 1"), &kind_expectation));
    assert_null(conntrack_filter_where(ct_filter("-m 1 -f ipv4"), &kind_flow_usage));
    assert_null(conntrack_filter_where(ct_filter("-m 1 -f ipv4"), &kind_flow_statistics));
    assert_null(conntrack_filter_where(ct_filter("-L"), &kind_flow));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_are_named),
        cmocka_unit_test(addresses_are_of_a_direction_and_an_end),
        cmocka_unit_test(addresses_have_several_names),
        cmocka_unit_test(families_of_addresses_may_not_differ),
        cmocka_unit_test(an_address_that_is_none_is_named),
        cmocka_unit_test(masks_are_of_the_original_ends),
        cmocka_unit_test(a_status_is_what_is_set_and_what_is_not),
        cmocka_unit_test(marks_zones_and_the_like_are_numbers),
        cmocka_unit_test(numbers_that_are_none_are_named_with_their_option),
        cmocka_unit_test(labels_without_a_name_are_numbers),
        cmocka_unit_test(nat_may_be_named_or_left_open),
        cmocka_unit_test(any_nat_is_both_already),
        cmocka_unit_test(ports_are_of_protocols_that_have_some),
        cmocka_unit_test(a_protocol_may_follow_its_options),
        cmocka_unit_test(each_protocol_has_options_of_its_own),
        cmocka_unit_test(an_option_of_another_protocol_is_named),
        cmocka_unit_test(names_that_are_none_of_a_protocol_are_named),
        cmocka_unit_test(one_flow_needs_a_whole_tuple),
        cmocka_unit_test(one_flow_is_named_by_whole_addresses),
        cmocka_unit_test(an_expectation_is_not_named_by_the_reply),
        cmocka_unit_test(one_flow_may_be_named_by_either_direction),
        cmocka_unit_test(one_flow_is_asked_for_by_a_record),
        cmocka_unit_test(expectations_are_asked_for_by_their_family_only),
    };

    unsetenv("POSIXLY_CORRECT");
    return cmocka_run_group_tests_name("conntrack_filters", tests, NULL, NULL);
}
