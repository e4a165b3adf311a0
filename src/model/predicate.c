/* SPDX-License-Identifier: MIT */
#include "fastnet/predicate.h"

#include <fnmatch.h>

#include "fastnet/array.h"
#include "fastnet/owners.h"
#include "fastnet/value.h"
#include "model/saved.h"
#include "model/socket/owner_fields.h"

/* Results that a predicate can still have. With neither bit the result stays unknown. */
enum { CAN_HOLD = 1, CAN_FAIL = 2 };

/* Keeps these functions out of evaluate(), which calls itself: inlined, each level would need the
 * registers and stack of all of them. */
#define NOT_INLINE __attribute__((noinline))

/* A row and its known fields. */
struct view {
    const struct record *record;
    const struct context *context; /* may be NULL */
    struct needs known;            /* known fields, and lookups that the context has */
};

static unsigned decided(bool holds)
{
    return holds ? CAN_HOLD : CAN_FAIL;
}

/* --- Comparisons ------------------------------------------------------------------------------ */

static struct value predicate_a_number(uint64_t number)
{
    return (struct value){.type = VALUE_NUMBER, .number = number};
}

/* Sets *number to the number of a value or named value. Returns false if there is no number. */
static bool predicate_number_in(const struct value *value, uint64_t *number)
{
    switch (value->type) {
    case VALUE_NUMBER:
    case VALUE_DECIMAL:
    case VALUE_FINE:
    case VALUE_BOOLEAN:
        *number = value->number;
        return true;
    case VALUE_NAME:
        *number = value->name.number;
        return true;
    case VALUE_FLAGS:
        *number = value->flags.bits[0];
        return true;
    default:
        return false;
    }
}

static bool is_masked(const struct predicate *predicate, const struct value *value)
{
    if (value->type != VALUE_FLAGS)
        return false;
    for (size_t i = 0; i < VALUE_FLAG_BITS / 64; i++)
        if ((value->flags.bits[i] & predicate->mask.bits[i]) != predicate->constant.flags.bits[i])
            return false;
    return true;
}

static bool predicate_is_within(const struct predicate *predicate, const struct address *address)
{
    const struct address *network = &predicate->constant.address;

    if (address->family != network->family)
        return false;
    for (size_t i = 0; i < address_size(address); i++)
        if ((address->bytes[i] & predicate->mask.address[i]) != network->bytes[i])
            return false;
    return true;
}

/* Sets *text to the text of a value or its name. Returns false if there is no text. */
static bool text_in(const struct value *value, struct text *text)
{
    if (value->type == VALUE_TEXT || value->type == VALUE_SOCKET_NAME)
        *text = value->text;
    else if (value->type == VALUE_NAME && value->name.string)
        *text = (struct text){value->name.string, strlen(value->name.string)};
    else
        return false;
    return true;
}

/* Matches as fnmatch(3), ignoring case. A NUL byte of the text is shown as '@'. */
static bool matches_loosely(const char *pattern, struct text text)
{
    char shown[4097]; /* longer than every name and path of the kernel */

    if (text.length >= sizeof shown)
        return false;
    for (size_t i = 0; i < text.length; i++)
        shown[i] = text.data[i] ? text.data[i] : '@';
    shown[text.length] = '\0';
    return fnmatch(pattern, shown, FNM_CASEFOLD) == 0;
}

/* Whether the whole text matches: '*' is any bytes, '?' one byte, '\' takes the next byte
 * literally. The time is at most the product of both lengths. */
static bool matches(struct text pattern, struct text text)
{
    size_t at = 0, from = 0, star = SIZE_MAX, i = 0;

    while (i < text.length) {
        if (at < pattern.length && pattern.data[at] == '*') {
            star = ++at;
            from = i;
            continue;
        }
        const size_t letter =
            at + (at + 1 < pattern.length && pattern.data[at] == '\\'); /* a literal byte */
        if (at < pattern.length &&
            (pattern.data[at] == '?' || pattern.data[letter] == text.data[i])) {
            at = letter + 1;
            i++;
        } else if (star != SIZE_MAX) {
            at = star;
            i = ++from;
        } else {
            return false;
        }
    }
    while (at < pattern.length && pattern.data[at] == '*')
        at++;
    return at == pattern.length;
}

