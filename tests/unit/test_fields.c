/* SPDX-License-Identifier: MIT */
/* The constructors of fields: what each is, what it reads of a record, and what it makes of it. */
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/hosts.h"
#include "fastnet/interfaces.h"
#include "fastnet/labels.h"
#include "kit.h"
#include "model/fields/fields.h"

/* Stands in for name servers: every address is called "named". */
int getnameinfo(const struct sockaddr *address, socklen_t length, char *host, socklen_t host_size,
                char *service, socklen_t service_size, int flags)
{
    (void)address;
    (void)length;
    (void)service;
    (void)service_size;
    (void)flags;
    snprintf(host, host_size, "named");
    return 0;
}

/* No byte of the members is 0, so that a number that is read too wide is another number. */
static struct record full_record(void)
{
    struct record record;

    memset(&record, 0xa5, sizeof record);
    record.has = UINT64_MAX;
    record.saved = NULL; /* the members are read, and not the columns of a saved row */
    return record;
}

static struct value value_in(const struct field *field, const struct record *record)
{
    return field_value(field, record, &no_names);
}

static void assert_number(const struct field *field, const struct record *record, uint64_t expected)
{
    const struct value value = value_in(field, record);

    assert_int_equal(value.type, VALUE_NUMBER);
    assert_true(value.number == expected);
    assert_true(field_number(field, record) == expected);
}

static void assert_written(const struct field *field, const struct record *record,
                           const struct context *context, const char *expected)
{
    const struct value value = field_value(field, record, context);

    if (value.type != VALUE_UNKNOWN)
        assert_int_equal(value.type, field->type);
    assert_string_equal(text_of_value(&value), expected);
}

/* --- What a constructor says of its field ----------------------------------------------------- */

static const char *letter(uint64_t number)
{
    static const char *const letters[] = {"a", "b"};

    return number < 2 ? letters[number] : NULL;
}

static const char *const bit_names[] = {"first", NULL, "third"};
static const struct flag_names names_of_bits = {bit_names, 3};

static struct value half(const struct cell *cell)
{
    return number(cell->record->flow.start / 2);
}

static const struct {
    struct field field, expected;
} made[] = {
    {NUMBER(a, flow.mark, FLOW_MARK, "help"),
     {.name = "a", .type = VALUE_NUMBER, .member = MEMBER_UINT32}},
    {COUNTER(b, flow.start, FLOW_MARK, "help", .unit = UNIT_BYTES),
     {.name = "b",
      .type = VALUE_NUMBER,
      .member = MEMBER_UINT64,
      .unit = UNIT_BYTES,
      .counter = true}},
    {GAUGE(c, flow.zone, FLOW_MARK, "help"),
     {.name = "c", .type = VALUE_NUMBER, .member = MEMBER_UINT16, .gauge = true}},
    {TEXT(d, flow.helper, FLOW_MARK, "help"),
     {.name = "d", .type = VALUE_TEXT, .member = MEMBER_TEXT}},
    {ADDRESS(e, route.source, FLOW_MARK, "help"),
     {.name = "e", .type = VALUE_ADDRESS, .member = MEMBER_ADDRESS}},
    {HOST(f, route.source, FLOW_MARK, "help"),
     {.name = "f",
      .type = VALUE_TEXT,
      .member = MEMBER_ADDRESS,
      .lookups = NEED_HOSTS | NEED_UNMAPPED}},
    {MILLISECONDS(g, socket.timer_ms, FLOW_MARK, "help"),
     {.name = "g", .type = VALUE_DECIMAL, .member = MEMBER_UINT64, .unit = UNIT_SECONDS}},
    {NANOSECONDS(h, flow.start, FLOW_MARK, "help"),
     {.name = "h", .type = VALUE_TIME, .member = MEMBER_UINT64}},
    {FLAGS(i, flow.status, names_of_bits, FLOW_MARK, "help"),
     {.name = "i", .type = VALUE_FLAGS, .member = MEMBER_UINT32}},
    {WORD(j, flow.event, letter, FLOW_MARK, "help"),
     {.name = "j", .type = VALUE_TEXT, .member = MEMBER_UINT8}},
    {NAMED(k, flow.event, letter, FLOW_MARK, "help"),
     {.name = "k", .type = VALUE_NAME, .member = MEMBER_UINT8}},
    {INTERFACE(l, route.interface, FLOW_MARK, "help"),
     {.name = "l", .type = VALUE_NAME, .member = MEMBER_UINT32, .lookups = NEED_INTERFACES}},
    {COMPUTED(m, VALUE_NUMBER, half, FLOW_MARK, "help"), {.name = "m", .type = VALUE_NUMBER}},
};

