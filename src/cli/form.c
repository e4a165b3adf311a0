/* SPDX-License-Identifier: MIT */
#include "cli/form.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- Numbers ---------------------------------------------------------------------------------- */

const char *form_number(const char *text, uint64_t most, uint64_t *number)
{
    char *end;

    if (*text < '0' || *text > '9') /* strtoull(3) takes blanks and signs */
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

/* --- Addresses -------------------------------------------------------------------------------- */

/* One to four parts, each a number of C; missing parts are 0. */
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

/* The length of a prefix. mapped: that of an IPv4-mapped address, or of a network of IPv6. */
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

/* A mask of any bits, written as an address. */
static bool take_mask(const char *text, struct predicate *within)
{
    struct address *address = &within->constant.address;

    if (inet_pton(address->family, text, within->mask.address) != 1)
        return false;
    for (size_t i = 0; i < address_size(address); i++)
        address->bytes[i] &= within->mask.address[i];
    return true;
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
    if (!text[at] || take_length(text + at + 1, dialect, mapped, &network))
        masked = predicate_within(field, &network);
    else if (dialect != FORM_OF_WHERE || !take_mask(text + at + 1, &masked))
        return false;
    *within = masked;
    return true;
}
