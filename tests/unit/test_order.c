/* SPDX-License-Identifier: MIT */
/* How values compare, and rows that are kept, sorted and counted by them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "engine/groups.h"
#include "engine/rows.h"
#include "fastnet/field.h"
#include "fastnet/hosts.h"
#include "fastnet/labels.h"
#include "fastnet/owners.h"
#include "kept_rows.h"
#include "kit.h"

static struct value number(uint64_t n)
{
    return (struct value){.type = VALUE_NUMBER, .number = n};
}

static struct value text(const char *data, size_t length)
{
    return (struct value){.type = VALUE_TEXT, .text = {data, length}};
}

static struct value name(const char *string, uint64_t n)
{
    return (struct value){.type = VALUE_NAME, .name = {string, n}};
}

static struct value ip_value(const char *string)
{
    return (struct value){.type = VALUE_ADDRESS, .address = ip(string)};
}

/* A greater value has no smaller rank; if both are exact, a greater one. */
static void assert_ranks(const struct value *smaller, const struct value *greater)
{
    bool is_exact, is_greater_exact;
    const uint64_t rank = value_rank(smaller, &is_exact);
    const uint64_t greater_rank = value_rank(greater, &is_greater_exact);

    assert_true(rank <= greater_rank);
    if (is_exact && is_greater_exact && greater->type != VALUE_UNKNOWN)
        assert_true(rank < greater_rank);
}

/* Bytes that stand for values compare as these do; no more are written than there is room for. */
static void assert_keys(const struct value *smaller, const struct value *greater)
{
    char keys[2][256] = {{0}};
    const size_t lengths[] = {value_key(smaller, keys[0], sizeof keys[0]),
                              value_key(greater, keys[1], sizeof keys[1])};
    const size_t common = lengths[0] < lengths[1] ? lengths[0] : lengths[1];
    const int order = memcmp(keys[0], keys[1], common);

    assert_in_range(lengths[0], 0, sizeof keys[0]);
    assert_in_range(lengths[1], 0, sizeof keys[1]);
    assert_true(order < 0 || (order == 0 && lengths[0] < lengths[1]));
    keys[0][common / 2] = 'x';
    assert_int_equal(value_key(smaller, keys[0], common / 2), lengths[0]);
    assert_int_equal(keys[0][common / 2], 'x');
}

/* Each is less than those behind it, and equal to itself. */
static void assert_ascending(const struct value *values, size_t value_count)
{
    for (size_t i = 0; i < value_count; i++)
        for (size_t j = 0; j < value_count; j++) {
            int order = value_compare(&values[i], &values[j]);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
            if (i < j)
                assert_ranks(&values[i], &values[j]);
            if (i < j && values[j].type != VALUE_UNKNOWN)
                assert_keys(&values[i], &values[j]);
        }
}

static void numbers_compare_as_numbers(void **state)
{
    const struct value values[] = {number(0),          number(9),
                                   number(10),         number(443),
                                   number(1000),       number(UINT64_C(1) << 32),
                                   number(UINT64_MAX), {.type = VALUE_UNKNOWN}};

    (void)state;
    assert_ascending(values, sizeof values / sizeof *values);
}

static struct value integer(uint64_t magnitude, bool negative)
{
    return (struct value){.type = VALUE_SIGNED, .integer = {magnitude, negative}};
}

static void numbers_below_zero_come_before_the_others(void **state)
{
    const struct value values[] = {
        integer(UINT64_C(1) << 63, true),
        integer(2, true),
        integer(1, true),
        integer(0, false),
        integer(7, false),
        integer(UINT64_MAX, false),
        {.type = VALUE_UNKNOWN},
    };

    (void)state;
    assert_ascending(values, sizeof values / sizeof *values);
}

static void addresses_compare_as_numbers_and_ipv4_is_first(void **state)
{
    const struct value values[] = {
        ip_value("0.0.0.0"),     ip_value("9.0.0.1"),     ip_value("10.0.0.9"),
        ip_value("10.0.0.10"),   ip_value("200.0.0.1"),   ip_value("::"),
        ip_value("::1"),         ip_value("2001:db8::9"), ip_value("fe80::1"),
        {.type = VALUE_UNKNOWN},
    };

    (void)state;
    assert_ascending(values, sizeof values / sizeof *values);
}