static void a_constructor_sets_type_and_needs_of_the_field(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(made); i++) {
        const struct field *field = &made[i].field, *expected = &made[i].expected;
        assert_string_equal(field->name, expected->name);
        assert_string_equal(field->help, "help");
        assert_int_equal(field->type, expected->type);
        assert_int_equal(field->member, expected->member);
        assert_int_equal(field->unit, expected->unit);
        assert_int_equal(field->fields, FLOW_MARK);
        assert_int_equal(field->lookups, expected->lookups);
        assert_int_equal(field->counter, expected->counter);
        assert_int_equal(field->gauge, expected->gauge);
        assert_false(field->key || field->coloured || field->partly || field->optional);
    }
}

static void further_members_may_follow_the_help(void **state)
{
    static const struct field field =
        COUNTER(a, flow.start, FLOW_START, "help", .key = true, .coloured = true, .partly = true,
                .optional = FLOW_USE, .unit = UNIT_PACKETS);

    (void)state;
    assert_true(field.counter && field.key && field.coloured);
    assert_true(field.partly && field.optional == FLOW_USE);
    assert_int_equal(field.unit, UNIT_PACKETS);
}

static void a_field_is_unknown_unless_all_that_it_needs_is_filled(void **state)
{
    struct record record = full_record();

    (void)state;
    record.flow.event = 1;
    record.route.source = ip("192.0.2.1");
    for (size_t i = 0; i < COUNT(made); i++) {
        struct field field = made[i].field;
        record.has = ~FLOW_MARK;
        assert_int_equal(value_in(&field, &record).type, VALUE_UNKNOWN);
        record.has = FLOW_MARK;
        if (field.value != host_member)
            assert_int_equal(value_in(&field, &record).type, field.type);
        field.fields |= FLOW_ORIG; /* one of the two is missing */
        assert_int_equal(value_in(&field, &record).type, VALUE_UNKNOWN);
    }
}

static void optional_needs_are_asked_for_but_may_be_absent(void **state)
{
    static const struct field field = HOST(a, route.source, ROUTE_FROM, "", .optional = ROUTE_MTU);
    static const struct field size = NUMBER(a, route.mtu, 0, "", .optional = ROUTE_MTU);
    struct record record = full_record();

    (void)state;
    assert_true(field_needs(&field).fields == (ROUTE_FROM | ROUTE_MTU));
    assert_true(field_needs(&field).lookups == (NEED_HOSTS | NEED_UNMAPPED));
    record.has = 0;
    record.route.mtu = 1500;
    assert_number(&size, &record, 1500);
}

/* --- Numbers ---------------------------------------------------------------------------------- */

static const struct field of_8 = NUMBER(of_8, route.tos, 0, "");
static const struct field of_16 = NUMBER(of_16, neighbour.vlan, 0, "");
static const struct field of_32 = NUMBER(of_32, flow.timeout, 0, "");
static const struct field of_64 = NUMBER(of_64, flow.way[WAY_ORIG].packets, 0, "");

