/* SPDX-License-Identifier: MIT */
/* What the arguments of conntrack's options mean, and which are none. */
#include <arpa/inet.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/conntrack/conntrack_parsing.h"
#include "cli/form.h"
#include "ct_line.h"
#include "fastnet/flow_names.h"
#include "kit.h"
#include "predicates.h"

/* What --NAME=TEXT asks for. */
static void assert_means(const char *name, const char *text, const char *expected)
{
    char line[128];

    snprintf(line, sizeof line, "--%s=%s", name, text);
    assert_string_equal(said_of(ct_where(line)), expected);
}

/* It is refused: `said` stands before the text in quotes, below what the option takes. */
static void assert_is_none(const char *name, const char *text, const char *takes, const char *said,
                           const char *behind)
{
    char word[128], expected[512];

    snprintf(word, sizeof word, "--%s=%s", name, text);
    snprintf(expected, sizeof expected, "--%s: %s\nconntrack: %s`%s'%s", name, takes, said, text,
             behind);
    WRONG(expected, word);
}

static void numbers_are_decimal_octal_or_hexadecimal(void **state)
{
    static const struct {
        const char *text;
        uint64_t max, number;
    } numbers[] = {
        {"0", 0, 0},
        {"65535", UINT16_MAX, 65535},
        {"0xffff", UINT16_MAX, 65535},
        {"0XFf", UINT8_MAX, 255},
        {"010", UINT8_MAX, 8},
        {"4294967295", UINT32_MAX, UINT32_MAX},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        uint64_t number = 4711;
        assert_true(form_is_number(numbers[i].text, numbers[i].max, &number));
        assert_true(number == numbers[i].number);
    }
}

static void wrong_and_too_large_numbers_are_refused(void **state)
{
    static const struct {
        const char *text;
        uint64_t max;
    } others[] = {
        {"", UINT32_MAX},           {" 1", UINT32_MAX},
        {"+1", UINT32_MAX},         {"-1", UINT32_MAX},
        {"1 ", UINT32_MAX},         {"1x", UINT32_MAX},
        {"0x", UINT32_MAX},         {"08", UINT32_MAX},
        {"x", UINT32_MAX},          {"1.5", UINT32_MAX},
        {"0x1g", UINT32_MAX},       {"256", UINT8_MAX},
        {"65536", UINT16_MAX},      {"99999999999999999999", UINT64_MAX},
        {"4294967296", UINT32_MAX},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        uint64_t number = 4711;
        assert_false(form_is_number(others[i].text, others[i].max, &number));
        assert_true(number == 4711);
    }
}

/* --- Addresses -------------------------------------------------------------------------------- */

