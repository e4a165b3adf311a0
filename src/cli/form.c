/* SPDX-License-Identifier: MIT */
#include "cli/form.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "fastnet/array.h"

/* --- Numbers ---------------------------------------------------------------------------------- */

const char *form_number(const char *text, uint64_t most, uint64_t *number)
{
    char *end;

    if (*text < '0' || *text > '9') /* strtoull(3) accepts spaces and signs */
        return NULL;
    errno = 0;
    const uint64_t value = strtoull(text, &end, 0);
    if (errno || value > most)
        return NULL;
    *number = value;
    return end;
}

bool form_is_number(const char *text, uint64_t most, uint64_t *number)
{
    uint64_t value;
    const char *end = form_number(text, most, &value);

    if (!end || *end)
        return false;
    *number = value;
    return true;
}

bool form_digits(const char *text, uint64_t *number)
{
    errno = 0;
    const uint64_t value = strtoull(text, NULL, 10);
    if (!*text || text[strspn(text, "0123456789")] || errno)
        return false;
    *number = value;
    return true;
}

bool form_decimal(const char *text, double most, double *number)
{
    char *end;
    const double value = strtod(text, &end);

    if (text[strspn(text, "0123456789.")] || end == text || *end || value > most)
        return false;
    *number = value;
    return true;
}

const char *form_millionths(const char *text, uint64_t *whole, unsigned *millionths)
{
    unsigned weight = FORM_MILLION / 10;

    *whole = *millionths = 0;
    if (!isdigit((unsigned char)text[*text == '.']))
        return NULL;
    for (; isdigit((unsigned char)*text); text++)
        if (__builtin_mul_overflow(*whole, 10, whole) ||
            __builtin_add_overflow(*whole, (unsigned)(*text - '0'), whole))
            return NULL;
    if (*text != '.')
        return text;
    for (text++; isdigit((unsigned char)*text) && weight; text++, weight /= 10)
        *millionths += weight * (unsigned)(*text - '0');
    return text;
}

#define FORM_SPACES " \t\n" /* these may be between a number and its unit */

/* Reads the unit of a time. Returns its end, and its length in microseconds; NULL: another text. */
static const char *take_time_unit(const char *text, uint64_t *factor)
{
    static const struct {
        char name[4];
        uint64_t factor;
    } units[] = {{"us", 1},
                 {"ms", 1000},
                 {"sec", FORM_MILLION}, /* longer names come before names that they begin with */
                 {"s", FORM_MILLION},
                 {"min", UINT64_C(60) * FORM_MILLION},
                 {"m", UINT64_C(60) * FORM_MILLION},
                 {"h", UINT64_C(3600) * FORM_MILLION},
                 {"d", UINT64_C(86400) * FORM_MILLION}};

    for (size_t i = 0; i < COUNT(units); i++)
        if (strncmp(text, units[i].name, strlen(units[i].name)) == 0) {
            *factor = units[i].factor;
            return text + strlen(units[i].name);
        }
    return NULL;
}

/* Reads the suffix of a number. k, kB and KiB are 1024 bytes, as in tables. A rate may end with /s,
 * and may be in bits: 1 kbit is 1000 bits. */
static bool find_suffix(const char *text, enum unit unit, uint64_t *factor)
{
    static const char prefixes[] = "kmgt";
    const bool bytes_rate = unit == UNIT_BYTES_PER_SECOND;
    const bool is_rate = bytes_rate || unit == UNIT_PACKETS_PER_SECOND;
    const char *prefix = *text ? strchr(prefixes, tolower((unsigned char)*text)) : NULL;
    const unsigned power = prefix ? (unsigned)(prefix - prefixes) + 1 : 0;
    const bool lower = prefix && *text == *prefix;
    struct text name = as_text(text + (prefix != NULL));
    const bool per_second =
        is_rate && name.length >= 2 && memcmp(name.data + name.length - 2, "/s", sizeof "/s") == 0;

    name.length -= per_second ? 2 : 0;
    *factor = UINT64_C(1) << 10 * power;
    if (!name.length)
        return prefix || per_second;
    if (unit == UNIT_PERCENT)
        return !prefix && text_is(name, "%");
    if (unit != UNIT_BYTES && !bytes_rate)
        return false;
    if (text_is(name, "B") || (prefix && text_is(name, "iB")) ||
        (lower && (text_is(name, "b") || text_is(name, "ib"))))
        return true;
    *factor = 125; /* bytes in 1000 bits */
    for (unsigned i = 1; i < power; i++)
        *factor *= 1000;
    return bytes_rate && prefix && (text_is(name, "bit") || text_is(name, "bps"));
}

