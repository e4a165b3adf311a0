/* Values as plain text. */
#include "format/text/value.h"

#include <string.h>
#include <sys/socket.h>

#include "fastnet/lookup.h"
#include "fastnet/text.h"

_Static_assert(TEXT_PIECE *ESCAPE_JSON_FACTOR <= WRITER_RESERVE_MAX, "a piece fits the reserve");

/*
 * Characters with a meaning in name/pid/fd,name/pid/fd; also the quote, so that CSV has nothing to
 * double, and the semicolon, because some spreadsheets start a new cell after it.
 */
static const char owner_delimiters[] = " ,;/\"";

/* The same for names of bits, which commas separate. */
static const char flag_delimiters[] = " ,;\"";

struct text value_text(const struct value *value, char *digits)
{
    if (value->type != VALUE_NAME)
        return value->text;
    if (value->name.string)
        return (struct text){value->name.string, strlen(value->name.string)};
    return (struct text){digits, (size_t)(text_u64(digits, value->name.number) - digits)};
}

static size_t owner_bound(const struct owner *owner)
{
    return 3 + ESCAPE_FACTOR * strlen(owner->name) + 2 * (size_t)TEXT_U64_MAX;
}

static size_t owners_bound(const struct value *value)
{
    size_t bound = 1;

    for (size_t i = 0; i < value->owners.count; i++)
        bound += owner_bound(&value->owners.first[i]);
    return bound;
}

unsigned value_next_flag(const struct value *value, unsigned bit)
{
    for (; bit < VALUE_FLAG_BITS; bit = (bit / 64 + 1) * 64) {
        const uint64_t left = value->flags.bits[bit / 64] >> bit % 64;
        if (left != 0)
            return bit + (unsigned)__builtin_ctzll(left);
    }
    return VALUE_FLAG_BITS;
}

struct text value_flag_name(const struct value *value, unsigned bit, char *digits)
{
    const struct flag_names *names = value->flags.names;
    const char *name = bit < names->count ? names->names[bit] : NULL;

    if (name)
        return (struct text){name, strlen(name)};
    return (struct text){digits, (size_t)(text_u64(digits, bit) - digits)};
}

static size_t flags_bound(const struct value *value)
{
    char digits[TEXT_U64_MAX];
    size_t bound = 1;

    for (unsigned bit = value_next_flag(value, 0); bit < VALUE_FLAG_BITS;
         bit = value_next_flag(value, bit + 1))
        bound += 1 + ESCAPE_FACTOR * value_flag_name(value, bit, digits).length;
    return bound;
}

size_t value_bound(const struct value *value)
{
    char digits[TEXT_U64_MAX];

    switch (value->type) {
    case VALUE_UNKNOWN:
        return 1;
    case VALUE_NUMBER:
        return TEXT_U64_MAX;
    case VALUE_SIGNED:
        return 1 + TEXT_U64_MAX;
    case VALUE_DECIMAL:
        return TEXT_SECONDS_MAX;
    case VALUE_TEXT:
    case VALUE_SOCKET_NAME:
    case VALUE_NAME:
        return 1 + ESCAPE_FACTOR * value_text(value, digits).length;
    case VALUE_ADDRESS:
        return TEXT_ADDRESS_MAX;
    case VALUE_LLADDR:
        return TEXT_LLADDR_MAX;
    case VALUE_OWNERS:
        return owners_bound(value);
    case VALUE_FLAGS:
        return flags_bound(value);
    case VALUE_NETWORKS:
        return 1 + value->networks.count * (1 + (size_t)TEXT_NETWORK_MAX);
    }
    return 0;
}

