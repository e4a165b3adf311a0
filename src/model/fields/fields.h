/* SPDX-License-Identifier: MIT */
/* Constructors for tables of fields, one for each sort of field, and functions that make values,
 * for COMPUTED() fields. Example: NUMBER(recv_q, socket.recv_q, SOCKET_QUEUES, "bytes not yet
 * read", .unit = UNIT_BYTES) is the field "recv_q", a number, read from that member of struct
 * record. It is known if the backend filled SOCKET_QUEUES. Further members of struct field may
 * follow the help. */
#ifndef MODEL_FIELDS_FIELDS_H
#define MODEL_FIELDS_FIELDS_H

#include <string.h>

#include "fastnet/array.h"
#include "fastnet/field.h"
#include "fastnet/kind.h"

/* "machine" for numbers that count the whole machine, else "netns". */
const char *machine_scope_name(uint64_t machine);

/* clang-format off */

/* A member of struct record. The compiler finds its type, and refuses a type that is not listed. */
#define MEMBER(path)                                                                               \
    .member = MEMBER_TYPE(struct record, path), .offset = offsetof(struct record, path)
#define MEMBER_TYPE(of, path)                                                                      \
    _Generic(&((of *)NULL)->path,                                                                  \
        bool *: MEMBER_UINT8,                                                                      \
        uint8_t *: MEMBER_UINT8,                                                                   \
        uint16_t *: MEMBER_UINT16,                                                                 \
        uint32_t *: MEMBER_UINT32,                                                                 \
        unsigned long *: MEMBER_ULONG,                                                             \
        unsigned long long *: MEMBER_UINT64, /* the kernel's __u64 */                              \
        struct text *: MEMBER_TEXT,                                                                \
        struct address *: MEMBER_ADDRESS)

#define PLAIN(path) MEMBER(path), .plain = true

/* Each constructor begins with the field's name and ends with the bits that must be filled, and the
 * help. */
#define FIELD(id, of_type, function, filled, text, ...)                                            \
    {.name = #id, .type = of_type, .value = function, .fields = filled, .help = text,        \
     __VA_ARGS__}

#define NUMBER(id, path, ...)       FIELD(id, VALUE_NUMBER, number_member, __VA_ARGS__, PLAIN(path))
#define COUNTER(id, path, ...)      NUMBER(id, path, __VA_ARGS__, .counter = true)
#define GAUGE(id, path, ...)        NUMBER(id, path, __VA_ARGS__, .gauge = true)
#define TEXT(id, path, ...)         FIELD(id, VALUE_TEXT, text_member, __VA_ARGS__, PLAIN(path))
#define ADDRESS(id, path, ...)      FIELD(id, VALUE_ADDRESS, address_member, __VA_ARGS__, PLAIN(path))
/* An address whose IPv4-mapped form means IPv6, as in a route: it is not shown as IPv4. */
#define ADDRESS_AS_IT_IS(id, path, ...)                                                            \
    FIELD(id, VALUE_ADDRESS, address_as_it_is, __VA_ARGS__, PLAIN(path))
/* The host name of an address. */
#define HOST(id, path, ...)                                                                        \
    FIELD(id, VALUE_TEXT, host_member, __VA_ARGS__, MEMBER(path),                                  \
          .lookups = NEED_HOSTS | NEED_UNMAPPED)
#define BOOLEAN(id, path, ...)                                                                     \
    FIELD(id, VALUE_BOOLEAN, boolean_member, __VA_ARGS__, PLAIN(path))
/* Times in seconds with three decimals. NANOSECONDS: a point in time, counted since 1970. */
#define MILLISECONDS(id, path, ...)                                                                \
    FIELD(id, VALUE_DECIMAL, number_member, __VA_ARGS__, MEMBER(path), .unit = UNIT_SECONDS)
#define NANOSECONDS(id, path, ...)                                                                 \
    FIELD(id, VALUE_TIME, number_member, __VA_ARGS__, MEMBER(path))
/* A set of bits with names (const struct flag_names). */
#define FLAGS(id, path, names, ...)                                                                \
    FIELD(id, VALUE_FLAGS, flags_member, __VA_ARGS__, PLAIN(path), .flags = &names)
/* A number that `function` names. A number without a name is unknown. */
#define WORD(id, path, function, ...)                                                              \
    FIELD(id, VALUE_TEXT, word_member, __VA_ARGS__, PLAIN(path), .word = function)
/* A number that `function` names. A number without a name is shown as digits. */
#define NAMED(id, path, function, ...)                                                             \
    FIELD(id, VALUE_NAME, named_member, __VA_ARGS__, PLAIN(path), .word = function)
/* The index of an interface, shown by its name; 0: no interface. */
#define INTERFACE(id, path, ...)                                                                   \
    FIELD(id, VALUE_NAME, interface_member, __VA_ARGS__, MEMBER(path),                             \
          .lookups = NEED_INTERFACES)
/* A number in a struct of the kernel whose bytes the record borrows (path, a struct text). It is
 * known if the kernel sent enough bytes, because these structs grow. Example: INFO(mss,
 * socket.info, struct tcp_info, tcpi_snd_mss, SOCKET_TCP_INFO, "its MSS") */
#define INFO(id, path, of, of_part, ...)                                                           \
    INFO_AS(id, VALUE_NUMBER, info_member, path, of, of_part, __VA_ARGS__)
