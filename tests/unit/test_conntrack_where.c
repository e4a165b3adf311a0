/* SPDX-License-Identifier: MIT */
/* Which flows conntrack's options want: each met and missed, and what a flow does not say. */
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "ct_line.h"
#include "kit.h"
#include "predicates.h"

/* 192.0.2.1:1000 to 192.0.2.2:2000; its reply does not mirror it: each field is another. */
static struct record made(uint8_t protocol)
{
    struct record record = {.kind = &kind_flow, .has = UINT64_MAX};
    struct flow_record *flow = &record.flow;

    flow->family = AF_INET;
    flow->way[WAY_ORIG].tuple = (struct flow_tuple){.src = IPV4(192, 0, 2, 1),
                                                    .dst = IPV4(192, 0, 2, 2),
                                                    .src_port = 1000,
                                                    .dst_port = 2000,
                                                    .icmp_type = 8,
                                                    .icmp_code = 1,
                                                    .protocol = protocol,
                                                    .has_ports = true};
    flow->way[WAY_REPLY].tuple = (struct flow_tuple){.src = IPV4(192, 0, 2, 3),
                                                     .dst = IPV4(192, 0, 2, 4),
                                                     .src_port = 3000,
                                                     .dst_port = 4000,
                                                     .protocol = protocol,
                                                     .has_ports = true};
    flow->state = 3;
    flow->role = 1;
    flow->status = IPS_SEEN_REPLY | IPS_CONFIRMED | IPS_SRC_NAT_DONE | IPS_DST_NAT_DONE;
    flow->mark = 0x11;
    flow->secmark = 7;
    flow->zone = 10;
    flow->way[WAY_ORIG].zone = 11;
    flow->way[WAY_REPLY].zone = 12;
    flow->id = 4711;
    flow->way[WAY_ORIG].vtag = 100;
    flow->way[WAY_REPLY].vtag = 200;
    flow->labels[0] = 1;
    flow->labels[3] = 0x80000000;
    return record;
}

static bool wants(const char *line, struct record record)
{
    return predicate_holds(ct_where(line), &record, NULL);
}

/* The lowest byte of a number. */
#define AT(member)                                                                                 \
    (offsetof(struct flow_record, member) +                                                        \
     (__BYTE_ORDER == __BIG_ENDIAN ? sizeof((struct flow_record){0}).member - 1 : 0))

/* Each option as the flow above meets it, and a byte of that flow which makes it another. */
static const struct {
    const char *line;
    uint8_t protocol;
    size_t offset;
} options[] = {
    {"-p tcp", IPPROTO_TCP, AT(way[WAY_ORIG].tuple.protocol)},
    {"-s 192.0.2.1", IPPROTO_TCP, AT(way[WAY_ORIG].tuple.src.bytes[3])},
    {"-d 192.0.2.2", IPPROTO_TCP, AT(way[WAY_ORIG].tuple.dst.bytes[0])},
    {"-r 192.0.2.3", IPPROTO_TCP, AT(way[WAY_REPLY].tuple.src.bytes[2])},
    {"-q 192.0.2.4", IPPROTO_TCP, AT(way[WAY_REPLY].tuple.dst.bytes[3])},
    {"-p tcp --sport 1000", IPPROTO_TCP, AT(way[WAY_ORIG].tuple.src_port)},
    {"-p tcp --dport 2000", IPPROTO_TCP, AT(way[WAY_ORIG].tuple.dst_port)},
    {"-p tcp --reply-port-src 3000", IPPROTO_TCP, AT(way[WAY_REPLY].tuple.src_port)},
    {"-p tcp --reply-port-dst 4000", IPPROTO_TCP, AT(way[WAY_REPLY].tuple.dst_port)},
    {"-p gre --srckey 1000", IPPROTO_GRE, AT(way[WAY_ORIG].tuple.src_port)},
    {"-p gre --dstkey 2000", IPPROTO_GRE, AT(way[WAY_ORIG].tuple.dst_port)},
    {"-p gre --reply-key-src 3000", IPPROTO_GRE, AT(way[WAY_REPLY].tuple.src_port)},
    {"-p gre --reply-key-dst 4000", IPPROTO_GRE, AT(way[WAY_REPLY].tuple.dst_port)},
    {"-p icmp --icmp-type 8", IPPROTO_ICMP, AT(way[WAY_ORIG].tuple.icmp_type)},
    {"-p icmp --icmp-code 1", IPPROTO_ICMP, AT(way[WAY_ORIG].tuple.icmp_code)},
    {"-p icmp --icmp-id 1000", IPPROTO_ICMP, AT(way[WAY_ORIG].tuple.src_port)},
    {"-p icmpv6 --icmpv6-type 8", IPPROTO_ICMPV6, AT(way[WAY_ORIG].tuple.icmp_type)},
    {"-p tcp --state ESTABLISHED", IPPROTO_TCP, AT(state)},
    {"-p dccp --role server", IPPROTO_DCCP, AT(role)},
    {"-p sctp --orig-vtag 100", IPPROTO_SCTP, AT(way[WAY_ORIG].vtag)},
    {"-p sctp --reply-vtag 200", IPPROTO_SCTP, AT(way[WAY_REPLY].vtag)},
    {"-u SEEN_REPLY,!ASSURED", IPPROTO_TCP, AT(status)},
    {"-m 0x11", IPPROTO_TCP, AT(mark)},
    {"-c 7", IPPROTO_TCP, AT(secmark)},
    {"-w 10", IPPROTO_TCP, AT(zone)},
    {"--orig-zone 11", IPPROTO_TCP, AT(way[WAY_ORIG].zone)},
    {"--reply-zone 12", IPPROTO_TCP, AT(way[WAY_REPLY].zone)},
    {"-l 0", IPPROTO_TCP, AT(labels[0])},
};

