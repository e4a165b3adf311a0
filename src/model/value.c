/* SPDX-License-Identifier: MIT */
/* Values as plain text. */
#include "model/value.h"

#include <string.h>
#include <sys/socket.h>

#include "fastnet/clock.h"
#include "fastnet/owners.h"
#include "fastnet/text.h"
#include "text/put.h"

_Static_assert(TEXT_PIECE *ESCAPE_JSON_FACTOR <= WRITER_RESERVE_MAX, "the reserve holds a piece");

/* Characters with a meaning in name/pid/fd,name/pid/fd. Also the quote, so that CSV needs no
 * doubling, and the semicolon, because some spreadsheets begin a new cell after it. */
static const char owner_delimiters[] = " ,;/\"";

/* Characters with a meaning in names of bits, which are joined by commas. */
static const char flag_delimiters[] = " ,;\"";

struct text value_text(const struct value *value, char *digits)
{
    if (value->type != VALUE_NAME)
        return value->text;
    if (value->name.string)
        return (struct text){value->name.string, strlen(value->name.string)};
    char *end = value->hex ? put_hex(PUT(digits, "0x"), value->name.number)
                           : text_u64(digits, value->name.number);
    return (struct text){digits, (size_t)(end - digits)};
}

/* Returns the first set bit from `bit` on; VALUE_FLAG_BITS: no bit is set. */
static size_t next_flag(const struct value *flags, size_t bit)
{
    for (; bit < VALUE_FLAG_BITS; bit = (bit / 64 + 1) * 64) {
        const uint64_t left = flags->flags.bits[bit / 64] >> bit % 64;
        if (left != 0)
            return bit + (size_t)__builtin_ctzll(left);
    }
    return VALUE_FLAG_BITS;
}

static const char *value_flag_name(const struct value *flags, size_t bit)
{
    return bit < flags->flags.names->count ? flags->flags.names->names[bit] : NULL;
}

bool value_next(const struct value *list, size_t *at, struct value *element)
{
    size_t i = *at, count = VALUE_FLAG_BITS;

    if (list->type == VALUE_FLAGS)
        i = next_flag(list, i);
    else
        count = list->type == VALUE_OWNERS  ? list->owners.count
                : list->type == VALUE_NAMES ? list->names.count
                                            : list->networks.count;
    if (i >= count)
        return false;
    *at = i + 1;
    element->type = list->type;
    if (list->type == VALUE_OWNERS) {
        element->owners.first = list->owners.first + i;
        element->owners.count = 1;
    } else if (list->type == VALUE_NETWORKS) {
        element->networks.first = (const char *)list->networks.first + i * list->networks.stride;
        element->networks.count = 1;
        element->networks.read = list->networks.read;
    } else {
        element->type = VALUE_NAME;
        element->hex = false;
        element->name.number = i;
        element->name.string =
            list->type == VALUE_NAMES ? list->names.first[i] : value_flag_name(list, i);
    }
    return true;
}

static void add_signed(struct value *sum, const struct value *value)
{
    const uint64_t a = sum->integer.magnitude, b = value->integer.magnitude;

    if (sum->integer.negative == value->integer.negative) {
        sum->integer.magnitude = a + b < a ? UINT64_MAX : a + b;
        return;
    }
    sum->integer.magnitude = a > b ? a - b : b - a;
    if (a < b)
        sum->integer.negative = value->integer.negative;
    sum->integer.negative &= a != b;
}

void value_add(struct value *sum, const struct value *value)
{
    if (value->type == VALUE_UNKNOWN)
        return;
    if (sum->type == VALUE_UNKNOWN)
        *sum = *value;
    else if (sum->type == VALUE_SIGNED)
        add_signed(sum, value);
    else
        sum->number =
            sum->number + value->number < sum->number ? UINT64_MAX : sum->number + value->number;
}

static size_t element_bound(const struct value *element)
{
    char digits[TEXT_U64_MAX];

    if (element->type == VALUE_OWNERS)
        return 2 + ESCAPE_FACTOR * strlen(element->owners.first->process->name) +
               2 * (size_t)TEXT_U64_MAX;
    if (element->type == VALUE_NETWORKS)
        return TEXT_NETWORK_MAX;
    return ESCAPE_FACTOR * value_text(element, digits).length;
}

