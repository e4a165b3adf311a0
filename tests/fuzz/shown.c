/* SPDX-License-Identifier: MIT */
#include "shown.h"

#include <string.h>

#include "fastnet/hash.h"
#include "fuzz.h"

enum { TEXT_SIZE = 64 * 1024 };

bool shown_stands_still(const struct field *column)
{
    return strcmp(column->name, "age") != 0;
}

uint64_t shown_hash(uint64_t hash, const struct record *record, const struct context *context)
{
    static char text[TEXT_SIZE];

    for (size_t i = 0; i < record->kind->field_count; i++) {
        const struct field *column = &record->kind->fields[i];
        const struct value value = field_value(column, record, context);
        require(value.type == column->type || value.type == VALUE_UNKNOWN);
        require(value_bound(&value) <= sizeof text);
        const size_t length = (size_t)(value_write(text, &value, " ") - text);
        require(length > 0 && length <= value_bound(&value));
        if (shown_stands_still(column))
            hash = hash_bytes(hash_word(hash, length), text, length);
    }
    return hash_word(hash, record->identity);
}
