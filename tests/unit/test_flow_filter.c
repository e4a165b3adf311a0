/* Which flows a filter keeps: every field, met and missed, and what a flow does not say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "addresses.h"
#include "fastnet/flow_filter.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* 192.0.2.1:1000 to 192.0.2.2:2000; its reply does not mirror it: each field is another. */
static struct record made(void)
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
                                                    .protocol = IPPROTO_TCP,
                                                    .has_ports = true};
    flow->way[WAY_REPLY].tuple = (struct flow_tuple){.src = IPV4(192, 0, 2, 3),
                                                     .dst = IPV4(192, 0, 2, 4),
                                                     .src_port = 3000,
                                                     .dst_port = 4000,
                                                     .protocol = IPPROTO_TCP,
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

static struct flow_network network(const char *address, unsigned prefix)
{
    struct flow_network result = {{0}, {0}};

    memcpy(result.network, ip(address).bytes, sizeof result.network);
    for (unsigned bit = 0; bit < prefix; bit++)
        result.mask[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
    return result;
}

static bool keeps(const struct flow_filter *filter, struct record record)
{
    return flow_filter_keeps(&record, filter);
}

/* A filter for one field of the flow above: all of its other members are wrong. */
static struct flow_filter matching(uint32_t field)
{
    struct flow_filter filter = {.fields = field,
                                 .protocol = IPPROTO_TCP,
                                 .orig_src_port = 1000,
                                 .orig_dst_port = 2000,
                                 .reply_src_port = 3000,
                                 .reply_dst_port = 4000,
                                 .icmp_type = 8,
                                 .icmp_code = 1,
                                 .icmp_id = 1000,
                                 .state = 3,
                                 .role = 1,
                                 .orig_vtag = 100,
                                 .reply_vtag = 200,
                                 .status = IPS_SEEN_REPLY,
                                 .status_mask = IPS_SEEN_REPLY | IPS_ASSURED,
                                 .mark = 0x11,
                                 .mark_mask = UINT32_MAX,
                                 .secmark = 7,
                                 .id = 4711,
                                 .zone = 10,
                                 .orig_zone = 11,
                                 .reply_zone = 12,
                                 .labels = {1, 0, 0, 0x80000000}};

    filter.orig_src = network("192.0.2.1", 32);
    filter.orig_dst = network("192.0.2.2", 32);
    filter.reply_src = network("192.0.2.3", 32);
    filter.reply_dst = network("192.0.2.4", 32);
    return filter;
}

#define OF(field, member)                                                                          \
    {                                                                                              \
        (field), offsetof(struct flow_record, member)                                              \
    }

/* Each field, and a byte of the flow above that makes it another. */
static const struct {
    uint32_t field;
    size_t offset;
} fields[] = {
    OF(FILTER_PROTOCOL, way[WAY_ORIG].tuple.protocol),
    OF(FILTER_ORIG_SRC, way[WAY_ORIG].tuple.src.bytes[3]),
    OF(FILTER_ORIG_DST, way[WAY_ORIG].tuple.dst.bytes[0]),
    OF(FILTER_REPLY_SRC, way[WAY_REPLY].tuple.src.bytes[2]),
    OF(FILTER_REPLY_DST, way[WAY_REPLY].tuple.dst.bytes[3]),
    OF(FILTER_ORIG_SRC_PORT, way[WAY_ORIG].tuple.src_port),
    OF(FILTER_ORIG_DST_PORT, way[WAY_ORIG].tuple.dst_port),
    OF(FILTER_REPLY_SRC_PORT, way[WAY_REPLY].tuple.src_port),
    OF(FILTER_REPLY_DST_PORT, way[WAY_REPLY].tuple.dst_port),
    OF(FILTER_ICMP_TYPE, way[WAY_ORIG].tuple.icmp_type),
    OF(FILTER_ICMP_CODE, way[WAY_ORIG].tuple.icmp_code),
    OF(FILTER_ICMP_ID, way[WAY_ORIG].tuple.src_port),
    OF(FILTER_STATE, state),
    OF(FILTER_STATUS, status),
    OF(FILTER_MARK, mark),
    OF(FILTER_SECMARK, secmark),
    OF(FILTER_ZONE, zone),
    OF(FILTER_ORIG_ZONE, way[WAY_ORIG].zone),
    OF(FILTER_REPLY_ZONE, way[WAY_REPLY].zone),
    OF(FILTER_ID, id),
    OF(FILTER_LABELS, labels[0]),
    OF(FILTER_ORIG_VTAG, way[WAY_ORIG].vtag),
    OF(FILTER_REPLY_VTAG, way[WAY_REPLY].vtag),
    OF(FILTER_ROLE, role),
};

/* The flow without what field number i asks for. */
static struct record without(size_t i)
{
    struct record record = made();

    ((unsigned char *)&record.flow)[fields[i].offset] ^= 0xff;
    return record;
}

static void a_field_that_is_met_keeps_the_flow(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(fields); i++) {
        const struct flow_filter filter = matching(fields[i].field);
        assert_true(keeps(&filter, made()));
    }
}

static void a_field_that_is_missed_leaves_it_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(fields); i++) {
        const struct flow_filter filter = matching(fields[i].field);
        assert_false(keeps(&filter, without(i)));
    }
}

