/* SPDX-License-Identifier: MIT */
#include "made_tree.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fuzz.h"

enum { DEPTH_MAX = 4, PARTS_MAX = 3, TEXT_MAX = 256 };

/* --- Making them ------------------------------------------------------------------------------ */

/* Of flows also those that are no columns. An age is another one a moment later. */
static const struct field *take_field(const struct kind *kind, struct bytes *bytes)
{
    static const struct field *const hidden[] = {
        &field_src_nat_address, &field_dst_nat_address, &field_src_nat_port, &field_dst_nat_port,
        &field_own_orig_zone,   &field_own_reply_zone,  &field_label_bits,   &field_any_secmark};
    const size_t others = kind == &kind_flow ? COUNT(hidden) : 0;
    const size_t index = bytes_u8(bytes) % (kind->field_count + others);
    const struct field *field =
        index < kind->field_count ? &kind->fields[index] : hidden[index - kind->field_count];

    return strcmp(field->name, "age") == 0 ? &kind->fields[0] : field;
}

static bool is_number(const struct field *field)
{
    return field->member >= MEMBER_UINT8 && field->member <= MEMBER_UINT64;
}

static const struct address *address_at(const struct field *field, const struct record *record)
{
    return (const void *)((const char *)record + field->offset);
}

static struct address take_address(struct bytes *bytes)
{
    const uint8_t first = bytes_u8(bytes);
    struct address address = {.family = first & 1 ? AF_INET6 : AF_INET};

    bytes_take(bytes, address.bytes, first & 2 ? address_size(&address) : first & 4);
    if (first & 8 && address.family == AF_INET6) {
        memset(address.bytes, 0, 10);
        memset(address.bytes + 10, 0xff, 2);
    }
    return address;
}

static struct text take_text(struct made_tree *tree, struct bytes *bytes)
{
    static const char *const common[] = {"", "*", "?*", "tcp", "inet*", "*S*", "\\*", "-"};
    const uint8_t first = bytes_u8(bytes);
    char *text = tree->texts[tree->count - 1];

    if (first & 0x80)
        return (struct text){common[first % COUNT(common)], strlen(common[first % COUNT(common)])};
    bytes_take(bytes, text, first % (MADE_TEXT_MAX + 1));
    return (struct text){text, first % (MADE_TEXT_MAX + 1)};
}

/* The number that the record has, or one beside it; or any. */
static uint64_t take_number(const struct field *field, const struct record *record,
                            struct bytes *bytes)
{
    const uint8_t first = bytes_u8(bytes);

    if (first & 0x80 && is_number(field))
        return field_number(field, record) + first % 3 - 1;
    return first & 0x40 ? bytes_u32(bytes) | (uint64_t)bytes_u32(bytes) << 32 : first;
}

static struct value take_flags(struct bytes *bytes)
{
    struct value value = {.type = VALUE_FLAGS};

    bytes_take(bytes, value.flags.bits, sizeof value.flags.bits);
    return value;
}

/* The value that the record has, or any of some type. */
static struct value take_constant(struct made_tree *tree, const struct field *field,
                                  const struct record *record, struct bytes *bytes)
{
    static const struct context nothing;
    const uint8_t type = bytes_u8(bytes) % 8;
    const struct value own = field_value(field, record, &nothing);

    switch (type) {
    case 0:
    case 1:
        if (own.type != VALUE_UNKNOWN)
            return own;
        break;
    case 2:
        return (struct value){.type = VALUE_TEXT, .text = take_text(tree, bytes)};
    case 3:
        return (struct value){.type = VALUE_ADDRESS, .address = take_address(bytes)};
    case 4:
        if (field->member == MEMBER_ADDRESS && address_at(field, record)->family)
            return (struct value){.type = VALUE_ADDRESS, .address = *address_at(field, record)};
        return take_flags(bytes);
    case 5:
        return (struct value){.type = field->type == VALUE_FINE ? VALUE_FINE : VALUE_DECIMAL,
                              .number = bytes_u32(bytes)};
    case 6:
        return (struct value){.type = VALUE_SIGNED,
                              .integer = {.magnitude = bytes_u8(bytes) + 1u, .negative = true}};
    default:
        break;
    }
    return (struct value){.type = VALUE_NUMBER, .number = take_number(field, record, bytes)};
}

/* What is compared under a mask is a number, or the flags that the field has. */
static void take_masked(struct predicate *node, const struct record *record, struct bytes *bytes)
{
    static const struct context nothing;
    const struct field *field = node->field;
    const struct value own = field_value(field, record, &nothing);
    const uint8_t first = bytes_u8(bytes);

    bytes_take(bytes, node->mask.bits, sizeof node->mask.bits);
    if (field->type == VALUE_FLAGS && (first & 1 || !field->plain)) {
        node->constant = own.type == VALUE_FLAGS && first & 2 ? own : take_flags(bytes);
        for (size_t i = 0; i < COUNT(node->mask.bits) && first & 4; i++)
            node->constant.flags.bits[i] &= node->mask.bits[i];
        return;
    }
    node->mask.bits[1] = 0;
    node->constant.type = VALUE_NUMBER;
    node->constant.number = take_number(field, record, bytes);
    if (first & 4)
        node->constant.number &= node->mask.bits[0];
}

