/* SPDX-License-Identifier: MIT */
/* The grammar of --where: or, and, not, parentheses, comparisons. */
#include "cli/where/where.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/misuse.h"
#include "cli/options.h"
#include "cli/where/parser.h"

/* Limit of nested parentheses and nots: each needs stack, here and for every row. */
enum { DEPTH_MAX = 64 };

/* Reports a token that is not among the expected tokens. */
static struct predicate *where_fail_expected(struct where_parser *parser, const char *expected)
{
    const struct token *token = &parser->token;

    if (token->type == TOKEN_UNFINISHED)
        return parser_fail(parser, token, "this quote is not closed");
    if (token->type == TOKEN_END)
        return parser_fail(parser, token, "expected %s", expected);
    return parser_fail(parser, token, "expected %s, not '%s'", expected, TOKEN_TYPED(token));
}

/* Adds a part to *whole, which is NULL before the first part. If *whole is already a list of this
 * operation, and not a typed comparison, the list grows. Returns false if a part is NULL. */
static bool where_join(struct where_parser *parser, enum predicate_operator operation,
                       struct predicate **whole, struct predicate *part)
{
    struct predicate *all = *whole;

    if (all && part && all->operation == operation && !all->next && !all->typed.length)
        predicate_add(all, part);
    else
        *whole = all ? parser_join(parser, operation, all, part) : part;
    return *whole;
}

/* --- Long lists of numbers -------------------------------------------------------------------- */

enum { GATHERED_MIN = 9 }; /* shorter lists are not changed: backends understand single numbers */

/* Reads a number or FIRST-LAST, which means: not below the first, and not above the last. */
static bool take_range(const struct predicate *part, struct number_range *range)
{
    const struct predicate *below = part->parts;
    const bool is_range = part->operation == PREDICATE_AND && below->operation == PREDICATE_NOT;
    const struct predicate *first = is_range ? below->parts : part,
                           *last = is_range ? below->next->parts : part;

    *range = (struct number_range){first->constant.number, last->constant.number};
    return (is_range || part->operation == PREDICATE_EQUAL) && first->constant.type == VALUE_NUMBER;
}

static int by_first(const void *left, const void *right)
{
    const struct number_range *a = left, *b = right;

    return a->first < b->first ? -1 : a->first > b->first;
}

/* Joins ranges that touch or overlap. Returns the number of ranges that are left. */
static size_t merge(struct number_range *ranges, size_t count)
{
    size_t merged = 0;

    qsort(ranges, count, sizeof *ranges, by_first);
    for (size_t i = 1; i < count; i++) {
        struct number_range *last = &ranges[merged];
        if (ranges[i].first > last->last && ranges[i].first - last->last > 1)
            ranges[++merged] = ranges[i];
        else if (ranges[i].last > last->last)
            last->last = ranges[i].last;
    }
    return merged + 1;
}

/* Turns a long list of numbers into sorted ranges, in which a number is found in a few steps.
 * Returns other predicates unchanged. */
static struct predicate *where_gather(struct where_parser *parser, const struct field *field,
                                      struct predicate *either)
{
    struct number_range *ranges;
    size_t count = 0, i = 0;

    for (const struct predicate *part = either->parts; part; part = part->next)
        count++;
    if (either->operation != PREDICATE_OR || count < GATHERED_MIN || field->owner ||
        field->type == VALUE_OWNERS)
        return either;
    ranges = parser_keep_bytes(parser, count * sizeof *ranges);
    if (!ranges)
        return NULL;
    for (const struct predicate *part = either->parts; part; part = part->next, i++)
        if (!take_range(part, &ranges[i]))
            return either;
    return parser_add(parser, (struct predicate){.operation = PREDICATE_AMONG,
                                                 .field = field,
                                                 .constant = {.type = VALUE_NUMBER},
                                                 .ranges = {ranges, merge(ranges, count)}});
}

/* --- Comparisons ------------------------------------------------------------------------------ */

/* Reports an option that was typed as a column, and its columns. Returns false for other words. */
static bool fail_short_form(struct where_parser *parser)
{
    const struct option_table *options = parser->where->options;
    const struct text word = parser->token.text;
    const char *columns = NULL;
    char names[160] = "";

    for (size_t i = 0; options && i < options->count; i++)
        if (text_is(word, options->options[i].name))
            columns = options->options[i].columns;
    for (struct text name; text_next(&columns, ' ', &name);)
        if (field_find(parser->kind, name.data, name.length))
            text_list(names, sizeof names, ", ", name);
    if (*names)
        parser_fail(parser, &parser->token,
                    "'%.*s' is not a column, but the option --%.*s=; the columns are: %s",
                    (int)word.length, word.data, (int)word.length, word.data, names);
    return *names;
}

