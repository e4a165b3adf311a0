/* SPDX-License-Identifier: MIT */
/* Numbers and addresses as text. */
#include "fastnet/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "text/put.h"

const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                           "25262728293031323334353637383940414243444546474849"
                           "50515253545556575859606162636465666768697071727374"
                           "75767778798081828384858687888990919293949596979899";

/* "0" to "255" in four bytes each: up to three digits, and the number of digits in the last
 * byte. */
#define TEN(before, after)                                                                         \
    before "0" after before "1" after before "2" after before "3" after before "4" after before    \
           "5" after before "6" after before "7" after before "8" after before "9" after

/* clang-format off */
#define HUNDRED(digit)                                                                             \
    TEN(digit "0", "\3") TEN(digit "1", "\3") TEN(digit "2", "\3") TEN(digit "3", "\3")            \
    TEN(digit "4", "\3") TEN(digit "5", "\3") TEN(digit "6", "\3") TEN(digit "7", "\3")            \
    TEN(digit "8", "\3") TEN(digit "9", "\3")
static const char octets[] =
    TEN("", "\0\0\1") TEN("1", "\0\2") TEN("2", "\0\2") TEN("3", "\0\2") TEN("4", "\0\2")
    TEN("5", "\0\2") TEN("6", "\0\2") TEN("7", "\0\2") TEN("8", "\0\2") TEN("9", "\0\2")
    HUNDRED("1") HUNDRED("2"); /* up to 299, because that is simpler than up to 255 */
#define SIXTEEN(digit)                                                                             \
    digit "0" digit "1" digit "2" digit "3" digit "4" digit "5" digit "6" digit "7" digit "8"      \
    digit "9" digit "a" digit "b" digit "c" digit "d" digit "e" digit "f"
const char hex_bytes[] =
    SIXTEEN("0") SIXTEEN("1") SIXTEEN("2") SIXTEEN("3") SIXTEEN("4") SIXTEEN("5") SIXTEEN("6")
    SIXTEEN("7") SIXTEEN("8") SIXTEEN("9") SIXTEEN("a") SIXTEEN("b") SIXTEEN("c") SIXTEEN("d")
    SIXTEEN("e") SIXTEEN("f");
/* clang-format on */

static const char hex[] = "0123456789abcdef";

enum { WORDS = 8 }; /* 16-bit words of an IPv6 address */

/* Writes a number below 100, without a leading zero. */
static inline char *put_one_or_two(char *dst, unsigned number)
{
    if (number >= 10)
        return put_two_digits(dst, number);
    *dst = (char)('0' + number);
    return dst + 1;
}

/* Writes a number below 10000, without leading zeroes. */
static inline char *text_put_first(char *dst, unsigned number)
{
    if (number < 100)
        return put_one_or_two(dst, number);
    return put_two_digits(put_one_or_two(dst, number / 100), number % 100);
}

/* Writes four digits at a time, so most numbers need two divisions at most. */
char *text_u64(char *dst, uint64_t number)
{
    if (number < 10000)
        return text_put_first(dst, (unsigned)number);

    const uint64_t before = number / 10000;
    const unsigned last = (unsigned)(number % 10000);

    dst = before < 10000 ? text_put_first(dst, (unsigned)before) : text_u64(dst, before);
    return put_two_digits(put_two_digits(dst, last / 100), last % 100);
}

char *text_signed(char *dst, uint64_t magnitude, bool negative)
{
    if (negative)
        *dst++ = '-';
    return text_u64(dst, magnitude);
}

char *text_seconds(char *dst, uint64_t milliseconds)
{
    const unsigned rest = (unsigned)(milliseconds % 1000);

    dst = text_u64(dst, milliseconds / 1000);
    *dst++ = '.';
    *dst++ = (char)('0' + rest / 100);
    return put_two_digits(dst, rest % 100);
}

