/* Values: what a field of a record yields, before anybody decides how it is written. */
#ifndef FASTNET_VALUE_H
#define FASTNET_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/address.h"
#include "fastnet/text.h"

struct owner;

enum value_type {
    VALUE_UNKNOWN, /* null in JSON, "-" in a table, empty in CSV */
    VALUE_NUMBER,
    VALUE_SIGNED,      /* a number that may be negative */
    VALUE_DECIMAL,     /* three decimals, held as thousandths: seconds as milliseconds */
    VALUE_TEXT,        /* to be escaped */
    VALUE_SOCKET_NAME, /* text too; escape_socket_name() writes it, JSON has the bytes themselves */
    VALUE_NAME,        /* a name, or the number's digits where it has none; text in JSON */
    VALUE_ADDRESS,     /* an IPv4-mapped one is yielded as AF_INET */
    VALUE_OWNERS,
    VALUE_LLADDR, /* a link-layer address: as IP where family says so, else its bytes */
    VALUE_FLAGS,  /* names of set bits: joined by commas, an array in JSON */
};

/* The names of bits; one that has none (NULL, or past the count) is shown as its number. */
struct flag_names {
    const char *const *names;
    size_t count;
};

enum { VALUE_FLAG_BITS = 128 };

struct value {
    enum value_type type;
    uint8_t family; /* of a link-layer address that is one of IP; of others AF_UNSPEC */
    union {
        uint64_t number;
        struct {
            uint64_t magnitude;
            bool negative; /* of 0 it is false */
        } integer;
        struct text text; /* and the bytes of a VALUE_LLADDR, at most LLADDR_MAX */
        struct {
            const char *string; /* or NULL */
            uint64_t number;
        } name;
        struct address address;
        struct {
            const struct owner *first;
            size_t count;
        } owners;
        struct {
            const struct flag_names *names;
            uint64_t bits[VALUE_FLAG_BITS / 64]; /* bit n is bit n % 64 of word n / 64 */
        } flags;
    };
};

/* Upper bound of what value_write() writes for this value. */
size_t value_bound(const struct value *value);

/*
 * Plain text of a value, escaped, the delimiters too. It is never empty: unknown and empty are
 * "-", and a text that is just "-" becomes \x2d. Owners are name/pid/fd joined by commas, with
 * blank, comma, slash and '"' in names escaped too. Returns the end.
 */
char *value_write(char *dst, const struct value *value, const char *delimiters);

#endif