static void networks_are_addresses_with_as_many_bits_as_are_named(void **state)
{
    static const struct {
        const char *text;
        const char *network, *mask;
    } networks[] = {
        {"192.0.2.1", "192.0.2.1", "255.255.255.255"},
        {"192.0.2.1/32", "192.0.2.1", "255.255.255.255"},
        {"192.0.2.255/25", "192.0.2.128", "255.255.255.128"},
        {"192.0.2.1/8", "192.0.0.0", "255.0.0.0"},
        {"192.0.2.1/0", "0.0.0.0", "0.0.0.0"},
        {"10.1", "10.0.0.1", "255.255.255.255"}, /* inet_aton(3) */
        {"2001:db8::1", "2001:db8::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
        {"2001:db8:ffff::1/33", "2001:db8:8000::", "ffff:ffff:8000::"},
        {"::1/128", "::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
        {"ff::/0", "::", "::"},
        {"::ffff:1.2.3.4", "::ffff:1.2.3.4", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(networks); i++) {
        const struct address mask = ip(networks[i].mask);
        struct predicate within;
        memset(&within, 0xa5, sizeof within);
        assert_true(form_network(networks[i].text, FORM_OF_CONNTRACK, NULL, &within));
        assert_int_equal(within.operation, PREDICATE_WITHIN);
        assert_null(within.field);
        assert_int_equal(within.constant.type, VALUE_ADDRESS);
        assert_ip(&within.constant.address, networks[i].network);
        assert_memory_equal(within.mask.address, mask.bytes, sizeof mask.bytes);
    }
}

/* conntrack reads it as decimal, whatever it begins with. */
static void a_prefix_is_decimal(void **state)
{
    struct predicate within;

    (void)state;
    assert_true(form_network("10.255.255.255/010", FORM_OF_CONNTRACK, NULL, &within));
    assert_memory_equal(within.mask.address, "\377\300\0\0", 4);
    assert_true(form_network("10.255.255.255/08", FORM_OF_CONNTRACK, NULL, &within));
    assert_memory_equal(within.mask.address, "\377\0\0\0", 4);
    assert_false(form_network("10.255.255.255/0x8", FORM_OF_CONNTRACK, NULL, &within));
}

static void wrong_addresses_are_refused(void **state)
{
    static const char *const others[] = {
        "",
        "/",
        "/24",
        "192.0.2.1/",
        "192.0.2.1/33",
        "192.0.2.1/-1",
        "192.0.2.1/x",
        "192.0.2.1/24/8",
        "192.0.2.256",
        "192.0.2.1.1",
        "192.0.2.1 ",
        " 192.0.2.1",
        "::1/129",
        "::1/",
        ":::",
        "::g",
        "1:2:3:4:5:6:7",
        "host",
        "192.0.2.1/255.255.255.0",
        "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc:dddd:eeee:ffff",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        struct predicate within, before;
        memset(&within, 0xa5, sizeof within);
        before = within;
        assert_false(form_network(others[i], FORM_OF_CONNTRACK, NULL, &within));
        assert_memory_equal(&within, &before, sizeof within);
    }
}

static void nat_is_an_address_a_port_or_both(void **state)
{
    static const struct {
        const char *text, *expected;
    } nats[] = {
        {"192.0.2.1", "((src_nat_address = 192.0.2.1)) and family = 2"},
        {"192.0.2.1:80", "((src_nat_address = 192.0.2.1 and src_nat_port = 80)) and family = 2"},
        {":80", "((src_nat_port = 80))"},
        {"2001:db8::1", "((src_nat_address = 2001:db8::1)) and family = 10"},
        {"[2001:db8::1]", "((src_nat_address = 2001:db8::1)) and family = 10"},
        {"[2001:db8::1]:65535",
         "((src_nat_address = 2001:db8::1 and src_nat_port = 65535)) and family = 10"},
        {"[192.0.2.1]:80", "((src_nat_address = 192.0.2.1 and src_nat_port = 80)) and family = 2"},
        {"::1", "((src_nat_address = ::1)) and family = 10"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(nats); i++)
        assert_means("src-nat", nats[i].text, nats[i].expected);
}

static void wrong_nat_is_refused(void **state)
{
    static const char *const others[] = {
        "",
        ":",
        "192.0.2.1:",
        "192.0.2.1:x",
        "192.0.2.1:65536",
        "host:80",
        "[::1",
        "[::1]80",
        "[::1]:",
        "[]:80",
        "[::1]:80:80",
        "::1]:80",
        "192.0.2.1/24",
        "192.0.2.1:-1",
        "[",
        "[]",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++)
        assert_is_none("src-nat", others[i],
                       "ADDRESS, ADDRESS:PORT, [ADDRESS]:PORT, :PORT, or nothing",
                       "Invalid IP address or port ", "");
}

/* --- Names ------------------------------------------------------------------------------------ */

static void protocols_have_names_and_numbers(void **state)
{
    static const struct {
        const char *text;
        uint8_t protocol;
    } protocols[] = {
        {"tcp", IPPROTO_TCP},   {"TCP", IPPROTO_TCP},
        {"udp", IPPROTO_UDP},   {"UdpLite", IPPROTO_UDPLITE},
        {"sctp", IPPROTO_SCTP}, {"dccp", IPPROTO_DCCP},
        {"icmp", IPPROTO_ICMP}, {"icmpv6", IPPROTO_ICMPV6},
        {"gre", IPPROTO_GRE},   {"6", IPPROTO_TCP},
        {"0x11", IPPROTO_UDP},  {"253", 253},
        {"255", 255},           {"0", 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(protocols); i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "protocol = %u", protocols[i].protocol);
        assert_means("protonum", protocols[i].text, expected);
    }
}

static void unknown_protocols_are_refused(void **state)
{
    static const char *const others[] = {"", "256", "-1", "tc", "tcpx", "no-such-protocol", "6 "};

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++)
        assert_is_none("protonum", others[i],
                       "a number of at most 255, or a name: tcp, udp, icmp, sctp, gre ...", "",
                       " unsupported protocol");
}

static void states_are_those_of_a_protocol(void **state)
{
    static const struct {
        const char *text, *protocol, *expected;
    } states[] = {
        {"NONE", "tcp", "NONE"},
        {"SYN_SENT", "tcp", "SYN_SENT"},
        {"SYN_RECV", "tcp", "SYN_RECV"},
        {"ESTABLISHED", "tcp", "ESTABLISHED"},
        {"FIN_WAIT", "tcp", "FIN_WAIT"},
        {"CLOSE_WAIT", "tcp", "CLOSE_WAIT"},
        {"LAST_ACK", "tcp", "LAST_ACK"},
        {"TIME_WAIT", "tcp", "TIME_WAIT"},
        {"CLOSE", "tcp", "CLOSE"},
        {"SYN_SENT2", "tcp", "SYN_SENT2"},
        {"LISTEN", "tcp", "SYN_SENT2"},
        {"listen", "tcp", "SYN_SENT2"},
        {"established", "sctp", "ESTABLISHED"},
        {"COOKIE_WAIT", "sctp", "COOKIE_WAIT"},
        {"OPEN", "dccp", "OPEN"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(states); i++) {
        char line[64], expected[64];
        snprintf(line, sizeof line, "-p %s --state %s", states[i].protocol, states[i].text);
        snprintf(expected, sizeof expected, "protocol = %d and state = %s",
                 flow_protocol_number(states[i].protocol, strlen(states[i].protocol)),
                 states[i].expected);
        assert_string_equal(said_of(ct_where(line)), expected);
    }
}

static void states_of_another_protocol_are_none(void **state)
{
    static const struct {
        const char *text, *protocol;
    } states[] = {
        {"OPEN", "tcp"},       {"SYN_SENT", "sctp"},    {"LISTEN", "sctp"}, {"ESTABLISHED", "udp"},
        {"ESTABLISHE", "tcp"}, {"ESTABLISHEDX", "tcp"}, {"", "tcp"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(states); i++) {
        const struct ct_parsed parsed = PARSE("-p", states[i].protocol, "--state", states[i].text);
        assert_int_equal(parsed.status, STATUS_PARAMETER);
        assert_non_null(strstr(parsed.said, strcmp(states[i].protocol, "udp") == 0
                                                ? "--state cannot be used with the protocol of -p"
                                                : "unknown state `"));
    }
}

static void marks_may_have_a_mask(void **state)
{
    (void)state;
    assert_means("mark", "7", "mark & 0xffffffff = 0x7");
    assert_means("mark", "0xffffffff/0x10", "mark & 0x10 = 0xffffffff");
    assert_means("mark", "0/0", "mark & 0 = 0");
}

static void wrong_marks_are_refused(void **state)
{
    static const char *const others[] = {
        "",      "/",          "/1",           "1/", "x",  "1/x",
        "1/2/3", "4294967296", "1/4294967296", "-1", "1 ", "00000000000000000000000000000000001",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++)
        assert_is_none("mark", others[i], "MARK or MARK/MASK, numbers of at most 4294967295",
                       "Bad parameter ", "");
}

/* --- Words ------------------------------------------------------------------------------------ */

struct gathered {
    char words[8][16];
    size_t count;
    int stop_at;
};

static int gather(const char *word, size_t length, void *arg)
{
    struct gathered *gathered = arg;

    assert_in_range(length, 0, 15);
    snprintf(gathered->words[gathered->count++], 16, "%.*s", (int)length, word);
    return (int)gathered->count == gathered->stop_at ? -99 : 0;
}

static void lists_are_words_between_commas(void **state)
{
    struct gathered gathered = {.count = 0};

    (void)state;
    assert_int_equal(conntrack_words("a,bc,,d,", gather, &gathered), 0);
    assert_int_equal(gathered.count, 5);
    assert_string_equal(gathered.words[0], "a");
    assert_string_equal(gathered.words[1], "bc");
    assert_string_equal(gathered.words[2], "");
    assert_string_equal(gathered.words[3], "d");
    assert_string_equal(gathered.words[4], "");
    gathered = (struct gathered){.stop_at = 2};
    assert_int_equal(conntrack_words("a,b,c", gather, &gathered), -99);
    assert_int_equal(gathered.count, 2);
}

static void words_may_be_abbreviated_and_of_any_case(void **state)
{
    static const struct {
        const char *text;
        uint32_t bit;
    } words[] = {
        {"ASSURED", IPS_ASSURED},
        {"assured", IPS_ASSURED},
        {"A", IPS_ASSURED},
        {"SEEN_REPLY", IPS_SEEN_REPLY},
        {"s", IPS_SEEN_REPLY},
        {"UNSET", 0},
        {"FIXED_TIMEOUT", IPS_FIXED_TIMEOUT},
        {"fix", IPS_FIXED_TIMEOUT},
        {"EXPECTED", IPS_EXPECTED},
        {"OFFLOAD", IPS_OFFLOAD},
        {"HW_OFFLOAD", IPS_HW_OFFLOAD},
    };
    static const char *const others[] = {"ASSUREDX", "", "DYING", "A,,S", "ASSUREDX,A"};

    (void)state;
    for (size_t i = 0; i < COUNT(words); i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "status & %#x = %#x", words[i].bit, words[i].bit);
        assert_means("status", words[i].text, expected);
    }
    for (size_t i = 0; i < COUNT(others); i++)
        assert_is_none("status", others[i],
                       "ASSURED, SEEN_REPLY, UNREPLIED, SRC_NAT, DST_NAT, EXPECTED, FIXED_TIMEOUT, "
                       "OFFLOAD, HW_OFFLOAD, UNSET",
                       "Bad parameter ", "");
    assert_true(conntrack_begins("ASSURED", "ASSUREDX", 7)); /* length bytes of it */
    assert_false(conntrack_begins("ASSURED", "ASSUREDX", 8));
    assert_false(conntrack_begins("ASSURED", "", 0));
}

static void events_add_up(void **state)
{
    (void)state;
    assert_int_equal(ACCEPT("-E", "-e", "NEW").events, 1u << FLOW_NEW);
    assert_int_equal(ACCEPT("-E", "-e", "NEW,destroy").events, 1u << FLOW_NEW | 1u << FLOW_DESTROY);
    assert_int_equal(ACCEPT("-E", "-e", "NEW", "-e", "destroy,UPDATE").events, 7);
    assert_int_equal(ACCEPT("-E", "-e", "ALL").events, 7);
    assert_is_none("event-mask", "UPDATED", "NEW, UPDATES, DESTROY, ALL", "Bad parameter ", "");
    assert_is_none("event-mask", "", "NEW, UPDATES, DESTROY, ALL", "Bad parameter ", "");
}

static void forms_of_output_add_up(void **state)
{
    static const char takes[] =
        "extended, id, timestamp, ktimestamp, labels, xml, save, userspace, or ./FILE";
    struct conntrack_layout layout = ACCEPT("-o", "extended,id", "-o", "labels").layout;

    (void)state;
    assert_true(layout.extended && layout.id && layout.labels);
    assert_false(layout.xml || layout.save || layout.timestamp || layout.ktimestamp);
    layout = ACCEPT("-o", "userspace,ktimestamp").layout;
    assert_true(layout.ktimestamp && !layout.timestamp);
    layout = ACCEPT("-o", "timestamp,XML").layout;
    assert_true(layout.timestamp && layout.xml);
    assert_true(ACCEPT("-o", "sa").layout.save);
    assert_is_none("output", "json", takes, "Bad parameter ", "");
    assert_is_none("output", "", takes, "Bad parameter ", "");
}

static void tables_are_known_by_how_they_begin(void **state)
{
    static const struct {
        const char *text;
        enum conntrack_table table;
    } tables[] = {
        {"conntrack", TABLE_CONNTRACK},
        {"c", TABLE_CONNTRACK},
        {"expect", TABLE_EXPECT},
        {"exp", TABLE_EXPECT},
        {"dying", TABLE_DYING},
        {"d", TABLE_DYING},
        {"unconfirmed", TABLE_UNCONFIRMED},
        {"unc", TABLE_UNCONFIRMED},
        {"", TABLE_EXPECT},
    };
    static const char *const others[] = {"expects", "Expect", "x", "conntrack "};

    (void)state;
    for (size_t i = 0; i < COUNT(tables); i++)
        assert_int_equal(ACCEPT("-L", tables[i].text).table, tables[i].table);
    for (size_t i = 0; i < COUNT(others); i++)
        assert_is_none("dump", others[i], "conntrack, expect, dying, unconfirmed, or nothing",
                       "unknown type ", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_decimal_octal_or_hexadecimal),
        cmocka_unit_test(wrong_and_too_large_numbers_are_refused),
        cmocka_unit_test(networks_are_addresses_with_as_many_bits_as_are_named),
        cmocka_unit_test(a_prefix_is_decimal),
        cmocka_unit_test(wrong_addresses_are_refused),
        cmocka_unit_test(nat_is_an_address_a_port_or_both),
        cmocka_unit_test(wrong_nat_is_refused),
        cmocka_unit_test(protocols_have_names_and_numbers),
        cmocka_unit_test(unknown_protocols_are_refused),
        cmocka_unit_test(states_are_those_of_a_protocol),
        cmocka_unit_test(states_of_another_protocol_are_none),
        cmocka_unit_test(marks_may_have_a_mask),
        cmocka_unit_test(wrong_marks_are_refused),
        cmocka_unit_test(lists_are_words_between_commas),
        cmocka_unit_test(words_may_be_abbreviated_and_of_any_case),
        cmocka_unit_test(events_add_up),
        cmocka_unit_test(forms_of_output_add_up),
        cmocka_unit_test(tables_are_known_by_how_they_begin),
    };

    return cmocka_run_group_tests_name("conntrack_values", tests, NULL, NULL);
}