static void numbers_are_read_as_wide_as_they_are(void **state)
{
    struct record record = full_record();

    (void)state;
    record.route.tos = 0x12;
    assert_number(&of_8, &record, 0x12);
    record = full_record();
    record.neighbour.vlan = 0x1234;
    assert_number(&of_16, &record, 0x1234);
    record = full_record();
    record.flow.timeout = 0x12345678;
    assert_number(&of_32, &record, 0x12345678);
    record = full_record();
    record.flow.way[WAY_ORIG].packets = UINT64_C(0x123456789abcdef0);
    assert_number(&of_64, &record, UINT64_C(0x123456789abcdef0));
}

static void numbers_reach_to_their_end(void **state)
{
    struct record record;

    (void)state;
    memset(&record, 0xff, sizeof record);
    record.saved = NULL;
    assert_number(&of_8, &record, UINT8_MAX);
    assert_number(&of_16, &record, UINT16_MAX);
    assert_number(&of_32, &record, UINT32_MAX);
    assert_number(&of_64, &record, UINT64_MAX);
}

static void a_member_may_be_one_of_many_or_of_the_record_itself(void **state)
{
    static const struct field carrier = NUMBER(a, interface.counters[TX_CARRIER], 0, "");
    static const struct field port = NUMBER(a, flow.way[WAY_REPLY].tuple.dst_port, 0, "");
    static const struct field identity = NUMBER(a, identity, 0, "");
    struct record record = full_record();

    (void)state;
    record.interface.counters[TX_CARRIER] = 14;
    record.identity = 4711;
    assert_number(&carrier, &record, 14);
    assert_number(&identity, &record, 4711);
    record.flow.way[WAY_REPLY].tuple.dst_port = 443;
    assert_number(&port, &record, 443);
}

static void only_numbers_are_numbers(void **state)
{
    static const struct field text = TEXT(a, flow.helper, 0, "");
    static const struct field source = ADDRESS(a, route.source, 0, "");
    static const struct field computed = COMPUTED(a, VALUE_NUMBER, half, 0, "");
    const struct record record = full_record();

    (void)state;
    assert_int_equal(field_number(&text, &record), 0);
    assert_int_equal(field_number(&source, &record), 0);
    assert_int_equal(field_number(&computed, &record), 0);
}

/* Sets it, and changes nothing else. */
static void assert_set(const struct field *field, uint64_t number, uint64_t expected)
{
    const size_t size = field->member == MEMBER_UINT64 ? 8 : 4;
    const struct record before = full_record();
    struct record record = before;

    field_set_number(field, &record, number);
    assert_true(field_number(field, &record) == expected);
    memcpy((char *)&record + field->offset, (const char *)&before + field->offset, size);
    assert_memory_equal(&record, &before, sizeof record);
}

static void a_number_is_set_as_wide_as_it_is_and_at_most_to_its_end(void **state)
{
    (void)state;
    assert_set(&of_64, 0, 0);
    assert_set(&of_64, UINT64_MAX, UINT64_MAX);
    assert_set(&of_32, 0, 0);
    assert_set(&of_32, UINT32_MAX - 1, UINT32_MAX - 1);
    assert_set(&of_32, UINT32_MAX, UINT32_MAX);
    assert_set(&of_32, UINT64_C(1) << 32, UINT32_MAX);
}

static void durations_have_three_decimals_and_times_are_of_rfc_3339(void **state)
{
    static const struct field used = MILLISECONDS(a, neighbour.used_ms, 0, "");
    static const struct field start = NANOSECONDS(a, flow.start, 0, "");
    struct record record = full_record();

    (void)state;
    record.neighbour.used_ms = 7199250;
    assert_written(&used, &record, &no_names, "7199.250");
    record = full_record();
    record.flow.start = UINT64_C(1700000000123999999);
    assert_written(&start, &record, &no_names, "2023-11-14T22:13:20.123999Z");
}

/* --- Texts and addresses ---------------------------------------------------------------------- */

