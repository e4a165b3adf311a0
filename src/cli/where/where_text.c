/* Predicates as text in the language of --where. */
#include <inttypes.h>
#include <string.h>

#include "cli/where/parser.h"

/* Where a part is written: what holds it decides whether it needs parentheses. */
enum place { PLACE_TOP, PLACE_AND, PLACE_NOT };

struct printer {
    FILE *stream;
    const struct kind *kind;
};

/* --- Values ----------------------------------------------------------------------------------- */

/* Whether the tokens would be one word, and no digits, which may mean a number. */
static bool is_bare(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.data[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (!i || !c || !strchr("0123456789-./:", c)))
            return false;
    }
    return text.length > 0 && token_word_type(text) == TOKEN_WORD;
}

/* The NUL of an abstract name is typed as '@'. */
static void put_text(const struct printer *printer, struct text text)
{
    const bool bare = is_bare(text);

    fputs(bare ? "" : "'", printer->stream);
    for (size_t i = 0; i < text.length; i++) {
        fputc(text.data[i] ? text.data[i] : '@', printer->stream);
        if (text.data[i] == '\'')
            fputc('\'', printer->stream);
    }
    fputs(bare ? "" : "'", printer->stream);
}

/* A number, or the word that stands for it. */
static void put_number(const struct printer *printer, const struct field *field, uint64_t number)
{
    const char *word = where_word(field, number);
    char text[TEXT_TIME_MAX];

    if (field->type == VALUE_BOOLEAN)
        fputs(number ? "true" : "false", printer->stream);
    else if (field->type == VALUE_TIME)
        fprintf(printer->stream, "%.*s", (int)(text_time(text, number) - text), text);
    else if (word)
        put_text(printer, (struct text){word, strlen(word)});
    else if (field->type == VALUE_DECIMAL)
        fprintf(printer->stream, "%" PRIu64 ".%03u", number / 1000, (unsigned)(number % 1000));
    else if (field->type == VALUE_FINE)
        fprintf(printer->stream, "%" PRIu64 ".%06u", number / 1000000,
                (unsigned)(number % 1000000));
    else
        fprintf(printer->stream, "%" PRIu64, number);
}

static void put_bytes(const struct printer *printer, uint8_t family, const uint8_t *bytes)
{
    const struct address address = address_make(family, bytes);
    char text[TEXT_ADDRESS_MAX];

    *text_address(text, &address) = '\0';
    fputs(text, printer->stream);
}

static void put_constant(const struct printer *printer, const struct field *field,
                         const struct value *constant)
{
    char text[TEXT_LLADDR_MAX + 1];

    switch (constant->type) {
    case VALUE_NUMBER:
    case VALUE_DECIMAL:
    case VALUE_FINE:
    case VALUE_BOOLEAN:
    case VALUE_TIME:
        put_number(printer, field, constant->number);
        break;
    case VALUE_SIGNED:
        fprintf(printer->stream, "%s%" PRIu64, constant->integer.negative ? "-" : "",
                constant->integer.magnitude);
        break;
    case VALUE_ADDRESS:
        put_bytes(printer, constant->address.family, constant->address.bytes);
        break;
    case VALUE_LLADDR:
        *value_lladdr(text, constant) = '\0';
        fputs(text, printer->stream);
        break;
    default:
        put_text(printer, constant->text);
    }
}

/* ADDRESS/LENGTH, or ADDRESS/MASK if the ones of the mask are not its first bits. */
static void put_network(const struct printer *printer, const struct predicate *within)
{
    const struct address *address = &within->constant.address;
    const size_t size = address_size(address);
    size_t length = 0;
    bool prefix = true;

    while (length < 8 * size && within->mask.address[length / 8] & 0x80 >> length % 8)
        length++;
    for (size_t i = length; i < 8 * size; i++)
        prefix &= !(within->mask.address[i / 8] & 0x80 >> i % 8);
    put_bytes(printer, address->family, address->bytes);
    fputc('/', printer->stream);
    if (prefix)
        fprintf(printer->stream, "%zu", length);
    else
        put_bytes(printer, address->family, within->mask.address);
}