static void a_field_that_is_not_named_does_not_count(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(fields); i++)
        for (size_t n = 0; n < COUNT(fields); n++) {
            const struct flow_filter filter = matching(fields[i].field);
            if (fields[n].offset != fields[i].offset)
                assert_true(keeps(&filter, without(n)));
        }
}

static void all_fields_that_are_named_must_be_met(void **state)
{
    uint32_t all = 0;

    (void)state;
    for (size_t i = 0; i < COUNT(fields); i++)
        all |= fields[i].field;
    const struct flow_filter filter = matching(all);
    assert_true(keeps(&filter, made()));
    for (size_t i = 0; i < COUNT(fields); i++)
        assert_false(keeps(&filter, without(i)));
}

static void a_filter_of_nothing_keeps_everything(void **state)
{
    const struct flow_filter filter = {.fields = 0};

    (void)state;
    assert_true(keeps(&filter, made()));
    assert_true(keeps(&filter, (struct record){.kind = &kind_flow}));
}

/* What a flow does not say is no 0 that could be asked for. */
static void what_a_flow_does_not_say_is_not_met(void **state)
{
    static const struct {
        uint32_t field;
        uint64_t bit;
    } needed[] = {
        {FILTER_STATE, FLOW_STATE},   {FILTER_STATUS, FLOW_STATUS},
        {FILTER_MARK, FLOW_MARK},     {FILTER_ID, FLOW_ID},
        {FILTER_LABELS, FLOW_LABELS}, {FILTER_ORIG_VTAG, FLOW_ORIG_VTAG},
        {FILTER_ROLE, FLOW_ROLE},     {FILTER_REPLY_VTAG, FLOW_REPLY_VTAG},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(needed); i++) {
        const struct flow_filter filter = {.fields = needed[i].field};
        struct record record = {.kind = &kind_flow, .has = ~needed[i].bit};
        assert_false(keeps(&filter, record));
        record.has = needed[i].bit;
        assert_true(keeps(&filter, record));
    }
}

/* What the kernel does not track by ports has none, not even 0. */
static void a_port_of_0_is_none_where_there_are_no_ports(void **state)
{
    static const uint32_t ports[] = {FILTER_ORIG_SRC_PORT, FILTER_ORIG_DST_PORT,
                                     FILTER_REPLY_SRC_PORT, FILTER_REPLY_DST_PORT};
    struct record record = made();

    (void)state;
    record.flow.way[WAY_ORIG].tuple.src_port = record.flow.way[WAY_ORIG].tuple.dst_port = 0;
    record.flow.way[WAY_REPLY].tuple.src_port = record.flow.way[WAY_REPLY].tuple.dst_port = 0;
    for (size_t i = 0; i < COUNT(ports); i++) {
        const struct flow_filter filter = {.fields = ports[i], .family = AF_INET};
        record.flow.way[WAY_ORIG].tuple.has_ports = record.flow.way[WAY_REPLY].tuple.has_ports =
            true;
        assert_true(keeps(&filter, record));
        record.flow.way[WAY_ORIG].tuple.has_ports = record.flow.way[WAY_REPLY].tuple.has_ports =
            false;
        assert_false(keeps(&filter, record));
    }
}