static void a_text_is_borrowed_as_it_is(void **state)
{
    static const struct field helper = TEXT(a, flow.helper, 0, "");
    static const char bytes[] = "f\0tp";
    struct record record = full_record();
    struct value value;

    (void)state;
    record.flow.helper = (struct text){bytes, 4};
    value = value_in(&helper, &record);
    assert_int_equal(value.type, VALUE_TEXT);
    assert_ptr_equal(value.text.data, bytes);
    assert_int_equal(value.text.length, 4);
    record.flow.helper = (struct text){"", 0};
    value = value_in(&helper, &record);
    assert_int_equal(value.type, VALUE_TEXT);
    assert_int_equal(value.text.length, 0);
}

static const struct field gateway = ADDRESS(a, route.gateway, 0, "");

static void assert_gateway(const char *text, const char *expected)
{
    struct record record = full_record();
    struct value value;

    record.route.gateway = ip(text);
    value = value_in(&gateway, &record);
    assert_int_equal(value.type, VALUE_ADDRESS);
    assert_ip(&value.address, expected);
}

static void an_address_goes_with_its_family_and_a_mapped_one_is_of_ipv4(void **state)
{
    struct record record = full_record();

    (void)state;
    assert_gateway("2001:db8::ffff", "2001:db8::ffff");
    assert_gateway("::ffff:192.0.2.1", "192.0.2.1");
    assert_gateway("192.0.2.1", "192.0.2.1");
    assert_gateway("0.0.0.0", "0.0.0.0");
    record.route.gateway.family = AF_UNSPEC;
    assert_int_equal(value_in(&gateway, &record).type, VALUE_UNKNOWN);
}

static void a_host_is_named_where_names_were_looked_up(void **state)
{
    static const struct field host = HOST(a, route.gateway, 0, "");
    const struct context context = {.hosts = hosts_create()};
    struct record record = full_record();

    (void)state;
    record.route.gateway = ip("192.0.2.1");
    assert_int_equal(hosts_add(context.hosts, &record.route.gateway), 0);
    assert_int_equal(hosts_resolve(context.hosts, 10000, NULL), 0);
    assert_written(&host, &record, &no_names, "-");
    assert_written(&host, &record, &context, "named");
    record.route.gateway = ip("::ffff:192.0.2.1");
    assert_written(&host, &record, &context, "named");
    record.route.gateway = ip("192.0.2.2");
    assert_written(&host, &record, &context, "-");
    record.route.gateway.family = AF_UNSPEC;
    assert_written(&host, &record, &context, "-");
    hosts_destroy(context.hosts);
}

/* --- Numbers that have names ------------------------------------------------------------------ */

static void bits_have_names_or_are_numbers(void **state)
{
    static const struct field flags = FLAGS(a, flow.status, names_of_bits, 0, "");
    struct record record = full_record();

    (void)state;
    record.flow.status = 0;
    assert_written(&flags, &record, &no_names, "-");
    assert_int_equal(value_in(&flags, &record).type, VALUE_FLAGS);
    record.flow.status = 7 | 1U << 31;
    assert_written(&flags, &record, &no_names, "first,1,third,31");
}

static void a_number_without_a_name_is_unknown_as_a_word_and_else_its_digits(void **state)
{
    static const struct field word = WORD(a, neighbour.vlan, letter, 0, "");
    static const struct field named = NAMED(a, neighbour.vlan, letter, 0, "");
    struct record record = full_record();

    (void)state;
    record.neighbour.vlan = 1;
    assert_written(&word, &record, &no_names, "b");
    assert_written(&named, &record, &no_names, "b");
    assert_int_equal(value_in(&named, &record).name.number, 1);
    record.neighbour.vlan = 2;
    assert_written(&word, &record, &no_names, "-");
    assert_written(&named, &record, &no_names, "2");
}

static void families_have_names(void **state)
{
    (void)state;
    assert_string_equal(family_name(AF_INET), "inet");
    assert_string_equal(family_name(AF_INET6), "inet6");
    assert_string_equal(family_name(AF_UNIX), "unix");
    assert_null(family_name(AF_UNSPEC));
    assert_null(family_name(0xff));
}

