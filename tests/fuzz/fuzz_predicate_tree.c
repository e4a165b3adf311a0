/*
 * Predicates of any shape over rows of any kind. A predicate must hold exactly if the rules of
 * predicate.h, applied here in another way, say so. Whatever part of the row is known, a row that
 * is wanted may be wanted, and nothing but that part decides about it.
 *
 * The input: the kind of the row, the bytes of the tree and how many they are, and the row
 * (made_records.h). The tree begins with the fields that are known, and
 * whether IPv6 addresses are IPv4-mapped.
 */
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/predicate.h"
#include "fuzz.h"
#include "made_records.h"
#include "shown.h"

enum { PARTS_MAX = 64, DEPTH_MAX = 5 };
enum { TEXT_MAX = 12 }; /* bytes of a constant: a pattern of many stars takes long */

struct tree {
    struct bytes bytes;
    const struct record *record;
    struct predicate all[PARTS_MAX];
    char patterns[PARTS_MAX][2 * TEXT_MAX];
    size_t count;
};

static const struct context nothing;

/* --- A predicate ------------------------------------------------------------------------------ */

static const struct field *take_field(struct tree *tree)
{
    static const struct field *const hidden[] = {
        &field_src_nat_address, &field_dst_nat_address, &field_src_nat_port, &field_dst_nat_port,
        &field_own_orig_zone,   &field_own_reply_zone,  &field_any_secmark,  &field_label_bits};
    const struct kind *kind = tree->record->kind;
    const size_t more = kind == &kind_flow ? COUNT(hidden) : 0;
    const size_t count = kind->field_count + more;
    const size_t index = count ? bytes_u8(&tree->bytes) % count : 0;
    const struct field *field =
        index < kind->field_count ? &kind->fields[index] : hidden[index - kind->field_count];

    return shown_stands_still(field) ? field : kind->fields;
}

/* The number that the row has there, if it is one. */
static bool number_of(const struct field *field, const struct record *record, uint64_t *number)
{
    const struct value value = field_value(field, record, &nothing);
    const bool has = !(field->needs.fields & ~record->has);

    if (has && field->plain && field->member != MEMBER_NONE && field->member <= MEMBER_UINT64)
        *number = field_number(field, record);
    else if (value.type == VALUE_NUMBER || value.type == VALUE_DECIMAL)
        *number = value.number;
    else if (value.type == VALUE_NAME)
        *number = value.name.number;
    else if (value.type == VALUE_FLAGS)
        *number = value.flags.bits[0];
    else
        return false;
    return true;
}

static bool text_of(const struct value *value, struct text *text)
{
    const bool named = value->type == VALUE_NAME && value->name.string;

    if (named)
        *text = (struct text){value->name.string, strlen(value->name.string)};
    else if (value->type == VALUE_TEXT || value->type == VALUE_SOCKET_NAME)
        *text = value->text;
    return named || value->type == VALUE_TEXT || value->type == VALUE_SOCKET_NAME;
}

/* That of the row, or one beside it, or any. */
static struct value take_number(struct tree *tree, const struct field *field)
{
    const uint8_t how = bytes_u8(&tree->bytes);
    uint64_t number = 0;

    if (how & 0x80 || !number_of(field, tree->record, &number))
        number = bytes_u32(&tree->bytes);
    return (struct value){.type = VALUE_NUMBER, .number = number + (how & 3) - 1};
}

/* The text itself, or as a pattern: with a star in place of its end, or with each byte escaped. */
static struct text make_pattern(struct tree *tree, uint8_t how, struct text text)
{
    char *pattern = tree->patterns[tree->count - 1];
    size_t length = 0;

    for (size_t i = 0; i < text.length; i++) {
        if (how & 2)
            pattern[length++] = '\\';
        pattern[length++] = text.data[i];
    }
    if (how & 4 && !(how & 2) && length)
        pattern[length - 1] = '*';
    return (struct text){pattern, length};
}