char *text_microseconds(char *dst, uint64_t microseconds)
{
    const unsigned rest = (unsigned)(microseconds % 1000000);

    dst = text_u64(dst, microseconds / 1000000);
    *dst++ = '.';
    return put_two_digits(put_two_digits(put_two_digits(dst, rest / 10000), rest / 100 % 100),
                          rest % 100);
}

const char *text_rounded(char dst[TEXT_ROUNDED], double number)
{
    const bool is_tiny = number > 0 && number < 0.001;

    snprintf(dst, TEXT_ROUNDED, number < 999.5 ? "%s%.3g" : "%s%.0f", is_tiny ? "less than " : "",
             is_tiny ? 0.001 : number);
    return dst;
}

/* Counts years from March, so that the leap day is the last day of a year. */
static char *text_put_date(char *dst, unsigned days)
{
    enum {
        DAYS_TO_1970 = 719468,
        DAYS_OF_400_YEARS = 146097
    }; /* days from March 1 of year 0 to 1970 */
    const unsigned since = days + DAYS_TO_1970, era = since / DAYS_OF_400_YEARS;
    const unsigned day = since % DAYS_OF_400_YEARS;
    const unsigned year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    const unsigned of_year = day - (365 * year + year / 4 - year / 100);
    const unsigned month = (5 * of_year + 2) / 153;
    const unsigned calendar_year = 400 * era + year + (month >= 10);

    dst = put_two_digits(put_two_digits(dst, calendar_year / 100), calendar_year % 100);
    *dst++ = '-';
    dst = put_two_digits(dst, month < 10 ? month + 3 : month - 9);
    *dst++ = '-';
    return put_two_digits(dst, of_year - (153 * month + 2) / 5 + 1);
}

char *text_time(char *dst, uint64_t nanoseconds)
{
    const uint64_t seconds = nanoseconds / 1000000000;
    const unsigned of_day = (unsigned)(seconds % 86400);

    dst = text_put_date(dst, (unsigned)(seconds / 86400));
    *dst++ = 'T';
    dst = put_two_digits(dst, of_day / 3600);
    *dst++ = ':';
    dst = put_two_digits(dst, of_day / 60 % 60);
    *dst++ = ':';
    if (of_day % 60 < 10)
        *dst++ = '0';
    dst = text_microseconds(dst, of_day % 60 * UINT64_C(1000000) + nanoseconds / 1000 % 1000000);
    *dst++ = 'Z';
    return dst;
}

/* Copies a whole table entry, and so may overwrite bytes after the returned end. */
static char *text_octet(char *dst, uint8_t octet)
{
    const char *entry = octets + 4 * (size_t)octet;

    memcpy(dst, entry, 4);
    return dst + entry[3];
}

char *text_ipv4(char *dst, const uint8_t *address)
{
    dst = text_octet(dst, address[0]);
    *dst++ = '.';
    dst = text_octet(dst, address[1]);
    *dst++ = '.';
    dst = text_octet(dst, address[2]);
    *dst++ = '.';
    return text_octet(dst, address[3]);
}

/* Writes lower case without leading zeroes (RFC 5952, 4.1 and 4.3). */
static char *text_word(char *dst, unsigned word)
{
    if (word >= 0x1000)
        *dst++ = hex[word >> 12];
    if (word >= 0x100)
        *dst++ = hex[word >> 8 & 15];
    if (word >= 0x10)
        *dst++ = hex[word >> 4 & 15];
    *dst++ = hex[word & 15];
    return dst;
}

/* The run of zero words that "::" replaces: the longest of at least two; the first if several are
 * equal. */
struct text_run {
    unsigned start, length;
};

static struct text_run longest_zeros(const unsigned *words)
{
    struct text_run best = {WORDS, 1};
    unsigned i = 0;

    while (i < WORDS) {
        const unsigned start = i;
        while (i < WORDS && words[i] == 0)
            i++;
        if (i - start > best.length)
            best = (struct text_run){start, i - start};
        i++;
    }
    return best;
}