/* The flow without what an option asks for. */
static struct record without(size_t option, uint8_t protocol)
{
    struct record record = made(protocol);

    ((unsigned char *)&record.flow)[options[option].offset] ^= 0xff;
    return record;
}

static void a_flow_that_meets_the_criteria_is_wanted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(options); i++)
        if (!wants(options[i].line, made(options[i].protocol)))
            fail_msg("%s", options[i].line);
}

static void a_flow_that_misses_one_criterion_is_not_wanted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(options); i++)
        if (wants(options[i].line, without(i, options[i].protocol)))
            fail_msg("%s", options[i].line);
}

static void criteria_that_were_not_named_do_not_count(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(options); i++)
        for (size_t n = 0; n < COUNT(options); n++)
            if (options[n].offset != options[i].offset &&
                (options[n].offset != options[0].offset || !strstr(options[i].line, "-p ")))
                assert_true(wants(options[i].line, without(n, options[i].protocol)));
}

/* All options that go with TCP at once. */
static void everything_that_is_named_must_be_met(void **state)
{
    char all[512] = "-p tcp";

    (void)state;
    for (size_t i = 1; i < COUNT(options); i++) {
        const char *tcp = strstr(options[i].line, "-p tcp");
        const char *rest = tcp ? tcp + strlen("-p tcp") : options[i].line;
        const size_t length = strlen(all);
        if (options[i].protocol == IPPROTO_TCP)
            snprintf(all + length, sizeof all - length, " %s", rest);
    }
    assert_true(wants(all, made(IPPROTO_TCP)));
    for (size_t i = 0; i < COUNT(options); i++)
        if (options[i].protocol == IPPROTO_TCP)
            assert_false(wants(all, without(i, IPPROTO_TCP)));
}

static void without_options_every_flow_is_wanted(void **state)
{
    (void)state;
    assert_true(wants("-L", made(IPPROTO_TCP)));
    assert_true(wants("-L", (struct record){.kind = &kind_flow}));
}

/* What a flow does not say is no 0 that could be asked for. */
static void a_criterion_about_an_unknown_value_is_not_met(void **state)
{
    const struct {
        struct predicate predicate;
        uint64_t bit;
    } needed[] = {
        {predicate_text(field_named(&kind_flow, "state"), "NONE"), FLOW_STATE},
        {predicate_masked(field_named(&kind_flow, "status"), 0, 0), FLOW_STATUS},
        {predicate_masked(field_named(&kind_flow, "mark"), 0, 0), FLOW_MARK},
        {predicate_number(field_named(&kind_flow, "id"), 0), FLOW_ID},
        {predicate_masked(&field_label_bits, 0, 0), FLOW_LABELS},
        {predicate_number(field_named(&kind_flow, "orig_vtag"), 0), FLOW_ORIG_VTAG},
        {predicate_number(field_named(&kind_flow, "reply_vtag"), 0), FLOW_REPLY_VTAG},
        {predicate_number(field_named(&kind_flow, "role"), 0), FLOW_ROLE},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(needed); i++) {
        struct record record = {.kind = &kind_flow, .has = ~needed[i].bit};
        record.flow.way[WAY_ORIG].tuple.protocol = IPPROTO_TCP;
        assert_false(predicate_holds(&needed[i].predicate, &record, NULL));
        record.has = UINT64_MAX;
        assert_true(predicate_holds(&needed[i].predicate, &record, NULL));
    }
}