const uint16_t value_most[] = {
    [VALUE_UNKNOWN] = sizeof "-" - 1,   [VALUE_NUMBER] = TEXT_U64_MAX,
    [VALUE_SIGNED] = 1 + TEXT_U64_MAX,  [VALUE_DECIMAL] = TEXT_SECONDS_MAX,
    [VALUE_FINE] = TEXT_SECONDS_MAX,    [VALUE_BOOLEAN] = sizeof "yes" - 1,
    [VALUE_TIME] = TEXT_TIME_MAX,       [VALUE_ADDRESS] = TEXT_ADDRESS_MAX,
    [VALUE_NETWORK] = TEXT_NETWORK_MAX, [VALUE_LLADDR] = TEXT_LLADDR_MAX,
    [VALUE_VIEW] = VALUE_VIEW_MAX, /* the last type, so all are covered; 0: texts and lists have no
                                      bound */
};

size_t value_bound(const struct value *value)
{
    struct value element;
    size_t bound = 1;

    if (value_most[value->type])
        return value_most[value->type];
    if (!value_is_list(value))
        return 1 + ESCAPE_FACTOR * value_text(value, (char[TEXT_U64_MAX]){""}).length;
    for (size_t at = 0; value_next(value, &at, &element);)
        bound += 1 + element_bound(&element);
    return bound;
}

char *value_lladdr(char *dst, const struct value *value)
{
    const uint8_t *bytes = (const uint8_t *)value->text.data;

    if (value->family == AF_INET)
        return text_ipv4(dst, bytes);
    if (value->family == AF_INET6)
        return text_ipv6(dst, bytes);
    return text_lladdr(dst, bytes, value->text.length);
}

/* Writes a text. No cell is empty. "-" means unknown, so the text "-" is escaped. */
static __attribute__((noinline)) char *write_text(char *dst, const struct value *value,
                                                  const char *delimiters)
{
    char digits[TEXT_U64_MAX];
    const struct text text = value_text(value, digits);

    if (text.length == 0)
        return PUT(dst, "-");
    if (text.length == 1 && text.data[0] == '-')
        return escape_text(dst, "-", 1, "-");
    return value->type == VALUE_SOCKET_NAME
               ? escape_socket_name(dst, text.data, text.length, delimiters)
               : escape_text(dst, text.data, text.length, delimiters);
}

static char *write_element(char *dst, const struct value *element)
{
    char digits[TEXT_U64_MAX];

    if (element->type == VALUE_NETWORKS) {
        const struct network network = value_network(element, 0);
        return text_network(dst, &network);
    }
    if (element->type == VALUE_OWNERS) {
        const struct owner *owner = element->owners.first;
        dst =
            escape_text(dst, owner->process->name, strlen(owner->process->name), owner_delimiters);
        *dst++ = '/';
        dst = owner->process->pid ? text_u64(dst, (uint64_t)owner->process->pid) : PUT(dst, "-");
        *dst++ = '/';
        return owner->fd < 0 ? PUT(dst, "-") : text_u64(dst, (uint64_t)owner->fd);
    }
    const struct text name = value_text(element, digits);
    return escape_text(dst, name.data, name.length, flag_delimiters);
}

static __attribute__((noinline)) char *write_list(char *dst, const struct value *list)
{
    const char *start = dst;
    struct value element;

    for (size_t at = 0; value_next(list, &at, &element);) {
        if (dst > start)
            *dst++ = ',';
        dst = write_element(dst, &element);
    }
    return dst == start ? PUT(dst, "-") : dst;
}

char *value_write(char *dst, const struct value *value, const char *delimiters)
{
    switch (value->type) {
    case VALUE_UNKNOWN:
        return PUT(dst, "-");
    case VALUE_NUMBER:
        return text_u64(dst, value->number);
    case VALUE_SIGNED:
        return text_signed(dst, value->integer.magnitude, value->integer.negative);
    case VALUE_DECIMAL:
        return text_seconds(dst, value->number);
    case VALUE_FINE:
        return text_microseconds(dst, value->number);
    case VALUE_BOOLEAN:
        return value->number ? PUT(dst, "yes") : PUT(dst, "no");
    case VALUE_TIME:
        return text_time(dst, value->number);
    case VALUE_TEXT:
    case VALUE_SOCKET_NAME:
    case VALUE_NAME:
        return write_text(dst, value, delimiters);
    case VALUE_ADDRESS:
        return put_address(dst, &value->address);
    case VALUE_NETWORK:
        return text_network(dst, &value->network);
    case VALUE_LLADDR:
        return value->text.length ? value_lladdr(dst, value) : PUT(dst, "-");
    case VALUE_VIEW:
        return value->view.write(dst, value, false);
    case VALUE_OWNERS:
    case VALUE_FLAGS:
    case VALUE_NETWORKS:
    case VALUE_NAMES:
        return write_list(dst, value);
    }
    return dst;
}