static void text_compares_by_its_bytes(void **state)
{
    const struct value values[] = {text(NULL, 0),   text("\0", 1),          text("A", 1),
                                   text("a", 1),    text("a\0b", 3),        text("ab", 2),
                                   text("\xc3", 1), {.type = VALUE_UNKNOWN}};

    (void)state;
    assert_ascending(values, sizeof values / sizeof *values);
}

static void names_come_before_numbers_without_one(void **state)
{
    const struct value values[] = {name("nobody", 65534),
                                   name("root", 0),
                                   name(NULL, 9),
                                   name(NULL, 10),
                                   {.type = VALUE_UNKNOWN}};

    (void)state;
    assert_ascending(values, sizeof values / sizeof *values);
}

static void owners_compare_by_pid_then_descriptor_then_how_many(void **state)
{
    static const struct owner_process processes[] = {
        {.pid = 9, .name = "z"}, {.pid = 10, .name = "a"}, {.pid = 11, .name = "a"}};
    static const struct owner owners[] = {
        {.process = &processes[0], .fd = 3},
        {.process = &processes[1], .fd = 3},
        {.process = &processes[1], .fd = 20},
        {.process = &processes[2], .fd = 0},
    };
    const struct value values[] = {
        {.type = VALUE_OWNERS, .owners = {owners, 0}},
        {.type = VALUE_OWNERS, .owners = {owners, 1}},
        {.type = VALUE_OWNERS, .owners = {owners, 2}},
        {.type = VALUE_OWNERS, .owners = {owners + 1, 1}},
        {.type = VALUE_OWNERS, .owners = {owners + 2, 1}},
        {.type = VALUE_OWNERS, .owners = {owners + 3, 1}},
        {.type = VALUE_UNKNOWN},
    };

    (void)state;
    assert_ascending(values, sizeof values / sizeof *values);
}

static struct value flags(uint64_t low, uint64_t high)
{
    static const char *const names[] = {"z", "a"};
    static const struct flag_names two = {names, 2};

    return (struct value){.type = VALUE_FLAGS, .flags = {&two, {low, high}}};
}

static void sets_of_bits_compare_as_one_large_number(void **state)
{
    const struct value values[] = {
        flags(0, 0),
        flags(1, 0),
        flags(2, 0),
        flags(3, 0),
        flags(UINT64_C(1) << 63, 0),
        flags(0, 1),
        flags(1, 1),
        flags(0, UINT64_C(1) << 63),
        {.type = VALUE_UNKNOWN},
    };

    (void)state;
    assert_ascending(values, sizeof values / sizeof *values);
}

/* --- Rows ------------------------------------------------------------------------------------- */

/* A row's inode is where it came in the order; its backlog, when it has one, is sorted by. */
static struct value backlog(const struct cell *cell)
{
    return number(cell->record->socket.backlog);
}

static const struct field backlog_column = {
    .name = "backlog", .fields = SOCKET_BACKLOG, .type = VALUE_NUMBER, .value = backlog};

static void add_rows(struct rows *rows, size_t row_count)
{
    srand(1);
    for (size_t i = 0; i < row_count; i++) {
        struct record record = {.kind = &kind_socket,
                                .has = rand() % 5 ? SOCKET_BACKLOG : 0,
                                .socket = {.inode = i, .backlog = (uint32_t)(rand() % 50)}};
        assert_int_equal(rows_add(rows, &record), 0);
    }
}

static struct value inode(const struct cell *cell)
{
    return number(cell->record->socket.inode);
}