static unsigned bits_in(const uint64_t bits[VALUE_FLAG_BITS / 64])
{
    unsigned count = 0;

    for (size_t i = 0; i < VALUE_FLAG_BITS / 64; i++)
        count += (unsigned)__builtin_popcountll(bits[i]);
    return count;
}

static bool is_set(const uint64_t bits[VALUE_FLAG_BITS / 64], unsigned bit)
{
    return bits[bit / 64] >> bit % 64 & 1;
}

static void put_masked(const struct printer *printer, const struct predicate *masked)
{
    if (masked->constant.type != VALUE_FLAGS) {
        fprintf(printer->stream, "%#" PRIx64 "/%#" PRIx64, masked->constant.number,
                masked->mask.bits[0]);
        return;
    }
    for (unsigned bit = 0; bit < VALUE_FLAG_BITS; bit++)
        if (is_set(masked->mask.bits, bit))
            put_number(printer, masked->field, bit);
}

static void put_one_of(const struct printer *printer, const struct predicate *one_of)
{
    const char *between = "";

    for (unsigned number = 0; number < 64; number++)
        if (one_of->constant.number >> number & 1) {
            fputs(between, printer->stream);
            put_number(printer, one_of->field, number);
            between = ",";
        }
}

static void put_among(const struct printer *printer, const struct predicate *among)
{
    for (size_t i = 0; i < among->ranges.count; i++) {
        const struct number_range *range = &among->ranges.first[i];
        fputs(i ? "," : "", printer->stream);
        put_number(printer, among->field, range->first);
        if (range->last == range->first)
            continue;
        fputc('-', printer->stream);
        put_number(printer, among->field, range->last);
    }
}

/* --- Conditions that are values of a column: COLUMN in VALUE,VALUE ---------------------------- */

struct listed {
    const struct predicate *one;       /* a comparison, or NULL: a range */
    const struct predicate *from, *to; /* what it must not be below, and not above */
};

static const struct predicate *any_of(const struct listed *listed)
{
    return listed->one ? listed->one : listed->from;
}

/* What a not negates, if it is one comparison of this kind; else NULL. */
static const struct predicate *negated_by(const struct predicate *negation,
                                          enum predicate_operator operation)
{
    const struct predicate *inner =
        negation && negation->operation == PREDICATE_NOT ? negation->parts : NULL;

    return inner && !inner->next && inner->operation == operation ? inner : NULL;
}

/* Flags that must be set, and others that must not be, are several conditions. */
static bool is_several_flags(const struct predicate *predicate)
{
    return predicate->operation == PREDICATE_MASKED && predicate->constant.type == VALUE_FLAGS &&
           (bits_in(predicate->mask.bits) != 1 || bits_in(predicate->constant.flags.bits) != 1);
}

static bool is_value(const struct predicate *predicate)
{
    switch (predicate->operation) {
    case PREDICATE_EQUAL:
    case PREDICATE_WITHIN:
    case PREDICATE_AMONG:
        return true;
    case PREDICATE_MASKED:
        return !is_several_flags(predicate);
    case PREDICATE_ONE_OF:
        return predicate->constant.number != 0;
    default:
        return false;
    }
}

/* Values of one type that has an order. */
static bool is_ordered(const struct value *first, const struct value *last)
{
    if (first->type != last->type)
        return false;
    switch (first->type) {
    case VALUE_NUMBER:
    case VALUE_DECIMAL:
    case VALUE_FINE:
        return first->number <= last->number;
    case VALUE_SIGNED:
        return !first->integer.negative && !last->integer.negative &&
               first->integer.magnitude <= last->integer.magnitude;
    case VALUE_ADDRESS:
        return first->address.family == last->address.family &&
               memcmp(first->address.bytes, last->address.bytes, sizeof first->address.bytes) <= 0;
    default:
        return false;
    }
}

