/* SPDX-License-Identifier: MIT */
/* The rows of numbers that the kernel counts, and how they are found and read. */
#include <errno.h>
#include <string.h>

#include "fastnet/kernel_number.h"
#include "fastnet/record.h"
#include "kit.h"

static enum kernel_number number_of(const char *protocol, const char *name)
{
    return kernel_number_of(
        &(struct counter_record){.protocol = as_text(protocol), .name = as_text(name)});
}

static void each_counter_is_found_by_its_protocol_and_name(void **state)
{
    (void)state;
    for (enum kernel_number i = NO_NUMBER + 1; i < ARP_ENTRIES; i++) {
        const struct kernel_number_row *row = &kernel_numbers[i];
        if (!row->file)
            assert_int_equal(number_of(row->protocol ? row->protocol : "Cpu0", row->name), i);
    }
}

static void other_counters_have_no_number(void **state)
{
    (void)state;
    assert_int_equal(number_of("TCP", "orphans"), NO_NUMBER);
    assert_int_equal(number_of("UDP", "orphan"), NO_NUMBER);
    assert_int_equal(number_of("Tcp", "inuse"), NO_NUMBER);
    assert_int_equal(number_of("", ""), NO_NUMBER);
}

static void a_limit_is_in_a_file_and_has_a_name_for_people(void **state)
{
    (void)state;
    for (enum kernel_number i = NO_NUMBER + 1; i < KERNEL_NUMBERS; i++) {
        const struct kernel_number_row *row = &kernel_numbers[i];
        if (!row->limit)
            continue;
        assert_non_null(kernel_numbers[row->limit].file);
        assert_non_null(kernel_numbers[row->limit].name);
        if (row->unit != IN_PAGES)
            continue;
        /* pressure begins at the number before it */
        assert_string_equal(kernel_numbers[row->limit - 1].file, kernel_numbers[row->limit].file);
        assert_int_equal(kernel_numbers[row->limit - 1].index + 1,
                         kernel_numbers[row->limit].index);
    }
}

static void a_number_of_several_is_read_by_its_place(void **state)
{
    const struct tree *tree = *state;
    uint64_t value = 4711;

    assert_int_equal(kernel_number_read(tree->root, TCP_PAGES_MAX, &value), -ENOENT);
    tree_put_file(tree, "sys/net/ipv4/tcp_mem", "10\t20\n");
    assert_int_equal(kernel_number_read(tree->root, TCP_PAGES_MAX, &value), -EBADMSG);
    assert_int_equal(value, 4711);
    tree_put_file(tree, "sys/net/ipv4/tcp_mem", "10\t20\t30\n");
    assert_int_equal(kernel_number_read(tree->root, TCP_PAGES_PRESSURE, &value), 0);
    assert_int_equal(value, 20);
    assert_int_equal(kernel_number_read(tree->root, TCP_PAGES_MAX, &value), 0);
    assert_int_equal(value, 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(each_counter_is_found_by_its_protocol_and_name),
        IN_TREE(other_counters_have_no_number),
        IN_TREE(a_limit_is_in_a_file_and_has_a_name_for_people),
        IN_TREE(a_number_of_several_is_read_by_its_place),
    };

    return cmocka_run_group_tests_name("kernel_number", tests, NULL, NULL);
}
