/* SPDX-License-Identifier: MIT */
/* Values: what a field of a record yields, before a sink formats it. */
#ifndef FASTNET_VALUE_H
#define FASTNET_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/address.h"
#include "fastnet/text.h"

struct owner;
struct field;
struct record;
struct context;
struct value;

enum value_type {
    VALUE_UNKNOWN, /* null in JSON, "-" in a table, empty in CSV */
    VALUE_NUMBER,
    VALUE_SIGNED,      /* a number that may be negative */
    VALUE_DECIMAL,     /* three decimals, held as thousandths: seconds as milliseconds */
    VALUE_FINE,        /* six decimals, held as millionths: seconds as microseconds */
    VALUE_BOOLEAN,     /* a number: 0 or 1 */
    VALUE_TIME,        /* nanoseconds since 1970; a string in JSON (RFC 3339, microseconds, UTC) */
    VALUE_TEXT,        /* to be escaped */
    VALUE_SOCKET_NAME, /* text; written by escape_socket_name(), in JSON as it is */
    VALUE_NAME,        /* a name, or the digits of a number without one; a string in JSON */
    VALUE_ADDRESS,     /* an IPv4-mapped address of a socket comes as AF_INET */
    VALUE_OWNERS,
    VALUE_LLADDR,   /* a link-layer address: an IP address if family is set, otherwise bytes */
    VALUE_FLAGS,    /* names of set bits: joined by commas, an array in JSON */
    VALUE_NETWORKS, /* addresses with their prefixes: joined by commas, an array in JSON */
    VALUE_NETWORK,  /* one of them; a string in JSON */
    VALUE_VIEW,     /* several fields put into one text, for people; a string in JSON */
};

/* The names of bits. A bit without a name (NULL, or past the count) is shown as its number. */
struct flag_names {
    const char *const *names;
    size_t count;
};

/* Initializes one with these names. */
#define FLAG_NAMES(...)                                                                            \
    {                                                                                              \
        (const char *const[]){__VA_ARGS__},                                                        \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)                      \
    }

enum { VALUE_FLAG_BITS = 128 };

/* Most bytes of a VALUE_VIEW. */
enum { VALUE_VIEW_MAX = 512 };

/* Writes at most VALUE_VIEW_MAX bytes, without blanks unless for people (human). */
typedef char *view_fn(char *dst, const struct value *view, bool human);

struct value {
    enum value_type type;
    uint8_t family; /* of a link-layer address that is an IP address; else AF_UNSPEC */
    bool hex;       /* a number without a name is written as 0x88b5 */
    union {
        uint64_t number;
        struct {
            uint64_t magnitude;
            bool negative; /* false for 0 */
        } integer;
        struct text text; /* or the bytes of a VALUE_LLADDR, at most LLADDR_MAX */
        struct {
            const char *string; /* or NULL */
            uint64_t number;
        } name;
        struct address address;
        struct network network;
        struct {
            const struct owner *first;
            size_t count;
        } owners;
        struct {
            const struct flag_names *names;
            uint64_t bits[VALUE_FLAG_BITS / 64]; /* bit n is bit n % 64 of word n / 64 */
        } flags;
        struct {
            const void *first;
            size_t count, stride;                        /* stride: bytes from one to the next */
            struct network (*read)(const void *element); /* NULL: it is a struct network */
        } networks;
        struct {
            const struct field *field;
            const struct record *record;
            const struct context *context;
            view_fn *write;
        } view;
    };
};

/* The networks of a VALUE_NETWORKS, from 0 on. */
static inline struct network value_network(const struct value *value, size_t i)
{
    const char *element = (const char *)value->networks.first + i * value->networks.stride;

    return value->networks.read ? value->networks.read(element)
                                : *(const struct network *)(const void *)element;
}

/* A VALUE_LLADDR, which may be empty; at most TEXT_LLADDR_MAX bytes. Returns the end. */
char *value_lladdr(char *dst, const struct value *value);

/* Whether values of the type are numbers, which can be added. */
static inline bool value_is_number(enum value_type type)
{
    return type == VALUE_NUMBER || type == VALUE_SIGNED || type == VALUE_DECIMAL ||
           type == VALUE_FINE;
}

static inline bool value_is_list(const struct value *value)
{
    return value->type == VALUE_OWNERS || value->type == VALUE_FLAGS ||
           value->type == VALUE_NETWORKS;
}

/*
 * The next element of a list: one owner, one network, or the VALUE_NAME of a flag. *at is 0 at
 * first. Returns false when there is none.
 */
bool value_next(const struct value *list, size_t *at, struct value *element);

/*
 * Adds a number to a sum of the same type. Unknown values add nothing. Too large a sum stays the
 * largest number.
 */
void value_add(struct value *sum, const struct value *value);

/* Upper bound of the bytes that value_write() writes for this value. */
size_t value_bound(const struct value *value);

/*
 * Writes a value as plain text. escape_text() says how it is escaped. The result is never empty:
 * unknown and empty values become "-", the text "-" becomes \x2d. Owners are name/pid/fd joined by
 * commas; blank, comma, semicolon, slash and '"' in names are escaped too. Returns the end.
 */
char *value_write(char *dst, const struct value *value, const char *delimiters);

/*
 * The same for readers who want the size of a number more than the number: bytes as 1.2M or 128K,
 * in powers of 1024 and cut; times as 250us, 1.5s, 3h05m or 12d04h. unit is an enum unit (field.h);
 * other values are written as they are, with blanks escaped.
 */
char *value_write_human(char *dst, const struct value *value, int unit);

/*
 * The same of a value of any length: all of it if it has room, or its beginning, without half an
 * element, of a quarter of VALUE_PART at least. Returns the length.
 */
enum { VALUE_PART = 4096 };
size_t value_write_part(char dst[VALUE_PART], const struct value *value, int unit);

/* --- How values compare (order.c): numbers and addresses as numbers, text by its bytes -------- */

/* Returns negative, 0 or positive. Both are values of one column; unknown is the greatest. */
int value_compare(const struct value *a, const struct value *b);

/*
 * A number that is never larger than a greater value's; UINT64_MAX if the value is unknown. It is
 * exact if all exact values with the same number are equal; unknown values are not among these.
 */
uint64_t value_rank(const struct value *value, bool *exact);

/*
 * Writes at most `size` bytes of a known value: of two values of one column those with the smaller
 * bytes, or else with fewer bytes, come first. Returns how many bytes there are.
 */
size_t value_key(const struct value *value, char *dst, size_t size);

/* Adds the value to a hash (hash.h). Values that are equal have equal hashes. */
uint64_t value_hash(uint64_t hash, const struct value *value);

#endif