/* Matches text, or addresses and numbers without a name as they are shown. */
static NOT_INLINE bool value_is_like(const struct predicate *predicate, const struct value *value)
{
    const struct text pattern = predicate->constant.text;
    char shown[TEXT_LLADDR_MAX];
    struct text text = {shown, 0};

    if (value->type == VALUE_ADDRESS || value->type == VALUE_LLADDR ||
        (value->type == VALUE_NAME && !value->name.string))
        text.length = (size_t)(value_write(shown, value, NULL) - shown);
    else if (!text_in(value, &text))
        return false;
    return predicate->operation == PREDICATE_GLOB ? matches_loosely(pattern.data, text)
                                                  : matches(pattern, text);
}

/* Compares the value with the constant: sets *order below 0 (less), to 0 (equal) or above 0.
 * Returns false if they cannot be compared. */
static bool predicate_compare(const struct predicate *predicate, const struct value *value,
                              int *order)
{
    const struct value *constant = &predicate->constant;
    struct value simple = *value;

    if (constant->type == VALUE_TEXT && text_in(value, &simple.text))
        simple.type = VALUE_TEXT;
    if (simple.type != constant->type)
        return false;
    *order = value_compare(&simple, constant);
    return true;
}

static bool number_passes(const struct predicate *predicate, uint64_t number)
{
    const uint64_t constant = predicate->constant.number;

    switch (predicate->operation) {
    case PREDICATE_EQUAL:
        return number == constant;
    case PREDICATE_BELOW:
        return number < constant;
    case PREDICATE_ABOVE:
        return number > constant;
    case PREDICATE_MASKED:
        return (number & predicate->mask.bits[0]) == constant;
    case PREDICATE_ONE_OF:
        return number < 64 && (constant >> number & 1);
    case PREDICATE_AMONG:
        return ranges_have(predicate->ranges.first, predicate->ranges.count, number);
    default:
        return false;
    }
}

/* True if the predicate compares a number of the record: then it needs no value. */
static bool compares_number(const struct predicate *predicate)
{
    return predicate->constant.type == VALUE_NUMBER && predicate->field->plain &&
           predicate->field->member <= MEMBER_UINT64;
}

/* True if the column shows no value, because this number has no word. Then a comparison that the
 * user typed is unknown, as for null. Filters that a table itself applies have no context; they
 * compare the number. */
static inline bool is_wordless(const struct field *field, const struct context *context,
                               uint64_t number)
{
    return context && field->type == VALUE_TEXT && field->word && !field->word(number);
}

static bool predicate_passes(const struct predicate *predicate, const struct value *value);

/* Whether the text is name/pid/fd of the owner, as lists show it. */
static bool is_owner(const struct owner *owner, struct text text)
{
    const struct owner_process *process = owner->process;
    const size_t name = strlen(process->name);
    char numbers[2 + 2 * TEXT_U64_MAX] = "/-", *end = numbers + 2;

    if (process->pid)
        end = text_u64(numbers + 1, (uint64_t)process->pid);
    *end++ = '/';
    *end = '-';
    end = owner->fd < 0 ? end + 1 : text_u64(end, (uint64_t)owner->fd);
    const size_t length = (size_t)(end - numbers);
    return text.length == name + length && memcmp(text.data, process->name, name) == 0 &&
           memcmp(text.data + name, numbers, length) == 0;
}

/* Whether one element of a set or a list passes: an owner by its pid or name, a flag by its
 * name. */
