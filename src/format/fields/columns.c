/* Columns by record kind, and those of counted groups. */
#include "format/fields/columns.h"

#include <string.h>

/* Of the groups of --count-by: their columns depend on what is counted by. */
static const struct column_table columns_counted = {.kind = RECORD_COUNT};

static const struct column_table *const tables[] = {
    [RECORD_SOCKET] = &columns_socket,
    [RECORD_FLOW] = &columns_flow,
    [RECORD_EXPECTATION] = &columns_expectation,
    [RECORD_FLOW_STATISTICS] = &columns_flow_statistics,
    [RECORD_FLOW_USAGE] = &columns_flow_usage,
    [RECORD_NEIGHBOUR] = &columns_neighbour,
    [RECORD_COUNTER] = &columns_counter,
    [RECORD_GROUP] = &columns_group,
    [RECORD_ROUTE] = &columns_route,
    [RECORD_INTERFACE] = &columns_interface,
    [RECORD_COUNT] = &columns_counted,
};

const struct column_table *columns_of(enum record_kind kind)
{
    return tables[kind];
}

const struct column *column_find(enum record_kind kind, const char *name, size_t length)
{
    const struct column_table *table = columns_of(kind);

    for (size_t i = 0; i < table->count; i++) {
        const struct column *column = &table->columns[i];
        if (strlen(column->name) == length && memcmp(column->name, name, length) == 0)
            return column;
    }
    return NULL;
}

static struct value counted_value(const struct column *column, const struct record *record,
                                  const struct context *context)
{
    (void)context;
    return record->count.values[column->place];
}

void column_counted(struct column *dst, const struct column *of, size_t index)
{
    *dst = *of;
    dst->needs = 0;
    dst->member = MEMBER_NONE;
    dst->place = index;
    dst->value = counted_value;
}

static struct value group_size(const struct column *column, const struct record *record,
                               const struct context *context)
{
    (void)column;
    (void)context;
    return (struct value){.type = VALUE_NUMBER, .number = record->count.count};
}

const struct column column_count = {
    .name = "count",
    .heading = "COUNT",
    .help = "rows with these values",
    .type = VALUE_NUMBER,
    .value = group_size,
};
