/* Columns that are made from one member of a record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/socket.h>

#include "format/fields/values.h"

static const struct context no_names;

typedef struct value (*value_fn)(const struct column *column, const struct record *record,
                                 const struct context *context);

/* All that is not set is no 0, so that a number read too wide is another number. */
static struct record full_record(void)
{
    struct record record;

    memset(&record, 0xa5, sizeof record);
    record.has = UINT64_MAX;
    return record;
}

static struct value value_of(const struct column *column, value_fn value,
                             const struct record *record)
{
    return value(column, record, &no_names);
}

static void assert_number(const struct column *column, const struct record *record,
                          uint64_t expected)
{
    const struct value value = value_of(column, member_number, record);

    assert_int_equal(value.type, VALUE_NUMBER);
    assert_true(value.number == expected);
}

static void numbers_are_read_as_wide_as_they_are(void **state)
{
    static const struct column of_8 = {MEMBER(route.tos)};
    static const struct column of_16 = {MEMBER(neighbour.vlan)};
    static const struct column of_32 = {MEMBER(flow.timeout)};
    static const struct column of_64 = {MEMBER(flow.orig_packets)};
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
    record.flow.orig_packets = UINT64_C(0x123456789abcdef0);
    assert_number(&of_64, &record, UINT64_C(0x123456789abcdef0));
}

static void numbers_reach_to_their_end(void **state)
{
    static const struct column of_8 = {MEMBER(route.tos)};
    static const struct column of_16 = {MEMBER(neighbour.vlan)};
    static const struct column of_32 = {MEMBER(flow.timeout)};
    static const struct column of_64 = {MEMBER(flow.orig_packets)};
    struct record record;

    (void)state;
    memset(&record, 0xff, sizeof record);
    assert_number(&of_8, &record, UINT8_MAX);
    assert_number(&of_16, &record, UINT16_MAX);
    assert_number(&of_32, &record, UINT32_MAX);
    assert_number(&of_64, &record, UINT64_MAX);
}

static void a_member_may_be_one_of_many_or_of_the_record_itself(void **state)
{
    static const struct column carrier = {MEMBER(interface.counters[TX_CARRIER])};
    static const struct column port = {MEMBER(flow.reply.dst_port)};
    static const struct column identity = {MEMBER(identity)};
    struct record record = full_record();

    (void)state;
    record.interface.counters[TX_CARRIER] = 14;
    record.identity = 4711;
    assert_number(&carrier, &record, 14);
    assert_number(&identity, &record, 4711);
    record.flow.reply.dst_port = 443;
    assert_number(&port, &record, 443);
}

static void a_text_is_borrowed_as_it_is(void **state)
{
    static const struct column helper = {MEMBER(flow.helper)};
    static const char name[] = "f\0tp";
    struct record record = full_record();
    struct value value;

    (void)state;
    record.flow.helper = (struct text){name, 4};
    value = value_of(&helper, member_text, &record);
    assert_int_equal(value.type, VALUE_TEXT);
    assert_ptr_equal(value.text.data, name);
    assert_int_equal(value.text.length, 4);
    record.flow.helper = (struct text){"", 0};
    value = value_of(&helper, member_text, &record);
    assert_int_equal(value.type, VALUE_TEXT);
    assert_int_equal(value.text.length, 0);
}

static void times_have_three_decimals_of_a_second(void **state)
{
    static const struct column used = {MEMBER(neighbour.used_ms)};
    static const struct column start = {MEMBER(flow.start)};
    struct record record = full_record();
    struct value value;

    (void)state;
    record.neighbour.used_ms = 7199250;
    value = value_of(&used, member_milliseconds, &record);
    assert_int_equal(value.type, VALUE_DECIMAL);
    assert_int_equal(value.number, 7199250);
    record = full_record();
    record.flow.start = UINT64_C(1700000000123999999);
    value = value_of(&start, member_nanoseconds, &record);
    assert_int_equal(value.type, VALUE_DECIMAL);
    assert_true(value.number == UINT64_C(1700000000123));
}

static void assert_family(uint8_t family, const char *expected)
{
    static const struct column column = {MEMBER(group.family)};
    struct record record = full_record();

    record.group.family = family;
    const struct value value = value_of(&column, member_family, &record);
    if (expected == NULL) {
        assert_int_equal(value.type, VALUE_UNKNOWN);
        return;
    }
    assert_int_equal(value.type, VALUE_TEXT);
    assert_int_equal(value.text.length, strlen(expected));
    assert_memory_equal(value.text.data, expected, strlen(expected));
}

static void families_have_names(void **state)
{
    (void)state;
    assert_family(AF_INET, "inet");
    assert_family(AF_INET6, "inet6");
    assert_family(AF_UNIX, "unix");
    assert_family(AF_UNSPEC, NULL);
    assert_family(0xff, NULL);
}

static void an_address_is_as_long_as_its_family_says(void **state)
{
    static const struct column column = {MEMBER(route.gateway)};
    static const uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff, [12] = 192, [14] = 2, [15] = 1};
    static const uint8_t plain[16] = {192, 0, 2, 1};
    struct record record = full_record();
    struct value value;

    (void)state;
    value = member_address(&column, &record, AF_INET6);
    assert_int_equal(value.type, VALUE_ADDRESS);
    assert_int_equal(value.family, AF_INET6);
    assert_memory_equal(value.address, record.route.gateway, 16);
    memcpy(record.route.gateway, mapped, 16);
    value = member_address(&column, &record, AF_INET6);
    assert_int_equal(value.family, AF_INET);
    assert_memory_equal(value.address, plain, 16);
    record = full_record();
    memcpy(record.route.gateway, plain, 4);
    value = member_address(&column, &record, AF_INET);
    assert_int_equal(value.family, AF_INET);
    assert_memory_equal(value.address, plain, 16);
}