/* Adds whole.millionths * factor to the sum. Returns false if the sum is too large. *rest gets the
 * millionths that are left. */
static bool add_product(uint64_t *sum, uint64_t whole, unsigned millionths, uint64_t factor,
                        uint64_t *rest)
{
    uint64_t product, parts;

    if (__builtin_mul_overflow(whole, factor, &product) ||
        __builtin_mul_overflow((uint64_t)millionths, factor, &parts))
        return false;
    *rest = parts % FORM_MILLION;
    return !__builtin_add_overflow(*sum, product, sum) &&
           !__builtin_add_overflow(*sum, parts / FORM_MILLION, sum);
}

/* Parses times with units, largest first or not: 1.5s, 3h05m. A number alone is seconds. The result
 * is in microseconds. */
static bool take_times(const char *text, uint64_t *microseconds)
{
    uint64_t whole, factor, rest;
    unsigned millionths;
    bool first = true;

    for (*microseconds = 0; *text || first; first = false) {
        text = form_millionths(text, &whole, &millionths);
        if (!text)
            return false;
        text += strspn(text, FORM_SPACES);
        factor = FORM_MILLION;
        text = first && !*text ? text : take_time_unit(text, &factor);
        if (!text || !add_product(microseconds, whole, millionths, factor, &rest) || rest)
            return false;
    }
    return true;
}

bool form_quantity(const char *text, enum unit unit, unsigned parts, uint64_t *number)
{
    uint64_t whole, result = 0, factor = 1, rest;
    unsigned millionths;

    if (unit == UNIT_SECONDS) {
        const unsigned divisor = FORM_MILLION / parts;
        if (!take_times(text, &result) || result % divisor)
            return false;
        *number = result / divisor;
        return true;
    }
    if (parts == 1 && strncasecmp(text, "0x", 2) == 0)
        return form_is_number(text, UINT64_MAX, number);
    text = form_millionths(text, &whole, &millionths);
    text = text ? text + strspn(text, FORM_SPACES) : NULL;
    if (!text || (*text && !find_suffix(text, unit, &factor)) ||
        __builtin_mul_overflow(factor, parts, &factor) ||
        !add_product(&result, whole, millionths, factor, &rest) || (rest && factor == parts))
        return false;
    *number = result;
    return true;
}

bool form_seconds(const char *text, double most, double *seconds)
{
    uint64_t microseconds;

    if (form_decimal(text, most, seconds))
        return true;
    if (!take_times(text, &microseconds) || (double)microseconds > most * FORM_MILLION)
        return false;
    *seconds = (double)microseconds / FORM_MILLION;
    return true;
}

/* --- Times ------------------------------------------------------------------------------------ */

/* Parses the text after the second: Z, nothing, or the distance from UTC such as +01:00. */
static bool take_zone(const char *text, int64_t *seconds)
{
    struct tm distance = {0};

    *seconds = 0;
    if (!*text || strcasecmp(text, "Z") == 0)
        return true;
    if (*text != '+' && *text != '-')
        return false;
    const char *end = strptime(text + 1, "%H:%M", &distance);
    *seconds = (*text == '-' ? -60 : 60) * (int64_t)(distance.tm_hour * 60 + distance.tm_min);
    return end && !*end;
}

/* True if the month has that day: timegm(3) accepts 30 February as a day in March. */
static bool is_day(const struct tm *time)
{
    struct tm day = {.tm_year = time->tm_year, .tm_mon = time->tm_mon, .tm_mday = time->tm_mday};

    timegm(&day);
    return day.tm_mday == time->tm_mday;
}