static bool element_passes(const struct predicate *predicate, const struct value *list)
{
    struct value element;

    for (size_t at = 0; value_next(list, &at, &element);) {
        if (element.type == VALUE_NETWORKS) {
            const struct network network = value_network(&element, 0);
            element = (struct value){.type = VALUE_ADDRESS, .address = network.address};
        } else if (element.type == VALUE_OWNERS) {
            const struct owner_process *process = element.owners.first->process;
            if (predicate->operation == PREDICATE_EQUAL && predicate->constant.type == VALUE_TEXT &&
                memchr(predicate->constant.text.data, '/', predicate->constant.text.length) &&
                is_owner(element.owners.first, predicate->constant.text))
                return true;
            if (predicate->constant.type == VALUE_NUMBER && !process->pid)
                continue; /* the kernel has no pid */
            element = predicate->constant.type == VALUE_NUMBER
                          ? predicate_a_number((uint64_t)process->pid)
                          : (struct value){.type = VALUE_TEXT, .text = as_text(process->name)};
        }
        if (predicate_passes(predicate, &element))
            return true;
    }
    return false;
}

/* Whether the field is a set of reasons (view_attention()), which may be incomplete: then null
 * means empty, not unknown. */
static bool is_verdict(const struct field *field)
{
    return field->confirmed && field->type == VALUE_FLAGS;
}

static bool predicate_passes(const struct predicate *predicate, const struct value *value)
{
    uint64_t number;
    int order;

    if (predicate->constant.type == VALUE_NUMBER && predicate_number_in(value, &number))
        return number_passes(predicate, number);
    if (predicate->operation == PREDICATE_KNOWN)
        return !is_verdict(predicate->field) || value->flags.bits[0] || value->flags.bits[1];
    /* flags can also be compared as a whole, by their bits */
    if (value_is_list(value) &&
        (value->type != VALUE_FLAGS || predicate->constant.type == VALUE_TEXT))
        return element_passes(predicate, value);
    switch (predicate->operation) {
    case PREDICATE_EQUAL:
        return predicate_compare(predicate, value, &order) && order == 0;
    case PREDICATE_BELOW:
        return predicate_compare(predicate, value, &order) && order < 0;
    case PREDICATE_ABOVE:
        return predicate_compare(predicate, value, &order) && order > 0;
    case PREDICATE_MASKED:
        return is_masked(predicate, value);
    case PREDICATE_WITHIN:
        return value->type == VALUE_ADDRESS && predicate_is_within(predicate, &value->address);
    case PREDICATE_LIKE:
    case PREDICATE_GLOB:
        return predicate->constant.type == VALUE_TEXT && value_is_like(predicate, value);
    default:
        return false;
    }
}

/* The value to compare. An IPv4-mapped address stays IPv6 for an IPv6 constant, and becomes IPv4
 * for an IPv4 constant. */
static struct value predicate_value_of(const struct predicate *predicate, const struct view *view)
{
    static const struct context nothing;
    const struct field *field = predicate->field;
    const struct record *record = view->record;
    const struct value *constant = &predicate->constant;
    const struct address *address = (const void *)((const char *)record + field->offset);

    if (field->plain && constant->type == VALUE_ADDRESS && field->member == MEMBER_ADDRESS &&
        constant->address.family == address->family)
        return (struct value){.type = VALUE_ADDRESS, .address = *address};
    struct value value = field_value(field, record, view->context ? view->context : &nothing);
    if (field->plain && value.type == VALUE_ADDRESS && constant->type == VALUE_ADDRESS &&
        constant->address.family == AF_INET)
        value.address =
            address_unmapped(&value.address); /* addresses of packets are not unmapped earlier */
    return value;
}

/* Whether the predicate compares the value of each owner. Greater and smaller compare only the
 * first, whose value is shown: otherwise "not smaller" would mean that no owner is smaller. */
static bool compares_each_owner(const struct predicate *predicate, const struct view *view)
{
    return predicate->field->each_owner && view->context && view->record->kind->inode &&
           predicate->operation != PREDICATE_BELOW && predicate->operation != PREDICATE_ABOVE;
}

/* Compares the value of each owner: a row passes if an owner passes. Otherwise the result is
 * unknown if the value of an owner is unknown. */
static NOT_INLINE unsigned compared_by_owner(const struct predicate *predicate,
                                             const struct view *view)
{
    const bool known = predicate->operation == PREDICATE_KNOWN;
    const struct value owners = owner_all(view->record, view->context, OWN_END, NULL);
    unsigned result = owners.owners.count || known ? CAN_FAIL : 0;

    for (size_t i = 0; i < owners.owners.count; i++) {
        const struct cell cell = {predicate->field, view->record, view->context,
                                  &owners.owners.first[i]};
        const struct value value =
            view->record->saved ? saved_value(&cell) : predicate->field->value(&cell);
        if (value.type == VALUE_UNKNOWN)
            result = known ? result : 0;
        else if (known || predicate_passes(predicate, &value))
            return CAN_HOLD;
    }
    return result;
}