/* Writes a number with one decimal and the unit's letter. */
static char *write_tenths(char *dst, uint64_t tenths, const char *letters)
{
    dst = PUT(text_u64(dst, tenths / 10), ".");
    return stpcpy(text_u64(dst, tenths % 10), letters);
}

static char *write_size(char *dst, uint64_t bytes)
{
    static const char letters[][2] = {"", "K", "M", "G", "T", "P", "E"};
    unsigned unit = 0;

    while (unit < 6 && bytes >> 10 * (unit + 1))
        unit++;
    if (!unit)
        return text_u64(dst, bytes);
    if (bytes >> 10 * unit >= 10)
        return stpcpy(text_u64(dst, bytes >> 10 * unit), letters[unit]);
    /* ten times the number of exabytes can overflow */
    return write_tenths(dst, unit < 6 ? bytes * 10 >> 10 * unit : (bytes >> 10) * 10 >> 50,
                        letters[unit]);
}

/* Writes bytes per second as bits per second, with decimal prefixes: 12Mbit, 1.2Gbit. */
static char *write_bits(char *dst, uint64_t bytes)
{
    static const char letters[][5] = {"bit", "Kbit", "Mbit", "Gbit", "Tbit", "Pbit", "Ebit"};
    uint64_t bits = bytes < UINT64_MAX / 8 ? bytes * 8 : UINT64_MAX, below = 0;
    unsigned unit = 0;

    for (; bits >= 1000; unit++) {
        below = bits % 1000;
        bits /= 1000;
    }
    return unit && bits < 10 ? write_tenths(dst, bits * 10 + below / 100, letters[unit])
                             : stpcpy(text_u64(dst, bits), letters[unit]);
}

char *put_amount(char *dst, uint64_t bytes, bool human)
{
    return human ? write_size(dst, bytes) : text_u64(dst, bytes);
}

/* Writes two units, the second with two digits: 3h05m. */
static char *write_two(char *dst, uint64_t count, char unit, uint64_t rest, char smaller)
{
    dst = text_u64(dst, count);
    *dst++ = unit;
    dst = put_two_digits(dst, (unsigned)rest);
    *dst++ = smaller;
    return dst;
}

static char *write_time(char *dst, uint64_t seconds, uint64_t microseconds)
{
    if (!seconds && !microseconds)
        return PUT(dst, "0s");
    if (!seconds && microseconds < 1000)
        return stpcpy(text_u64(dst, microseconds), "us");
    if (!seconds)
        return write_tenths(dst, microseconds / 100, "ms");
    if (seconds < 60)
        return write_tenths(dst, seconds * 10 + microseconds / 100000, "s");
    if (seconds < 3600)
        return write_two(dst, seconds / 60, 'm', seconds % 60, 's');
    if (seconds < 86400)
        return write_two(dst, seconds / 3600, 'h', seconds / 60 % 60, 'm');
    return write_two(dst, seconds / 86400, 'd', seconds / 3600 % 24, 'h');
}

/* Writes "17:05:09Z" for a time of today, else "2026-11-22T17:05Z". */
static char *write_moment(char *dst, uint64_t nanoseconds)
{
    enum { DATE = 10, MINUTE = 16, TIME = 8 };
    char today[TEXT_TIME_MAX], moment[TEXT_TIME_MAX];

    (void)text_time(today, clock_nanoseconds(CLOCK_REALTIME));
    (void)text_time(moment, nanoseconds);
    dst = memcmp(today, moment, DATE) == 0 ? mempcpy(dst, moment + DATE + 1, TIME)
                                           : mempcpy(dst, moment, MINUTE);
    *dst++ = 'Z';
    return dst;
}

