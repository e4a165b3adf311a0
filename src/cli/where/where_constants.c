/* SPDX-License-Identifier: MIT */
/* The values of --where: each must be a value that its column can have. Numbers, words and
 * addresses have files of their own. */
#include <string.h>
#include <strings.h>

#include "cli/form.h"
#include "cli/misuse.h"
#include "cli/where/constant.h"
#include "fastnet/array.h"

/* --- Booleans and times ----------------------------------------------------------------------- */

static struct predicate *parse_boolean(const struct constant *constant)
{
    static const char words[][6] = {"false", "true", "no", "yes", "0", "1"};

    for (size_t i = 0; i < COUNT(words); i++)
        if (strcasecmp(words[i], constant->text) == 0)
            return where_compare(constant, where_a_number(i % 2));
    return constant_refuse(constant, "= true or = false");
}

/* Parses a time. Times are shown in microseconds; times that are shown alike are equal. */
static struct predicate *parse_time(const struct constant *constant)
{
    enum { NS_PER_US = 1000 };
    struct value value = {.type = VALUE_TIME}, last;

    if (!form_time(constant->text, &value.number))
        return constant_refuse(constant, "times, such as 2026-11-22T21:30:00Z or 2026-11-22");
    last = value;
    if (constant->comparison != TOKEN_EQUAL ||
        __builtin_add_overflow(value.number, NS_PER_US - 1, &last.number))
        return where_compare(constant, value);
    return where_make_range(constant, &value, &last);
}

/* --- Parsers by type -------------------------------------------------------------------------- */

static struct predicate *parse_owner(const struct constant *constant)
{
    struct value number;

    return constant->token.type != TOKEN_QUOTED &&
                   where_read_digits(constant->field, constant->text, &number)
               ? where_compare(constant, number)
               : where_parse_text(constant);
}

/* What the values of the field are, if they have no order; else NULL. */
static const char *unordered_values(const struct field *field)
{
    const bool words = field->type == VALUE_FLAGS
                           ? field->flags && field->flags->count
                           : where_has_words(field) && field->type != VALUE_OWNERS;

    if (value_is_number(field->type) || field->type == VALUE_TIME)
        return NULL;
    if (field->type == VALUE_BOOLEAN)
        return "true and false";
    if (field->type == VALUE_ADDRESS || field->type == VALUE_NETWORKS)
        return "addresses";
    return words ? "words" : "texts";
}

static struct predicate *parse_named(const struct constant *constant)
{
    if (constant->field->lookups & NEED_OWNERS_CGROUPS)
        return where_parse_of_group(constant);
    if (constant->field->each_owner && constant->field->type == VALUE_NAME)
        return parse_owner(constant);
    return where_has_words(constant->field) ? where_parse_word(constant)
                                            : where_parse_text(constant);
}

/* All types but VALUE_VIEW (another column is compared) and VALUE_NETWORK (only in groups). */
static struct predicate *(*const parsers[])(const struct constant *constant) = {
    [VALUE_NUMBER] = where_parse_numbers,
    [VALUE_DECIMAL] = where_parse_numbers,
    [VALUE_FINE] = where_parse_numbers,
    [VALUE_SIGNED] = where_parse_numbers,
    [VALUE_BOOLEAN] = parse_boolean,
    [VALUE_TIME] = parse_time,
    [VALUE_TEXT] = parse_named,
    [VALUE_NAME] = parse_named,
    [VALUE_SOCKET_NAME] = where_parse_socket_name,
    [VALUE_ADDRESS] = where_parse_addresses,
    [VALUE_NETWORKS] = where_parse_addresses,
    [VALUE_NAMES] = where_parse_text,
    [VALUE_LLADDR] = where_parse_lladdr,
    [VALUE_FLAGS] = where_parse_flag,
    [VALUE_OWNERS] = parse_owner,
    [VALUE_VIEW] = NULL,
};

static struct predicate *parse_by_type(const struct constant *constant)
{
    const enum value_type type = constant->field->type;
    const char *unordered = unordered_values(constant->field);

    if (unordered && (constant->comparison == TOKEN_LESS || constant->comparison == TOKEN_GREATER))
        return constant_refuse_order(constant, unordered);
    if (is_pattern(constant->comparison) && type != VALUE_SOCKET_NAME)
        return where_parse_text(constant);
    return parsers[type] ? parsers[type](constant) : NULL;
}

static bool takes_text(const struct constant *constant)
{
    const enum value_type type = constant->field->type;

    return type == VALUE_TEXT || type == VALUE_NAME || type == VALUE_NAMES ||
           type == VALUE_OWNERS || type == VALUE_SOCKET_NAME;
}

