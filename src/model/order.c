/* SPDX-License-Identifier: MIT */
#include <endian.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/hash.h"
#include "fastnet/owners.h"
#include "fastnet/value.h"

static int order_compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Compares integers: the negative number with the larger magnitude is smaller. */
static int order_compare_signed(const struct value *a, const struct value *b)
{
    int order = order_compare_numbers(a->integer.magnitude, b->integer.magnitude);

    if (a->integer.negative != b->integer.negative)
        return a->integer.negative ? -1 : 1;
    return a->integer.negative ? -order : order;
}

static int order_compare_bytes(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t common = a_length < b_length ? a_length : b_length;
    int order = common ? memcmp(a, b, common) : 0;

    return order ? order : order_compare_numbers(a_length, b_length);
}

/* Compares addresses: IPv4 comes before IPv6. */
static int compare_addresses(const struct address *a, const struct address *b)
{
    if (a->family != b->family)
        return a->family == AF_INET ? -1 : 1;
    return memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

static int compare_network(const struct network *a, const struct network *b)
{
    const int order = compare_addresses(&a->address, &b->address);

    return order ? order : order_compare_numbers(a->prefix, b->prefix);
}

/* Compares element by element. If one list is the beginning of the other, the shorter list comes
 * first. */
static int compare_networks(const struct value *a, const struct value *b)
{
    int order = 0;

    for (size_t i = 0; i < a->networks.count && i < b->networks.count && !order; i++) {
        const struct network x = value_network(a, i), y = value_network(b, i);
        order = compare_network(&x, &y);
    }
    return order ? order : order_compare_numbers(a->networks.count, b->networks.count);
}

/* Compares names, which come before numbers without a name. */
static int order_compare_names(const struct value *a, const struct value *b)
{
    if (a->name.string && b->name.string)
        return strcmp(a->name.string, b->name.string);
    if (!a->name.string && !b->name.string)
        return order_compare_numbers(a->name.number, b->name.number);
    return a->name.string ? -1 : 1;
}

static int compare_owners(const struct value *a, const struct value *b)
{
    int order = 0;

    for (size_t i = 0; i < a->owners.count && i < b->owners.count && !order; i++) {
        const struct owner *x = &a->owners.first[i], *y = &b->owners.first[i];
        order = (x->process->pid > y->process->pid) - (x->process->pid < y->process->pid);
        order = order ? order : (x->fd > y->fd) - (x->fd < y->fd);
    }
    return order ? order : order_compare_numbers(a->owners.count, b->owners.count);
}

static int compare_name_lists(const struct value *a, const struct value *b)
{
    int order = 0;

    for (size_t i = 0; i < a->names.count && i < b->names.count && !order; i++)
        order = strcmp(a->names.first[i], b->names.first[i]);
    return order ? order : order_compare_numbers(a->names.count, b->names.count);
}

/* Compares the bits as one large number. */
static int compare_flags(const struct value *a, const struct value *b)
{
    int order = 0;

    for (size_t i = VALUE_FLAG_BITS / 64; i-- > 0 && !order;)
        order = order_compare_numbers(a->flags.bits[i], b->flags.bits[i]);
    return order;
}

int value_compare(const struct value *a, const struct value *b)
{
    if (a->type != b->type)
        return (a->type == VALUE_UNKNOWN) - (b->type == VALUE_UNKNOWN);
    switch (a->type) {
    case VALUE_NUMBER:
    case VALUE_DECIMAL:
    case VALUE_FINE:
    case VALUE_BOOLEAN:
    case VALUE_TIME:
        return order_compare_numbers(a->number, b->number);
    case VALUE_SIGNED:
        return order_compare_signed(a, b);
    case VALUE_TEXT:
    case VALUE_SOCKET_NAME:
    case VALUE_LLADDR:
        return order_compare_bytes(a->text.data, a->text.length, b->text.data, b->text.length);
    case VALUE_NAME:
        return order_compare_names(a, b);
    case VALUE_ADDRESS:
        return compare_addresses(&a->address, &b->address);
    case VALUE_OWNERS:
        return compare_owners(a, b);
    case VALUE_FLAGS:
        return compare_flags(a, b);
    case VALUE_NETWORKS:
        return compare_networks(a, b);
    case VALUE_NAMES:
        return compare_name_lists(a, b);
    case VALUE_NETWORK:
        return compare_network(&a->network, &b->network);
    case VALUE_VIEW: /* another field is compared (field_compared()) */
    case VALUE_UNKNOWN:
        break;
    }
    return 0;
}

/* The rank of a text: its first eight bytes as one number. */
static uint64_t rank_of_bytes(const void *bytes, size_t length)
{
    uint64_t number = 0;

    if (length)
        memcpy(&number, bytes, length < sizeof number ? length : sizeof number);
    return be64toh(number);
}

/* Puts `upper` into the highest bit: such values are greater than all others. The rank loses its
 * lowest bit to make room for this. */
static uint64_t rank_with(bool upper, uint64_t rank)
{
    return (uint64_t)upper << 63 | rank >> 1;
}

/* Ranks a text. *exact: the rank holds the whole text, and no NUL bytes, which could be padding. */
static uint64_t rank_of_text(const void *bytes, size_t length, bool *exact)
{
    *exact = length < sizeof(uint64_t) && !(length && memchr(bytes, '\0', length));
    return rank_of_bytes(bytes, length);
}

uint64_t value_rank(const struct value *value, bool *exact)
{
    *exact = true;
    switch (value->type) {
    case VALUE_NUMBER:
    case VALUE_DECIMAL:
    case VALUE_FINE:
    case VALUE_BOOLEAN:
    case VALUE_TIME:
        return value->number;
    case VALUE_UNKNOWN:
        return UINT64_MAX;
    case VALUE_TEXT:
    case VALUE_SOCKET_NAME:
    case VALUE_LLADDR:
        return rank_of_text(value->text.data, value->text.length, exact);
    case VALUE_NAME:
        if (value->name.string)
            return rank_with(false,
                             rank_of_text(value->name.string, strlen(value->name.string), exact));
        *exact = false;
        return rank_with(true, value->name.number);
    case VALUE_ADDRESS:
        *exact = value->address.family == AF_INET;
        return rank_with(!*exact, rank_of_bytes(value->address.bytes, sizeof value->address.bytes));
    case VALUE_SIGNED:
        *exact = false;
        return rank_with(!value->integer.negative, value->integer.negative
                                                       ? ~value->integer.magnitude
                                                       : value->integer.magnitude);
    case VALUE_OWNERS: /* all values get the same rank, so they are compared in pairs */
    case VALUE_FLAGS:
    case VALUE_NETWORKS:
    case VALUE_NAMES:
    case VALUE_NETWORK:
    case VALUE_VIEW:
        break;
    }
    *exact = false;
    return 0;
}

/* --- Values as bytes -------------------------------------------------------------------------- */

struct order_key {
    char *dst;
    size_t size, length;
};

static void key_put(struct order_key *key, const void *bytes, size_t count)
{
    const size_t room = key->size > key->length ? key->size - key->length : 0,
                 fits = count < room ? count : room;

    if (fits)
        memcpy(key->dst + key->length, bytes, fits);
    key->length += count;
}

static void key_put_byte(struct order_key *key, uint8_t byte)
{
    key_put(key, &byte, sizeof byte);
}

static void key_put_number(struct order_key *key, uint64_t number)
{
    number = htobe64(number);
    key_put(key, &number, sizeof number);
}

static void key_put_address(struct order_key *key, const struct address *address)
{
    key_put_byte(key, address->family != AF_INET);
    key_put(key, address->bytes, sizeof address->bytes);
}

static void key_put_network(struct order_key *key, const struct network *network)
{
    key_put_address(key, &network->address);
    key_put_number(key, network->prefix);
}

static void key_put_list(struct order_key *key, const struct value *list)
{
    for (size_t i = 0; list->type == VALUE_OWNERS && i < list->owners.count; i++) {
        const struct owner *owner = &list->owners.first[i];
        key_put_number(key, (uint64_t)owner->process->pid);
        key_put_number(key, (uint64_t)((int64_t)owner->fd + 1)); /* an unknown descriptor is -1 */
    }
    for (size_t i = 0; list->type == VALUE_NETWORKS && i < list->networks.count; i++) {
        const struct network network = value_network(list, i);
        key_put_network(key, &network);
    }
    for (size_t i = 0; list->type == VALUE_NAMES && i < list->names.count; i++)
        key_put(key, list->names.first[i], strlen(list->names.first[i]) + 1);
}

size_t value_key(const struct value *value, char *dst, size_t size)
{
    struct order_key key = {dst, size, 0};

    switch (value->type) {
    case VALUE_NUMBER:
    case VALUE_DECIMAL:
    case VALUE_FINE:
    case VALUE_BOOLEAN:
    case VALUE_TIME:
        key_put_number(&key, value->number);
        break;
    case VALUE_SIGNED:
        key_put_byte(&key, !value->integer.negative);
        key_put_number(&key, value->integer.negative ? ~value->integer.magnitude
                                                     : value->integer.magnitude);
        break;
    case VALUE_TEXT:
    case VALUE_SOCKET_NAME:
    case VALUE_LLADDR:
        key_put(&key, value->text.data, value->text.length);
        break;
    case VALUE_NAME:
        key_put_byte(&key, !value->name.string);
        if (value->name.string)
            key_put(&key, value->name.string, strlen(value->name.string));
        else
            key_put_number(&key, value->name.number);
        break;
    case VALUE_ADDRESS:
        key_put_address(&key, &value->address);
        break;
    case VALUE_NETWORK:
        key_put_network(&key, &value->network);
        break;
    case VALUE_OWNERS:
    case VALUE_NETWORKS:
    case VALUE_NAMES:
        key_put_list(&key, value);
        break;
    case VALUE_FLAGS:
        for (size_t i = VALUE_FLAG_BITS / 64; i-- > 0;)
            key_put_number(&key, value->flags.bits[i]);
        break;
    case VALUE_VIEW: /* another field is compared (field_compared()) */
    case VALUE_UNKNOWN:
        break;
    }
    return key.length;
}

uint64_t value_hash(uint64_t hash, const struct value *value)
{
    hash = hash_bytes(hash, &value->type, sizeof value->type);
    switch (value->type) {
    case VALUE_NUMBER:
    case VALUE_DECIMAL:
    case VALUE_FINE:
    case VALUE_BOOLEAN:
    case VALUE_TIME:
        return hash_bytes(hash, &value->number, sizeof value->number);
    case VALUE_SIGNED:
        hash = hash_bytes(hash, &value->integer.negative, sizeof value->integer.negative);
        return hash_bytes(hash, &value->integer.magnitude, sizeof value->integer.magnitude);
    case VALUE_TEXT:
    case VALUE_SOCKET_NAME:
    case VALUE_LLADDR:
        hash = hash_word(hash, value->text.length); /* a name may end with NUL bytes */
        return hash_bytes(hash, value->text.data, value->text.length);
    case VALUE_NAME:
        if (value->name.string)
            return hash_bytes(hash, value->name.string, strlen(value->name.string));
        return hash_bytes(hash, &value->name.number, sizeof value->name.number);
    case VALUE_ADDRESS:
        return hash_bytes(hash, &value->address, sizeof value->address);
    case VALUE_NETWORK:
        return hash_bytes(hash, &value->network, sizeof value->network);
    case VALUE_OWNERS:
        for (size_t i = 0; i < value->owners.count; i++)
            hash = hash_bytes(hash, &value->owners.first[i].process->pid, sizeof(pid_t));
        return hash;
    case VALUE_FLAGS:
        return hash_bytes(hash, value->flags.bits, sizeof value->flags.bits);
    case VALUE_NETWORKS:
        for (size_t i = 0; i < value->networks.count; i++) {
            const struct network network = value_network(value, i);
            hash = hash_bytes(hash, &network, sizeof network);
        }
        return hash;
    case VALUE_NAMES:
        for (size_t i = 0; i < value->names.count; i++)
            hash = hash_bytes(hash, value->names.first[i], strlen(value->names.first[i]) + 1);
        return hash;
    case VALUE_VIEW:
    case VALUE_UNKNOWN:
        break;
    }
    return hash;
}