static struct value take_text(struct tree *tree, const struct field *field)
{
    static const char *const words[] = {"",  "*",  "?*",   "a*b",     "*?0",  "\\*",
                                        "0", "??", "inet", "\\?\\\\", "*a*a", "\\"};
    const struct value shown = field_value(field, tree->record, &nothing);
    const char *word = words[bytes_u8(&tree->bytes) % COUNT(words)];
    const uint8_t how = bytes_u8(&tree->bytes);
    struct value constant = {.type = VALUE_TEXT, .text = {word, strlen(word)}};
    struct text own;

    if (how & 1 && text_of(&shown, &own) && own.length <= TEXT_MAX)
        constant.text = make_pattern(tree, how, own);
    return constant;
}

/* The address that the row has or shows, or one of the input. */
static struct value take_address(struct tree *tree, const struct field *field)
{
    const struct value shown = field_value(field, tree->record, &nothing);
    const uint8_t how = bytes_u8(&tree->bytes);
    struct value constant = {.type = VALUE_ADDRESS, .address.family = how & 1 ? AF_INET6 : AF_INET};

    if (how & 2 && field->member == MEMBER_ADDRESS)
        memcpy(&constant.address, (const char *)tree->record + field->offset,
               sizeof constant.address);
    else if (how & 4 && shown.type == VALUE_ADDRESS)
        constant.address = shown.address;
    else
        bytes_take(&tree->bytes, constant.address.bytes, address_size(&constant.address));
    if (how & 8) /* of the other family, as far as the bytes go */
        constant.address = address_make(constant.address.family == AF_INET ? AF_INET6 : AF_INET,
                                        constant.address.bytes);
    return constant;
}

/* A bit of the row's number, and others. */
static struct value take_numbers(struct tree *tree, const struct field *field)
{
    uint64_t number = 0;

    (void)number_of(field, tree->record, &number);
    return (struct value){.type = VALUE_NUMBER,
                          .number = UINT64_C(1) << number % 64 ^ bytes_u8(&tree->bytes)};
}

static struct value take_constant(struct tree *tree, const struct field *field)
{
    switch (bytes_u8(&tree->bytes) % 3) {
    case 0:
        return take_number(tree, field);
    case 1:
        return take_text(tree, field);
    default:
        return take_address(tree, field);
    }
}

/* Bits of a number, or of flags; what is outside of the mask is asked for now and then. */
static void take_bits(struct tree *tree, struct predicate *masked)
{
    const uint64_t mask = bytes_u32(&tree->bytes);
    uint64_t number = 0;

    (void)number_of(masked->field, tree->record, &number);
    *masked = predicate_masked(masked->field, (number & mask) ^ (bytes_u8(&tree->bytes) & 1), mask);
}

static void take_network(struct tree *tree, struct predicate *within)
{
    within->constant = take_address(tree, within->field);
    for (size_t i = 0; i < sizeof within->mask.address; i++) {
        within->mask.address[i] = i % 4 ? 0xff : bytes_u8(&tree->bytes);
        within->constant.address.bytes[i] &= within->mask.address[i];
    }
}

static struct predicate take_comparison(struct tree *tree, enum predicate_operator operation)
{
    struct predicate taken = {.operation = operation, .field = take_field(tree)};

    if (operation == PREDICATE_MASKED)
        take_bits(tree, &taken);
    else if (operation == PREDICATE_WITHIN)
        take_network(tree, &taken);
    else if (operation == PREDICATE_LIKE)
        taken.constant = take_text(tree, taken.field);
    else if (operation == PREDICATE_ONE_OF)
        taken.constant = take_numbers(tree, taken.field);
    else if (operation != PREDICATE_KNOWN)
        taken.constant = take_constant(tree, taken.field);
    return taken;
}

static struct predicate *take_predicate(struct tree *tree, unsigned depth)
{
    enum { OPERATORS = PREDICATE_LIKE + 1 };
    const uint8_t byte = bytes_u8(&tree->bytes);
    const enum predicate_operator operation = (enum predicate_operator)(byte % OPERATORS);
    struct predicate *taken = &tree->all[tree->count++];

