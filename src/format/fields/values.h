/* What columns share: making values, and reading the member of a record that a value is. */
#ifndef FORMAT_FIELDS_VALUES_H
#define FORMAT_FIELDS_VALUES_H

#include <stdbool.h>
#include <stddef.h>
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

/* From nanoseconds to the thousandths of a second that decimal() takes. */
static inline uint64_t milliseconds(uint64_t nanoseconds)
{
    return nanoseconds / 1000000;
}

/* NULL is unknown. */
static inline struct value string(const char *string)
{
    if (!string)
        return unknown;
    return (struct value){.type = VALUE_TEXT, .text = {string, strlen(string)}};
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

/* Bits that have names, where they are filled. */
static inline struct value flags_of(const struct column *column, const struct record *record,
                                    const struct flag_names *names, uint64_t bits)
{
    if (!is_filled(column, record))
        return unknown;
    return (struct value){.type = VALUE_FLAGS, .flags = {names, {bits, 0}}};
}

/*
 * In a column: the member of struct record that it is made from, as in MEMBER(flow.timeout). What
 * type it has is the compiler's word, so that it is read as wide as it is and a member of any other
 * type does not compile. The record's kind must be the table's.
 */
#define MEMBER(path) .member = MEMBER_TYPE(path), .place = offsetof(struct record, path)
/* clang-format off */
#define MEMBER_TYPE(path)                                                                          \
    _Generic(&((struct record *)NULL)->path,                                                       \
        uint8_t *: MEMBER_UINT8,                                                                   \
        uint16_t *: MEMBER_UINT16,                                                                 \
        uint32_t *: MEMBER_UINT32,                                                                 \
        uint64_t *: MEMBER_UINT64,                                                                 \
        struct text *: MEMBER_TEXT,                                                                \
        uint8_t (*)[16]: MEMBER_ADDRESS)
/* clang-format on */

/*
 * For column->value, or to be called by a function that has more conditions: the column's member as
 * a value. Unknown if it is not filled, or is of a type that the function does not read.
 */
struct value member_number(const struct column *column, const struct record *record,
                           const struct context *context);
struct value member_text(const struct column *column, const struct record *record,
                         const struct context *context);

/* Numbers that are times, as seconds with three decimals. */
struct value member_milliseconds(const struct column *column, const struct record *record,
                                 const struct context *context);
struct value member_nanoseconds(const struct column *column, const struct record *record,
                                const struct context *context);

/* An 8-bit AF_INET, AF_INET6 or AF_UNIX by name; others are unknown. */
struct value member_family(const struct column *column, const struct record *record,
                           const struct context *context);

/* The same for an address, of a family that the caller knows: AF_INET or AF_INET6. */
struct value member_address(const struct column *column, const struct record *record,
                            uint8_t family);

#endif
