/* SPDX-License-Identifier: MIT */
/* Predicates as text in the language of --where: as they were typed, or what an option made. */
#include <inttypes.h>
#include <string.h>

#include "cli/where/parser.h"

/* Where a part is written: what holds it decides whether it needs parentheses. */
enum place { PLACE_TOP, PLACE_AND, PLACE_NOT };

/* Blanks between the tokens may be newlines, which end a line of --explain: one blank is enough. */
static void put_said(FILE *stream, struct text said)
{
    char quote = '\0';

    for (size_t i = 0; i < said.length; i++) {
        const char c = said.data[i];
        const bool blank = !quote && strchr(TOKEN_BLANKS, c);
        if (c == '\'' || c == '"')
            quote = !quote ? c : c == quote ? '\0' : quote;
        if (!blank)
            fputc(c, stream);
        else if (i + 1 < said.length && !strchr(TOKEN_BLANKS, said.data[i + 1]))
            fputc(' ', stream);
    }
}

/* --- Values that options compare -------------------------------------------------------------- */

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
static void put_text(FILE *stream, struct text text)
{
    const bool bare = is_bare(text);

    fputs(bare ? "" : "'", stream);
    for (size_t i = 0; i < text.length; i++) {
        fputc(text.data[i] ? text.data[i] : '@', stream);
        if (text.data[i] == '\'')
            fputc('\'', stream);
    }
    fputs(bare ? "" : "'", stream);
}

/* A number, or the word that stands for it. */
static void put_number(FILE *stream, const struct field *field, uint64_t number)
{
    const char *word = where_word(field, number);

    if (field->type == VALUE_BOOLEAN)
        fputs(number ? "true" : "false", stream);
    else if (word)
        put_text(stream, (struct text){word, strlen(word)});
    else
        fprintf(stream, "%" PRIu64, number);
}

static void put_bytes(FILE *stream, uint8_t family, const uint8_t *bytes)
{
    const struct address address = address_make(family, bytes);
    char text[TEXT_ADDRESS_MAX];

    *text_address(text, &address) = '\0';
    fputs(text, stream);
}

static void put_constant(FILE *stream, const struct predicate *comparison)
{
    const struct value *constant = &comparison->constant;

    if (constant->type == VALUE_ADDRESS)
        put_bytes(stream, constant->address.family, constant->address.bytes);
    else if (constant->type == VALUE_NUMBER || constant->type == VALUE_DECIMAL)
        put_number(stream, comparison->field, constant->number);
    else
        put_text(stream, constant->text);
}

/* ADDRESS/LENGTH, or ADDRESS/MASK if the ones of the mask are not its first bits. */
static void put_network(FILE *stream, const struct predicate *within)
{
    const struct address *address = &within->constant.address;
    uint8_t prefix;

    put_bytes(stream, address->family, address->bytes);
    fputc('/', stream);
    if (mask_prefix(within->mask.address, address_size(address), &prefix))
        fprintf(stream, "%u", prefix);
    else
        put_bytes(stream, address->family, within->mask.address);
}

static bool is_set(const uint64_t bits[VALUE_FLAG_BITS / 64], unsigned bit)
{
    return bits[bit / 64] >> bit % 64 & 1;
}

/* --- Their comparisons ------------------------------------------------------------------------ */

/* Each of the flags: COLUMN = FLAG, or COLUMN != FLAG. */
static void put_flags(FILE *stream, const struct predicate *masked)
{
    const char *between = "";

    for (unsigned bit = 0; bit < VALUE_FLAG_BITS; bit++) {
        if (!is_set(masked->mask.bits, bit))
            continue;
        fprintf(stream, "%s%s %s ", between, masked->field->name,
                is_set(masked->constant.flags.bits, bit) ? "=" : "!=");
        put_number(stream, masked->field, bit);
        between = " and ";
    }
}

static void put_relation(FILE *stream, const struct predicate *comparison, const char *sign)
{
    fprintf(stream, "%s %s ", comparison->field->name, sign);
}