bool form_time(const char *text, uint64_t *nanoseconds)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"};
    uint64_t seconds = 0, second = 0;
    unsigned millionths = 0;
    const char *end = form_millionths(text, &seconds, &millionths);
    int64_t distance = 0;

    for (size_t i = 0; i < COUNT(forms) && (!end || *end); i++) {
        struct tm time = {0};
        end = strptime(text, forms[i], &time);
        end = end && is_day(&time) ? end : NULL;
        seconds = end ? (uint64_t)timegm(&time) : 0;
        if (end && *end == '.' && (end = form_millionths(end - 1, &second, &millionths)))
            end += strspn(end, "0123456789"); /* nanoseconds, as date(1) writes them */
        if (end && take_zone(end, &distance))
            end = "";
    }
    return end && !*end && !__builtin_sub_overflow(seconds, distance, &seconds) &&
           !__builtin_mul_overflow(seconds, UINT64_C(1000000000), nanoseconds) &&
           !__builtin_add_overflow(*nanoseconds, millionths * UINT64_C(1000), nanoseconds);
}

/* --- Addresses -------------------------------------------------------------------------------- */

/* Parses one to four numbers as in C, with points between them; missing numbers are 0. */
static bool take_parts(const char *text, uint8_t bytes[4])
{
    memset(bytes, 0, 4);
    for (size_t i = 0; i < 4; i++) {
        uint64_t part;
        const char *end = form_number(text, UINT8_MAX, &part);
        if (!end)
            return false;
        bytes[i] = (uint8_t)part;
        if (!*end)
            return true;
        if (*end != '.')
            return false;
        text = end + 1;
    }
    return false;
}

static bool take_ipv4(const char *text, enum form_dialect dialect, uint8_t bytes[4])
{
    struct in_addr address;

    switch (dialect) {
    case FORM_OF_SS:
        return take_parts(text, bytes);
    case FORM_OF_CONNTRACK:
        if (!*text || strpbrk(text, " \t") || !inet_aton(text, &address))
            return false;
        memcpy(bytes, &address, sizeof address);
        return true;
    default:
        return inet_pton(AF_INET, text, bytes) == 1;
    }
}

bool form_address(const char *text, size_t length, enum form_dialect dialect,
                  struct address *address)
{
    const bool brackets =
        dialect == FORM_OF_WHERE && length > 2 && text[0] == '[' && text[length - 1] == ']';
    char copy[INET6_ADDRSTRLEN + 1];
    uint8_t bytes[16];

    length -= brackets ? 2 : 0;
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text + brackets, length);
    copy[length] = '\0';
    if (!brackets && take_ipv4(copy, dialect, bytes))
        *address = address_make(AF_INET, bytes);
    else if (inet_pton(AF_INET6, copy, bytes) == 1)
        *address = address_make(AF_INET6, bytes);
    else
        return false;
    if (dialect == FORM_OF_WHERE)
        *address = address_unmapped(address);
    return true;
}

/* Appends bytes to a text in a buffer of FORM_END_MAX bytes. Returns false if they do not fit. */
static bool form_add(char *buffer, const char *start, size_t length)
{
    const size_t used = strlen(buffer);

    if (length >= FORM_END_MAX - used)
        return false;
    memcpy(buffer + used, start, length);
    buffer[used + length] = '\0';
    return true;
}

/* Finds the end of an interface's name: a bracket if `open`, else '/' or ':' or the end of the
 * text. Returns NULL if the bracket is missing. */
static const char *interface_end(const char *name, bool open)
{
    const char *end = name + strcspn(name, ":/");

    if (open && end > name && end[-1] == ']')
        return end - 1;
    return open ? NULL : end;
}

