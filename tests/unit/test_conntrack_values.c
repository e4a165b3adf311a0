/* SPDX-License-Identifier: MIT */
/* What the arguments of conntrack's options mean, and which are none. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/conntrack/conntrack_parsing.h"
#include "cli/form.h"
#include "kit.h"

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

static void what_is_no_number_or_too_large_is_refused(void **state)
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

static void what_is_no_address_is_refused(void **state)
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
        const char *text;
        const char *address; /* NULL: none */
        int port;            /* -1: none */
    } nats[] = {
        {"192.0.2.1", "192.0.2.1", -1},
        {"192.0.2.1:80", "192.0.2.1", 80},
        {":80", NULL, 80},
        {"2001:db8::1", "2001:db8::1", -1},
        {"[2001:db8::1]", "2001:db8::1", -1},
        {"[2001:db8::1]:65535", "2001:db8::1", 65535},
        {"[192.0.2.1]:80", "192.0.2.1", 80},
        {"::1", "::1", -1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(nats); i++) {
        struct conntrack_nat nat;
        memset(&nat, 0xa5, sizeof nat);
        assert_int_equal(conntrack_nat(nats[i].text, &nat), 0);
        assert_int_equal(nat.has_address, nats[i].address != NULL);
        assert_int_equal(nat.has_port, nats[i].port >= 0);
        if (nats[i].address)
            assert_ip(&nat.address, nats[i].address);
        else
            assert_int_equal(nat.address.family, AF_UNSPEC);
        assert_int_equal(nat.port, nats[i].port < 0 ? 0 : nats[i].port);
    }
}

static void what_is_no_nat_is_refused(void **state)
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
    for (size_t i = 0; i < COUNT(others); i++) {
        struct conntrack_nat nat = {.port = 4711};
        if (conntrack_nat(others[i], &nat) != -EINVAL)
            fail_msg("'%s' was taken", others[i]);
        assert_int_equal(nat.address.family, AF_UNSPEC);
        assert_int_equal(nat.port, 4711);
    }
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
        uint8_t protocol = 77;
        assert_int_equal(conntrack_protocol(protocols[i].text, &protocol), 0);
        assert_int_equal(protocol, protocols[i].protocol);
    }
}

static void what_is_no_protocol_is_refused(void **state)
{
    static const char *const others[] = {"", "256", "-1", "tc", "tcpx", "no-such-protocol", "6 "};

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        uint8_t protocol = 77;
        assert_int_equal(conntrack_protocol(others[i], &protocol), -EINVAL);
        assert_int_equal(protocol, 77);
    }
}

static void states_are_those_of_a_protocol(void **state)
{
    static const struct {
        const char *text;
        uint8_t protocol, state;
    } states[] = {
        {"NONE", IPPROTO_TCP, 0},         {"SYN_SENT", IPPROTO_TCP, 1},
        {"SYN_RECV", IPPROTO_TCP, 2},     {"ESTABLISHED", IPPROTO_TCP, 3},
        {"FIN_WAIT", IPPROTO_TCP, 4},     {"CLOSE_WAIT", IPPROTO_TCP, 5},
        {"LAST_ACK", IPPROTO_TCP, 6},     {"TIME_WAIT", IPPROTO_TCP, 7},
        {"CLOSE", IPPROTO_TCP, 8},        {"SYN_SENT2", IPPROTO_TCP, 9},
        {"LISTEN", IPPROTO_TCP, 9},       {"ESTABLISHED", IPPROTO_SCTP, 4},
        {"COOKIE_WAIT", IPPROTO_SCTP, 2}, {"OPEN", IPPROTO_DCCP, 4},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(states); i++) {
        uint8_t number = 77;
        assert_int_equal(conntrack_state(states[i].text, states[i].protocol, &number), 0);
        assert_int_equal(number, states[i].state);
    }
}

static void states_of_another_protocol_are_none(void **state)
{
    static const struct {
        const char *text;
        uint8_t protocol;
    } states[] = {
        {"OPEN", IPPROTO_TCP},       {"SYN_SENT", IPPROTO_SCTP},
        {"LISTEN", IPPROTO_SCTP},    {"ESTABLISHED", IPPROTO_UDP},
        {"ESTABLISHE", IPPROTO_TCP}, {"ESTABLISHEDX", IPPROTO_TCP},
        {"", IPPROTO_TCP},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(states); i++) {
        uint8_t number = 77;
        assert_int_equal(conntrack_state(states[i].text, states[i].protocol, &number), -EINVAL);
    }
}

static void marks_may_have_a_mask(void **state)
{
    uint32_t mark = 1, mask = 2;

    (void)state;
    assert_int_equal(conntrack_mark("7", &mark, &mask), 0);
    assert_int_equal(mark, 7);
    assert_int_equal(mask, UINT32_MAX);
    assert_int_equal(conntrack_mark("0xffffffff/0x10", &mark, &mask), 0);
    assert_int_equal(mark, UINT32_MAX);
    assert_int_equal(mask, 16);
    assert_int_equal(conntrack_mark("0/0", &mark, &mask), 0);
    assert_int_equal(mask, 0);
}