/* Takes two parts that are what FIRST-LAST stands for. */
static bool take_range(const struct predicate **at, struct listed *listed)
{
    const struct predicate *second = (*at)->next;
    const struct predicate *from = negated_by(*at, PREDICATE_BELOW);
    const struct predicate *to = negated_by(second, PREDICATE_ABOVE);

    if (!second || !from || !to || from->field != to->field ||
        !is_ordered(&from->constant, &to->constant))
        return false;
    *listed = (struct listed){NULL, from, to};
    *at = second->next;
    return true;
}

/* "No IPv4-mapped address": a network or range of IPv6 says that by itself. */
static bool is_unmapped(const struct predicate *part, const struct listed *listed)
{
    static const struct address mapped = {AF_INET6, {[10] = 0xff, [11] = 0xff}};
    const struct predicate *any = any_of(listed), *within = negated_by(part, PREDICATE_WITHIN);

    return within && any->constant.type == VALUE_ADDRESS &&
           any->constant.address.family == AF_INET6 && within->field == any->field &&
           address_equal(&within->constant.address, &mapped);
}

/*
 * Takes one value from the parts of an and, which may be several of them, and goes on to the part
 * behind it. Returns false if the next part is something else.
 */
static bool take_listed(const struct predicate **at, struct listed *listed)
{
    const struct predicate *part = *at, *inner = part->parts;

    if (part->operation == PREDICATE_AND && inner && take_listed(&inner, listed) && !inner) {
        *at = part->next;
    } else if (part->field && is_value(part)) {
        *listed = (struct listed){part, NULL, NULL};
        *at = part->next;
    } else if (!take_range(at, listed)) {
        return false;
    }
    if (*at && is_unmapped(*at, listed))
        *at = (*at)->next;
    return true;
}

/* The same of one part alone. */
static bool is_listed(const struct predicate *part, struct listed *listed)
{
    struct predicate alone = *part;
    const struct predicate *at = &alone;

    alone.next = NULL;
    if (!take_listed(&at, listed) || at)
        return false;
    if (listed->one == &alone)
        listed->one = part;
    return true;
}

/* Owners are asked for by the columns of the first one: pid and process. */
static const char *name_of(const struct printer *printer, const struct predicate *comparison)
{
    const enum value_type type =
        comparison->constant.type == VALUE_NUMBER ? VALUE_NUMBER : VALUE_TEXT;
    const struct kind *kind = printer->kind;

    for (size_t i = 0; i < kind->field_count && comparison->field->type == VALUE_OWNERS &&
                       comparison->operation != PREDICATE_KNOWN;
         i++) {
        const struct field *part = &kind->fields[i];
        if (part->owner && part->type == type && field_owners(part) == comparison->field)
            return part->name;
    }
    return comparison->field->name;
}

static const char *listed_name(const struct printer *printer, const struct listed *listed)
{
    return name_of(printer, any_of(listed));
}

static void put_listed(const struct printer *printer, const struct listed *listed)
{
    const struct predicate *one = listed->one;

    if (!one) {
        put_constant(printer, listed->from->field, &listed->from->constant);
        fputc('-', printer->stream);
        put_constant(printer, listed->to->field, &listed->to->constant);
    } else if (one->operation == PREDICATE_WITHIN) {
        put_network(printer, one);
    } else if (one->operation == PREDICATE_MASKED) {
        put_masked(printer, one);
    } else if (one->operation == PREDICATE_ONE_OF) {
        put_one_of(printer, one);
    } else if (one->operation == PREDICATE_AMONG) {
        put_among(printer, one);
    } else {
        put_constant(printer, one->field, &one->constant);
    }
}

