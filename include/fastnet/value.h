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
    VALUE_SIGNED,      /* may be negative */
    VALUE_DECIMAL,     /* thousandths, written with three decimals: milliseconds as seconds */
    VALUE_FINE,        /* millionths, written with six decimals: microseconds as seconds */
    VALUE_BOOLEAN,     /* a number: 0 or 1 */
    VALUE_TIME,        /* ns since 1970; a string in JSON (RFC 3339, microseconds, UTC) */
    VALUE_TEXT,        /* sinks must escape it */
    VALUE_SOCKET_NAME, /* text, written by escape_socket_name(), in JSON unchanged */
    VALUE_NAME,        /* a name, or the digits of a number without a name; a string in JSON */
    VALUE_ADDRESS,     /* in socket records an IPv4-mapped address is AF_INET */
    VALUE_OWNERS,
    VALUE_LLADDR,   /* a link-layer address: an IP address if `family` is set, otherwise bytes */
    VALUE_FLAGS,    /* names of set bits, joined by commas; an array in JSON */
    VALUE_NETWORKS, /* addresses with prefixes, joined by commas; an array in JSON */
    VALUE_NAMES,    /* names, joined by commas; an array in JSON */
    VALUE_NETWORK,  /* one address with its prefix; a string in JSON */
    VALUE_VIEW,     /* several fields in one text, for people; a string in JSON */
};

/* Names of bits. A bit without a name (NULL, or not below count) is shown as its number. */
struct flag_names {
    const char *const *names;
    size_t count;
};

/* Initializes a struct flag_names with these names. */
#define FLAG_NAMES(...)                                                                            \
    {                                                                                              \
        (const char *const[]){__VA_ARGS__},                                                        \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)                      \
    }

enum { VALUE_FLAG_BITS = 128 };

/* largest number of bytes of a VALUE_VIEW */
enum { VALUE_VIEW_MAX = 512 };

/* Writes at most VALUE_VIEW_MAX bytes, without spaces unless `human`. Returns the end. */
typedef char *view_fn(char *dst, const struct value *view, bool human);

/* A value. `type` says which member of the union is used. */
struct value {
    enum value_type type;
    uint8_t family; /* VALUE_LLADDR that is an IP address: AF_*; otherwise AF_UNSPEC */
    bool hex;       /* write a number without a name in hexadecimal: 0x88b5 */
    bool spaced;    /* VALUE_TEXT: value_write_human() does not escape its spaces */
    union {
        uint64_t number;
        struct {
            uint64_t magnitude;
            bool negative;
        } integer;
        struct text text; /* text, or the bytes of a VALUE_LLADDR (at most LLADDR_MAX) */
        struct {
            const char *string; /* NULL: no name */
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
            size_t count, stride; /* stride: bytes from an element to the next */
            struct network (*read)(const void *element); /* NULL: elements are struct network */
        } networks;
        struct {
            const char *const *first; /* strings */
            size_t count;
        } names;
        struct {
            const struct field *field;
            const struct record *record;
            const struct context *context;
            view_fn *write;
        } view;
    };
};

/* Returns network number `i` of a VALUE_NETWORKS. */
static inline struct network value_network(const struct value *value, size_t i)
{
    const char *element = (const char *)value->networks.first + i * value->networks.stride;

    return value->networks.read ? value->networks.read(element)
                                : *(const struct network *)(const void *)element;
}

/* Writes a VALUE_LLADDR, which may be empty: at most TEXT_LLADDR_MAX bytes. Returns the end. */
char *value_lladdr(char *dst, const struct value *value);

/* True if values of this type are numbers, which can be added. */
static inline bool value_is_number(enum value_type type)
{
    return type == VALUE_NUMBER || type == VALUE_SIGNED || type == VALUE_DECIMAL ||
           type == VALUE_FINE;
}

/* True if value_next() can be used. */
static inline bool value_is_list(const struct value *value)
{
    return value->type == VALUE_OWNERS || value->type == VALUE_FLAGS ||
           value->type == VALUE_NETWORKS || value->type == VALUE_NAMES;
}

/* Finds the next element of a list: an owner, a network, or the VALUE_NAME of a flag or name. *at
 * must be 0 at first. Returns false after the last element. */
bool value_next(const struct value *list, size_t *at, struct value *element);

/* Adds a number to a sum of the same type. Unknown values add nothing. A sum that is too large
 * becomes the largest number. */
void value_add(struct value *sum, const struct value *value);

/* Returns an upper bound of the bytes that value_write() writes. */
size_t value_bound(const struct value *value);

/* Writes a value as plain text, escaped by escape_text() with `delimiters`. The result is never
 * empty: unknown and empty values become "-", the text "-" becomes \x2d. Owners are name/pid/fd
 * joined by commas; spaces, commas, semicolons, slashes and '"' in names are escaped, too. Returns
 * the end. */
char *value_write(char *dst, const struct value *value, const char *delimiters);

/* Writes a value for people, who want a number's size rather than the number: bytes as 1.2M or
 * 128K, in powers of 1024, rounded down; bits per second as 1.2Mbit, in powers of 1000; times as
 * 250us, 1.5s, 3h05m or 12d04h. unit: an enum unit (field.h). Other values are written as by
 * value_write(), with spaces escaped unless value->spaced. Returns the end. */
char *value_write_human(char *dst, const struct value *value, int unit);
/* Writes a number so, with a NUL after it. Returns `text`. */
enum { HUMAN_NUMBER = 32 };
const char *human_number(char text[HUMAN_NUMBER], uint64_t number, int unit);

/* Writes a value of any length, for people. If its text does not fit, writes the beginning: at
 * least VALUE_PART / 4 bytes, and no incomplete element. Returns the length. */
enum { VALUE_PART = 4096 };
size_t value_write_part(char dst[VALUE_PART], const struct value *value, int unit);

/* --- How values compare (order.c): numbers and addresses as numbers, text by its bytes -------- */

/* Compares two values of one column. Returns a negative number if `a` is smaller, 0, or a positive
 * number. An unknown value is greater than all others. */
int value_compare(const struct value *a, const struct value *b);

/* Returns a number for sorting. A greater value never has a smaller number; an unknown value has
 * UINT64_MAX. *exact: two known values that are exact and have the same number are equal. */
uint64_t value_rank(const struct value *value, bool *exact);

/* Writes at most `size` bytes of a key for sorting, and returns the length of the whole key. The
 * keys of two values of one column compare byte by byte as the values do; a key that is the
 * beginning of another key is smaller. value: must be known. */
size_t value_key(const struct value *value, char *dst, size_t size);

/* Adds the value to a hash (hash.h). Equal values have equal hashes. */
uint64_t value_hash(uint64_t hash, const struct value *value);

#endif