char *text_ipv6(char *dst, const uint8_t *address)
{
    unsigned words[WORDS];

    for (size_t i = 0; i < WORDS; i++)
        words[i] = (unsigned)address[2 * i] << 8 | address[2 * i + 1];

    const struct text_run zeros = longest_zeros(words);
    /* inet_ntop(3) writes the last four bytes of ::a.b.c.d and ::ffff:a.b.c.d as IPv4 */
    const bool mapped = zeros.length == 5 && words[5] == 0xffff;
    const unsigned end = zeros.start == 0 && (zeros.length == 6 || mapped) ? 6 : WORDS;
    unsigned i = 0;

    while (i < end) {
        if (i == zeros.start) {
            *dst++ = ':';
            i += zeros.length;
            if (i == WORDS)
                *dst++ = ':';
            continue;
        }
        if (i > 0)
            *dst++ = ':';
        dst = text_word(dst, words[i]);
        i++;
    }
    if (end == WORDS)
        return dst;
    *dst++ = ':';
    return text_ipv4(dst, address + 12);
}

char *text_network(char *dst, const struct network *network)
{
    dst = text_address(dst, &network->address);
    if (network->prefix == NO_PREFIX)
        return dst;
    *dst++ = '/';
    return text_u64(dst, network->prefix);
}

char *text_lladdr(char *dst, const uint8_t *bytes, size_t length)
{
    if (length == 0)
        return dst;
    for (size_t i = 0; i + 1 < length; i++) {
        dst = put_hex_byte(dst, bytes[i]);
        *dst++ = ':';
    }
    return put_hex_byte(dst, bytes[length - 1]);
}

char *text_address(char *dst, const struct address *address)
{
    if (address->family == AF_INET)
        return text_ipv4(dst, address->bytes);
    if (address_is_mapped(address))
        return text_ipv4(dst, address->bytes + 12);
    return text_ipv6(dst, address->bytes);
}

char *text_address_port(char *dst, const struct address *address, struct text scope, uint16_t port)
{
    const bool brackets = address->family == AF_INET6 && !address_is_mapped(address);

    if (brackets)
        *dst++ = '[';
    dst = text_address(dst, address);
    if (scope.length)
        dst = escape_text(PUT(dst, "%"), scope.data, scope.length, " ");
    if (brackets)
        *dst++ = ']';
    *dst++ = ':';
    return port ? text_u64(dst, port) : PUT(dst, "*");
}

char *text_pad(char *end, const char *start, size_t width)
{
    const size_t length = (size_t)(end - start);

    if (length >= width)
        return end;
    memset(end, ' ', width - length);
    return end + (width - length);
}

static bool is_part_of_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

bool text_has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = length ? text : NULL; at && (at = strstr(at, word)); at += length)
        if ((at == text || !is_part_of_word(at[-1])) && !is_part_of_word(at[length]))
            return true;
    return false;
}

void text_put_word(FILE *stream, const char *before, const char *word)
{
    const bool plain = *word && !word[strspn(word, "-./:=_,0123456789abcdefghijklmnopqrstuvwxyz"
                                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ")];

    fprintf(stream, "%s%s", before, plain ? "" : "'");
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\"'\"'", stream); /* quotes without a backslash, which would be escaped again
                                         when it is printed */
        else
            fputc(*word, stream);
    fputs(plain ? "" : "'", stream);
}

void text_print(char *dst, size_t size, const char *format, va_list arguments)
{
    const int length = vsnprintf(dst, size, format, arguments);

    if (size < sizeof "..." || length < 0 || (size_t)length < size)
        return;
    const struct text_room room = {size - 2, SIZE_MAX, SIZE_MAX}; /* less than the text: cuts it */
    const struct text_fit part = text_cut((struct text){dst, size - 1}, room, "...");
    snprintf(dst + part.length, size - part.length, "...");
}

bool text_list(char *list, size_t size, const char *between, struct text word)
{
    const size_t used = strlen(list), added = (used ? strlen(between) : 0) + word.length;

    if (used + added >= size)
        return false;
    snprintf(list + used, size - used, "%s%.*s", used ? between : "", (int)word.length, word.data);
    return true;
}
