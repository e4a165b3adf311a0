/* SPDX-License-Identifier: MIT */
/* Builds the conditions of ss filters, and reports their errors. */
#include "cli/ss/ss_parser.h"

#include <stdio.h>
#include <sys/socket.h>

#include "cli/form.h"
#include "fastnet/interfaces.h"

struct predicate *ss_refuse(struct ss_parser *parser, struct misuse misuse)
{
    char subject[40] = "filter, at the end";

    parser->filter->failed = true;
    if (parser->token != SS_END)
        snprintf(subject, sizeof subject, "filter, word %zu", parser->number);
    misuse.subject = subject;
    where_refuse(parser->filter->where, &misuse);
    return NULL;
}

struct predicate *ss_fail_value(struct ss_parser *parser, const char *what)
{
    if (!parser->filter->failed)
        parser->filter->wrong = true;
    return ss_fail(parser, "'%s': %s", TYPED(parser->word), what);
}

bool ss_lists_others(const struct ss_parser *parser)
{
    const uint64_t inet = ss_family(AF_INET) | ss_family(AF_INET6);

    return parser->filter->selection->families & ~inet;
}

/* Makes a comparison false, instead of unknown, for rows without the field: ss has only two
 * results, so its `not` lists all other rows. */
static struct predicate *require_known(struct ss_parser *parser, const struct field *field,
                                       struct predicate *comparison)
{
    /* fields that even sockets of IP may lack */
    const uint64_t absent = SOCKET_INTERFACE | SOCKET_MARK | SOCKET_CGROUP;

    if (!parser->others && !ss_lists_others(parser) && !(field->fields & absent))
        return comparison;
    return parser_join(&parser->memory, PREDICATE_AND, comparison,
                       parser_add(&parser->memory, predicate_known(field)));
}

struct predicate *ss_compare(struct ss_parser *parser, struct predicate comparison)
{
    return require_known(parser, comparison.field, parser_add(&parser->memory, comparison));
}

/* At or above is the opposite of below. For rows without the number, both are false. */
struct predicate *ss_compare_number(struct ss_parser *parser, const struct field *field,
                                    enum ss_token comparison, uint64_t number)
{
    struct predicate order = predicate_number(field, number);
    struct predicate *part;

    if (comparison == SS_LESS || comparison == SS_AT_LEAST)
        order.operation = PREDICATE_BELOW;
    else if (comparison == SS_GREATER || comparison == SS_AT_MOST)
        order.operation = PREDICATE_ABOVE;
    part = parser_add(&parser->memory, order);
    if (comparison == SS_AT_LEAST || comparison == SS_AT_MOST)
        part = parser_negate(&parser->memory, part);
    return require_known(parser, field, part);
}

struct predicate *ss_constant(struct ss_parser *parser, bool holds)
{
    return parser_add(&parser->memory,
                      (struct predicate){.operation = holds ? PREDICATE_AND : PREDICATE_OR});
}

const char *ss_signed_number(const char *text, uint32_t *number)
{
    const bool negative = *text == '-';
    uint64_t magnitude = 0;
    const char *end = form_number(text + negative, UINT32_MAX, &magnitude);

    *number = negative ? -(uint32_t)magnitude : (uint32_t)magnitude;
    return end;
}

bool ss_interface(struct ss_parser *parser, const char *text, uint32_t *index)
{
    uint64_t number;

    if (interfaces_find(text, index) == 0)
        return true;
    if (!form_is_number(text, UINT32_MAX, &number)) {
        ss_fail_value(parser, "there is no such interface");
        return false;
    }
    *index = (uint32_t)number;
    return true;
}

struct predicate *ss_device(struct ss_parser *parser, const char *text)
{
    const struct field *field = field_named(&kind_socket, "interface");
    uint64_t number;
    uint32_t index;

    if (parser->filter->foreign && !form_is_number(text, UINT32_MAX, &number)) {
        const char *kept = parser_keep(&parser->memory, text, strlen(text));
        return kept ? ss_compare(parser, predicate_text(field, kept)) : NULL;
    }
    if (!ss_interface(parser, text, &index))
        return NULL;
    if (index == 0)
        return parser_negate(&parser->memory, parser_add(&parser->memory, predicate_known(field)));
    return ss_compare(parser, predicate_number(field, index));
}