/* Parses a dash, which tables show if the value is unknown, the text is empty, or the set is empty.
 * A text that is a dash itself is shown as \x2d. */
static struct predicate *parse_dash(struct where_parser *parser, const struct field *field)
{
    const struct field *one = field; /* for owners: a column of the first owner */

    while (field->type == VALUE_OWNERS && one > parser->kind->fields && one[-1].owner)
        one--;
    struct predicate *none = parser_negate(parser, parser_add(parser, predicate_known(one)));
    const struct field *path = where_shows_paths(parser, field);
    struct predicate empty = {.field = field};

    if (path)
        return parser_join(parser, PREDICATE_AND, none, parse_dash(parser, path));

    if (field->type == VALUE_FLAGS) {
        empty.operation = PREDICATE_MASKED;
        empty.constant.type = VALUE_FLAGS;
        memset(&empty.mask.bits, 0xff, sizeof empty.mask.bits);
    } else if (field->type == VALUE_TEXT || field->type == VALUE_SOCKET_NAME) {
        empty.operation = PREDICATE_EQUAL;
        empty.constant = where_a_text("", 0);
    } else {
        return none;
    }
    return parser_join(parser, PREDICATE_OR, none, parser_add(parser, empty));
}

/* Parses a value of the column, or another column to compare it with. */
static struct predicate *where_parse_value(struct constant *constant)
{
    const struct field *field = constant->field;
    const enum token_type comparison = constant->comparison;
    struct predicate *made;
    struct value ignored;

    if (constant_column(constant, &made))
        return made;
    if (field->lookups & NEED_MACHINE && where_read_address(field, constant->text, &ignored))
        return constant_refuse(constant, "the name of a machine (--host= takes addresses)");
    if (field->owner && (comparison == TOKEN_EQUAL || is_pattern(comparison))) {
        if (field->type == VALUE_NUMBER && !where_read_digits(field, constant->text, &ignored))
            return constant_refuse(constant, "process ids, such as 812");
        if (field->type == VALUE_NUMBER) /* also in quotes, because it is not a name */
            constant->token.type = TOKEN_WORD;
        constant->field = field_owners(field);
    }
    if (is_pattern(comparison) &&
        (value_is_number(field->type) || field->type == VALUE_BOOLEAN || field->type == VALUE_TIME))
        return parser_fail(constant->parser, &constant->token,
                           "%s has no text to compare with a pattern", field->name);
    made = parse_by_type(constant);
    const struct text shown =
        made && takes_text(constant) ? where_as_shown(constant) : (struct text){NULL, 0};
    if (!shown.data)
        return made;
    constant->text = shown.data;
    constant->length = shown.length;
    return parser_join(constant->parser, PREDICATE_OR, made, parse_by_type(constant));
}

/* Parses COLUMN=VALUE,..., which is how a view shows several columns. Returns NULL otherwise. */
static struct predicate *parse_parts(const struct constant *constant)
{
    struct where_parser *parser = constant->parser;
    const char *list = constant->text;
    struct predicate *all = NULL;

    if (!parser->viewed || constant->comparison != TOKEN_EQUAL)
        return NULL;
    for (struct text part; text_next(&list, ',', &part);) {
        const char *sign = memchr(part.data, '=', part.length);
        const size_t name = sign ? (size_t)(sign - part.data) : 0;
        struct constant one = *constant;
        one.field = name ? field_find(parser->kind, part.data, name) : NULL;
        if (!one.field || one.field->type == VALUE_VIEW)
            return NULL;
        one.length = part.length - name - 1;
        one.text = parser_keep(parser, sign + 1, one.length);
        struct predicate *made = one.text ? where_parse_value(&one) : NULL;
        all = all ? parser_join(parser, PREDICATE_AND, all, made) : made;
        if (!all)
            return NULL;
    }
    return all;
}

struct predicate *parser_constant(struct where_parser *parser, const struct field *field,
                                  enum token_type comparison, const struct token *value)
{
    struct constant constant = {parser, field, comparison, *value, NULL, 0};
    char *text = parser_keep(parser, value->text.data, value->text.length);
    const char quote = value->type == TOKEN_QUOTED ? value->text.data[-1] : '\0';
    struct predicate *made;

    if (!text)
        return NULL;
    if (comparison == TOKEN_EQUAL && value->type == TOKEN_WORD && text_is(value->text, "-"))
        return parse_dash(parser, field);
    for (size_t i = 0; i < value->text.length; i++) {
        text[constant.length++] = value->text.data[i];
        i += quote && value->text.data[i] == quote; /* skip the second of two quotes */
    }
    text[constant.length] = '\0';
    constant.text = text;
    made = parse_parts(&constant);
    return made || parser->where->message[0] ? made : where_parse_value(&constant);
}