/* What the kernel does not track by ports has none, not even 0. */
static void a_port_of_0_is_none_where_there_are_no_ports(void **state)
{
    static const char *const ports[] = {"-p tcp --sport 0", "-p tcp --dport 0",
                                        "-p tcp --reply-port-src 0", "-p tcp --reply-port-dst 0"};
    struct record record = made(IPPROTO_TCP);
    struct flow_tuple *orig = &record.flow.way[WAY_ORIG].tuple;
    struct flow_tuple *reply = &record.flow.way[WAY_REPLY].tuple;

    (void)state;
    orig->src_port = orig->dst_port = reply->src_port = reply->dst_port = 0;
    for (size_t i = 0; i < COUNT(ports); i++) {
        orig->has_ports = reply->has_ports = true;
        assert_true(wants(ports[i], record));
        orig->has_ports = reply->has_ports = false;
        assert_false(wants(ports[i], record));
    }
}

static void without_a_zone_or_security_mark_it_is_0(void **state)
{
    static const char *const zeroes[][2] = {
        {"-w 0", "-w 1"},
        {"--orig-zone 0", "--orig-zone 1"},
        {"--reply-zone 0", "--reply-zone 1"},
        {"-c 0", "-c 1"},
    };
    const struct record record = {.kind = &kind_flow, .has = FLOW_ORIG | FLOW_REPLY};

    (void)state;
    for (size_t i = 0; i < COUNT(zeroes); i++) {
        assert_true(wants(zeroes[i][0], record));
        assert_false(wants(zeroes[i][1], record));
    }
}

/* conntrack asks for the zone that a direction has of its own, the column shows the one it is in.
 */
static void a_zone_of_both_directions_is_not_one_of_their_own(void **state)
{
    struct record record = {.kind = &kind_flow, .has = FLOW_ORIG | FLOW_REPLY | FLOW_ZONE};

    (void)state;
    record.flow.zone = 5;
    assert_true(wants("-w 5 --orig-zone 0 --reply-zone 0", record));
    assert_false(wants("--orig-zone 5", record));
    assert_false(wants("--reply-zone 5", record));
}

/* --- Families and networks -------------------------------------------------------------------- */

static void a_family_is_that_of_the_flow(void **state)
{
    struct record record = made(IPPROTO_TCP);

    (void)state;
    assert_true(wants("-f ipv4", record));
    assert_false(wants("-f ipv6", record));
    record.flow.family = AF_INET6;
    assert_false(wants("-f ipv4", record));
    assert_true(wants("-f ipv6", record));
}