    if (operation > PREDICATE_NOT) {
        *taken = take_comparison(tree, operation);
        return taken;
    }
    *taken = (struct predicate){.operation = operation};
    for (size_t i = operation == PREDICATE_NOT ? 1 : byte / OPERATORS % 4; i > 0; i--)
        if (depth < DEPTH_MAX && tree->count < PARTS_MAX)
            predicate_add(taken, take_predicate(tree, depth + 1));
    return taken;
}

/* --- What it means ---------------------------------------------------------------------------- */

enum outcome { FAILS, UNDECIDED, HOLDS };

static struct text behind(struct text text, size_t count)
{
    return (struct text){text.data + count, text.length - count};
}

/* By recursion. */
static bool is_like(struct text pattern, struct text text)
{
    const bool escaped = pattern.length > 1 && pattern.data[0] == '\\';

    if (!pattern.length)
        return !text.length;
    if (pattern.data[0] == '*')
        return is_like(behind(pattern, 1), text) ||
               (text.length && is_like(pattern, behind(text, 1)));
    if (!text.length)
        return false;
    if (escaped)
        return pattern.data[1] == text.data[0] && is_like(behind(pattern, 2), behind(text, 1));
    return (pattern.data[0] == '?' || pattern.data[0] == text.data[0]) &&
           is_like(behind(pattern, 1), behind(text, 1));
}

static bool is_in_order(enum predicate_operator operation, int order)
{
    return operation == PREDICATE_EQUAL   ? !order
           : operation == PREDICATE_BELOW ? order < 0
                                          : order > 0;
}

static bool compares_number(const struct predicate *predicate, const struct record *record)
{
    const uint64_t constant = predicate->constant.number;
    uint64_t number;

    return number_of(predicate->field, record, &number) &&
           is_in_order(predicate->operation, (number > constant) - (number < constant));
}

static bool compares_text(const struct predicate *predicate, const struct value *value)
{
    const struct text *constant = &predicate->constant.text;
    struct text text;
    size_t least;
    int order;

    if (!text_of(value, &text))
        return false;
    least = text.length < constant->length ? text.length : constant->length;
    order = least ? memcmp(text.data, constant->data, least) : 0;
    if (!order)
        order = (text.length > constant->length) - (text.length < constant->length);
    return is_in_order(predicate->operation, order);
}

static bool is_in(const struct predicate *predicate, const struct address *address)
{
    const struct address *network = &predicate->constant.address;
    uint8_t differ = 0;

    for (size_t i = 0; i < address_size(network); i++)
        differ |= (uint8_t)((address->bytes[i] & predicate->mask.address[i]) ^ network->bytes[i]);
    return address->family == network->family && !differ;
}

/* A mapped address is what it is, and what it is shown as. */
static bool compares_address(const struct predicate *predicate, const struct record *record,
                             const struct value *value)
{
    const struct field *field = predicate->field;
    const bool has = field->plain && field->member == MEMBER_ADDRESS;
    struct address raw = value->address;

    if (has)
        memcpy(&raw, (const char *)record + field->offset, sizeof raw);
    if (predicate->operation == PREDICATE_WITHIN)
        return is_in(predicate, &raw) || is_in(predicate, &value->address);
    return address_equal(&raw, &predicate->constant.address) ||
           address_equal(&value->address, &predicate->constant.address);
}

static bool is_masked(const struct predicate *predicate, const struct record *record)
{
    const uint64_t wanted = predicate->field->type == VALUE_FLAGS
                                ? predicate->constant.flags.bits[0]
                                : predicate->constant.number;
    uint64_t number;

    return number_of(predicate->field, record, &number) &&
           !((number & predicate->mask.bits[0]) ^ wanted);
}