/* A network, the record's address in it where the input says so. */
static void take_network(struct predicate *node, const struct record *record, struct bytes *bytes)
{
    const struct field *field = node->field;
    const uint8_t first = bytes_u8(bytes);
    struct address *address = &node->constant.address;

    node->constant.type = VALUE_ADDRESS;
    *address = take_address(bytes);
    if (first & 1 && field->member == MEMBER_ADDRESS && address_at(field, record)->family)
        *address = *address_at(field, record);
    if (first & 2)
        memset(node->mask.address, 0xff, address_size(address));
    else
        bytes_take(bytes, node->mask.address, address_size(address));
    for (size_t i = 0; i < sizeof address->bytes && first & 4; i++)
        address->bytes[i] &= node->mask.address[i];
}

static void take_comparison(struct made_tree *tree, struct predicate *node,
                            const struct record *record, struct bytes *bytes)
{
    node->operation = PREDICATE_KNOWN + bytes_u8(bytes) % (PREDICATE_LIKE - PREDICATE_KNOWN + 1);
    node->field = take_field(record->kind, bytes);
    switch (node->operation) {
    case PREDICATE_KNOWN:
        break;
    case PREDICATE_MASKED:
        take_masked(node, record, bytes);
        break;
    case PREDICATE_ONE_OF:
        *node = predicate_one_of(node->field, bytes_u32(bytes));
        break;
    case PREDICATE_WITHIN:
        take_network(node, record, bytes);
        break;
    case PREDICATE_LIKE:
        node->constant = (struct value){.type = VALUE_TEXT, .text = take_text(tree, bytes)};
        break;
    default:
        node->constant = take_constant(tree, node->field, record, bytes);
    }
}

static struct predicate *take_node(struct made_tree *tree, const struct record *record,
                                   struct bytes *bytes, unsigned depth)
{
    const uint8_t first = bytes_u8(bytes);
    struct predicate *node = &tree->nodes[tree->count++];
    size_t parts = first / 4 % (PARTS_MAX + 1);

    *node = (struct predicate){.operation = PREDICATE_AND};
    if (first & 0x80 || depth == DEPTH_MAX) {
        take_comparison(tree, node, record, bytes);
        return node;
    }
    if (first & 1)
        node->operation = first & 2 ? PREDICATE_NOT : PREDICATE_OR;
    if (node->operation == PREDICATE_NOT)
        parts = 1;
    for (; parts > 0 && tree->count < MADE_NODES_MAX; parts--)
        predicate_add(node, take_node(tree, record, bytes, depth + 1));
    return node;
}

const struct predicate *made_tree(struct made_tree *tree, const struct record *record,
                                  struct bytes *bytes)
{
    tree->count = 0;
    return take_node(tree, record, bytes, 0);
}

/* --- What becomes of them --------------------------------------------------------------------- */

/* After each element of the pattern: how much of the text may have been met so far. */
static bool is_like(struct text pattern, struct text text)
{
    bool met[TEXT_MAX + 1] = {true};

    require(text.length <= TEXT_MAX);
    for (size_t at = 0; at < pattern.length; at++) {
        const bool star = pattern.data[at] == '*', any = pattern.data[at] == '?';
        at += pattern.data[at] == '\\' && at + 1 < pattern.length;
        for (size_t i = text.length; i > 0 && !star; i--)
            met[i] = met[i - 1] && (any || text.data[i - 1] == pattern.data[at]);
        for (size_t i = 1; i <= text.length && star; i++)
            met[i] |= met[i - 1];
        met[0] &= star;
    }
    return met[text.length];
}

static struct text text_of(const struct value *value)
{
    if (value->type == VALUE_NAME)
        return (struct text){value->name.string, strlen(value->name.string)};
    return value->text;
}

static bool has_text(const struct value *value)
{
    return value->type == VALUE_TEXT || value->type == VALUE_SOCKET_NAME ||
           (value->type == VALUE_NAME && value->name.string);
}

static bool has_number(const struct value *value)
{
    return value->type == VALUE_NUMBER || value->type == VALUE_DECIMAL ||
           value->type == VALUE_FINE || value->type == VALUE_BOOLEAN || value->type == VALUE_NAME ||
           value->type == VALUE_FLAGS;
}

