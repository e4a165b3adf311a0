/* SPDX-License-Identifier: MIT */
/* Comparisons of --where between two columns. */
#include <ctype.h>
#include <string.h>

#include "cli/form.h"
#include "cli/misuse.h"
#include "cli/where/constant.h"
#include "fastnet/array.h"

/* Why two columns cannot be compared, or NULL. A number without a unit fits any unit. */
static const char *why_incomparable(const struct field *one, const struct field *other, bool factor)
{
    const bool numbers = value_is_number(one->type) && value_is_number(other->type);

    if (one->owner || other->owner || one->each_owner || other->each_owner)
        return "a socket can have several processes, so this column is a list";
    if (numbers && one->unit != other->unit && one->unit && other->unit)
        return "their units differ";
    return numbers || (one->type == other->type && !factor) ? NULL : "both must be numbers";
}

/* Returns the name in COLUMN or FACTOR*COLUMN, and the factor in millionths. NULL: other text. */
static const char *column_name(const char *text, uint64_t *factor)
{
    enum { FACTOR_MAX = 1000000000 };
    unsigned millionths;
    uint64_t whole;

    *factor = FORM_MILLION;
    if (!isdigit((unsigned char)*text))
        return text;
    text = form_millionths(text, &whole, &millionths);
    text = text ? text + strspn(text, TOKEN_SPACES) : "";
    if (*text != '*' || whole > FACTOR_MAX)
        return NULL;
    *factor = whole * FORM_MILLION + millionths;
    return text + 1 + strspn(text + 1, TOKEN_SPACES);
}

static struct predicate *compare_column(const struct constant *constant, const struct field *other,
                                        uint64_t factor)
{
    const struct field *field = constant->field;
    const char *differs = why_incomparable(field, other, factor != FORM_MILLION);
    struct predicate comparison = {
        .operation = constant->comparison == TOKEN_LESS      ? PREDICATE_BELOW_COLUMN
                     : constant->comparison == TOKEN_GREATER ? PREDICATE_ABOVE_COLUMN
                                                             : PREDICATE_EQUAL_COLUMN,
        .field = field,
        .constant = {.type = VALUE_FINE, .number = factor}};
    struct predicate *known;

    if (differs) /* TOKEN_TYPED(): the text may have newlines around the '*' */
        return parser_fail(constant->parser, &constant->token,
                           "%s cannot be compared with '%s': %s", field->name,
                           TOKEN_TYPED(&constant->token), differs);
    if (field->type == VALUE_ADDRESS && constant->comparison != TOKEN_EQUAL)
        return constant_refuse_order(constant, "addresses");
    known = parser_add(constant->parser, predicate_known(other));
    if (known)
        predicate_add(&comparison, known);
    return known ? parser_add(constant->parser, comparison) : NULL;
}

bool constant_column(const struct constant *constant, struct predicate **comparison)
{
    static const char signs[] = TOKEN_SPACES "*";
    const struct field *field = constant->field, *other, *swapped = NULL;
    struct where_parser *parser = constant->parser;
    char wrong[NO_COLUMN];
    uint64_t factor;
    const char *name = column_name(constant->text, &factor);

    if (!name || parser->listed || constant->token.type != TOKEN_WORD ||
        is_pattern(constant->comparison) ||
        (!value_is_number(field->type) && field->type != VALUE_TIME &&
         field->type != VALUE_ADDRESS))
        return false;
    const bool alone = name == constant->text; /* the column has no factor before it */
    const size_t length = strcspn(name, signs);
    const char *rest = name + length + strspn(name + length, signs);
    other = field_compared(parser->kind, name, strlen(name));
    if (alone && isdigit((unsigned char)*rest)) /* users also type COLUMN*FACTOR */
        swapped = field_compared(parser->kind, name, length);
    if (swapped) {
        *comparison = parser_fail(parser, &constant->token, "write the number first: %s*%s", rest,
                                  swapped->name);
        return true;
    }
    if (alone && (!other || (field->port && !other->port)))
        return false; /* the word may be a service */
    *comparison = other ? compare_column(constant, other, factor)
                        : parser_refuse(parser, &constant->token,
                                        misuse_of_column(parser->kind, as_text(name), wrong));
    return true;
}