static void check_sorted(size_t row_count, bool descending)
{
    const struct listing listing = {.sort = {{&backlog_column, descending}}};
    struct rows rows = {0};

    add_rows(&rows, row_count);
    assert_int_equal(rows_sort(&rows, &listing, &no_names, NULL), 0);
    assert_int_equal(rows.count, row_count);
    for (size_t i = 1; i < row_count; i++) {
        const struct record *a = row_at(&rows, i - 1), *b = row_at(&rows, i);
        if (!a->has)
            assert_int_equal(b->has, 0); /* unknown ones come last either way */
        if (a->has == b->has && (!a->has || a->socket.backlog == b->socket.backlog))
            assert_true(a->socket.inode < b->socket.inode); /* equal ones stay in order */
        else if (a->has && b->has)
            assert_true(descending ? a->socket.backlog > b->socket.backlog
                                   : a->socket.backlog < b->socket.backlog);
    }
    rows_clear(&rows);
}

static void rows_are_sorted_and_equal_ones_stay_in_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < 70; i++) {
        check_sorted(i, false);
        check_sorted(i, true);
    }
    check_sorted(5000, false);
    check_sorted(5000, true);
}

static void equal_rows_are_in_the_order_of_the_next_column(void **state)
{
    static const struct field inode_column = {
        .name = "inode", .type = VALUE_NUMBER, .value = inode};
    const struct listing listing = {.sort = {{&backlog_column, true}, {&inode_column, true}}};
    struct rows rows = {0};

    (void)state;
    add_rows(&rows, 500);
    assert_int_equal(rows_sort(&rows, &listing, &no_names, NULL), 0);
    for (size_t i = 1; i < rows.count; i++) {
        const struct record *a = row_at(&rows, i - 1), *b = row_at(&rows, i);
        assert_true(a->has >= b->has);
        if (a->has == b->has && (!a->has || a->socket.backlog == b->socket.backlog))
            assert_true(a->socket.inode > b->socket.inode);
        else if (a->has && b->has)
            assert_true(a->socket.backlog > b->socket.backlog);
    }
    rows_clear(&rows);
}

static void a_kept_row_has_its_name_to_itself(void **state)
{
    struct rows rows = {0};
    char name_of_many[SOCKET_PATH_MAX], expected[SOCKET_PATH_MAX];

    (void)state;
    for (size_t i = 0; i < 5000; i++) {
        int length = snprintf(name_of_many, sizeof name_of_many, "/run/%zu", i);
        struct record record = {.kind = &kind_socket,
                                .has = SOCKET_PATH,
                                .socket = {.path = {name_of_many, (size_t)length}}};
        assert_int_equal(rows_add(&rows, &record), 0);
    }
    for (size_t i = 0; i < 5000; i++) {
        int length = snprintf(expected, sizeof expected, "/run/%zu", i);
        assert_int_equal(row_at(&rows, i)->socket.path.length, length);
        assert_memory_equal(row_at(&rows, i)->socket.path.data, expected, (size_t)length);
    }
    rows_clear(&rows);
    assert_int_equal(rows.count, 0);
    rows_clear(&rows);
}

static void memory_of_rows_is_of_any_size_and_aligned(void **state)
{
    static const size_t sizes[] = {0, 1, 7, 16, 300000, 3, 262144, 5};
    struct rows rows = {0};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *memory = rows_allocate(&rows, sizes[i]);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % _Alignof(max_align_t), 0);
        memset(memory, 0xa5, sizes[i]);
    }
    rows_clear(&rows);
}

/* --- Counting --------------------------------------------------------------------------------- */

static struct value path(const struct cell *cell)
{
    return text(cell->record->socket.path.data, cell->record->socket.path.length);
}

static const struct field path_column = {
    .name = "path", .fields = SOCKET_PATH, .type = VALUE_TEXT, .value = path};

static void count(struct groups *groups, const char *string, size_t length, int number_or_none)
{
    char dying[64]; /* as in a receive buffer */
    struct record record = {.kind = &kind_socket, .has = SOCKET_PATH};

    memcpy(dying, string, length);
    record.socket.path = (struct text){dying, length};
    if (number_or_none >= 0) {
        record.has |= SOCKET_BACKLOG;
        record.socket.backlog = (uint32_t)number_or_none;
    }
    assert_int_equal(groups_add(groups, &record, &no_names), 0);
    memset(dying, 0, sizeof dying);
}