static uint64_t number_of(const struct value *value)
{
    return value->type == VALUE_NAME    ? value->name.number
           : value->type == VALUE_FLAGS ? value->flags.bits[0]
                                        : value->number;
}

static int order_of(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int order_of_texts(struct text a, struct text b)
{
    size_t i = 0;

    while (i < a.length && i < b.length && a.data[i] == b.data[i])
        i++;
    if (i < a.length && i < b.length)
        return order_of((unsigned char)a.data[i], (unsigned char)b.data[i]);
    return order_of(a.length, b.length);
}

static int order_of_addresses(const struct address *a, const struct address *b)
{
    const int order = memcmp(a->bytes, b->bytes, sizeof a->bytes);

    if (a->family != b->family)
        return a->family == AF_INET ? -1 : 1;
    return order_of(order > 0, order < 0);
}

static int order_of_integers(const struct value *a, const struct value *b)
{
    const int order = order_of(a->integer.magnitude, b->integer.magnitude);

    if (a->integer.negative != b->integer.negative)
        return a->integer.negative ? -1 : 1;
    return a->integer.negative ? -order : order;
}

/* Names before numbers without one. */
static int order_of_names(const struct value *a, const struct value *b)
{
    if (a->name.string && b->name.string)
        return order_of_texts(text_of(a), text_of(b));
    if (!a->name.string && !b->name.string)
        return order_of(a->name.number, b->name.number);
    return a->name.string ? -1 : 1;
}

/* Values of one type. */
static int order_of_values(const struct value *a, const struct value *b)
{
    const int high = order_of(a->flags.bits[1], b->flags.bits[1]);

    switch (a->type) {
    case VALUE_SIGNED:
        return order_of_integers(a, b);
    case VALUE_ADDRESS:
        return order_of_addresses(&a->address, &b->address);
    case VALUE_FLAGS:
        return high ? high : order_of(a->flags.bits[0], b->flags.bits[0]);
    case VALUE_NAME:
        return order_of_names(a, b);
    case VALUE_TEXT:
    case VALUE_SOCKET_NAME:
    case VALUE_LLADDR:
        return order_of_texts(a->text, b->text);
    default:
        return order_of(a->number, b->number);
    }
}

static bool is_ordered(enum predicate_operator operation, int order)
{
    return operation == PREDICATE_EQUAL   ? order == 0
           : operation == PREDICATE_BELOW ? order < 0
                                          : order > 0;
}

static bool is_compared(const struct predicate *predicate, const struct value *value)
{
    const struct value *constant = &predicate->constant;

    if (constant->type == VALUE_NUMBER && has_number(value))
        return is_ordered(predicate->operation, order_of(number_of(value), constant->number));
    if (constant->type == VALUE_TEXT && has_text(value))
        return is_ordered(predicate->operation, order_of_texts(text_of(value), constant->text));
    return value->type == constant->type &&
           is_ordered(predicate->operation, order_of_values(value, constant));
}

static bool is_masked(const struct predicate *predicate, const struct value *value)
{
    const struct value *constant = &predicate->constant;
    const uint64_t *mask = predicate->mask.bits;

    if (constant->type == VALUE_FLAGS)
        return value->type == VALUE_FLAGS &&
               (value->flags.bits[0] & mask[0]) == constant->flags.bits[0] &&
               (value->flags.bits[1] & mask[1]) == constant->flags.bits[1];
    return has_number(value) && (number_of(value) & mask[0]) == constant->number;
}

static bool is_within(const struct predicate *predicate, const struct value *value)
{
    const struct address *network = &predicate->constant.address;
    bool within = value->type == VALUE_ADDRESS && value->address.family == network->family;

    for (size_t i = 0; i < address_size(network); i++)
        within =
            within && (value->address.bytes[i] & predicate->mask.address[i]) == network->bytes[i];
    return within;
}

/* Addresses as they are shown, in memory of their own. */
static struct text shown_address(const struct value *value, char shown[INET6_ADDRSTRLEN])
{
    require(inet_ntop(value->address.family, value->address.bytes, shown, INET6_ADDRSTRLEN) !=
            NULL);
    return (struct text){shown, strlen(shown)};
}

static struct text shown_lladdr(const struct value *value, char shown[3 * LLADDR_MAX + 1])
{
    const uint8_t *bytes = (const uint8_t *)value->text.data;
    size_t length = 0;

    if (value->family != AF_UNSPEC) {
        require(inet_ntop(value->family, bytes, shown, 3 * LLADDR_MAX + 1) != NULL);
        return (struct text){shown, strlen(shown)};
    }
    if (!value->text.length)
        return (struct text){"-", 1};
    for (size_t i = 0; i < value->text.length; i++)
        length += (size_t)sprintf(shown + length, "%s%02x", i ? ":" : "", bytes[i]);
    return (struct text){shown, length};
}

static bool is_shown_like(struct text pattern, const struct value *value)
{
    char shown[3 * LLADDR_MAX + 1];

    if (value->type == VALUE_ADDRESS)
        return is_like(pattern, shown_address(value, shown));
    if (value->type == VALUE_LLADDR)
        return is_like(pattern, shown_lladdr(value, shown));
    if (value->type == VALUE_NAME && !value->name.string)
        return is_like(
            pattern, (struct text){shown, (size_t)sprintf(shown, "%" PRIu64, value->name.number)});
    return has_text(value) && is_like(pattern, text_of(value));
}

/* The elements of a set or a list, of which one must pass; SIZE_MAX: it is none. */
static size_t elements_of(const struct predicate *predicate, const struct value *value,
                          struct value elements[VALUE_FLAG_BITS])
{
    const struct flag_names *names = value->flags.names;
    size_t count = 0;

    if (value->type == VALUE_NETWORKS) {
        for (; count < value->networks.count; count++)
            elements[count] = (struct value){.type = VALUE_ADDRESS,
                                             .address = value_network(value, count).address};
        return count;
    }
    if (value->type == VALUE_OWNERS) {
        require(!value->owners.count); /* nothing was looked up */
        return 0;
    }
    if (value->type != VALUE_FLAGS || predicate->constant.type != VALUE_TEXT)
        return SIZE_MAX;
    for (size_t bit = 0; bit < VALUE_FLAG_BITS; bit++)
        if (value->flags.bits[bit / 64] & UINT64_C(1) << bit % 64)
            elements[count++] = (struct value){
                .type = VALUE_NAME,
                .name = {bit < names->count ? names->names[bit] : NULL, bit},
            };
    return count;
}

static bool passes(const struct predicate *predicate, const struct value *value)
{
    const struct text pattern = predicate->constant.text;
    struct value elements[VALUE_FLAG_BITS];
    const size_t count = elements_of(predicate, value, elements);
    bool passed = predicate->operation == PREDICATE_KNOWN;

    for (size_t i = 0; count != SIZE_MAX && i < count && !passed; i++)
        passed = passes(predicate, &elements[i]);
    if (count != SIZE_MAX)
        return passed;

    switch (predicate->operation) {
    case PREDICATE_KNOWN:
        return true;
    case PREDICATE_MASKED:
        return is_masked(predicate, value);
    case PREDICATE_ONE_OF:
        return has_number(value) && number_of(value) < 64 &&
               (predicate->constant.number & UINT64_C(1) << number_of(value));
    case PREDICATE_WITHIN:
        return is_within(predicate, value);
    case PREDICATE_LIKE:
        return predicate->constant.type == VALUE_TEXT && is_shown_like(pattern, value);
    default:
        return is_compared(predicate, value);
    }
}

/*
 * What has a number of its own is compared with numbers by that, whether it has a name or not; and
 * an address of IPv6 with those of IPv6, though it is shown as one of IPv4.
 */
static struct value value_for(const struct predicate *predicate, const struct record *record,
                              const struct context *context)
{
    const struct field *field = predicate->field;
    struct value value = field_value(field, record, context);

    if (!field->plain || field->fields & ~record->has)
        return value;
    if (predicate->constant.type == VALUE_NUMBER && is_number(field))
        value = (struct value){.type = VALUE_NUMBER, .number = field_number(field, record)};
    if (value.type == VALUE_ADDRESS && predicate->constant.type == VALUE_ADDRESS &&
        predicate->constant.address.family == AF_INET6)
        value.address = *address_at(field, record);
    return value;
}

static enum outcome outcome_of_comparison(const struct predicate *predicate,
                                          const struct record *record,
                                          const struct context *context)
{
    const struct value value = value_for(predicate, record, context);
    const struct field *field = predicate->field;
    const bool of_known = predicate->operation == PREDICATE_KNOWN;
    const bool of_found = of_known && field->confirmed && field->type == VALUE_FLAGS;

    if (value.type == VALUE_UNKNOWN) /* what was not looked for may be there */
        return of_known && !of_found ? FALSE : UNKNOWN;
    if (of_found)
        return value.flags.bits[0] ? TRUE : FALSE;
    return passes(predicate, &value) ? TRUE : FALSE;
}

enum outcome made_outcome(const struct predicate *predicate, const struct record *record,
                          const struct context *context)
{
    enum outcome least = TRUE, most = FALSE;

    if (predicate->field)
        return outcome_of_comparison(predicate, record, context);
    for (const struct predicate *part = predicate->parts; part; part = part->next) {
        const enum outcome outcome = made_outcome(part, record, context);
        least = outcome < least ? outcome : least;
        most = outcome > most ? outcome : most;
    }
    if (predicate->operation == PREDICATE_OR)
        return most;
    return predicate->operation == PREDICATE_NOT ? TRUE - least : least;
}
