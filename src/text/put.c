/* SPDX-License-Identifier: MIT */
#include "text/put.h"

#include <arpa/inet.h>

#include "fastnet/array.h"

char *put_hex(char *dst, uint64_t number)
{
    static const char digits[] = "0123456789abcdef";
    unsigned shift = 60;

    while (shift && !(number >> shift))
        shift -= 4;
    for (;; shift -= 4) {
        *dst++ = digits[number >> shift & 15];
        if (!shift)
            return dst;
    }
}

char *put_hundredths(char *dst, uint64_t thousandths)
{
    dst = PUT(text_u64(dst, thousandths / 1000), ".");
    return put_two_digits(dst, (unsigned)(thousandths % 1000 / 10));
}

char *put_size(char *dst, uint64_t bytes, bool as_net_tools)
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    const uint64_t most = bytes - (bytes && as_net_tools);
    unsigned unit = 0;
    uint64_t tenths;

    while (unit < 6 && most >> 10 * (unit + 1))
        unit++;
    if (!unit && !as_net_tools)
        return put_string(text_u64(dst, bytes), units[0]);
    if (!as_net_tools)
        tenths = ((bytes >> 10 * (unit - 1)) * 10 + 512) / 1024;
    else /* ten times an EiB can overflow */
        tenths = unit < 6 ? bytes * 10 >> 10 * unit : bytes / UINT64_C(115292150460684697);
    dst = PUT(text_u64(dst, tenths / 10), ".");
    return put_string(text_u64(dst, tenths % 10), units[unit]);
}

char *put_netmask(char *dst, uint8_t prefix)
{
    const uint32_t mask = htonl(prefix < 32 ? ~(UINT32_MAX >> prefix) : UINT32_MAX);

    return text_ipv4(dst, (const uint8_t *)&mask);
}

char *put_flags(char *dst, uint32_t flags, const struct flag_text *texts, size_t count)
{
    /* most rows have few flags, and each text is short */
    for (const struct flag_text *stop = texts + count; flags && texts < stop; texts++)
        if (flags & texts->flag) {
            for (const char *at = texts->text; *at; at++)
                *dst++ = *at;
            flags &= ~texts->flag;
        }
    return dst;
}

#define GREEN  "\033[32m"
#define YELLOW "\033[33m"
#define CYAN   "\033[36m"
#define RED    "\033[31m"

/* Compared by prefix: LISTEN is also netstat's LISTENING, and SYN_ is every state that begins
 * so. */
static const struct {
    const char *prefix, *colour;
} colours[] = {
    {"REACHABLE", GREEN}, {"STALE", YELLOW},     {"DELAY", CYAN},      {"PROBE", CYAN},
    {"INCOMPLETE", CYAN}, {"FAILED", RED},       {"LISTEN", GREEN},    {"SYN_", CYAN},
    {"NEW_SYN_", CYAN},   {"TIME_WAIT", YELLOW}, {"FIN_WAIT", YELLOW}, {"CLOSE_WAIT", YELLOW},
    {"LAST_ACK", YELLOW}, {"CLOSING", YELLOW},   {"critical", RED},    {"warning", YELLOW},
};

const char *colour_of_state(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT(colours); i++) {
        const size_t size = strlen(colours[i].prefix);
        if (length >= size && memcmp(name, colours[i].prefix, size) == 0)
            return colours[i].colour;
    }
    return NULL;
}