static bool is_single(const struct listed *listed)
{
    const struct predicate *one = listed->one;

    return one && (one->operation == PREDICATE_EQUAL || one->operation == PREDICATE_MASKED ||
                   (one->operation == PREDICATE_ONE_OF && bits_in(&one->constant.number) == 1));
}

/* COLUMN = VALUE, or COLUMN in VALUE if that stands for several values. */
static void put_relation(const struct printer *printer, const struct listed *listed, bool single,
                         bool negated)
{
    fprintf(printer->stream, "%s %s ", listed_name(printer, listed),
            single    ? negated ? "!=" : "="
            : negated ? "not in"
                      : "in");
    put_listed(printer, listed);
}

/* A text that is typed with an '@' is looked for as abstract name and as path. */
static bool is_again(const struct listed *listed, const struct listed *before)
{
    const struct predicate *one = listed->one, *other = before->one;

    return one && other && one->operation == PREDICATE_EQUAL &&
           other->operation == PREDICATE_EQUAL && one->constant.type == VALUE_TEXT &&
           other->constant.type == VALUE_TEXT && one->constant.text.length &&
           one->constant.text.length == other->constant.text.length &&
           !one->constant.text.data[0] && other->constant.text.data[0] == '@' &&
           memcmp(one->constant.text.data + 1, other->constant.text.data + 1,
                  one->constant.text.length - 1) == 0;
}

/* Takes the next value of this column from the parts of an or, but not one that is there again. */
static bool take_value(const struct printer *printer, const struct predicate **at, const char *name,
                       struct listed *listed)
{
    const struct listed before = *listed;

    while (*at && is_listed(*at, listed) && listed_name(printer, listed) == name) {
        *at = (*at)->next;
        if (!is_again(listed, &before))
            return true;
    }
    return false;
}

/*
 * Writes the first parts of an `or` that compare one column as a list of values. Returns the part
 * behind them; the first part if it compares no value.
 */
static const struct predicate *put_list(const struct printer *printer,
                                        const struct predicate *first, bool negated)
{
    const struct predicate *at, *second;
    struct listed listed, other;
    const char *name;

    if (!first || !is_listed(first, &listed))
        return first;
    name = listed_name(printer, &listed);
    at = second = first->next;
    other = listed;
    put_relation(printer, &listed,
                 is_single(&listed) && !take_value(printer, &second, name, &other), negated);
    while (take_value(printer, &at, name, &listed)) {
        fputc(',', printer->stream);
        put_listed(printer, &listed);
    }
    return at;
}

/* Whether all parts of an or are values of one column. */
static bool is_list(const struct printer *printer, const struct predicate *either)
{
    const struct predicate *at = either->parts;
    struct listed listed;

    if (either->operation != PREDICATE_OR || !at || !is_listed(at, &listed))
        return false;
    at = at->next;
    while (take_value(printer, &at, listed_name(printer, &listed), &listed))
        continue;
    return !at;
}

/* --- Other comparisons ------------------------------------------------------------------------ */

static const char *sign_of(enum predicate_operator operation, bool negated)
{
    switch (operation) {
    case PREDICATE_BELOW:
        return negated ? ">=" : "<";
    case PREDICATE_ABOVE:
        return negated ? "<=" : ">";
    case PREDICATE_LIKE:
        return negated ? "!~" : "~";
    case PREDICATE_GLOB:
        return negated ? "!~~" : "~~";
    default:
        return negated ? "=" : "!=";
    }
}

/* Each of the flags: COLUMN = FLAG and COLUMN != FLAG. */
static void put_flags(const struct printer *printer, const struct predicate *masked)
{
    const char *between = "";

    for (unsigned bit = 0; bit < VALUE_FLAG_BITS; bit++) {
        if (!is_set(masked->mask.bits, bit))
            continue;
        fprintf(printer->stream, "%s%s %s ", between, masked->field->name,
                is_set(masked->constant.flags.bits, bit) ? "=" : "!=");
        put_number(printer, masked->field, bit);
        between = " and ";
    }
}

