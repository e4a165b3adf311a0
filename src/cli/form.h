/* SPDX-License-Identifier: MIT */
/* Parses values that users type. Each dialect has its own numbers and addresses: --where as the
 * columns show them, conntrack as inet_aton(3) does, ss as numbers of C. If a text is malformed,
 * the functions for whole numbers leave the result unchanged. */
#ifndef CLI_FORM_H
#define CLI_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/predicate.h"

enum form_dialect { FORM_OF_WHERE, FORM_OF_CONNTRACK, FORM_OF_SS };

/* Parses a number as in C at the beginning of the text: 31, 0x1f or 037. Returns the end of the
 * number; NULL if it is missing, or above `most`. */
const char *form_number(const char *text, uint64_t most, uint64_t *number);
/* Like form_number(), but the whole text must be the number. */
bool form_is_number(const char *text, uint64_t most, uint64_t *number);

/* Parses a text that has only digits. Returns false if the number needs more than 64 bits. */
bool form_digits(const char *text, uint64_t *number);
/* Parses digits with or without a point. Returns false if the number is above `most`. */
bool form_decimal(const char *text, double most, double *number);

/* Parses digits, and up to six decimals as millionths, at the beginning of the text. Returns the
 * end; NULL if there are no digits, or too many. */
enum { FORM_MILLION = 1000000 };
const char *form_millionths(const char *text, uint64_t *whole, unsigned *millionths);

/* Parses a number in units of 1 / `parts`, where parts is 1, 1000 or a million. Spaces may be
 * between a number and its unit. Times (UNIT_SECONDS) may be 50ms, 1.5s, 2m, 1h, 1d or 3h05m; other
 * numbers 64k (times 1024), bytes also 64kB or 64KiB, rates 64k/s and 10Mbit (millions of bits),
 * percent 5%. A number with `parts` 1 may be 0x1f. Returns false also if the result is not a whole
 * number; but after a suffix of a size, the rest is cut off: 1.3M. */
bool form_quantity(const char *text, enum unit unit, unsigned parts, uint64_t *number);

/* Parses a time: seconds, with or without a point, or a time with units as form_quantity() reads
 * it. Returns false if it is above `most`, in seconds. */
enum { FORM_SECONDS_MAX = 1000000 }; /* the longest time that options take */
bool form_seconds(const char *text, double most, double *seconds);

/* Parses seconds since 1970, or a time of RFC 3339, perhaps without seconds or time of day. */
bool form_time(const char *text, uint64_t *nanoseconds);

/* Parses an address of `length` bytes. IPv4 is 10.1.2.3; conntrack also accepts 10.1 for 10.0.0.1,
 * and ss 10 for 10.0.0.0. In --where, IPv6 may have brackets, as beside a port, and an IPv4-mapped
 * address becomes IPv4. */
bool form_address(const char *text, size_t length, enum form_dialect dialect,
                  struct address *address);

/* An address with an interface, a port, or both, as tables show them: fe80::5%eth0,
 * [fe80::5%eth0]:80, [fe80::5]%eth0:80, 10.1.2.3%eth0:*, *:80. The length of a prefix may be before
 * or after the interface (RFC 4007, 11.7). Names of interfaces have no colon and no slash
 * (dev_valid_name(), net/core/dev.c). */
enum { FORM_END_MAX = 128 };
struct form_end {
    char address[FORM_END_MAX];   /* without brackets; with the length, if it was typed */
    char interface[FORM_END_MAX]; /* empty: not typed */
    const char *port;             /* points into the text; NULL: not typed */
};

/* Splits a text into the members of *end, without checking them. Returns false for other forms. */
bool form_end(const char *text, struct form_end *end);

/* Parses ADDRESS/LENGTH into a PREDICATE_WITHIN that compares `field`. Bits of the address after
 * the length are ignored. In ss the length may be a mask of IPv4, in --where a mask of any bits.
 * Only --where requires a length. */
bool form_network(const char *text, enum form_dialect dialect, const struct field *field,
                  struct predicate *within);

/* Parses bytes of two digits, with colons between. Returns the number of bytes; 0: other text. */
size_t form_lladdr(const char *text, uint8_t bytes[LLADDR_MAX]);

/* Reads the next element of a list with commas, without the spaces around it. Returns false at the
 * end; then `list` is NULL. */
bool form_next(const char **list, struct text *element);

#endif