static NOT_INLINE unsigned compared_by_value(const struct predicate *predicate,
                                             const struct view *view)
{
    const struct value value = predicate_value_of(predicate, view);

    if (value.type == VALUE_UNKNOWN)
        return predicate->operation == PREDICATE_KNOWN && !is_verdict(predicate->field) ? CAN_FAIL
                                                                                        : 0;
    return decided(predicate_passes(predicate, &value));
}

/* Fields that the backend cannot fill, so that their absence means unknown. A filter that a table
 * applies itself has no context: for such a filter, a missing field is absent. */
static uint64_t unavailable(const struct view *view)
{
    return view->context ? view->record->unavailable : 0;
}

/* Compares a column of a saved row. The record may have the number of the column, too. */
static NOT_INLINE unsigned compared_saved(const struct predicate *predicate,
                                          const struct view *view)
{
    const struct field *field = predicate->field;

    /* a filter that a table applies itself (predicate_may_be_met()) */
    if (!view->context && !saved_has_number(view->record, field))
        return CAN_HOLD | CAN_FAIL;
    if (compares_number(predicate) && field->word)
        return saved_has_number(view->record, field)
                   ? decided(number_passes(predicate, field_number(field, view->record)))
                   : 0;
    if (compares_each_owner(predicate, view) &&
        owner_all(view->record, view->context, OWN_END, NULL).owners.count)
        return compared_by_owner(predicate, view);
    return compared_by_value(predicate, view);
}

static NOT_INLINE unsigned compared(const struct predicate *predicate, const struct view *view)
{
    const struct field *field = predicate->field;
    const uint64_t needed = field->fields;
    const bool is_of_machine =
        field->lookups & NEED_MACHINE; /* a field of the machine needs no row */
    const uint64_t fields = (needed || is_of_machine ? needed : KNOWN_ALWAYS) | field->optional;

    if (view->record->saved)
        return compared_saved(predicate, view);
    if (fields & ~view->known.fields || field->lookups & ~view->known.lookups)
        return CAN_HOLD | CAN_FAIL;
    if (needed & ~view->record->has)
        return predicate->operation == PREDICATE_KNOWN && !(needed & unavailable(view)) ? CAN_FAIL
                                                                                        : 0;
    if (field->confirmed &&
        field_compares(field) & unavailable(view)) /* a flag in the set is certain */
        return is_verdict(field) ? compared_by_value(predicate, view) & CAN_HOLD : 0;
    if (compares_number(predicate)) {
        const uint64_t number = field_number(field, view->record);
        return is_wordless(field, view->context, number)
                   ? 0
                   : decided(number_passes(predicate, number));
    }
    return compares_each_owner(predicate, view) ? compared_by_owner(predicate, view)
                                                : compared_by_value(predicate, view);
}

enum { MILLION = 1000000, THOUSAND = 1000 };

/* An unsigned number of 128 bits. */
struct wide {
    uint64_t high, low;
};

/* The product, or the largest number if the product overflows. */
static struct wide wide_times(struct wide number, uint64_t factor)
{
    const uint64_t low0 = (uint32_t)number.low, low1 = number.low >> 32;
    const uint64_t factor0 = (uint32_t)factor, factor1 = factor >> 32;
    const uint64_t cross0 = low0 * factor1, cross1 = low1 * factor0;
    const uint64_t middle =
        (low0 * factor0 >> 32) + (uint32_t)cross0 + (uint32_t)cross1; /* at most 34 bits */
    const uint64_t carry = low1 * factor1 + (cross0 >> 32) + (cross1 >> 32) + (middle >> 32);
    struct wide product = {.low = number.low * factor};

