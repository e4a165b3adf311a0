/* SPDX-License-Identifier: MIT */
/* Fields of a struct of the kernel's that grows: an offset and a width in bytes that are borrowed.
 */
#include "engine/rows.h"
#include "kept_rows.h"
#include "kit.h"
#include "model/fields/fields.h"

/* As the kernel has it today; older ones end before its last members. */
struct info {
    uint8_t narrow;
    uint8_t padding;
    uint16_t shorter;
    uint32_t plain;
    unsigned long long wide; /* __u64 */
    uint32_t counts[3];
};

static const struct field fields[] = {
    INFO(narrow, socket.info, struct info, narrow, SOCKET_TCP_INFO, "8 bits"),
    INFO(shorter, socket.info, struct info, shorter, SOCKET_TCP_INFO, "16 bits"),
    INFO(plain, socket.info, struct info, plain, SOCKET_TCP_INFO, "32 bits"),
    INFO(wide, socket.info, struct info, wide, SOCKET_TCP_INFO, "64 bits"),
    INFO(last, socket.info, struct info, counts[2], SOCKET_TCP_INFO, "the last of several"),
    INFO(memory, socket.memory, struct info, plain, SOCKET_MEMORY, "of other bytes"),
};
enum { END = offsetof(struct info, counts) + 3 * sizeof(uint32_t) }; /* of the last */
enum { NARROW, SHORTER, PLAIN_32, WIDE, LAST, OF_MEMORY };

static const struct info info = {.narrow = 0xfe,
                                 .shorter = 0xfedc,
                                 .plain = 0xfedcba98,
                                 .wide = 0xfedcba9876543210,
                                 .counts = {1, 2, 3}};

static struct value value_at(const struct record *record, size_t which)
{
    static const struct context none = {0};

    return field_value(&fields[which], record, &none);
}

static void assert_number(const struct record *record, size_t which, uint64_t number)
{
    const struct value value = value_at(record, which);

    assert_int_equal(value.type, VALUE_NUMBER);
    assert_true(value.number == number);
}

/* A socket of whose info the kernel sent that many bytes. */
static struct record socket_with(const void *bytes, size_t length)
{
    struct record record;

    record_begin(&record, &kind_socket, sizeof record.socket);
    record.has = SOCKET_TCP_INFO | SOCKET_TCP_BASICS;
    record.socket.info = (struct text){bytes, length};
    return record;
}

static void assert_all(const struct record *record)
{
    assert_number(record, NARROW, 0xfe);
    assert_number(record, SHORTER, 0xfedc);
    assert_number(record, PLAIN_32, 0xfedcba98);
    assert_number(record, WIDE, 0xfedcba9876543210);
    assert_number(record, LAST, 3);
}

static void a_number_has_the_width_of_its_member(void **state)
{
    const struct record record = socket_with(&info, END);

    (void)state;
    assert_all(&record);
}

static void further_bytes_of_a_newer_kernel_change_nothing(void **state)
{
    char longer[1 + sizeof info + 40] = {0};
    const struct record record = socket_with(longer + 1, sizeof longer - 1);

    (void)state;
    memcpy(longer + 1, &info, sizeof info); /* where nothing is aligned */
    assert_all(&record);
}

static void bytes_that_an_older_kernel_does_not_send_are_unknown(void **state)
{
    (void)state;
    for (size_t length = 0; length <= END; length++) {
        static const size_t ends[] = {
            [NARROW] = 1, [SHORTER] = 4, [PLAIN_32] = 8, [WIDE] = 16, [LAST] = END};
        const struct record record = socket_with(&info, length);
        for (size_t i = 0; i < COUNT(ends); i++)
            assert_int_equal(value_at(&record, i).type,
                             length >= ends[i] ? VALUE_NUMBER : VALUE_UNKNOWN);
    }
}

static void bytes_that_were_not_asked_for_are_unknown(void **state)
{
    struct record record = socket_with(&info, sizeof info);

    (void)state;
    assert_int_equal(value_at(&record, OF_MEMORY).type, VALUE_UNKNOWN);
    record.socket.memory = record.socket.info;
    record.has = SOCKET_MEMORY;
    assert_number(&record, OF_MEMORY, 0xfedcba98);
    assert_int_equal(value_at(&record, PLAIN_32).type, VALUE_UNKNOWN);
}

static void a_row_that_is_kept_has_its_own_bytes(void **state)
{
    struct info buffer = info;
    uint32_t memory[] = {0, 7};
    struct record record = socket_with(&buffer, sizeof buffer);
    struct rows rows = {0};

    (void)state;
    record.has |= SOCKET_MEMORY | SOCKET_DROPS;
    record.socket.memory = (struct text){(const char *)memory, sizeof memory};
    assert_int_equal(rows_add(&rows, &record), 0);
    memset(&buffer, 0xff, sizeof buffer);
    memset(memory, 0xff, sizeof memory);
    assert_all(row_at(&rows, 0));
    assert_number(row_at(&rows, 0), OF_MEMORY, 7);
    rows_clear(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_has_the_width_of_its_member),
        cmocka_unit_test(further_bytes_of_a_newer_kernel_change_nothing),
        cmocka_unit_test(bytes_that_an_older_kernel_does_not_send_are_unknown),
        cmocka_unit_test(bytes_that_were_not_asked_for_are_unknown),
        cmocka_unit_test(a_row_that_is_kept_has_its_own_bytes),
    };

    return cmocka_run_group_tests_name("info_fields", tests, NULL, NULL);
}