static void what_is_no_mark_is_refused(void **state)
{
    static const char *const others[] = {
        "",      "/",          "/1",           "1/", "x",  "1/x",
        "1/2/3", "4294967296", "1/4294967296", "-1", "1 ", "00000000000000000000000000000000001",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        uint32_t mark = 4711, mask = 4712;
        assert_int_equal(conntrack_mark(others[i], &mark, &mask), -EINVAL);
        assert_int_equal(mark, 4711);
        assert_int_equal(mask, 4712);
    }
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

    (void)state;
    for (size_t i = 0; i < COUNT(words); i++) {
        uint32_t bit = 4711;
        assert_int_equal(conntrack_status(words[i].text, strlen(words[i].text), &bit), 0);
        assert_int_equal(bit, words[i].bit);
    }
    uint32_t bit = 0;
    assert_int_equal(conntrack_status("ASSUREDX", 8, &bit), -EINVAL);
    assert_int_equal(conntrack_status("", 0, &bit), -EINVAL);
    assert_int_equal(conntrack_status("DYING", 5, &bit), -EINVAL);
    assert_int_equal(conntrack_status("ASSUREDX", 7, &bit), 0); /* length bytes of it */
}

static void events_add_up(void **state)
{
    unsigned kinds = 0;

    (void)state;
    assert_int_equal(conntrack_event("NEW", 3, &kinds), 0);
    assert_int_equal(kinds, 1u << FLOW_NEW);
    assert_int_equal(conntrack_event("destroy", 7, &kinds), 0);
    assert_int_equal(kinds, 1u << FLOW_NEW | 1u << FLOW_DESTROY);
    assert_int_equal(conntrack_event("UPDATE", 6, &kinds), 0);
    assert_int_equal(kinds, 7);
    kinds = 0;
    assert_int_equal(conntrack_event("ALL", 3, &kinds), 0);
    assert_int_equal(kinds, 7);
    assert_int_equal(conntrack_event("UPDATED", 7, &kinds), -EINVAL);
    assert_int_equal(conntrack_event("", 0, &kinds), -EINVAL);
}

static void forms_of_output_add_up(void **state)
{
    struct conntrack_layout layout = {.xml = false};

    (void)state;
    assert_int_equal(conntrack_output("extended", 8, &layout), 0);
    assert_int_equal(conntrack_output("id", 2, &layout), 0);
    assert_int_equal(conntrack_output("labels", 6, &layout), 0);
    assert_true(layout.extended && layout.id && layout.labels);
    assert_false(layout.xml || layout.save || layout.timestamp || layout.ktimestamp);
    assert_int_equal(conntrack_output("userspace", 9, &layout), 0);
    assert_int_equal(conntrack_output("ktimestamp", 10, &layout), 0);
    assert_true(layout.ktimestamp && !layout.timestamp);
    assert_int_equal(conntrack_output("timestamp", 9, &layout), 0);
    assert_int_equal(conntrack_output("XML", 3, &layout), 0);
    assert_int_equal(conntrack_output("sa", 2, &layout), 0);
    assert_true(layout.timestamp && layout.xml && layout.save);
    assert_int_equal(conntrack_output("json", 4, &layout), -EINVAL);
    assert_int_equal(conntrack_output("", 0, &layout), -EINVAL);
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
    for (size_t i = 0; i < COUNT(tables); i++) {
        enum conntrack_table table = TABLE_CONNTRACK;
        assert_int_equal(conntrack_table(tables[i].text, &table), 0);
        assert_int_equal(table, tables[i].table);
    }
    for (size_t i = 0; i < COUNT(others); i++) {
        enum conntrack_table table = TABLE_DYING;
        assert_int_equal(conntrack_table(others[i], &table), -EINVAL);
        assert_int_equal(table, TABLE_DYING);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_decimal_octal_or_hexadecimal),
        cmocka_unit_test(what_is_no_number_or_too_large_is_refused),
        cmocka_unit_test(networks_are_addresses_with_as_many_bits_as_are_named),
        cmocka_unit_test(a_prefix_is_decimal),
        cmocka_unit_test(what_is_no_address_is_refused),
        cmocka_unit_test(nat_is_an_address_a_port_or_both),
        cmocka_unit_test(what_is_no_nat_is_refused),
        cmocka_unit_test(protocols_have_names_and_numbers),
        cmocka_unit_test(what_is_no_protocol_is_refused),
        cmocka_unit_test(states_are_those_of_a_protocol),
        cmocka_unit_test(states_of_another_protocol_are_none),
        cmocka_unit_test(marks_may_have_a_mask),
        cmocka_unit_test(what_is_no_mark_is_refused),
        cmocka_unit_test(lists_are_words_between_commas),
        cmocka_unit_test(words_may_be_abbreviated_and_of_any_case),
        cmocka_unit_test(events_add_up),
        cmocka_unit_test(forms_of_output_add_up),
        cmocka_unit_test(tables_are_known_by_how_they_begin),
    };

    return cmocka_run_group_tests_name("conntrack_values", tests, NULL, NULL);
}