static const value_fn functions[] = {member_number, member_text, member_milliseconds,
                                     member_nanoseconds, member_family};

enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static void a_member_that_is_not_filled_is_unknown(void **state)
{
    static const struct column columns[FUNCTIONS] = {
        {.needs = FLOW_MARK | NEED_HOSTS, MEMBER(flow.mark)},
        {.needs = FLOW_HELPER, MEMBER(flow.helper)},
        {.needs = FLOW_EVENT, MEMBER(flow.received)},
        {.needs = FLOW_START | FLOW_STOP, MEMBER(flow.start)},
        {.needs = FLOW_ORIG, MEMBER(flow.family)},
    };
    static const struct column source = {.needs = FLOW_ORIG, MEMBER(flow.orig.src)};
    struct record record = full_record();

    (void)state;
    record.flow.family = AF_INET;
    for (size_t i = 0; i < FUNCTIONS; i++) {
        record.has = columns[i].needs & ~NEED_LOOKUPS;
        assert_int_not_equal(value_of(&columns[i], functions[i], &record).type, VALUE_UNKNOWN);
        record.has &= record.has - 1; /* one of them is missing */
        assert_int_equal(value_of(&columns[i], functions[i], &record).type, VALUE_UNKNOWN);
    }
    record.has = FLOW_ORIG;
    assert_int_equal(member_address(&source, &record, AF_INET).type, VALUE_ADDRESS);
    record.has = ~FLOW_ORIG;
    assert_int_equal(member_address(&source, &record, AF_INET).type, VALUE_UNKNOWN);
}

static bool is_number(enum member_type member)
{
    return member == MEMBER_UINT8 || member == MEMBER_UINT16 || member == MEMBER_UINT32 ||
           member == MEMBER_UINT64;
}

/* Which members a function reads: that of functions[i], or of member_address() if there is none. */
static bool is_read_by(size_t i, enum member_type member)
{
    if (i == FUNCTIONS)
        return member == MEMBER_ADDRESS;
    if (functions[i] == member_text)
        return member == MEMBER_TEXT;
    return functions[i] == member_family ? member == MEMBER_UINT8 : is_number(member);
}

static void a_member_of_another_type_is_not_read(void **state)
{
    struct column column = {.place = offsetof(struct record, group.family)};
    struct record record = full_record();

    (void)state;
    record.group.family = AF_INET;
    for (int member = MEMBER_NONE; member <= MEMBER_ADDRESS; member++) {
        column.member = (enum member_type)member;
        for (size_t i = 0; i <= FUNCTIONS; i++) {
            const struct value value = i < FUNCTIONS ? value_of(&column, functions[i], &record)
                                                     : member_address(&column, &record, AF_INET);
            assert_int_equal(value.type != VALUE_UNKNOWN, is_read_by(i, column.member));
        }
    }
}

/* What a column of this value type can be read by; -1 if its function is one of its own. */
static int function_of(const struct column *column)
{
    for (int i = 0; i < FUNCTIONS; i++)
        if (column->value == functions[i])
            return i;
    return -1;
}

static void every_column_has_the_member_that_its_function_reads(void **state)
{
    static const enum value_type types[FUNCTIONS] = {VALUE_NUMBER, VALUE_TEXT, VALUE_DECIMAL,
                                                     VALUE_DECIMAL, VALUE_TEXT};
    size_t seen[FUNCTIONS] = {0};

    (void)state;
    for (int kind = 0; kind < RECORD_COUNT; kind++) {
        const struct column_table *table = columns_of((enum record_kind)kind);
        for (size_t i = 0; i < table->count; i++) {
            const struct column *column = &table->columns[i];
            const int function = function_of(column);
            if (function < 0)
                continue;
            seen[function]++;
            if (column->type != types[function] || !is_read_by((size_t)function, column->member))
                fail_msg("%s is not what its function reads", column->name);
        }
    }
    for (size_t i = 0; i < FUNCTIONS; i++)
        assert_true(seen[i] > 0);
}

static void a_counted_column_has_no_member(void **state)
{
    static const struct value values[] = {{.type = VALUE_UNKNOWN},
                                          {.type = VALUE_NUMBER, .number = 3}};
    const struct record record = {.kind = RECORD_COUNT, .count = {values, 1}};
    struct column counted;

    (void)state;
    column_counted(&counted, column_find(RECORD_ROUTE, "metric", 6), 1);
    assert_int_equal(counted.member, MEMBER_NONE);
    assert_int_equal(counted.value(&counted, &record, &no_names).number, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_as_wide_as_they_are),
        cmocka_unit_test(numbers_reach_to_their_end),
        cmocka_unit_test(a_member_may_be_one_of_many_or_of_the_record_itself),
        cmocka_unit_test(a_text_is_borrowed_as_it_is),
        cmocka_unit_test(times_have_three_decimals_of_a_second),
        cmocka_unit_test(families_have_names),
        cmocka_unit_test(an_address_is_as_long_as_its_family_says),
        cmocka_unit_test(a_member_that_is_not_filled_is_unknown),
        cmocka_unit_test(a_member_of_another_type_is_not_read),
        cmocka_unit_test(every_column_has_the_member_that_its_function_reads),
        cmocka_unit_test(a_counted_column_has_no_member),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