static void put_comparison(FILE *stream, const struct predicate *comparison, bool negated)
{
    const uint64_t number = comparison->constant.number;
    const char *equal = negated ? "!=" : "=", *in = negated ? "not in" : "in";

    switch (comparison->operation) {
    case PREDICATE_KNOWN:
        put_relation(stream, comparison, negated ? "=" : "!=");
        fputs("null", stream);
        break;
    case PREDICATE_MASKED:
        put_relation(stream, comparison, equal);
        fprintf(stream, "%#" PRIx64 "/%#" PRIx64, number, comparison->mask.bits[0]);
        break;
    case PREDICATE_ONE_OF:
        put_relation(stream, comparison, number & (number - 1) ? in : equal);
        for (unsigned bit = 0; bit < 64; bit++)
            if (number >> bit & 1) {
                put_number(stream, comparison->field, bit);
                fputs(number >> bit > 1 ? "," : "", stream);
            }
        break;
    case PREDICATE_WITHIN:
        put_relation(stream, comparison, in);
        put_network(stream, comparison);
        break;
    default:
        put_relation(stream, comparison,
                     comparison->operation == PREDICATE_BELOW   ? negated ? ">=" : "<"
                     : comparison->operation == PREDICATE_ABOVE ? negated ? "<=" : ">"
                     : comparison->operation == PREDICATE_GLOB  ? negated ? "!~~" : "~~"
                                                                : equal);
        put_constant(stream, comparison);
    }
}

/* --- Trees ------------------------------------------------------------------------------------ */

static void put(FILE *stream, const struct predicate *predicate, enum place place);

static bool is_flags(const struct predicate *predicate)
{
    return predicate->field && predicate->operation == PREDICATE_MASKED &&
           predicate->constant.type == VALUE_FLAGS;
}

/* Whether the parts of an or are values of one column. */
static bool is_list(const struct predicate *whole)
{
    const struct predicate *first = whole->parts;

    for (const struct predicate *part = first; part; part = part->next)
        if (part->said.length || part->operation != PREDICATE_EQUAL || part->field != first->field)
            return false;
    return whole->operation == PREDICATE_OR;
}

static void put_parts(FILE *stream, const struct predicate *whole)
{
    const bool list = is_list(whole), any = whole->operation == PREDICATE_OR;

    if (list)
        put_relation(stream, whole->parts, "in");
    for (const struct predicate *part = whole->parts; part; part = part->next) {
        fputs(part == whole->parts ? "" : list ? "," : any ? " or " : " and ", stream);
        if (list)
            put_constant(stream, part);
        else
            put(stream, part, any ? PLACE_TOP : PLACE_AND);
    }
}

/* Conditions that are joined are in parentheses where they would be read in another way. */
static void put(FILE *stream, const struct predicate *predicate, enum place place)
{
    const struct predicate *part = predicate->parts;
    const bool any = predicate->operation == PREDICATE_OR && !is_list(predicate);
    const bool joined = any || is_flags(predicate) || predicate->operation == PREDICATE_AND;
    const bool parentheses =
        !predicate->said.length && joined && (place == PLACE_NOT || (any && place == PLACE_AND));

    fputs(parentheses ? "(" : "", stream);
    if (predicate->said.length)
        put_said(stream, predicate->said);
    else if (is_flags(predicate))
        put_flags(stream, predicate);
    else if (predicate->field)
        put_comparison(stream, predicate, false);
    else if (predicate->operation != PREDICATE_NOT)
        put_parts(stream, predicate);
    else if (part->field && !part->said.length && !is_flags(part))
        put_comparison(stream, part, true);
    else {
        fputs("not ", stream);
        put(stream, part, PLACE_NOT);
    }
    fputs(parentheses ? ")" : "", stream);
}

void where_put(FILE *stream, const struct predicate *where)
{
    put(stream, where, PLACE_TOP);
}