    if (__builtin_mul_overflow(number.high, factor, &product.high) ||
        __builtin_add_overflow(product.high, carry, &product.high))
        return (struct wide){UINT64_MAX, UINT64_MAX};
    return product;
}

/* The magnitude of a value's number times factor, in 10^-12. */
static struct wide multiple_of(const struct value *value, uint64_t factor, bool *negative)
{
    const bool is_signed = value->type == VALUE_SIGNED;
    const struct wide number = {.low = is_signed ? value->integer.magnitude : value->number};
    const uint64_t unit = value->type == VALUE_FINE      ? 1
                          : value->type == VALUE_DECIMAL ? THOUSAND
                                                         : MILLION;

    *negative = is_signed && value->integer.negative && factor;
    return wide_times(wide_times(number, unit), factor);
}

/* Compares left with right * factor; factor: in millionths. Both are numbers; a double would round
 * them. */
static int compare_multiples(const struct value *left, const struct value *right, uint64_t factor)
{
    bool below, other_below;
    const struct wide one = multiple_of(left, MILLION, &below),
                      other = multiple_of(right, factor, &other_below);
    const int order = one.high != other.high ? (one.high > other.high) - (one.high < other.high)
                                             : (one.low > other.low) - (one.low < other.low);

    if (below != other_below)
        return below ? -1 : 1;
    return below ? -order : order;
}

/* Compares two columns. If a column is unknown, so is the result. */
static NOT_INLINE unsigned compared_columns(const struct predicate *predicate,
                                            const struct view *view)
{
    const struct predicate known = predicate_known(predicate->field);
    const unsigned one = compared(&known, view), other = compared(predicate->parts, view);
    const uint64_t factor = predicate->constant.number; /* millionths */

    if (!(one & other & CAN_HOLD))
        return 0;
    if ((one | other) & CAN_FAIL)
        return CAN_HOLD | CAN_FAIL;
    const struct value left = predicate_value_of(&known, view),
                       right = predicate_value_of(predicate->parts, view);
    const int order = factor == MILLION && left.type == right.type
                          ? value_compare(&left, &right)
                          : compare_multiples(&left, &right, factor);
    return decided(predicate->operation == PREDICATE_BELOW_COLUMN   ? order < 0
                   : predicate->operation == PREDICATE_ABOVE_COLUMN ? order > 0
                                                                    : order == 0);
}

/* --- Trees ------------------------------------------------------------------------------------ */

static unsigned evaluate(const struct predicate *predicate, const struct view *view);

static NOT_INLINE unsigned all_of(const struct predicate *parts, const struct view *view)
{
    unsigned hold = CAN_HOLD, fail = 0;

    for (; parts && (hold || !fail); parts = parts->next) {
        const unsigned part = evaluate(parts, view);
        hold &= part;
        fail |= part & CAN_FAIL;
    }
    return hold | fail;
}

static unsigned turned(unsigned outcome)
{
    return (outcome & CAN_HOLD ? CAN_FAIL : 0) | (outcome & CAN_FAIL ? CAN_HOLD : 0);
}

static NOT_INLINE unsigned any_of(const struct predicate *parts, const struct view *view)
{
    unsigned hold = 0, fail = CAN_FAIL;

    for (; parts && (fail || !hold); parts = parts->next) {
        const unsigned part = evaluate(parts, view);
        hold |= part & CAN_HOLD;
        fail &= part;
    }
    return hold | fail;
}

static unsigned evaluate(const struct predicate *predicate, const struct view *view)
{
    switch (predicate->operation) {
    case PREDICATE_AND:
        return all_of(predicate->parts, view);
    case PREDICATE_OR:
        return any_of(predicate->parts, view);
    case PREDICATE_NOT:
        return turned(all_of(predicate->parts, view));
    case PREDICATE_EQUAL_COLUMN:
    case PREDICATE_BELOW_COLUMN:
    case PREDICATE_ABOVE_COLUMN:
        return compared_columns(predicate, view);
    default:
        return compared(predicate, view);
    }
}

static NOT_INLINE unsigned outcome(const struct predicate *predicate, const struct record *record,
                                   const struct context *context, struct needs known)
{
    return evaluate(predicate, &(struct view){record, context, known});
}