static void without_a_zone_or_security_mark_it_is_0(void **state)
{
    static const uint32_t zeroes[] = {FILTER_ZONE, FILTER_ORIG_ZONE, FILTER_REPLY_ZONE,
                                      FILTER_SECMARK};

    (void)state;
    for (size_t i = 0; i < COUNT(zeroes); i++) {
        struct flow_filter filter = {.fields = zeroes[i]};
        const struct record record = {.kind = &kind_flow};
        assert_true(keeps(&filter, record));
        filter.zone = filter.orig_zone = filter.reply_zone = 1;
        filter.secmark = 1;
        assert_false(keeps(&filter, record));
    }
}

/* --- Families and networks -------------------------------------------------------------------- */

static void a_family_is_that_of_the_flow(void **state)
{
    struct flow_filter filter = {.family = AF_INET};
    struct record record = made();

    (void)state;
    assert_true(keeps(&filter, record));
    filter.family = AF_INET6;
    assert_false(keeps(&filter, record));
    record.flow.family = AF_INET6;
    assert_true(keeps(&filter, record));
}

static void a_network_holds_all_addresses_that_begin_so(void **state)
{
    static const struct {
        const char *network, *address;
        unsigned prefix;
        bool in;
    } networks[] = {
        {"192.0.2.0", "192.0.2.255", 24, true},
        {"192.0.2.0", "192.0.3.0", 24, false},
        {"192.0.2.0", "192.0.2.1", 31, true},
        {"192.0.2.0", "192.0.2.2", 31, false},
        {"128.0.0.0", "255.1.2.3", 1, true},
        {"128.0.0.0", "127.1.2.3", 1, false},
        {"0.0.0.0", "8.8.8.8", 0, true},
        {"2001:db8::", "2001:db8:7fff::1", 33, true},
        {"2001:db8::", "2001:db8:8000::1", 33, false},
        {"::1", "::1", 128, true},
        {"::1", "::2", 128, false},
        {"::", "ff02::1", 0, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(networks); i++) {
        struct flow_filter filter = {.fields = FILTER_ORIG_SRC};
        struct record record = {.kind = &kind_flow};
        record.flow.family = strchr(networks[i].address, ':') ? AF_INET6 : AF_INET;
        record.flow.way[WAY_ORIG].tuple.src = ip(networks[i].address);
        filter.orig_src = network(networks[i].network, networks[i].prefix);
        assert_int_equal(keeps(&filter, record), networks[i].in);
    }
}

/* --- Masks ------------------------------------------------------------------------------------ */

static void a_mark_counts_as_far_as_its_mask_reaches(void **state)
{
    struct flow_filter filter = {.fields = FILTER_MARK, .mark = 0x10, .mark_mask = 0xf0};

    (void)state;
    assert_true(keeps(&filter, made()));
    filter.mark = 0x11; /* a bit that the mask takes away is never there */
    assert_false(keeps(&filter, made()));
    filter.mark = filter.mark_mask = 0;
    assert_true(keeps(&filter, made()));
}

static void a_status_names_bits_that_are_set_and_bits_that_are_not(void **state)
{
    static const struct {
        uint32_t status, mask;
        bool kept;
    } statuses[] = {
        {IPS_SEEN_REPLY, IPS_SEEN_REPLY, true},
        {0, IPS_SEEN_REPLY, false},
        {0, IPS_ASSURED, true},
        {IPS_ASSURED, IPS_ASSURED, false},
        {IPS_SEEN_REPLY, IPS_SEEN_REPLY | IPS_ASSURED, true},
        {IPS_SEEN_REPLY | IPS_ASSURED, IPS_SEEN_REPLY | IPS_ASSURED, false},
        {0, 0, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(statuses); i++) {
        const struct flow_filter filter = {
            .fields = FILTER_STATUS, .status = statuses[i].status, .status_mask = statuses[i].mask};
        assert_int_equal(keeps(&filter, made()), statuses[i].kept);
    }
}

static void labels_that_are_named_must_all_be_set(void **state)
{
    struct flow_filter filter = {.fields = FILTER_LABELS, .labels = {1}};

    (void)state;
    assert_true(keeps(&filter, made()));
    filter.labels[1] = 1;
    assert_false(keeps(&filter, made()));
    filter = (struct flow_filter){.fields = FILTER_LABELS, .labels = {3}};
    assert_false(keeps(&filter, made()));
}

/* --- NAT -------------------------------------------------------------------------------------- */

/* A UDP flow whose source or destination was translated, or neither. */
static struct record translated(bool src, bool dst, bool src_port, bool dst_port)
{
    struct record record = {.kind = &kind_flow, .has = FLOW_STATUS};
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

static void nat_is_told_from_addresses_and_ports_that_differ(void **state)
{
    static const struct flow_filter src = {.fields = FILTER_SRC_NAT};
    static const struct flow_filter dst = {.fields = FILTER_DST_NAT};
    static const struct flow_filter any = {.fields = FILTER_ANY_NAT};
    static const struct flow_filter both = {.fields = FILTER_SRC_NAT | FILTER_DST_NAT};

    (void)state;
    for (unsigned bits = 0; bits < 16; bits++) {
        const struct record record = translated(bits & 1, bits & 2, bits & 4, bits & 8);
        const bool is_src = bits & 5, is_dst = bits & 10;
        assert_int_equal(keeps(&src, record), is_src);
        assert_int_equal(keeps(&dst, record), is_dst);
        assert_int_equal(keeps(&any, record), is_src || is_dst);
        assert_int_equal(keeps(&both, record), is_src && is_dst);
    }
}

/* Hairpins and the like: tuples differ though nothing was translated in this direction. */
static void nat_that_the_kernel_did_not_do_is_none(void **state)
{
    static const struct flow_filter src = {.fields = FILTER_SRC_NAT};
    static const struct flow_filter dst = {.fields = FILTER_DST_NAT};
    struct record record = translated(true, true, false, false);

    (void)state;
    record.flow.status = IPS_CONFIRMED | IPS_DST_NAT_DONE;
    assert_false(keeps(&src, record));
    assert_true(keeps(&dst, record));
    record.flow.status = IPS_CONFIRMED | IPS_SRC_NAT_DONE;
    assert_true(keeps(&src, record));
    assert_false(keeps(&dst, record));
    record.has &= ~FLOW_STATUS; /* where that is not known, the tuples are all there is */
    assert_true(keeps(&src, record));
    assert_true(keeps(&dst, record));
}

static void nat_may_be_asked_for_by_address_by_port_or_both(void **state)
{
    static const struct {
        struct flow_nat nat;
        bool kept;
    } nats[] = {
        {{.has_address = true, .address = {203, 0, 113, 7}}, true},
        {{.has_address = true, .address = {203, 0, 113, 8}}, false},
        {{.has_port = true, .port = 5000}, true},
        {{.has_port = true, .port = 5001}, false},
        {{.has_address = true, .has_port = true, .address = {203, 0, 113, 7}, .port = 5000}, true},
        {{.has_address = true, .has_port = true, .address = {203, 0, 113, 7}, .port = 1}, false},
        {{.has_address = true, .has_port = true, .address = {1}, .port = 5000}, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(nats); i++) {
        struct flow_filter filter = {.fields = FILTER_SRC_NAT, .src_nat = nats[i].nat};
        assert_int_equal(keeps(&filter, translated(true, false, true, false)), nats[i].kept);
        filter.fields = FILTER_ANY_NAT;
        assert_int_equal(keeps(&filter, translated(true, false, true, false)), nats[i].kept);
    }
}

/* The address it has anyhow is not one that it was translated to. */
static void an_end_that_was_not_translated_is_not_the_one_asked_for(void **state)
{
    const struct flow_filter address = {.fields = FILTER_SRC_NAT,
                                        .src_nat = {.has_address = true, .address = {10, 0, 0, 1}}};
    const struct flow_filter port = {.fields = FILTER_DST_NAT,
                                     .dst_nat = {.has_port = true, .port = 53}};

    (void)state;
    assert_false(keeps(&address, translated(false, false, true, false)));
    assert_false(keeps(&port, translated(false, true, false, false)));
}

/* The second number of a GRE key or an ICMP id is no port that could be translated. */
static void ports_of_protocols_that_have_none_are_no_nat(void **state)
{
    static const struct flow_filter filter = {.fields = FILTER_ANY_NAT};
    static const uint8_t none[] = {IPPROTO_ICMP, IPPROTO_GRE, 253};
    static const uint8_t ports[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_UDPLITE, IPPROTO_SCTP,
                                    IPPROTO_DCCP};

    (void)state;
    for (size_t i = 0; i < COUNT(none); i++) {
        struct record record = translated(false, false, true, true);
        record.flow.way[WAY_ORIG].tuple.protocol = none[i];
        assert_false(keeps(&filter, record));
    }
    for (size_t i = 0; i < COUNT(ports); i++) {
        struct record record = translated(false, false, true, false);
        record.flow.way[WAY_ORIG].tuple.protocol = ports[i];
        assert_true(keeps(&filter, record));
    }
}

static void ipv6_addresses_are_compared_to_their_last_byte(void **state)
{
    struct flow_filter filter = {.fields = FILTER_SRC_NAT, .src_nat = {.has_address = true}};
    struct record record = {.kind = &kind_flow};

    (void)state;
    record.flow.family = AF_INET6;
    record.flow.way[WAY_ORIG].tuple.protocol = IPPROTO_ICMPV6;
    assert_false(keeps(&filter, record));
    record.flow.way[WAY_REPLY].tuple.dst.bytes[15] = filter.src_nat.address[15] = 1;
    assert_true(keeps(&filter, record));
    filter.src_nat.address[15] = 2;
    assert_false(keeps(&filter, record));
}

/* --- Other records ---------------------------------------------------------------------------- */

static void expectations_are_kept_by_their_family(void **state)
{
    struct flow_filter filter = {.fields = FILTER_MARK, .mark = 1, .mark_mask = 1};
    struct record record = {.kind = &kind_expectation, .expectation = {.family = AF_INET6}};

    (void)state;
    assert_true(keeps(&filter, record));
    filter.family = AF_INET6;
    assert_true(keeps(&filter, record));
    filter.family = AF_INET;
    assert_false(keeps(&filter, record));
}

static void what_is_no_flow_is_kept(void **state)
{
    const struct flow_filter filter = {.fields = UINT32_MAX, .family = AF_INET6};

    (void)state;
    assert_true(keeps(&filter, (struct record){.kind = &kind_flow_statistics}));
    assert_true(keeps(&filter, (struct record){.kind = &kind_flow_usage}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_that_is_met_keeps_the_flow),
        cmocka_unit_test(a_field_that_is_missed_leaves_it_out),
        cmocka_unit_test(a_field_that_is_not_named_does_not_count),
        cmocka_unit_test(all_fields_that_are_named_must_be_met),
        cmocka_unit_test(a_filter_of_nothing_keeps_everything),
        cmocka_unit_test(what_a_flow_does_not_say_is_not_met),
        cmocka_unit_test(a_port_of_0_is_none_where_there_are_no_ports),
        cmocka_unit_test(without_a_zone_or_security_mark_it_is_0),
        cmocka_unit_test(a_family_is_that_of_the_flow),
        cmocka_unit_test(a_network_holds_all_addresses_that_begin_so),
        cmocka_unit_test(a_mark_counts_as_far_as_its_mask_reaches),
        cmocka_unit_test(a_status_names_bits_that_are_set_and_bits_that_are_not),
        cmocka_unit_test(labels_that_are_named_must_all_be_set),
        cmocka_unit_test(nat_is_told_from_addresses_and_ports_that_differ),
        cmocka_unit_test(nat_that_the_kernel_did_not_do_is_none),
        cmocka_unit_test(nat_may_be_asked_for_by_address_by_port_or_both),
        cmocka_unit_test(an_end_that_was_not_translated_is_not_the_one_asked_for),
        cmocka_unit_test(ports_of_protocols_that_have_none_are_no_nat),
        cmocka_unit_test(ipv6_addresses_are_compared_to_their_last_byte),
        cmocka_unit_test(expectations_are_kept_by_their_family),
        cmocka_unit_test(what_is_no_flow_is_kept),
    };

    return cmocka_run_group_tests_name("flow_filter", tests, NULL, NULL);
}
