#include "shown.h"

#include <string.h>

#include "fastnet/hash.h"
#include "fuzz.h"

enum { TEXT_SIZE = 64 * 1024 };

bool shown_stands_still(const struct column *column)
{
    return strcmp(column->name, "age") != 0;
}

uint64_t shown_hash(uint64_t hash, const struct record *record, const struct context *context)
{
    static char text[TEXT_SIZE];
    const struct column_table *columns = columns_of(record->kind);

    for (size_t i = 0; i < columns->count; i++) {
        const struct column *column = &columns->columns[i];
        if (!shown_stands_still(column))
            continue;
        const struct value value = column->value(column, record, context);
        require(value.type == column->type || value.type == VALUE_UNKNOWN);
        require(value_bound(&value) <= sizeof text);
        const size_t length = (size_t)(value_write(text, &value, " ") - text);
        require(length > 0 && length <= value_bound(&value));
        hash = hash_bytes(hash_word(hash, length), text, length);
    }
    return hash_word(hash, record->identity);
}