char *value_write_human(char *dst, const struct value *value, int unit)
{
    const bool fraction = value->type == VALUE_DECIMAL || value->type == VALUE_FINE;
    const uint64_t scale = value->type == VALUE_FINE ? 1000000 : fraction ? 1000 : 1;

    if (value->type == VALUE_VIEW)
        return value->view.write(dst, value, true);
    if ((unit == UNIT_BYTES || unit == UNIT_BYTES_PER_SECOND) &&
        (fraction || value->type == VALUE_NUMBER))
        return write_size(dst, value->number / scale);
    if (unit == UNIT_BITS_PER_SECOND && (fraction || value->type == VALUE_NUMBER))
        return write_bits(dst, value->number / scale);
    if (unit == UNIT_PER_SECOND && fraction)
        return write_tenths(dst, value->number / (scale / 10), "");
    if (unit == UNIT_SECONDS && value->type == VALUE_TIME)
        return write_moment(dst, value->number);
    if (unit == UNIT_SECONDS && (fraction || value->type == VALUE_NUMBER))
        return write_time(dst, value->number / scale, value->number % scale * (1000000 / scale));
    return value_write(dst, value, value->spaced ? NULL : " ");
}

const char *human_number(char text[HUMAN_NUMBER], uint64_t number, int unit)
{
    const struct value value = {.type = VALUE_NUMBER, .number = number};

    *value_write_human(text, &value, unit) = '\0';
    return text;
}

/* Writes the elements at the beginning of a list that fit completely. The list is not empty. */
static char *write_list_part(char *dst, const char *end, const struct value *list)
{
    const char *start = dst;
    struct value element;

    for (size_t at = 0; value_next(list, &at, &element);) {
        if (element_bound(&element) + 1 > (size_t)(end - dst))
            break;
        if (dst > start)
            *dst++ = ',';
        dst = write_element(dst, &element);
    }
    return dst;
}

size_t value_write_part(char dst[VALUE_PART], const struct value *value, int unit)
{
    enum { PIECE = VALUE_PART / ESCAPE_FACTOR };
    enum text_part part = value_part(value);
    char digits[TEXT_U64_MAX], *end;

    if (value_bound(value) <= VALUE_PART) {
        end = value_write_human(dst, value, unit);
    } else if (value_is_list(value)) {
        end = write_list_part(dst, dst + VALUE_PART, value);
    } else {
        const struct text text = value_text(value, digits);
        end = escape_part(dst, text.data, escape_piece(text.data, text.length, PIECE),
                          value->spaced ? "" : " ", &part);
    }
    return (size_t)(end - dst);
}

struct text value_view_text(char text[VALUE_VIEW_MAX], const struct value *view)
{
    const char *end = escape_undo(text, view->view.write(text, view, false));

    return (struct text){text, (size_t)(end - text)};
}

enum text_part text_put(struct writer *writer, struct text text, const char *delimiters,
                        enum text_part part)
{
    for (;;) {
        const size_t size = escape_piece(text.data, text.length, TEXT_PIECE);
        char *dst = writer_reserve(writer, ESCAPE_FACTOR * size);
        writer_commit(writer, escape_part(dst, text.data, size, delimiters, &part));
        if (size == text.length)
            return part;
        text.data += size;
        text.length -= size;
    }
}

/* Writes a list that is not empty, and reserves space for each element. */
static void value_put_list(struct writer *writer, const struct value *list)
{
    char digits[TEXT_U64_MAX];
    struct value element = {0};

    for (size_t at = 0, count = 0; value_next(list, &at, &element); count++) {
        if (count > 0)
            writer_put(writer, ",", 1);
        if (element.type == VALUE_NAME) {
            text_put(writer, value_text(&element, digits), flag_delimiters, PART_TEXT);
        } else {
            char *dst = writer_reserve(writer, element_bound(&element));
            writer_commit(writer, write_element(dst, &element));
        }
    }
}

void value_put(struct writer *writer, const struct value *value, const char *delimiters)
{
    const size_t bound = value_bound(value);
    char digits[TEXT_U64_MAX];

    if (bound <= WRITER_RESERVE_MAX) {
        char *dst = writer_reserve(writer, bound);
        writer_commit(writer, value_write(dst, value, delimiters));
    } else if (value_is_list(value)) {
        value_put_list(writer, value);
    } else {
        text_put(writer, value_text(value, digits), delimiters, value_part(value));
    }
}