static void put_comparison(const struct printer *printer, const struct predicate *comparison,
                           bool negated)
{
    const enum predicate_operator operation = comparison->operation;

    fprintf(printer->stream, "%s %s ", name_of(printer, comparison), sign_of(operation, negated));
    if (operation != PREDICATE_KNOWN)
        put_constant(printer, comparison->field, &comparison->constant);
    else
        fputs("null", printer->stream);
}

/* --- Trees ------------------------------------------------------------------------------------ */

static void put(const struct printer *printer, const struct predicate *predicate, enum place place);

/* A condition that stands for a negated one: COLUMN != VALUE. Returns false if it needs a not. */
static bool put_opposite(const struct printer *printer, const struct predicate *condition)
{
    const struct predicate *known = negated_by(condition, PREDICATE_KNOWN);
    struct listed listed;

    if (is_list(printer, condition))
        put_list(printer, condition->parts, true);
    else if (is_listed(condition, &listed))
        put_relation(printer, &listed, is_single(&listed), true);
    else if (known)
        put_comparison(printer, known, false);
    else if (condition->field && !is_several_flags(condition))
        put_comparison(printer, condition, true);
    else
        return false;
    return true;
}

static void put_not(const struct printer *printer, const struct predicate *negation)
{
    const struct predicate all = {.operation = PREDICATE_AND, .parts = negation->parts};
    const struct predicate *condition = all.parts && !all.parts->next ? all.parts : &all;

    if (put_opposite(printer, condition))
        return;
    fputs("not ", printer->stream);
    put(printer, condition, PLACE_NOT);
}

static void put_all(const struct printer *printer, const struct predicate *parts)
{
    const struct predicate *part = parts;
    struct listed listed;

    while (part) {
        fputs(part == parts ? "" : " and ", printer->stream);
        if (take_listed(&part, &listed)) {
            put_relation(printer, &listed, is_single(&listed), false);
        } else {
            put(printer, part, PLACE_AND);
            part = part->next;
        }
    }
}

static void put_any(const struct printer *printer, const struct predicate *parts)
{
    const struct predicate *part = parts, *behind;

    while (part) {
        fputs(part == parts ? "" : " or ", printer->stream);
        behind = put_list(printer, part, false);
        if (behind == part) {
            put(printer, part, PLACE_TOP);
            behind = part->next;
        }
        part = behind;
    }
}

/* Conditions that are joined: in parentheses where they would be read in another way. */
static void put_joined(const struct printer *printer, const struct predicate *whole,
                       enum place place)
{
    const bool any = whole->operation == PREDICATE_OR;
    const bool parentheses = place == PLACE_NOT || (any && place == PLACE_AND);

    fputs(parentheses ? "(" : "", printer->stream);
    if (whole->field)
        put_flags(printer, whole);
    else if (any)
        put_any(printer, whole->parts);
    else
        put_all(printer, whole->parts);
    fputs(parentheses ? ")" : "", printer->stream);
}

static void put(const struct printer *printer, const struct predicate *predicate, enum place place)
{
    const bool joined =
        predicate->operation == PREDICATE_AND || predicate->operation == PREDICATE_OR;
    struct listed listed;

    if (joined && predicate->parts && !predicate->parts->next)
        put(printer, predicate->parts, place);
    else if (is_listed(predicate, &listed))
        put_relation(printer, &listed, is_single(&listed), false);
    else if (is_list(printer, predicate))
        put_list(printer, predicate->parts, false);
    else if (predicate->operation == PREDICATE_NOT)
        put_not(printer, predicate);
    else if (joined || (is_several_flags(predicate) && bits_in(predicate->mask.bits)))
        put_joined(printer, predicate, place);
    else
        put_comparison(printer, predicate, false);
}

void where_put(FILE *stream, const struct kind *kind, const struct predicate *where)
{
    const struct printer printer = {stream, kind};

    put(&printer, where, PLACE_TOP);
}
