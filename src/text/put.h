/* SPDX-License-Identifier: MIT */
/* Writes bytes, names, numbers and cells of layouts into reserved space. Each function returns the
 * end of its text. */
#ifndef TEXT_PUT_H
#define TEXT_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fastnet/text.h"

struct hosts;
struct services;

enum {
    HOST_MAX = 1025,      /* NI_MAXHOST of netdb.h: no host has a longer name */
    NAME_MAX_SHOWN = 512, /* a service or user with a longer name is shown as its number */
};

static inline char *put_bytes(char *dst, const char *data, size_t length)
{
    return (char *)memcpy(dst, data, length) + length;
}

/* Writes a string literal, whose length the compiler knows. */
#define PUT(dst, literal) put_bytes(dst, literal, sizeof(literal) - 1)

static inline char *put_string(char *dst, const char *string)
{
    return put_bytes(dst, string, strlen(string));
}

/* Writes a name that this program chose, which needs no escaping. */
static inline char *put_text(char *dst, struct text text)
{
    return put_bytes(dst, text.data, text.length);
}

/* Escapes and writes a name that this program did not choose. */
static inline char *put_escaped(char *dst, const char *name, const char *delimiters)
{
    return escape_text(dst, name, strlen(name), delimiters);
}

/* Writes an address as inet_ntop(3) does: an IPv4-mapped address stays IPv6. */
static inline char *put_address(char *dst, const struct address *address)
{
    return address->family == AF_INET ? text_ipv4(dst, address->bytes)
                                      : text_ipv6(dst, address->bytes);
}

/* Writes an address, and after it the port if that is known. */
static inline char *put_address_port(char *dst, const struct address *address, bool has_port,
                                     uint16_t port)
{
    return has_port ? text_address_port(dst, address, as_text(NULL), port)
                    : text_address(dst, address);
}

/* The pairs "00" to "99", and the pairs "00" to "ff". */
extern const char digit_pairs[], hex_bytes[];

/* Writes a number below 100 with two digits. */
static inline char *put_two_digits(char *dst, unsigned number)
{
    return put_bytes(dst, digit_pairs + 2 * (size_t)number, 2);
}

static inline char *put_hex_byte(char *dst, uint8_t byte)
{
    return put_bytes(dst, hex_bytes + 2 * (size_t)byte, 2);
}

/* Writes a number as printf(3) does with %d: numbers above INT32_MAX are negative. */
static inline char *put_signed(char *dst, uint32_t number)
{
    return number <= INT32_MAX ? text_u64(dst, number)
                               : text_signed(dst, UINT64_C(0x100000000) - number, true);
}

/* Writes `count` spaces. Up to PUT_BLANKS_MORE bytes after them are overwritten. */
enum { PUT_BLANKS_MORE = 7 };
static inline char *put_spaces(char *dst, size_t count)
{
    for (size_t i = 0; i < count; i += PUT_BLANKS_MORE + 1)
        memcpy(dst + i, "        ", PUT_BLANKS_MORE + 1);
    return dst + count;
}

/* --- Cells ------------------------------------------------------------------------------------ */

static inline char *put_padded(char *dst, const char *string, size_t width)
{
    return text_pad(put_string(dst, string), dst, width);
}

/* Pads the text from `start` to the width, and adds the space between two cells. */
static inline char *end_cell(char *end, const char *start, size_t width)
{
    end = text_pad(end, start, width);
    *end++ = ' ';
    return end;
}

/* Moves the text from `start` to the right edge of the width. */
static inline char *align_right(char *end, char *start, size_t width)
{
    const size_t length = (size_t)(end - start);

    if (length >= width)
        return end;
    memmove(start + width - length, start, length);
    memset(start, ' ', width - length);
    return start + width;
}

static inline char *put_number_right(char *dst, uint64_t number, size_t width)
{
    return align_right(text_u64(dst, number), dst, width);
}

/* --- Numbers in other forms ------------------------------------------------------------------- */

/* Writes lower-case hex digits without 0x. */
char *put_hex(char *dst, uint64_t number);

/* Writes thousandths with two decimals; the third is cut off. */
char *put_hundredths(char *dst, uint64_t thousandths);

/* Writes bytes with one decimal in the largest unit that fits at least once: "1.5 KiB".
 * as_net_tools: numbers are cut instead of rounded, bytes have a decimal, too, and the unit must
 * fit more than once. */
char *put_size(char *dst, uint64_t bytes, bool as_net_tools);

/* Writes the IPv4 netmask of this prefix length. */
char *put_netmask(char *dst, uint8_t prefix);

/* Texts of flags: the text of each flag that is set is written. */
struct flag_text {
    uint32_t flag;
    const char *text;
};
char *put_flags(char *dst, uint32_t flags, const struct flag_text *texts, size_t count);

/* --- Colours of states on a terminal ---------------------------------------------------------- */

/* Ends what colour_of_state() starts (ECMA-48, SGR). */
#define COLOUR_RESET     "\033[0m"
#define COLOUR_HEADING   "\033[1m"    /* bold */
#define COLOUR_ATTENTION "\033[1;31m" /* bold red */

/* The escape sequence for a state, by its kernel name or netstat's, or for a level of --warn and
 * --crit; NULL for none. */
const char *colour_of_state(const char *name, size_t length);

/* --- Names from databases --------------------------------------------------------------------- */

/* Returns NULL for a name longer than `most` bytes, because the space for a row is bounded. */
static inline const char *name_within(const char *name, size_t most)
{
    return name && strnlen(name, most + 1) <= most ? name : NULL;
}

/* Writes the name of a host, or its address if it has no name. hosts NULL: no address has a
 * name. */
char *put_host(char *dst, const struct hosts *hosts, const struct address *address,
               const char *delimiters);

/* Writes the name of a service, or the port if it has no name. */
char *put_service(char *dst, const struct services *services, uint16_t protocol, uint16_t port,
                  const char *delimiters);

/* Writes a port as put_service() does; port 0 is "*". services may be NULL, as hosts. */
static inline char *put_port(char *dst, const struct services *services, uint16_t protocol,
                             uint16_t port, const char *delimiters)
{
    if (port == 0)
        return PUT(dst, "*");
    return services ? put_service(dst, services, protocol, port, delimiters) : text_u64(dst, port);
}

#endif
