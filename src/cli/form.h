/* SPDX-License-Identifier: MIT */
/*
 * Values as they are typed. Languages write numbers and addresses in different ways: --where as the
 * columns show them, conntrack as inet_aton(3), ss as numbers of C. What is of no such form leaves
 * the results as they are.
 */
#ifndef CLI_FORM_H
#define CLI_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/predicate.h"

enum form_dialect { FORM_OF_WHERE, FORM_OF_CONNTRACK, FORM_OF_SS };

/*
 * A number of C at the beginning of the text: 31, 0x1f or 037. Returns where it ends, or NULL:
 * there is none, or it is above the most.
 */
const char *form_number(const char *text, uint64_t most, uint64_t *number);
/* The same for the whole text. */
bool form_is_number(const char *text, uint64_t most, uint64_t *number);

/* Digits that fit into 64 bits, and nothing else. */
bool form_digits(const char *text, uint64_t *number);
/* Digits with a point among them or none, for a number that is not above the most. */
bool form_decimal(const char *text, double most, double *number);

/*
 * Digits, and up to six decimals as millionths, at the beginning of the text. Returns where they
 * end, or NULL: there are none, or too many.
 */
enum { FORM_MILLION = 1000000 };
const char *form_millionths(const char *text, uint64_t *whole, unsigned *millionths);

/*
 * A number in parts: 1, 1000 or a million make one. Seconds may also be 50ms, 1.5s, 2m, 1h or 1d; a
 * number that is always whole may be 64k or 0x1f. False also if it is not whole in these parts.
 */
bool form_quantity(const char *text, bool seconds, unsigned parts, uint64_t *number);

/* In seconds since 1970, or as RFC 3339 has it; hours, minutes and seconds may be missing. */
bool form_time(const char *text, uint64_t *nanoseconds);

/*
 * An address, of length bytes. IPv4 is 10.1.2.3; conntrack takes 10.1 for 10.0.0.1, and ss 10 for
 * 10.0.0.0. In --where IPv6 may stand in brackets, as it does beside a port, and an IPv4-mapped
 * address is shown, and meant, as IPv4.
 */
bool form_address(const char *text, size_t length, enum form_dialect dialect,
                  struct address *address);

/*
 * An address with an interface, a port, or both, as tables show them: fe80::5%eth0,
 * [fe80::5%eth0]:80, [fe80::5]%eth0:80, 10.1.2.3%eth0:*, *:80. A length may stand before the
 * interface or after it (RFC 4007, 11.7). The names of interfaces have no colon and no slash
 * (dev_valid_name(), net/core/dev.c).
 */
enum { FORM_END_MAX = 128 };
struct form_end {
    char address[FORM_END_MAX];   /* without brackets; a length follows if one was typed */
    char interface[FORM_END_MAX]; /* empty: none was typed */
    const char *port;             /* points into the text; NULL: none was typed */
};

/* Takes the text apart; whether the parts mean something is not looked at. False: no such form. */
bool form_end(const char *text, struct form_end *end);

/*
 * ADDRESS/LENGTH, as a PREDICATE_WITHIN of this field. Bits of the address behind the length do not
 * count. In ss the length may be a mask of IPv4, in --where a mask of any bits; only in --where it
 * must be there.
 */
bool form_network(const char *text, enum form_dialect dialect, const struct field *field,
                  struct predicate *within);

/* Bytes by colons, two digits each. Returns how many; 0 if the text is something else. */
size_t form_lladdr(const char *text, uint8_t bytes[LLADDR_MAX]);

#endif
