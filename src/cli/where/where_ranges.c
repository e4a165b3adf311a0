/* SPDX-License-Identifier: MIT */
/* Makes comparisons with one value, or with a range of values. */
#include <string.h>

#include "cli/where/constant.h"

/* --- Comparisons ------------------------------------------------------------------------------ */

static const enum predicate_operator operators[] = {[TOKEN_EQUAL] = PREDICATE_EQUAL,
                                                    [TOKEN_LESS] = PREDICATE_BELOW,
                                                    [TOKEN_GREATER] = PREDICATE_ABOVE,
                                                    [TOKEN_LIKE] = PREDICATE_LIKE,
                                                    [TOKEN_GLOB] = PREDICATE_GLOB};

struct predicate *where_compare_by(const struct constant *constant,
                                   enum predicate_operator operation, struct value value)
{
    return parser_add(
        constant->parser,
        (struct predicate){.operation = operation, .field = constant->field, .constant = value});
}

struct predicate *where_compare(const struct constant *constant, struct value value)
{
    return where_compare_by(constant, operators[constant->comparison], value);
}

struct value where_a_number(uint64_t number)
{
    return (struct value){.type = VALUE_NUMBER, .number = number};
}

struct value where_a_text(const char *text, size_t length)
{
    return (struct value){.type = VALUE_TEXT, .text = {text, length}};
}

bool where_cut(const char *text, char sign, char first[PART_MAX], const char **second)
{
    const char *at = strchr(text, sign);

    if (!at || at == text || (size_t)(at - text) >= PART_MAX)
        return false;
    memcpy(first, text, (size_t)(at - text));
    first[at - text] = '\0';
    *second = at + 1;
    return true;
}

/* --- One value, or a range -------------------------------------------------------------------- */

const struct network where_mapped = {{AF_INET6, {[10] = 0xff, [11] = 0xff}}, 96};

struct predicate *where_without_mapped(const struct constant *constant, struct predicate *part)
{
    struct where_parser *parser = constant->parser;
    struct predicate *in = parser_add(parser, predicate_within(constant->field, &where_mapped));

    return parser_join(parser, PREDICATE_AND, part, parser_negate(parser, in));
}

/* Makes a range as networks, for a list of addresses: a single address must be in the range, but
 * two comparisons could be true for two different addresses. */
static struct predicate *make_networks(const struct constant *constant, struct address first,
                                       const struct address *last)
{
    struct predicate *all = NULL;
    size_t i;

    do {
        struct network network = {first, (uint8_t)(8 * address_size(&first))};
        struct predicate *one;
        for (; network.prefix; network.prefix--) {
            struct address wider = first;
            wider.bytes[(network.prefix - 1) / 8] |= (uint8_t)(0x80 >> (network.prefix - 1) % 8);
            if (memcmp(&wider, &first, sizeof wider) == 0 ||
                memcmp(wider.bytes, last->bytes, sizeof wider.bytes) > 0)
                break;
            first = wider;
        }
        one = parser_add(constant->parser, predicate_within(constant->field, &network));
        if (all && all->operation == PREDICATE_OR && one)
            predicate_add(all, one);
        else
            all = all ? parser_join(constant->parser, PREDICATE_OR, all, one) : one;
        if (memcmp(first.bytes, last->bytes, sizeof first.bytes) == 0)
            return all;
        for (i = address_size(&first); i-- && !++first.bytes[i];)
            ;
    } while (all);
    return NULL;
}

struct predicate *where_make_range(const struct constant *constant, const struct value *first,
                                   const struct value *last)
{
    struct where_parser *parser = constant->parser;
    struct predicate *range;

    if (constant->field->type == VALUE_NETWORKS)
        return make_networks(constant, first->address, &last->address);
    range = parser_join(parser, PREDICATE_AND,
                        parser_negate(parser, where_compare_by(constant, PREDICATE_BELOW, *first)),
                        parser_negate(parser, where_compare_by(constant, PREDICATE_ABOVE, *last)));
    return first->type == VALUE_ADDRESS && first->address.family == AF_INET6
               ? where_without_mapped(constant, range)
               : range;
}

bool where_parse_range(const struct constant *constant, read_fn read, struct predicate **made)
{
    const struct field *field = constant->field;
    char text[PART_MAX];
    const char *end;
    struct value first, last;

    if (read(field, constant->text, &first)) {
        *made = where_compare(constant, first);
        return true;
    }
    if (constant->comparison != TOKEN_EQUAL || !where_cut(constant->text, '-', text, &end) ||
        !read(field, text, &first) || !read(field, end, &last))
        return false;
    const bool addresses = first.type == VALUE_ADDRESS;
    if (addresses && first.address.family != last.address.family)
        return false;
    const bool above =
        addresses ? memcmp(first.address.bytes, last.address.bytes, sizeof first.address.bytes) > 0
                  : first.type != VALUE_SIGNED && first.number > last.number;
    *made = above ? parser_fail(constant->parser, &constant->token,
                                "the end of this range is below its beginning")
                  : where_make_range(constant, &first, &last);
    return true;
}