/* Whether the comparison, which has a value, is true. Addresses are not put in an order here. */
static bool compares(const struct predicate *predicate, const struct record *record,
                     const struct value *value)
{
    uint64_t number;
    struct text text;

    switch (predicate->operation) {
    case PREDICATE_KNOWN:
        return true;
    case PREDICATE_MASKED:
        return is_masked(predicate, record);
    case PREDICATE_ONE_OF:
        return number_of(predicate->field, record, &number) && number < 64 &&
               predicate->constant.number & UINT64_C(1) << number;
    case PREDICATE_LIKE:
        return text_of(value, &text) && is_like(predicate->constant.text, text);
    default:
        if (predicate->constant.type == VALUE_ADDRESS)
            return value->type == VALUE_ADDRESS && compares_address(predicate, record, value);
        return predicate->constant.type == VALUE_NUMBER ? compares_number(predicate, record)
                                                        : compares_text(predicate, value);
    }
}

static enum outcome compared(const struct predicate *predicate, const struct record *record)
{
    const struct value value = field_value(predicate->field, record, &nothing);
    uint64_t number;

    if (predicate->operation == PREDICATE_KNOWN)
        return value.type == VALUE_UNKNOWN ? FAILS : HOLDS;
    if (value.type == VALUE_UNKNOWN &&
        !(predicate->constant.type == VALUE_NUMBER && number_of(predicate->field, record, &number)))
        return UNDECIDED;
    return compares(predicate, record, &value) ? HOLDS : FAILS;
}

/* The least of and, the most of or. */
static enum outcome evaluate(const struct predicate *predicate, const struct record *record)
{
    const bool either = predicate->operation == PREDICATE_OR;
    enum outcome whole = either ? FAILS : HOLDS;

    if (predicate->field)
        return compared(predicate, record);
    for (const struct predicate *part = predicate->parts; part; part = part->next) {
        const enum outcome outcome = evaluate(part, record);
        if (either ? outcome > whole : outcome < whole)
            whole = outcome;
    }
    return predicate->operation == PREDICATE_NOT ? (enum outcome)(HOLDS - whole) : whole;
}

static bool orders_addresses(const struct predicate *predicate)
{
    return predicate->constant.type == VALUE_ADDRESS &&
           (predicate->operation == PREDICATE_BELOW || predicate->operation == PREDICATE_ABOVE);
}

static void check(const struct predicate *predicate, const struct record *record, uint64_t known)
{
    const bool holds = predicate_holds(predicate, record, &nothing);
    const bool may_hold = predicate_may_hold(predicate, record, known);
    struct record part = *record;

    require(holds == (evaluate(predicate, record) == HOLDS));
    require(!holds || may_hold);
    part.has &= known;
    require(predicate_may_hold(predicate, &part, known) == may_hold);
}

/* Makes IPv6 addresses of the row IPv4-mapped. */
static void map_addresses(struct record *record)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

    for (size_t i = 0; i < record->kind->field_count; i++) {
        const struct field *field = &record->kind->fields[i];
        struct address *address = (void *)((char *)record + field->offset);
        if (field->member == MEMBER_ADDRESS && !(field->needs.fields & ~record->has) &&
            address->family == AF_INET6)
            memcpy(address->bytes, mapped, sizeof mapped);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size};
    const uint8_t kind = bytes_u8(&bytes);
    const size_t asked = bytes_u8(&bytes), length = asked < bytes.left ? asked : bytes.left;
    struct tree tree = {.bytes = {bytes.at, length}};
    struct made_record made;
    struct predicate *whole;
    uint64_t known;

    bytes = (struct bytes){bytes.at + length, bytes.left - length};
    made_record_init(&made, kind, &bytes);
    tree.record = &made.record;
    bytes_take(&tree.bytes, &known, sizeof known);
    if (bytes_u8(&tree.bytes) & 1)
        map_addresses(&made.record);
    whole = take_predicate(&tree, 0);
    for (size_t i = 0; i < tree.count; i++)
        if (orders_addresses(&tree.all[i]))
            tree.all[i].operation = PREDICATE_EQUAL;
    check(whole, &made.record, known);
    made_record_finish(&made);
    return 0;
}
