/* Members of a record as values. */
#include "format/fields/values.h"

static const unsigned char *bytes_of(const struct column *column, const struct record *record)
{
    return (const unsigned char *)record + column->place;
}

struct value member_number(const struct column *column, const struct record *record,
                           const struct context *context)
{
    const unsigned char *bytes = bytes_of(column, record);
    uint16_t of_16;
    uint32_t of_32;
    uint64_t of_64;

    (void)context;
    if (!is_filled(column, record))
        return unknown;
    switch (column->member) {
    case MEMBER_UINT8:
        return number(*bytes);
    case MEMBER_UINT16:
        memcpy(&of_16, bytes, sizeof of_16);
        return number(of_16);
    case MEMBER_UINT32:
        memcpy(&of_32, bytes, sizeof of_32);
        return number(of_32);
    case MEMBER_UINT64:
        memcpy(&of_64, bytes, sizeof of_64);
        return number(of_64);
    case MEMBER_NONE:
    case MEMBER_TEXT:
    case MEMBER_ADDRESS:
        break;
    }
    return unknown;
}

struct value member_text(const struct column *column, const struct record *record,
                         const struct context *context)
{
    struct value value = {.type = VALUE_TEXT, .text = {NULL, 0}};

    (void)context;
    if (column->member != MEMBER_TEXT || !is_filled(column, record))
        return unknown;
    memcpy(&value.text, bytes_of(column, record), sizeof value.text);
    return value;
}

struct value member_milliseconds(const struct column *column, const struct record *record,
                                 const struct context *context)
{
    const struct value value = member_number(column, record, context);

    return value.type == VALUE_NUMBER ? decimal(value.number) : unknown;
}

struct value member_nanoseconds(const struct column *column, const struct record *record,
                                const struct context *context)
{
    const struct value value = member_number(column, record, context);

    return value.type == VALUE_NUMBER ? decimal(milliseconds(value.number)) : unknown;
}

struct value member_family(const struct column *column, const struct record *record,
                           const struct context *context)
{
    (void)context;
    if (column->member != MEMBER_UINT8 || !is_filled(column, record))
        return unknown;
    switch (*bytes_of(column, record)) {
    case AF_INET:
        return string("inet");
    case AF_INET6:
        return string("inet6");
    case AF_UNIX:
        return string("unix");
    default:
        return unknown;
    }
}

struct value member_address(const struct column *column, const struct record *record,
                            uint8_t family)
{
    if (column->member != MEMBER_ADDRESS || !is_filled(column, record))
        return unknown;
    return address(family, bytes_of(column, record));
}