static void assert_group(const struct rows *rows, size_t i, uint64_t times, const char *string,
                         size_t length)
{
    const struct count_record *group = &row_at(rows, i)->count;

    assert_int_equal(row_at(rows, i)->kind, &kind_count);
    assert_int_equal(group->count, times);
    assert_int_equal(group->values[0].text.length, length);
    if (length)
        assert_memory_equal(group->values[0].text.data, string, length);
}

static void groups_come_largest_first_and_equal_ones_by_value(void **state)
{
    const struct listing listing = {.count_by = {&path_column}, .count_by_count = 1};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    assert_non_null(groups);
    for (int i = 0; i < 3; i++) {
        count(groups, "LISTEN", 6, 0);
        count(groups, "b", 1, 0);
        count(groups, "LISTEN", 6, 0);
        count(groups, "a\0", 2, 0);
        count(groups, "", 0, 0);
    }
    assert_int_equal(groups_finish(groups, &rows), 0);
    assert_int_equal(rows.count, 4);
    assert_group(&rows, 0, 6, "LISTEN", 6);
    assert_group(&rows, 1, 3, "", 0);
    assert_group(&rows, 2, 3, "a\0", 2);
    assert_group(&rows, 3, 3, "b", 1);
    rows_clear(&rows);
    groups_destroy(groups);
}

static void several_columns_make_a_group_of_each_combination(void **state)
{
    const struct listing listing = {.count_by = {&path_column, &backlog_column},
                                    .count_by_count = 2};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    assert_non_null(groups);
    count(groups, "a", 1, 1);
    count(groups, "a", 1, -1);
    count(groups, "a", 1, 2);
    count(groups, "a", 1, 1);
    count(groups, "a", 1, -1);
    count(groups, "a", 1, -1);
    count(groups, "b", 1, 1);
    assert_int_equal(groups_finish(groups, &rows), 0);
    assert_int_equal(rows.count, 4);
    assert_group(&rows, 0, 3, "a", 1);
    assert_int_equal(row_at(&rows, 0)->count.values[1].type, VALUE_UNKNOWN);
    assert_group(&rows, 1, 2, "a", 1);
    assert_int_equal(row_at(&rows, 1)->count.values[1].number, 1);
    assert_group(&rows, 2, 1, "a", 1);
    assert_group(&rows, 3, 1, "b", 1);
    rows_clear(&rows);
    groups_destroy(groups);
}

static void add_numbers(struct groups *groups)
{
    count(groups, "a", 1, 5);
    count(groups, "b", 1, 20);
    count(groups, "a", 1, -1); /* unknown */
    count(groups, "a", 1, 10);
    count(groups, "c", 1, -1);
}

static void numbers_of_groups_are_added_and_the_largest_sum_is_first(void **state)
{
    const struct listing listing = {.count_by = {&path_column},
                                    .count_by_count = 1,
                                    .sum = {&backlog_column},
                                    .sum_count = 1,
                                    .percent = true};
    static const char *const names[] = {"b", "a", "c"};
    static const uint64_t counts[] = {1, 3, 1}, percents[] = {20000, 60000, 20000};
    static const uint64_t sums[] = {20, 15}, shares[] = {57143, 42857};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    assert_non_null(groups);
    add_numbers(groups);
    assert_int_equal(groups_finish(groups, &rows), 0);
    assert_int_equal(rows.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct value *values = row_at(&rows, i)->count.values;
        assert_group(&rows, i, counts[i], names[i], 1);
        assert_int_equal(values[2].number, percents[i]);
        assert_int_equal(values[1].type, i < 2 ? VALUE_NUMBER : VALUE_UNKNOWN);
        assert_int_equal(values[3].type, i < 2 ? VALUE_DECIMAL : VALUE_UNKNOWN);
        if (i < 2) {
            assert_int_equal(values[1].number, sums[i]);
            assert_int_equal(values[3].number, shares[i]);
        }
    }
    rows_clear(&rows);
    groups_destroy(groups);
}

