/* Which flows conntrack's options ask for, and which of them go together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/personality.h"
#include "ct_line.h"

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
#define FAMILY "--family: ipv4 or ipv6\nconntrack: "

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void assert_address(const struct flow_network *network, const char *bytes, size_t size)
{
    assert_memory_equal(network->network, bytes, size);
}

/* --- Which flows ------------------------------------------------------------------------------ */

static void families_are_named(void **state)
{
    (void)state;
    assert_int_equal(ACCEPT("-f", "ipv4").filter.family, AF_INET);
    assert_int_equal(ACCEPT("--family=ipv6").filter.family, AF_INET6);
    assert_int_equal(ACCEPT("-f", "ipv4x").filter.family, AF_INET); /* as the original */
    assert_int_equal(ACCEPT("-f", "ipv66").filter.family, AF_INET6);
    assert_int_equal(ACCEPT("-L", "expect", "-f", "ipv6").filter.family, AF_INET6);
    WRONG(FAMILY "`ipx' unsupported protocol", "-f", "ipx");
    WRONG(FAMILY "`inet' unsupported protocol", "-f", "inet");
    WRONG(FAMILY "`inet6' unsupported protocol", "-f", "inet6");
    WRONG("mismatched address family", "-f", "ipv4", "-f", "ipv6");
}

static void addresses_are_of_a_direction_and_an_end(void **state)
{
    const struct conntrack_options options =
        ACCEPT("-s", "1.1.1.1", "-d", "2.2.2.0/24", "-r", "3.3.3.3", "-q", "4.4.4.4");
    const struct flow_filter *filter = &options.filter;

    (void)state;
    assert_int_equal(filter->fields,
                     FILTER_ORIG_SRC | FILTER_ORIG_DST | FILTER_REPLY_SRC | FILTER_REPLY_DST);
    assert_int_equal(filter->family, AF_INET);
    assert_address(&filter->orig_src, "\1\1\1\1", 4);
    assert_address(&filter->orig_dst, "\2\2\2\0", 4);
    assert_address(&filter->reply_src, "\3\3\3\3", 4);
    assert_address(&filter->reply_dst, "\4\4\4\4", 4);
    assert_memory_equal(filter->orig_dst.mask, "\377\377\377\0", 4);
}

static void addresses_have_several_names(void **state)
{
    static const struct {
        const char *name;
        uint32_t field;
    } names[] = {
        {"--src=::1", FILTER_ORIG_SRC},        {"--orig-src=::1", FILTER_ORIG_SRC},
        {"--dst=::1", FILTER_ORIG_DST},        {"--orig-dst=::1", FILTER_ORIG_DST},
        {"--reply-src=::1", FILTER_REPLY_SRC}, {"--reply-dst=::1", FILTER_REPLY_DST},
        {"--orig-s=::1", FILTER_ORIG_SRC},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct conntrack_options options = ACCEPT(names[i].name);
        assert_int_equal(options.filter.fields, names[i].field);
        assert_int_equal(options.filter.family, AF_INET6);
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
    struct conntrack_options options = ACCEPT("-s", "10.1.2.3", "--mask-src", "255.0.255.0", "-d",
                                              "10.1.2.3", "--mask-dst", "255.255.0.0");

    (void)state;
    assert_memory_equal(options.filter.orig_src.mask, "\377\0\377\0", 4);
    assert_address(&options.filter.orig_src, "\12\0\2\0", 4);
    assert_memory_equal(options.filter.orig_dst.mask, "\377\377\0\0", 4);
    assert_address(&options.filter.orig_dst, "\12\1\0\0", 4);
    options = ACCEPT("--mask-src", "ffff::", "-s", "2001:db8::1"); /* in any order */
    assert_memory_equal(options.filter.orig_src.mask, "\377\377\0\0", 4);
    assert_address(&options.filter.orig_src, "\40\1\0\0", 4);
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
    };

    (void)state;
    for (size_t i = 0; i < COUNT(statuses); i++) {
        const struct conntrack_options options = ACCEPT("-u", statuses[i].text);
        assert_int_equal(options.filter.fields, FILTER_STATUS);
        assert_int_equal(options.filter.status, statuses[i].status);
        assert_int_equal(options.filter.status_mask, statuses[i].mask);
    }
    WRONG(STATUSES "`FOO'", "-u", "FOO");
    WRONG(STATUSES "`ASSURED,'", "--status=ASSURED,");
    WRONG(STATUSES "`!'", "-u", "!");
}