/* As INFO(), but with another type: `function` makes the value. */
#define INFO_AS(id, of_type, function, path, of, of_part, ...)                                     \
    FIELD(id, of_type, function, __VA_ARGS__, MEMBER(path), PART(of, of_part))
#define PART(of, of_part)                                                                          \
    .part = {MEMBER_TYPE(of, of_part), offsetof(of, of_part), sizeof ((of *)NULL)->of_part},       \
    .parts = PARTS_OF(of, of_part)
#define PARTS_OF(of, of_part) PARTS(offsetof(of, of_part), sizeof ((of *)NULL)->of_part)
/* A text made from several fields. filled: fields that must be known; others: optional fields. */
#define VIEW(id, function, filled, others, ...)                                                    \
    FIELD(id, VALUE_VIEW, function, filled, __VA_ARGS__, .optional = (others))
/* A view that is known if the fields that it needs are known: the function only writes the text. */
#define VIEW_BY(id, function, ...) VIEW(id, view_member, __VA_ARGS__, .write = function)
/* Any other field: the type of its values, and the function that makes them. */
#define COMPUTED(id, of_type, function, ...) FIELD(id, of_type, function, __VA_ARGS__, )

/* Members of struct kind. */
#define RECORD_SIZE(member)                                                                        \
    (offsetof(struct record, member) + sizeof ((struct record *)NULL)->member)
#define EVENTS(path, bit) .received = offsetof(struct record, path), .event = (bit)
#define FIELDS(table)   .fields = (table), .field_count = COUNT(table)
#define GROUPS(table)   .groups = (table), .group_count = COUNT(table)
#define VIEWS(table)    .views = (table), .view_count = COUNT(table)
#define BORROWED(table) .borrowed = (table), .borrowed_count = COUNT(table)
#define HOSTS(table)    .hosts = (table), .host_count = COUNT(table)
/* One entry of a table of borrowed texts. */
#define BORROWED_TEXT(path, fields) {fields, offsetof(struct record, path), 1, false}
#define NAMED_ADDRESS(path, fields) {fields, offsetof(struct record, path), NULL}

/* clang-format on */

static const struct value unknown = {.type = VALUE_UNKNOWN};

static inline struct value number(uint64_t number)
{
    return (struct value){.type = VALUE_NUMBER, .number = number};
}

static inline struct value integer(uint64_t magnitude, bool negative)
{
    return (struct value){.type = VALUE_SIGNED, .integer = {magnitude, negative && magnitude != 0}};
}

/* A number with three decimals, from thousandths. */
static inline struct value decimal(uint64_t thousandths)
{
    return (struct value){.type = VALUE_DECIMAL, .number = thousandths};
}

static inline struct value boolean(bool holds)
{
    return (struct value){.type = VALUE_BOOLEAN, .number = holds};
}

/* Nanoseconds as the thousandths of a second that decimal() needs. */
static inline uint64_t milliseconds(uint64_t nanoseconds)
{
    return nanoseconds / 1000000;
}

/* a * factor / b, at most UINT64_MAX. If the product overflows, the result is exact to 15
 * digits. */
static inline uint64_t proportion(uint64_t a, uint64_t factor, uint64_t b)
{
    const double product = (double)a * (double)factor / (double)b;

    return a <= UINT64_MAX / factor ? a * factor / b
           : product < 0x1p64       ? (uint64_t)product
                                    : UINT64_MAX;
}

/* Thousandths of a percent for decimal(); whole must not be 0. */
static inline uint64_t percent_of(uint64_t part, uint64_t whole)
{
    return proportion(part, UINT64_C(100) * 1000, whole);
}

/* A text that `write` makes when the value is shown. */
static inline struct value view(const struct cell *cell, view_fn *write)
{
    return (struct value){.type = VALUE_VIEW,
                          .view = {cell->field, cell->record, cell->context, write}};
}

/* A text; NULL is unknown. */
static inline struct value string(const char *string)
{
    if (!string)
        return unknown;
    return (struct value){.type = VALUE_TEXT, .text = {string, strlen(string)}};
}

/* A name, NULL if there is no name, and its number. */
static inline struct value name(const char *string, uint64_t number)
{
    return (struct value){.type = VALUE_NAME, .name = {string, number}};
}

/* The member of a field that is a struct text. */
static inline struct text member_text(const struct cell *cell)
{
    struct text member;

    memcpy(&member, (const char *)cell->record + cell->field->offset, sizeof member);
    return member;
}

/* An address; AF_UNSPEC is unknown. An IPv4-mapped address becomes IPv4, as it is shown. */
struct value address(const struct address *address);

/* The name of an interface, or else its index; 0 is unknown. */
struct value interface_named(const struct context *context, uint32_t index);

/* For field->value: the member as a value. Functions of COMPUTED() fields may call these, too. */
field_fn number_member, info_member, text_member, address_member, address_as_it_is, host_member,
    boolean_member;
field_fn flags_member, word_member, named_member, interface_member, view_member;

/* The member as member_text() reads it; unknown if it is empty. */
field_fn text_unless_empty;

/* The member per second: divided by the time at offset field->index (uint64_t, nanoseconds). */
field_fn number_per_second;

/* For VIEW(): the member, an address, with the port at offset field->index if it is known. */
field_fn view_address_port;

/* For WORD(): the name of an address family of sockets (AF_*). */
word_fn family_name;

#endif