static void many_groups_are_all_counted(void **state)
{
    const struct listing listing = {.count_by = {&path_column}, .count_by_count = 1};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};
    uint64_t total = 0;
    char string[16];

    (void)state;
    assert_non_null(groups);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 20000; i += round + 1) {
            int length = snprintf(string, sizeof string, "%d", i);
            count(groups, string, (size_t)length, 0);
            total++;
        }
    assert_int_equal(groups_finish(groups, &rows), 0);
    assert_int_equal(rows.count, 20000);
    for (size_t i = 0; i < rows.count; i++) {
        total -= row_at(&rows, i)->count.count;
        if (i > 0)
            assert_true(row_at(&rows, i)->count.count <= row_at(&rows, i - 1)->count.count);
    }
    assert_int_equal(total, 0);
    rows_clear(&rows);
    groups_destroy(groups);
}

/* The backlog's low and high half are the words of a set of bits. */
static struct value bits(const struct cell *cell)
{
    const uint32_t halves = cell->record->socket.backlog;

    return flags(halves & 0xffff, halves >> 16);
}

static const struct field bits_column = {
    .name = "bits", .fields = SOCKET_BACKLOG, .type = VALUE_FLAGS, .value = bits};

static void equal_sets_of_bits_are_one_group(void **state)
{
    static const struct {
        uint64_t count, low, high;
    } expected[] = {{3, 5, 0}, {2, 0, 5}, {1, 0, 0}, {1, 5, 5}};
    const struct listing listing = {.count_by = {&bits_column}, .count_by_count = 1};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    assert_non_null(groups);
    count(groups, "", 0, 5);
    count(groups, "", 0, 5 << 16);
    count(groups, "", 0, 5 << 16 | 5);
    count(groups, "", 0, 0);
    count(groups, "", 0, 5);
    count(groups, "", 0, 5 << 16);
    count(groups, "", 0, 5);
    assert_int_equal(groups_finish(groups, &rows), 0);
    assert_int_equal(rows.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < rows.count; i++) {
        const struct value *value = &row_at(&rows, i)->count.values[0];
        assert_int_equal(row_at(&rows, i)->count.count, expected[i].count);
        assert_int_equal(value->type, VALUE_FLAGS);
        assert_int_equal(value->flags.bits[0], expected[i].low);
        assert_int_equal(value->flags.bits[1], expected[i].high);
        assert_string_equal(value->flags.names->names[1], "a");
    }
    rows_clear(&rows);
    groups_destroy(groups);
}

static void no_rows_make_no_groups(void **state)
{
    const struct listing listing = {.count_by = {&path_column}, .count_by_count = 1};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    assert_int_equal(groups_finish(groups, &rows), 0);
    assert_int_equal(rows.count, 0);
    rows_clear(&rows);
    groups_destroy(groups);
    groups_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_compare_as_numbers),
        cmocka_unit_test(numbers_below_zero_come_before_the_others),
        cmocka_unit_test(addresses_compare_as_numbers_and_ipv4_is_first),
        cmocka_unit_test(text_compares_by_its_bytes),
        cmocka_unit_test(names_come_before_numbers_without_one),
        cmocka_unit_test(owners_compare_by_pid_then_descriptor_then_how_many),
        cmocka_unit_test(sets_of_bits_compare_as_one_large_number),
        cmocka_unit_test(rows_are_sorted_and_equal_ones_stay_in_order),
        cmocka_unit_test(equal_rows_are_in_the_order_of_the_next_column),
        cmocka_unit_test(a_kept_row_has_its_name_to_itself),
        cmocka_unit_test(memory_of_rows_is_of_any_size_and_aligned),
        cmocka_unit_test(groups_come_largest_first_and_equal_ones_by_value),
        cmocka_unit_test(several_columns_make_a_group_of_each_combination),
        cmocka_unit_test(numbers_of_groups_are_added_and_the_largest_sum_is_first),
        cmocka_unit_test(many_groups_are_all_counted),
        cmocka_unit_test(equal_sets_of_bits_are_one_group),
        cmocka_unit_test(no_rows_make_no_groups),
    };

    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