static void translation_is_a_status_too(void **state)
{
    const struct ct_parsed parsed = PARSE("-u", "SRC_NAT,ASSURED,!DST_NAT");

    (void)state;
    assert_int_equal(parsed.status, 0);
    assert_int_equal(parsed.options.filter.status, IPS_ASSURED | IPS_SRC_NAT);
    assert_int_equal(parsed.options.filter.status_mask, IPS_ASSURED | IPS_SRC_NAT | IPS_DST_NAT);
}

static void marks_zones_and_the_like_are_numbers(void **state)
{
    const struct conntrack_options options =
        ACCEPT("-m", "0x10/0xf0", "-c", "7", "-w", "1", "--orig-zone=0x2", "--reply-zone", "65535");
    const struct flow_filter *filter = &options.filter;

    (void)state;
    assert_int_equal(filter->fields, FILTER_MARK | FILTER_SECMARK | FILTER_ZONE | FILTER_ORIG_ZONE |
                                         FILTER_REPLY_ZONE);
    assert_int_equal(filter->mark, 0x10);
    assert_int_equal(filter->mark_mask, 0xf0);
    assert_int_equal(filter->secmark, 7);
    assert_int_equal(filter->zone, 1);
    assert_int_equal(filter->orig_zone, 2);
    assert_int_equal(filter->reply_zone, 65535);
    assert_int_equal(ACCEPT("-m5").filter.mark_mask, UINT32_MAX);
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
    const struct conntrack_options options = ACCEPT("-l", "0,33,127");

    (void)state;
    assert_int_equal(options.filter.fields, FILTER_LABELS);
    assert_int_equal(options.filter.labels[0], 1);
    assert_int_equal(options.filter.labels[1], 2);
    assert_int_equal(options.filter.labels[2], 0);
    assert_int_equal(options.filter.labels[3], 0x80000000);
    WRONG(LABELS "'128'", "-l", "128");
    WRONG(LABELS "'no such label'", "--label=no such label");
    WRONG(LABELS "'1,,2'", "-l", "1,,2");
}

static void nat_may_be_named_or_left_open(void **state)
{
    struct flow_filter filter = ACCEPT("-n", "192.0.2.1:80").filter;

    (void)state;
    assert_int_equal(filter.fields, FILTER_SRC_NAT);
    assert_true(filter.src_nat.has_address && filter.src_nat.has_port);
    assert_memory_equal(filter.src_nat.address, "\300\0\2\1", 4);
    assert_int_equal(filter.src_nat.port, 80);
    assert_int_equal(filter.family, AF_INET);
    filter = ACCEPT("-g", "[2001:db8::1]:443", "-p", "tcp").filter;
    assert_int_equal(filter.fields, FILTER_DST_NAT | FILTER_PROTOCOL);
    assert_true(filter.dst_nat.has_address && filter.dst_nat.has_port);
    assert_int_equal(filter.dst_nat.port, 443);
    assert_int_equal(filter.family, AF_INET6);
    filter = ACCEPT("-n", "-g").filter;
    assert_int_equal(filter.fields, FILTER_SRC_NAT | FILTER_DST_NAT);
    assert_false(filter.src_nat.has_address || filter.src_nat.has_port);
    assert_int_equal(filter.family, AF_UNSPEC);
    filter = ACCEPT("--any-nat=10.0.0.1").filter;
    assert_int_equal(filter.fields, FILTER_ANY_NAT);
    assert_true(filter.src_nat.has_address && filter.dst_nat.has_address);
    filter = ACCEPT("-n192.0.2.1").filter;
    assert_true(filter.src_nat.has_address && !filter.src_nat.has_port);
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
    static const char *const protocols[] = {"tcp", "udp", "udplite", "sctp", "dccp", "6"};

    (void)state;
    for (size_t i = 0; i < COUNT(protocols); i++) {
        const struct conntrack_options options =
            ACCEPT("-p", protocols[i], "--sport", "1", "--dport", "2", "--reply-port-src", "3",
                   "--reply-port-dst", "0xffff");
        const struct flow_filter *filter = &options.filter;
        assert_int_equal(filter->fields, FILTER_PROTOCOL | FILTER_ORIG_SRC_PORT |
                                             FILTER_ORIG_DST_PORT | FILTER_REPLY_SRC_PORT |
                                             FILTER_REPLY_DST_PORT);
        assert_int_equal(filter->orig_src_port, 1);
        assert_int_equal(filter->orig_dst_port, 2);
        assert_int_equal(filter->reply_src_port, 3);
        assert_int_equal(filter->reply_dst_port, 65535);
    }
    assert_int_equal(ACCEPT("-p", "udp", "--orig-port-src=7").filter.orig_src_port, 7);
    assert_int_equal(ACCEPT("-p", "udp", "--orig-port-dst=7").filter.orig_dst_port, 7);
}