bool predicate_is_met(const struct predicate *predicate, const struct record *record,
                      const struct context *context)
{
    const bool negated = predicate->operation == PREDICATE_NOT;
    const struct predicate *only = negated ? predicate->parts : predicate;

    /* a shortcut, because most listings filter by one number, such as the state */
    if (only && !only->next && only->operation > PREDICATE_NOT && compares_number(only) &&
        !(only->field->fields & ~record->has) && !record->saved) {
        const uint64_t number = field_number(only->field, record);
        if (!is_wordless(only->field, context, number))
            return number_passes(only, number) != negated;
    }
    const struct needs known = {.fields = UINT64_MAX, .lookups = context ? UINT64_MAX : 0};
    return outcome(predicate, record, context, known) == CAN_HOLD;
}

bool predicate_may_be_met(const struct predicate *predicate, const struct record *record,
                          const struct context *context, struct needs known)
{
    return !predicate || (outcome(predicate, record, context, known) & CAN_HOLD);
}

/* --- Questions about a predicate -------------------------------------------------------------- */

struct needs predicate_needs(const struct predicate *predicate)
{
    struct needs needs = {.fields = 0};

    if (!predicate)
        return needs;
    if (predicate->field)
        needs = field_needs(predicate->field);
    for (const struct predicate *part = predicate->parts; part; part = part->next)
        needs_add(&needs, predicate_needs(part));
    return needs;
}

const struct predicate *predicate_requires(const struct predicate *predicate, size_t offset,
                                           enum predicate_operator operation)
{
    const struct predicate *found = NULL;

    if (!predicate)
        return NULL;
    if (predicate->field)
        return predicate->operation == operation && predicate->field->member != MEMBER_NONE &&
                       predicate->field->offset == offset
                   ? predicate
                   : NULL;
    if (predicate->operation != PREDICATE_AND)
        return NULL;
    for (const struct predicate *part = predicate->parts; part && !found; part = part->next)
        found = predicate_requires(part, offset, operation);
    return found;
}

/* --- Comparisons as values -------------------------------------------------------------------- */

struct predicate predicate_known(const struct field *field)
{
    return (struct predicate){.operation = PREDICATE_KNOWN, .field = field};
}

struct predicate predicate_number(const struct field *field, uint64_t number)
{
    return (struct predicate){
        .operation = PREDICATE_EQUAL, .field = field, .constant = predicate_a_number(number)};
}

struct predicate predicate_text(const struct field *field, const char *text)
{
    return (struct predicate){.operation = PREDICATE_EQUAL,
                              .field = field,
                              .constant = {.type = VALUE_TEXT, .text = {text, strlen(text)}}};
}

struct predicate predicate_address(const struct field *field, const struct address *address)
{
    return (struct predicate){.operation = PREDICATE_EQUAL,
                              .field = field,
                              .constant = {.type = VALUE_ADDRESS, .address = *address}};
}

struct predicate predicate_within(const struct field *field, const struct network *network)
{
    struct predicate within = predicate_address(field, &network->address);
    struct address *address = &within.constant.address;

    within.operation = PREDICATE_WITHIN;
    for (size_t i = 0; i < address_size(address); i++) {
        const size_t bits = network->prefix > 8 * i ? network->prefix - 8 * i : 0;
        within.mask.address[i] = bits >= 8 ? 0xff : (uint8_t)(0xff00 >> bits);
        address->bytes[i] &= within.mask.address[i];
    }
    return within;
}

struct predicate predicate_masked(const struct field *field, uint64_t bits, uint64_t mask)
{
    struct predicate masked = {.operation = PREDICATE_MASKED, .field = field, .mask.bits = {mask}};

    if (field->type == VALUE_FLAGS)
        masked.constant = (struct value){.type = VALUE_FLAGS, .flags = {NULL, {bits}}};
    else
        masked.constant = predicate_a_number(bits);
    return masked;
}

struct predicate predicate_one_of(const struct field *field, uint64_t numbers)
{
    return (struct predicate){
        .operation = PREDICATE_ONE_OF, .field = field, .constant = predicate_a_number(numbers)};
}