static void an_interface_is_its_name_or_else_its_index_and_0_is_none(void **state)
{
    static const struct field interface = INTERFACE(a, route.interface, 0, "");
    const struct context context = {.netns.interfaces = interfaces_create()};
    struct record record = full_record();

    (void)state;
    record.route.interface = 1; /* the first of every namespace */
    assert_written(&interface, &record, &no_names, "1");
    assert_written(&interface, &record, &context, "lo");
    record.route.interface = UINT32_MAX;
    assert_written(&interface, &record, &context, "4294967295");
    record.route.interface = 0;
    assert_written(&interface, &record, &context, "-");
    interfaces_destroy(context.netns.interfaces);
}

/* --- Everything else -------------------------------------------------------------------------- */

static const struct cell *seen;

static struct value look(const struct cell *cell)
{
    static struct cell copy;

    copy = *cell;
    seen = &copy;
    return number(1);
}

static void a_computed_field_is_asked_with_record_and_context_once_all_is_filled(void **state)
{
    static const struct field field = COMPUTED(a, VALUE_NUMBER, look, FLOW_MARK, "");
    struct record record = full_record();

    (void)state;
    record.has = ~FLOW_MARK;
    assert_int_equal(value_in(&field, &record).type, VALUE_UNKNOWN);
    assert_null(seen);
    record.has = FLOW_MARK;
    assert_int_equal(value_in(&field, &record).type, VALUE_NUMBER);
    assert_ptr_equal(seen->field, &field);
    assert_ptr_equal(seen->record, &record);
    assert_ptr_equal(seen->context, &no_names);
}

static void a_counted_field_shows_a_value_of_its_group(void **state)
{
    static const struct value values[] = {{.type = VALUE_UNKNOWN},
                                          {.type = VALUE_NUMBER, .number = 3}};
    const struct record record = {.kind = &kind_count, .count = {.values = values, .count = 1}};
    struct field counted;

    (void)state;
    field_counted(&counted, field_find(&kind_route, "metric", 6), 1);
    assert_string_equal(counted.name, "metric");
    assert_int_equal(counted.member, MEMBER_NONE);
    assert_int_equal(value_in(&counted, &record).number, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constructor_sets_type_and_needs_of_the_field),
        cmocka_unit_test(further_members_may_follow_the_help),
        cmocka_unit_test(a_field_is_unknown_unless_all_that_it_needs_is_filled),
        cmocka_unit_test(optional_needs_are_asked_for_but_may_be_absent),
        cmocka_unit_test(numbers_are_read_as_wide_as_they_are),
        cmocka_unit_test(numbers_reach_to_their_end),
        cmocka_unit_test(a_member_may_be_one_of_many_or_of_the_record_itself),
        cmocka_unit_test(only_numbers_are_numbers),
        cmocka_unit_test(a_number_is_set_as_wide_as_it_is_and_at_most_to_its_end),
        cmocka_unit_test(durations_have_three_decimals_and_times_are_of_rfc_3339),
        cmocka_unit_test(a_text_is_borrowed_as_it_is),
        cmocka_unit_test(an_address_goes_with_its_family_and_a_mapped_one_is_of_ipv4),
        cmocka_unit_test(a_host_is_named_where_names_were_looked_up),
        cmocka_unit_test(bits_have_names_or_are_numbers),
        cmocka_unit_test(a_number_without_a_name_is_unknown_as_a_word_and_else_its_digits),
        cmocka_unit_test(families_have_names),
        cmocka_unit_test(an_interface_is_its_name_or_else_its_index_and_0_is_none),
        cmocka_unit_test(a_computed_field_is_asked_with_record_and_context_once_all_is_filled),
        cmocka_unit_test(a_counted_field_shows_a_value_of_its_group),
    };

    return cmocka_run_group_tests_name("fields", tests, NULL, NULL);
}
