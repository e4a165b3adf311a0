/*
 * Formatters: bytes into the caller's space. Each returns the end of what it wrote, writes no
 * terminating NUL, allocates nothing and depends on no locale. The bound of each is its _MAX.
 */
#ifndef FASTNET_TEXT_H
#define FASTNET_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/address.h"

/* Borrowed bytes, not terminated; they may hold anything, NUL included. */
struct text {
    const char *data;
    size_t length;
};

enum {
    TEXT_U64_MAX = 20,
    TEXT_SECONDS_MAX = 24,
    TEXT_ADDRESS_MAX = 45, /* INET6_ADDRSTRLEN - 1 */
    TEXT_LLADDR_MAX = 95,  /* 32 bytes, the most that linux/netdevice.h has room for */
};

char *text_u64(char *dst, uint64_t number);

/* With a minus before it; dst takes 1 + TEXT_U64_MAX. */
char *text_signed(char *dst, uint64_t magnitude, bool negative);

/* Milliseconds as seconds with three decimals: 1.250 */
char *text_seconds(char *dst, uint64_t milliseconds);

/* address: 4 bytes, network byte order. */
char *text_ipv4(char *dst, const uint8_t *address);

/* address: 16 bytes, network byte order; the form of RFC 5952, as inet_ntop(3) writes it. */
char *text_ipv6(char *dst, const uint8_t *address);

/* An IPv4-mapped address (RFC 4291, 2.5.5.2) is written as IPv4. */
char *text_address(char *dst, const struct address *address);

/* The bytes of a link-layer address as 02:00:5e:10:00:ff; at most 32 of them. */
char *text_lladdr(char *dst, const uint8_t *bytes, size_t length);

/* Fills with blanks from end up to start + width; returns the new end. */
char *text_pad(char *end, const char *start, size_t width);

/*
 * Text that others chose. Valid, visible UTF-8 is kept; a control character (C0, DEL, C1), any
 * other that is not seen or looks like a blank (but U+0020), and every byte that is not UTF-8
 * becomes \xHH a byte; a backslash becomes two. That can be undone, byte for byte.
 *
 * delimiters: further ASCII bytes to write as \xHH, or NULL. dst takes ESCAPE_FACTOR * size.
 */
enum { ESCAPE_FACTOR = 4, ESCAPE_JSON_FACTOR = 6 };
char *escape_text(char *dst, const char *data, size_t size, const char *delimiters);

/*
 * The same text as the inside of a JSON string: control and bidirectional characters by JSON's own
 * \u00HH, '"' quoted; what is left (bytes that are not UTF-8, backslashes) as escape_text() would.
 * dst takes ESCAPE_JSON_FACTOR * size.
 */
char *escape_json(char *dst, const char *data, size_t size);

/* Undoes escape_text(). Returns the end, or NULL when the text is not of its making. */
char *unescape_text(char *dst, const char *data, size_t size);

/*
 * A unix socket's name as net-tools and ss write it: each NUL of an abstract name as '@'. What
 * would be mistaken for that (an '@' inside an abstract name, or at the start of a path) becomes
 * \x40, the rest goes through escape_text(). dst takes ESCAPE_FACTOR * size.
 */
char *escape_socket_name(char *dst, const char *data, size_t size, const char *delimiters);

#endif