static void a_network_holds_all_addresses_that_begin_so(void **state)
{
    static const struct {
        const char *line, *address;
        bool in;
    } networks[] = {
        {"-s 192.0.2.0/24", "192.0.2.255", true},
        {"-s 192.0.2.0/24", "192.0.3.0", false},
        {"-s 192.0.2.0/31", "192.0.2.1", true},
        {"-s 192.0.2.0/31", "192.0.2.2", false},
        {"-s 128.0.0.0/1", "255.1.2.3", true},
        {"-s 128.0.0.0/1", "127.1.2.3", false},
        {"-s 0.0.0.0/0", "8.8.8.8", true},
        {"-s 2001:db8::/33", "2001:db8:7fff::1", true},
        {"-s 2001:db8::/33", "2001:db8:8000::1", false},
        {"-s ::1/128", "::1", true},
        {"-s ::1/128", "::2", false},
        {"-s ::/0", "ff02::1", true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(networks); i++) {
        struct record record = {.kind = &kind_flow, .has = FLOW_ORIG};
        record.flow.way[WAY_ORIG].tuple.src = ip(networks[i].address);
        record.flow.family = record.flow.way[WAY_ORIG].tuple.src.family;
        assert_int_equal(wants(networks[i].line, record), networks[i].in);
    }
}

/* --- Masks ------------------------------------------------------------------------------------ */

static void a_mark_counts_as_far_as_its_mask_reaches(void **state)
{
    (void)state;
    assert_true(wants("-m 0x10/0xf0", made(IPPROTO_TCP)));
    /* a bit that the mask takes away is never there */
    assert_false(wants("-m 0x11/0xf0", made(IPPROTO_TCP)));
    assert_true(wants("-m 0/0", made(IPPROTO_TCP)));
}

static void a_status_names_bits_that_are_set_and_bits_that_are_not(void **state)
{
    static const struct {
        const char *line;
        bool wanted;
    } statuses[] = {
        {"-u SEEN_REPLY", true}, {"-u !SEEN_REPLY", false},        {"-u !ASSURED", true},
        {"-u ASSURED", false},   {"-u SEEN_REPLY,!ASSURED", true}, {"-u SEEN_REPLY,ASSURED", false},
        {"-u UNSET", true},      {"-u UNREPLIED", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(statuses); i++)
        assert_int_equal(wants(statuses[i].line, made(IPPROTO_TCP)), statuses[i].wanted);
}

static void labels_that_are_named_must_all_be_set(void **state)
{
    (void)state;
    assert_true(wants("-l 0", made(IPPROTO_TCP)));
    assert_true(wants("-l 127,0", made(IPPROTO_TCP)));
    assert_false(wants("-l 0,32", made(IPPROTO_TCP)));
    assert_false(wants("-l 0,1", made(IPPROTO_TCP)));
    assert_false(wants("-l 126", made(IPPROTO_TCP)));
}

/* --- NAT -------------------------------------------------------------------------------------- */

/* A UDP flow with a translated source or destination address, or neither. */
static struct record translated(bool src, bool dst, bool src_port, bool dst_port)
{
    struct record record = {.kind = &kind_flow, .has = FLOW_ORIG | FLOW_REPLY | FLOW_STATUS};
    struct flow_record *flow = &record.flow;

    flow->family = AF_INET;
    flow->way[WAY_ORIG].tuple = (struct flow_tuple){.src = IPV4(10, 0, 0, 1),
                                                    .dst = IPV4(192, 0, 2, 2),
                                                    .src_port = 1000,
                                                    .dst_port = 53,
                                                    .protocol = IPPROTO_UDP};
    flow->way[WAY_REPLY].tuple = (struct flow_tuple){.src = IPV4(192, 0, 2, 2),
                                                     .dst = IPV4(10, 0, 0, 1),
                                                     .src_port = 53,
                                                     .dst_port = 1000,
                                                     .protocol = IPPROTO_UDP};
    if (src)
        flow->way[WAY_REPLY].tuple.dst = ip("203.0.113.7");
    if (src_port)
        flow->way[WAY_REPLY].tuple.dst_port = 5000;
    if (dst)
        flow->way[WAY_REPLY].tuple.src = ip("198.51.100.1");
    if (dst_port)
        flow->way[WAY_REPLY].tuple.src_port = 5353;
    flow->status = IPS_CONFIRMED | IPS_SRC_NAT_DONE | IPS_DST_NAT_DONE;
    return record;
}

static void nat_is_seen_by_addresses_and_ports_that_differ(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 16; bits++) {
        const struct record record = translated(bits & 1, bits & 2, bits & 4, bits & 8);
        const bool is_src = bits & 5, is_dst = bits & 10;
        assert_int_equal(wants("-n", record), is_src);
        assert_int_equal(wants("-g", record), is_dst);
        assert_int_equal(wants("-j", record), is_src || is_dst);
        assert_int_equal(wants("-n -g", record), is_src && is_dst);
    }
}

/* Hairpins and the like: tuples differ though nothing was translated in this direction. */
static void nat_that_the_kernel_did_not_do_is_none(void **state)
{
    struct record record = translated(true, true, false, false);

    (void)state;
    record.flow.status = IPS_CONFIRMED | IPS_DST_NAT_DONE;
    assert_false(wants("-n", record));
    assert_true(wants("-g", record));
    record.flow.status = IPS_CONFIRMED | IPS_SRC_NAT_DONE;
    assert_true(wants("-n", record));
    assert_false(wants("-g", record));
    record.has &= ~FLOW_STATUS; /* where that is not known, the tuples are all there is */
    assert_true(wants("-n", record));
    assert_true(wants("-g", record));
}

static void nat_may_be_asked_for_by_address_by_port_or_both(void **state)
{
    static const struct {
        const char *nat;
        bool wanted;
    } nats[] = {
        {"203.0.113.7", true},   {"203.0.113.8", false},     {":5000", true},
        {":5001", false},        {"203.0.113.7:5000", true}, {"203.0.113.7:1", false},
        {"1.0.0.0:5000", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(nats) * 2; i++) {
        char line[64];
        snprintf(line, sizeof line, "-%c %s", i % 2 ? 'j' : 'n', nats[i / 2].nat);
        assert_int_equal(wants(line, translated(true, false, true, false)), nats[i / 2].wanted);
    }
}

/* The address it has anyhow is not one that it was translated to. */
static void an_end_that_was_not_translated_is_not_the_one_asked_for(void **state)
{
    (void)state;
    assert_false(wants("-n 10.0.0.1", translated(false, false, true, false)));
    assert_false(wants("-g :53", translated(false, true, false, false)));
}

/* The second number of a GRE key or an ICMP id is no port that could be translated. */
static void ports_of_protocols_that_have_none_are_no_nat(void **state)
{
    static const uint8_t none[] = {IPPROTO_ICMP, IPPROTO_GRE, 253};
    static const uint8_t ports[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_UDPLITE, IPPROTO_SCTP,
                                    IPPROTO_DCCP};

    (void)state;
    for (size_t i = 0; i < COUNT(none); i++) {
        struct record record = translated(false, false, true, true);
        record.flow.way[WAY_ORIG].tuple.protocol = none[i];
        assert_false(wants("-j", record));
    }
    for (size_t i = 0; i < COUNT(ports); i++) {
        struct record record = translated(false, false, true, false);
        record.flow.way[WAY_ORIG].tuple.protocol = ports[i];
        assert_true(wants("-j", record));
    }
}

static void ipv6_addresses_are_compared_to_their_last_byte(void **state)
{
    struct record record = {.kind = &kind_flow, .has = FLOW_ORIG | FLOW_REPLY};
    struct flow_tuple *orig = &record.flow.way[WAY_ORIG].tuple;
    struct flow_tuple *reply = &record.flow.way[WAY_REPLY].tuple;

    (void)state;
    record.flow.family = AF_INET6;
    orig->protocol = reply->protocol = IPPROTO_ICMPV6;
    orig->src = orig->dst = reply->src = reply->dst = ip("::");
    assert_false(wants("-n ::1", record));
    reply->dst = ip("::1");
    assert_true(wants("-n ::1", record));
    assert_false(wants("-n ::2", record));
    reply->dst = ip("::ffff:192.0.2.1");
    assert_true(wants("-n ::ffff:192.0.2.1", record));
    assert_false(wants("-n ::ffff:192.0.2.2", record));
    assert_false(wants("-n 192.0.2.1", record));
}

/* --- Other records ---------------------------------------------------------------------------- */

static void expectations_are_wanted_by_their_family(void **state)
{
    const struct record record = {.kind = &kind_expectation, .expectation = {.family = AF_INET6}};
    static const struct {
        const char *line;
        bool wanted;
    } lines[] = {{"-m 1", true}, {"-m 1 -f ipv6", true}, {"-f ipv4", false}};

    (void)state;
    for (size_t i = 0; i < COUNT(lines); i++)
        assert_int_equal(
            predicate_holds(conntrack_filter_where(ct_filter(lines[i].line), &kind_expectation),
                            &record, NULL),
            lines[i].wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flow_that_meets_the_criteria_is_wanted),
        cmocka_unit_test(a_flow_that_misses_one_criterion_is_not_wanted),
        cmocka_unit_test(criteria_that_were_not_named_do_not_count),
        cmocka_unit_test(everything_that_is_named_must_be_met),
        cmocka_unit_test(without_options_every_flow_is_wanted),
        cmocka_unit_test(a_criterion_about_an_unknown_value_is_not_met),
        cmocka_unit_test(a_port_of_0_is_none_where_there_are_no_ports),
        cmocka_unit_test(without_a_zone_or_security_mark_it_is_0),
        cmocka_unit_test(a_zone_of_both_directions_is_not_one_of_their_own),
        cmocka_unit_test(a_family_is_that_of_the_flow),
        cmocka_unit_test(a_network_holds_all_addresses_that_begin_so),
        cmocka_unit_test(a_mark_counts_as_far_as_its_mask_reaches),
        cmocka_unit_test(a_status_names_bits_that_are_set_and_bits_that_are_not),
        cmocka_unit_test(labels_that_are_named_must_all_be_set),
        cmocka_unit_test(nat_is_seen_by_addresses_and_ports_that_differ),
        cmocka_unit_test(nat_that_the_kernel_did_not_do_is_none),
        cmocka_unit_test(nat_may_be_asked_for_by_address_by_port_or_both),
        cmocka_unit_test(an_end_that_was_not_translated_is_not_the_one_asked_for),
        cmocka_unit_test(ports_of_protocols_that_have_none_are_no_nat),
        cmocka_unit_test(ipv6_addresses_are_compared_to_their_last_byte),
        cmocka_unit_test(expectations_are_wanted_by_their_family),
    };

    return cmocka_run_group_tests_name("conntrack_where", tests, NULL, NULL);
}