static const struct field *find_column(struct where_parser *parser)
{
    const struct token *token = &parser->token;
    const struct kind *kind = parser->kind;
    const struct field *field;
    char wrong[NO_COLUMN];

    if (token->type != TOKEN_WORD) {
        where_fail_expected(parser, "a column");
        return NULL;
    }
    field = field_compared(kind, token->text.data, token->text.length);
    const struct field *named = field_find(kind, token->text.data, token->text.length);
    parser->viewed = named && named->type == VALUE_VIEW;
    if (field || fail_short_form(parser))
        return field;
    struct misuse misuse = misuse_of_column(kind, token->text, wrong);
    if (!misuse.meant.data && token->text.length < 64 &&
        field_find(kind, "process", strlen("process")) &&
        strlen(parser->start) == token->text.length) /* the filter is only this word */
        snprintf(wrong, sizeof wrong, "'%%s' is not a column (try --where '%s = %%s')",
                 isdigit((unsigned char)*parser->start) ? "port" : "process");
    parser_refuse(parser, token, misuse);
    return NULL;
}

/* True if the word after a number is its unit. Also true if it seems to be a wrong unit, so that
 * the error message names the number with its unit. */
static bool where_is_unit_of(const struct where_parser *parser, const struct field *field,
                             struct text word)
{
    return where_is_unit(field, word) ||
           (value_is_number(field->type) && field->unit && isalpha((unsigned char)*word.data) &&
            !field_find(parser->kind, word.data, word.length));
}

/* Takes a value. FACTOR * COLUMN and a number with its unit may have spaces in them. */
static struct token where_take_value(struct where_parser *parser, const struct field *field)
{
    struct token value = parser->token;
    const struct text *next = &parser->token.text, *text = &value.text;

    parser_next(parser);
    while (value.type == TOKEN_WORD && parser->token.type == TOKEN_WORD &&
           isdigit((unsigned char)text->data[0]) &&
           (text->data[text->length - 1] == '*' || next->data[0] == '*' ||
            where_is_unit_of(parser, field, *next))) {
        value.text.length = (size_t)(next->data + next->length - text->data);
        parser_next(parser);
    }
    return value;
}

/* Parses values with commas, one of which must match. Words of the language are values here. */
static struct predicate *parse_values(struct where_parser *parser, const struct field *field,
                                      enum token_type comparison)
{
    struct predicate *all = NULL;

    for (;;) {
        const enum token_type type = parser->token.type;
        if (type != TOKEN_WORD && type != TOKEN_QUOTED && type != TOKEN_AND && type != TOKEN_OR &&
            type != TOKEN_NOT && type != TOKEN_IN)
            return where_fail_expected(parser, "a value");
        const struct token value = where_take_value(parser, field);
        if (!where_join(parser, PREDICATE_OR, &all,
                        parser_constant(parser, field, comparison, &value)))
            return NULL;
        if (parser->token.type != TOKEN_COMMA)
            return where_gather(parser, field, all);
        if (comparison == TOKEN_LESS || comparison == TOKEN_GREATER)
            return parser_fail(parser, &parser->token, "< <= > >= take only one value");
        parser_next(parser);
    }
}

static struct predicate *parse_null(struct where_parser *parser, const struct field *field,
                                    enum token_type comparison)
{
    struct predicate *known;

    if (comparison != TOKEN_EQUAL)
        return parser_fail(parser, &parser->token, "null can only be compared with = and !=");
    parser_next(parser);
    known = parser_add(parser, predicate_known(field));
    return parser_negate(parser, known);
}

/* Reports that the comparison is missing. If the filter is only a column that can be compared with
 * < and >, the shell has probably taken that sign as a redirection. */
static struct predicate *fail_comparison(struct where_parser *parser, const struct field *field,
                                         const char *column)
{
    const bool lone = parser->token.type == TOKEN_END &&
                      column == parser->start + strspn(parser->start, TOKEN_SPACES);

    if (!lone || (!value_is_number(field->type) && field->type != VALUE_TIME))
        return where_fail_expected(parser, "= != < <= > >= ~ !~ ~~ !~~ or in");
    const struct text word = {column, strcspn(column, TOKEN_SPACES)};
    where_refuse(
        parser->where,
        &(struct misuse){.wrong = MESSAGE_TEXT("the filter is only '%.*s': did the shell "
                                               "take the > or <? quote it: --where '%.*s > %s'",
                                               (int)word.length, word.data, (int)word.length,
                                               word.data, where_example(field))});
    return NULL;
}

