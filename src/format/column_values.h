/* What the functions of columns share: making values. */
#ifndef FASTNET_FORMAT_COLUMN_VALUES_H
#define FASTNET_FORMAT_COLUMN_VALUES_H

#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/column.h"
#include "fastnet/text.h"

static const struct value unknown = {.type = VALUE_UNKNOWN};

static inline struct value number(uint64_t number)
{
    return (struct value){.type = VALUE_NUMBER, .number = number};
}

static inline struct value integer(uint64_t magnitude, bool negative)
{
    return (struct value){.type = VALUE_SIGNED, .integer = {magnitude, negative && magnitude != 0}};
}

/* Three decimals, given as thousandths. */
static inline struct value decimal(uint64_t thousandths)
{
    return (struct value){.type = VALUE_DECIMAL, .number = thousandths};
}

/* NULL is unknown. */
static inline struct value string(const char *string)
{
    if (string == NULL)
        return unknown;
    return (struct value){.type = VALUE_TEXT, .text = {string, strlen(string)}};
}

/* AF_INET, AF_INET6 or AF_UNIX. */
static inline struct value family_name(uint8_t family)
{
    switch (family) {
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

/* bytes: 4 or 16 by the family, network byte order. */
static inline struct value address(uint8_t family, const uint8_t *bytes)
{
    struct value value = {.type = VALUE_ADDRESS, .family = family, .address = {0}};

    /* So that a mapped address is the same value as the IPv4 address it is written as. */
    if (family == AF_INET6 && address_is_mapped(bytes)) {
        value.family = AF_INET;
        memcpy(value.address, bytes + 12, 4);
    } else {
        memcpy(value.address, bytes, family == AF_INET ? 4 : 16);
    }
    return value;
}

/* Whether the backend filled all that the column is made from. */
static inline bool is_filled(const struct column *column, const struct record *record)
{
    const uint64_t fields = column->needs & ~NEED_LOOKUPS;

    return (record->has & fields) == fields;
}

#endif