bool form_end(const char *text, struct form_end *end)
{
    const bool brackets = *text == '[';
    const char *at = text + brackets, *percent = strchr(at, '%'), *bracket = strchr(at, ']');
    const bool closed = brackets && bracket && (!percent || bracket < percent);

    *end = (struct form_end){.port = NULL};
    if (brackets && !bracket)
        return false;
    const char *after = closed ? bracket : percent ? percent : strchr(at, ':');
    if (!brackets && !percent && after && strchr(after + 1, ':')) /* IPv6 without a port */
        after = NULL;
    after = after ? after : at + strlen(at);
    if (!form_add(end->address, at, (size_t)(after - at)))
        return false;
    after += closed;
    if (*after == '%') {
        const char *name = after + 1;
        after = interface_end(name, brackets && !closed);
        if (!after || after == name || !form_add(end->interface, name, (size_t)(after - name)))
            return false;
        after += *after == ']' && brackets && !closed;
    }
    const size_t length = *after == '/' ? strcspn(after, ":") : 0;
    if (!form_add(end->address, after, length))
        return false;
    after += length;
    end->port = *after == ':' ? after + 1 : NULL;
    if (brackets && !strchr(end->address, ':')) /* only IPv6 has brackets */
        return false;
    return *end->address && (end->port ? *end->port : !*after);
}

/* Parses the length of a prefix. mapped: the address was typed as IPv4-mapped IPv6, so the length
 * counts bits of IPv6; a length below 96 makes it a network of IPv6. */
static bool take_length(const char *text, enum form_dialect dialect, bool mapped,
                        struct network *network)
{
    const uint64_t bits = mapped ? 128 : 8 * address_size(&network->address);
    uint8_t bytes[16] = {[10] = 0xff, [11] = 0xff};
    uint64_t length;

    if (dialect == FORM_OF_SS && !form_is_number(text, UINT64_MAX, &length))
        return take_parts(text, bytes) && mask_prefix(bytes, 4, &network->prefix);
    if (dialect != FORM_OF_SS && !form_digits(text, &length))
        return false;
    memcpy(bytes + 12, network->address.bytes, 4);
    if (mapped && length < 96)
        network->address = address_make(AF_INET6, bytes);
    network->prefix = (uint8_t)(mapped && length >= 96 ? length - 96 : length);
    return length <= bits;
}

bool form_network(const char *text, enum form_dialect dialect, const struct field *field,
                  struct predicate *within)
{
    const size_t at = strcspn(text, "/");
    struct network network;

    if (!form_address(text, at, dialect, &network.address) ||
        (!text[at] && dialect == FORM_OF_WHERE))
        return false;
    network.prefix = (uint8_t)(8 * address_size(&network.address));
    const bool mapped =
        dialect == FORM_OF_WHERE && network.address.family == AF_INET && memchr(text, ':', at);
    struct predicate masked = predicate_within(field, &network);
    struct address *address = &masked.constant.address;
    if (!text[at] || take_length(text + at + 1, dialect, mapped, &network))
        masked = predicate_within(field, &network);
    else if (dialect != FORM_OF_WHERE || /* a mask in the form of an address; its 1 bits need not be
                                            contiguous */
             inet_pton(address->family, text + at + 1, masked.mask.address) != 1)
        return false;
    for (size_t i = 0; i < address_size(address); i++)
        address->bytes[i] &= masked.mask.address[i];
    *within = masked;
    return true;
}

size_t form_lladdr(const char *text, uint8_t bytes[LLADDR_MAX])
{
    size_t count = 0;

    for (; count < LLADDR_MAX && isxdigit((unsigned char)text[0]); text += 3) {
        const char digits[] = {text[0], text[1], '\0'};
        if (!isxdigit((unsigned char)digits[1]))
            break;
        bytes[count++] = (uint8_t)strtoul(digits, NULL, 16);
        if (text[2] != ':')
            return text[2] ? 0 : count;
    }
    return 0;
}

bool form_next(const char **list, struct text *element)
{
    if (!text_next(list, ',', element))
        return false;
    while (element->length && strchr(FORM_SPACES, *element->data))
        *element = (struct text){element->data + 1, element->length - 1};
    while (element->length && strchr(FORM_SPACES, element->data[element->length - 1]))
        element->length--;
    return true;
}