/* Parses the rest of a comparison after its column: the sign and the values. column: its word. */
static struct predicate *parse_compared(struct where_parser *parser, const struct field *field,
                                        const char *column)
{
    struct predicate *result;
    enum token_type type;
    bool negated = false, in_parentheses;

    if (parser->token.type == TOKEN_NOT) { /* not in */
        negated = true;
        parser_next(parser);
        if (parser->token.type != TOKEN_IN)
            return where_fail_expected(parser, "in");
    }
    type = parser->token.type;
    if (type < TOKEN_EQUAL || type > TOKEN_IN)
        return fail_comparison(parser, field, column);
    if (type == TOKEN_IN)
        type = TOKEN_EQUAL;
    negated ^= parser->token.negated;
    parser_next(parser);
    in_parentheses = parser->token.type == TOKEN_OPEN; /* as in SQL */
    if (in_parentheses)
        parser_next(parser);
    result = parser->token.type == TOKEN_NULL ? parse_null(parser, field, type)
                                              : parse_values(parser, field, type);
    if (result && in_parentheses && parser->token.type != TOKEN_CLOSE)
        return where_fail_expected(parser, "a comma or a closing parenthesis");
    if (in_parentheses)
        parser_next(parser);
    return negated ? parser_negate(parser, result) : result;
}

/* The columns that the name `port` stands for; NULL: it is no such name, or a column itself. */
static const char *columns_of_port(const struct where_parser *parser)
{
    const char *columns = WHERE_PORTS;
    bool any = false;

    if (parser->token.type != TOKEN_WORD || !text_is(parser->token.text, "port") ||
        field_named(parser->kind, "port"))
        return NULL;
    for (struct text name; text_next(&columns, ' ', &name);)
        any |= field_find(parser->kind, name.data, name.length) != NULL;
    return any ? WHERE_PORTS : NULL;
}

/* Compares each of the columns. `port != 22` refuses a row if one of its ports is 22. */
static struct predicate *parse_either_port(struct where_parser *parser, const char *columns)
{
    const char *first = parser->token.text.data;
    struct predicate *all = NULL;

    parser_next(parser);
    const struct where_parser before = *parser;
    const bool none = parser->token.type == TOKEN_NOT ||
                      (parser->token.negated && parser->token.type != TOKEN_LESS &&
                       parser->token.type != TOKEN_GREATER);
    for (struct text name; text_next(&columns, ' ', &name);) {
        const struct field *field = field_find(parser->kind, name.data, name.length);
        if (!field)
            continue;
        *parser = before;
        if (!where_join(parser, none ? PREDICATE_AND : PREDICATE_OR, &all,
                        parse_compared(parser, field, first)))
            return NULL;
    }
    return all;
}

static struct predicate *parse_comparison(struct where_parser *parser)
{
    const char *first = parser->token.text.data, *ports = columns_of_port(parser);
    const struct field *field = ports ? NULL : find_column(parser);
    struct predicate *result = NULL;

    if (ports) {
        result = parse_either_port(parser, ports);
    } else if (field) {
        parser_next(parser);
        result = parse_compared(parser, field, first);
    }
    if (result)
        result->typed = (struct text){first, (size_t)(parser->before - first)};
    return result;
}

/* --- Grammar ---------------------------------------------------------------------------------- */

static struct predicate *parse_joined(struct where_parser *parser, enum token_type sign);

static struct predicate *parse_unary(struct where_parser *parser)
{
    struct predicate *inner;

    if (parser->token.type != TOKEN_OPEN && parser->token.type != TOKEN_NOT)
        return parse_comparison(parser);
    if (++parser->depth > DEPTH_MAX)
        return parser_fail(parser, &parser->token, "the filter is nested more than %d deep",
                           DEPTH_MAX);
    if (parser->token.type == TOKEN_NOT) {
        parser_next(parser);
        inner = parser_negate(parser, parse_unary(parser));
    } else {
        parser_next(parser);
        inner = parse_joined(parser, TOKEN_OR);
        if (inner && parser->token.type != TOKEN_CLOSE)
            return where_fail_expected(parser, "'and', 'or' or a closing parenthesis");
        parser_next(parser);
    }
    parser->depth--;
    return inner;
}

/* Parses conditions joined by `sign`, which is "or" or "and"; "and" binds closer. */
static struct predicate *parse_joined(struct where_parser *parser, enum token_type sign)
{
    const bool any = sign == TOKEN_OR;
    struct predicate *all = NULL;