static void a_protocol_may_stand_behind_its_options(void **state)
{
    const struct conntrack_options options =
        ACCEPT("--dport", "443", "--state", "TIME_WAIT", "-p", "tcp");

    (void)state;
    assert_int_equal(options.filter.protocol, IPPROTO_TCP);
    assert_int_equal(options.filter.orig_dst_port, 443);
    assert_int_equal(options.filter.state, 7);
    assert_int_equal(options.filter.fields, FILTER_PROTOCOL | FILTER_ORIG_DST_PORT | FILTER_STATE);
}

static void each_protocol_has_options_of_its_own(void **state)
{
    struct flow_filter filter =
        ACCEPT("-p", "icmp", "--icmp-type", "8", "--icmp-code", "1", "--icmp-id", "300").filter;
    const uint32_t icmp = FILTER_PROTOCOL | FILTER_ICMP_TYPE | FILTER_ICMP_CODE | FILTER_ICMP_ID;

    (void)state;
    assert_int_equal(filter.fields, icmp);
    assert_int_equal(filter.icmp_type, 8);
    assert_int_equal(filter.icmp_code, 1);
    assert_int_equal(filter.icmp_id, 300);
    filter =
        ACCEPT("-p", "icmpv6", "--icmpv6-type=128", "--icmpv6-code=2", "--icmpv6-id=65535").filter;
    assert_int_equal(filter.fields, icmp);
    assert_int_equal(filter.icmp_type, 128);
    assert_int_equal(filter.icmp_id, 65535);
    filter = ACCEPT("-p", "gre", "--srckey", "0x10", "--dstkey", "2", "--reply-key-src", "3",
                    "--reply-key-dst", "4")
                 .filter;
    assert_int_equal(filter.orig_src_port, 16);
    assert_int_equal(filter.orig_dst_port, 2);
    assert_int_equal(filter.reply_src_port, 3);
    assert_int_equal(filter.reply_dst_port, 4);
    assert_int_equal(ACCEPT("-p", "gre", "--orig-key-dst=5").filter.orig_dst_port, 5);
    filter = ACCEPT("-p", "sctp", "--orig-vtag", "1", "--reply-vtag", "4294967295", "--state",
                    "COOKIE_WAIT")
                 .filter;
    assert_int_equal(filter.orig_vtag, 1);
    assert_int_equal(filter.reply_vtag, UINT32_MAX);
    assert_int_equal(filter.state, 2);
    filter = ACCEPT("-p", "dccp", "--role", "server", "--state", "OPEN").filter;
    assert_int_equal(filter.role, 1);
    assert_int_equal(filter.fields, FILTER_PROTOCOL | FILTER_ROLE | FILTER_STATE);
    assert_int_equal(ACCEPT("-p", "dccp", "--role=client").filter.role, 0);
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
        snprintf(said, sizeof said, "%s is not of that protocol", option);
        WRONG(said, "-p", others[i].protocol, option, others[i].argument);
        snprintf(said, sizeof said, "%s needs a protocol: -p tcp, for example", option);
        WRONG(said, option, others[i].argument);
    }
}

static void names_that_are_none_of_a_protocol_are_named(void **state)
{
    (void)state;
    WRONG("`foo' unsupported protocol", "-p", "foo");
    WRONG("`256' unsupported protocol", "-p", "256");
    WRONG("unknown state `FOO'", "-p", "tcp", "--state", "FOO");
    WRONG("unknown state `OPEN'", "--state", "OPEN", "-p", "tcp");
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
        cmocka_unit_test(translation_is_a_status_too),
        cmocka_unit_test(marks_zones_and_the_like_are_numbers),
        cmocka_unit_test(numbers_that_are_none_are_named_with_their_option),
        cmocka_unit_test(labels_without_a_name_are_numbers),
        cmocka_unit_test(nat_may_be_named_or_left_open),
        cmocka_unit_test(any_nat_is_both_already),
        cmocka_unit_test(ports_are_of_protocols_that_have_some),
        cmocka_unit_test(a_protocol_may_stand_behind_its_options),
        cmocka_unit_test(each_protocol_has_options_of_its_own),
        cmocka_unit_test(an_option_of_another_protocol_is_named),
        cmocka_unit_test(names_that_are_none_of_a_protocol_are_named),
        cmocka_unit_test(one_flow_needs_a_whole_tuple),
        cmocka_unit_test(one_flow_is_named_by_whole_addresses),
        cmocka_unit_test(an_expectation_is_not_named_by_the_reply),
        cmocka_unit_test(one_flow_may_be_named_by_either_direction),
    };

    unsetenv("POSIXLY_CORRECT");
    return cmocka_run_group_tests_name("conntrack_filters", tests, NULL, NULL);
}
