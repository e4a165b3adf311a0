/* SPDX-License-Identifier: MIT */
#include "fastnet/kernel_number.h"

#include "fastnet/record.h"
#include "fastnet/sysctl.h"

#define COUNTER(number, of_protocol, ...)                                                          \
    [number] = {.protocol = (of_protocol), .name = __VA_ARGS__},
#define SYSCTL(number, of_name, of_limit, of_file, of_numbers, at_index)                           \
    [number] = {.name = (of_name),                                                                 \
                .file = (of_file),                                                                 \
                .file_numbers = (of_numbers),                                                      \
                .index = (at_index),                                                               \
                .limit = (of_limit)},
#define OF_ROWS(number, of_name, of_limit) [number] = {.name = (of_name), .limit = (of_limit)},
const struct kernel_number_row kernel_numbers[KERNEL_NUMBERS] = {
    EACH_KERNEL_NUMBER(COUNTER, SYSCTL, OF_ROWS)};

enum kernel_number kernel_number_of(const struct counter_record *counter)
{
    const char first = counter->name.length ? *counter->name.data
                                            : '\0'; /* names mostly differ in their first letter */

    for (enum kernel_number i = NO_NUMBER + 1; i < TIME_WAIT_MAX; i++)
        if (*kernel_numbers[i].name == first && text_is(counter->name, kernel_numbers[i].name) &&
            (!kernel_numbers[i].protocol || text_is(counter->protocol, kernel_numbers[i].protocol)))
            return i;
    return NO_NUMBER;
}

enum kernel_number kernel_counts_take(struct kernel_counts *counts,
                                      const struct counter_record *counter)
{
    const enum kernel_number number = kernel_number_of(counter);
    const uint64_t others = kernel_numbers[number].protocol ? 0 : counts->numbers[number];

    if (number) {
        counts->numbers[number] = others + counter->magnitude;
        counts->known[number] = true;
    }
    return number;
}

int kernel_number_read(const char *proc_root, enum kernel_number number, uint64_t *value)
{
    const struct kernel_number_row *row = &kernel_numbers[number];
    uint64_t numbers[SYSCTL_NUMBERS_MAX];
    const int error = sysctl_numbers(proc_root, row->file, numbers, row->file_numbers);

    if (!error)
        *value = numbers[row->index];
    return error;
}