    for (;;) {
        struct predicate *part = any ? parse_joined(parser, TOKEN_AND) : parse_unary(parser);
        if (!where_join(parser, any ? PREDICATE_OR : PREDICATE_AND, &all, part) ||
            parser->token.type != sign)
            return all;
        parser_next(parser);
    }
}

static void where_start(struct where_parser *parser, struct where *where, const struct kind *kind,
                        const char *text)
{
    *parser = (struct where_parser){.where = where, .kind = kind, .start = text, .at = text};
    where->message[0] = '\0';
    parser_next(parser);
}

const struct predicate *where_parse(struct where *where, const struct kind *kind, const char *text)
{
    struct where_parser parser;
    struct predicate *all;

    where_start(&parser, where, kind, text);
    all = parse_joined(&parser, TOKEN_OR);
    if (all && parser.token.type != TOKEN_END)
        return where_fail_expected(&parser, "'and', 'or' or the end");
    return all;
}

/* Compares one of the columns with the values of an option. */
static struct predicate *parse_column(struct where_parser *parser, const struct field *field)
{
    const char *values = parser->before;
    struct predicate *one = parse_values(parser, field, TOKEN_EQUAL);
    const int length = one ? (int)(parser->before - values) : 0;
    const size_t size = strlen(field->name) + sizeof " in " + (size_t)length;
    char *typed = one ? parser_keep_bytes(parser, size) : NULL;

    if (!typed)
        return NULL;
    snprintf(typed, size, "%s %s %.*s", field->name,
             one->operation == PREDICATE_EQUAL || one->operation == PREDICATE_MASKED ? "=" : "in",
             length, values);
    one->typed = (struct text){typed, strlen(typed)};
    return one;
}

static struct predicate *parse_columns(struct where_parser *parser, const char *columns)
{
    const struct where_parser before = *parser;
    struct predicate *all = NULL;

    for (struct text name; text_next(&columns, ' ', &name);) {
        const struct field *field = field_find(parser->kind, name.data, name.length);
        if (!field)
            continue;
        *parser = before;
        if (!where_join(parser, PREDICATE_OR, &all, parse_column(parser, field)))
            return NULL;
    }
    return all;
}

static struct predicate *fail_columns(struct where *where, const struct kind *kind)
{
    if (!where->message[0])
        snprintf(
            where->message, sizeof where->message,
            "%s have none of the columns that this filter compares (--columns=help lists theirs)",
            kind->name);
    return NULL;
}

const struct predicate *where_text(struct where *where, const struct kind *kind, const char *column,
                                   const char *text)
{
    const struct field *field = field_named(kind, column);

    where->message[0] = '\0';
    return field ? parser_add(&(struct where_parser){.where = where}, predicate_text(field, text))
                 : fail_columns(where, kind);
}

const struct predicate *where_parse_list(struct where *where, const struct kind *kind,
                                         const char *columns, const char *text)
{
    struct where_parser parser;
    struct predicate *all;
    bool negated;

    where_start(&parser, where, kind, text);
    parser.listed = true;
    negated = parser.token.type == TOKEN_NOT && parser.token.text.data[0] == '!';
    if (negated)
        parser_next(&parser);
    if (negated && parser.token.type == TOKEN_NOT) /* a second '!' would be taken for a name */
        return where_fail_expected(&parser, "a value");
    all = parse_columns(&parser, columns);
    if (!all)
        return fail_columns(where, kind);
    if (parser.token.type != TOKEN_END)
        return where_fail_expected(&parser, "a comma or the end");
    return negated ? parser_negate(&parser, all) : all;
}

const struct predicate *where_any_rate(struct where *where, const struct field *const *fields,
                                       size_t count)
{
    struct where_parser parser = {.where = where};
    struct predicate *any = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct predicate moved = {
            .operation = PREDICATE_ABOVE, .field = fields[i], .constant.type = VALUE_DECIMAL};
        if (fields[i]->rate && !where_join(&parser, PREDICATE_OR, &any, parser_add(&parser, moved)))
            return NULL;
    }
    return any;
}

const struct predicate *where_both(struct where *where, const struct predicate *one,
                                   const struct predicate *other)
{
    struct where_parser parser = {.where = where};

    if (!one || !other)
        return one ? one : other;
    /* copies, because a predicate can be part of one list only */
    return parser_join(&parser, PREDICATE_AND, parser_add(&parser, *one),
                       parser_add(&parser, *other));
}

const char *where_keep(struct where *where, const char *text)
{
    return parser_keep(&(struct where_parser){.where = where}, text, strlen(text));
}