static enum text_part part_of(const struct value *value)
{
    return value->type == VALUE_SOCKET_NAME ? PART_SOCKET_NAME : PART_TEXT;
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

/* No cell is empty. */
static char *write_empty(char *dst)
{
    *dst++ = '-';
    return dst;
}

/* "-" means unknown, so the text "-" is escaped. */
static char *write_text(char *dst, const struct value *value, const char *delimiters)
{
    char digits[TEXT_U64_MAX];
    const struct text text = value_text(value, digits);
    enum text_part part = part_of(value);

    if (text.length == 0)
        return write_empty(dst);
    if (text.length == 1 && text.data[0] == '-')
        return escape_text(dst, "-", 1, "-");
    return escape_part(dst, text.data, text.length, delimiters, &part);
}

/* A descriptor and a pid are never negative. */
static char *write_owner_numbers(char *dst, const struct owner *owner)
{
    *dst++ = '/';
    dst = text_u64(dst, (uint64_t)owner->pid);
    *dst++ = '/';
    return text_u64(dst, (uint64_t)owner->fd);
}

static char *write_owners(char *dst, const struct value *value)
{
    if (value->owners.count == 0)
        return write_empty(dst);
    for (size_t i = 0; i < value->owners.count; i++) {
        const struct owner *owner = &value->owners.first[i];
        if (i > 0)
            *dst++ = ',';
        dst = escape_text(dst, owner->name, strlen(owner->name), owner_delimiters);
        dst = write_owner_numbers(dst, owner);
    }
    return dst;
}

static char *write_flags(char *dst, const struct value *value)
{
    const char *start = dst;

    for (unsigned bit = value_next_flag(value, 0); bit < VALUE_FLAG_BITS;
         bit = value_next_flag(value, bit + 1)) {
        char digits[TEXT_U64_MAX];
        const struct text name = value_flag_name(value, bit, digits);
        if (dst > start)
            *dst++ = ',';
        dst = escape_text(dst, name.data, name.length, flag_delimiters);
    }
    return dst == start ? write_empty(dst) : dst;
}

static char *write_networks(char *dst, const struct value *value)
{
    if (value->networks.count == 0)
        return write_empty(dst);
    for (size_t i = 0; i < value->networks.count; i++) {
        if (i > 0)
            *dst++ = ',';
        dst = text_network(dst, value_network(value, i));
    }
    return dst;
}

char *value_write(char *dst, const struct value *value, const char *delimiters)
{
    switch (value->type) {
    case VALUE_UNKNOWN:
        return write_empty(dst);
    case VALUE_NUMBER:
        return text_u64(dst, value->number);
    case VALUE_SIGNED:
        return text_signed(dst, value->integer.magnitude, value->integer.negative);
    case VALUE_DECIMAL:
        return text_seconds(dst, value->number);
    case VALUE_TEXT:
    case VALUE_SOCKET_NAME:
    case VALUE_NAME:
        return write_text(dst, value, delimiters);
    case VALUE_ADDRESS:
        return text_address(dst, &value->address);
    case VALUE_LLADDR:
        return value->text.length ? value_lladdr(dst, value) : write_empty(dst);
    case VALUE_OWNERS:
        return write_owners(dst, value);
    case VALUE_FLAGS:
        return write_flags(dst, value);
    case VALUE_NETWORKS:
        return write_networks(dst, value);
    }
    return dst;
}

void text_put(struct writer *writer, struct text text, const char *delimiters, enum text_part *part)
{
    for (;;) {
        const size_t size = escape_piece(text.data, text.length, TEXT_PIECE);
        char *dst = writer_reserve(writer, ESCAPE_FACTOR * size);
        writer_commit(writer, escape_part(dst, text.data, size, delimiters, part));
        if (size == text.length)
            return;
        text.data += size;
        text.length -= size;
    }
}

static void put_owners(struct writer *writer, const struct value *value)
{
    for (size_t i = 0; i < value->owners.count; i++) {
        const struct owner *owner = &value->owners.first[i];
        enum text_part part = PART_TEXT;
        if (i > 0)
            writer_put(writer, ",", 1);
        text_put(writer, (struct text){owner->name, strlen(owner->name)}, owner_delimiters, &part);
        char *dst = writer_reserve(writer, 2 + 2 * TEXT_U64_MAX);
        writer_commit(writer, write_owner_numbers(dst, owner));
    }
}

static void put_flags(struct writer *writer, const struct value *value)
{
    const char *before = "";

    for (unsigned bit = value_next_flag(value, 0); bit < VALUE_FLAG_BITS;
         bit = value_next_flag(value, bit + 1)) {
        char digits[TEXT_U64_MAX];
        enum text_part part = PART_TEXT;
        writer_puts(writer, before);
        text_put(writer, value_flag_name(value, bit, digits), flag_delimiters, &part);
        before = ",";
    }
}

static void put_networks(struct writer *writer, const struct value *value)
{
    for (size_t i = 0; i < value->networks.count; i++) {
        if (i > 0)
            writer_put(writer, ",", 1);
        char *dst = writer_reserve(writer, TEXT_NETWORK_MAX);
        writer_commit(writer, text_network(dst, value_network(value, i)));
    }
}

void value_put(struct writer *writer, const struct value *value, const char *delimiters)
{
    const size_t bound = value_bound(value);

    if (bound <= WRITER_RESERVE_MAX) {
        char *dst = writer_reserve(writer, bound);
        writer_commit(writer, value_write(dst, value, delimiters));
    } else if (value->type == VALUE_OWNERS) {
        put_owners(writer, value);
    } else if (value->type == VALUE_FLAGS) {
        put_flags(writer, value);
    } else if (value->type == VALUE_NETWORKS) {
        put_networks(writer, value);
    } else {
        char digits[TEXT_U64_MAX];
        enum text_part part = part_of(value);
        text_put(writer, value_text(value, digits), delimiters, &part);
    }
}
