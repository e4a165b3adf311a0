/* SPDX-License-Identifier: MIT */
/* Long lists of numbers: ranges in order, among which a number is found in a few steps. */
#include <stdlib.h>

#include "cli/where/parser.h"

enum { GATHERED_MIN = 9 }; /* shorter lists stay as they are: backends know single numbers */

static bool is_negated(const struct predicate *part, enum predicate_operator operation)
{
    return part && part->operation == PREDICATE_NOT && part->parts &&
           part->parts->operation == operation && part->parts->constant.type == VALUE_NUMBER;
}

/* A number, or FIRST-LAST: not below the one, and not above the other. */
static bool take_range(const struct predicate *part, const struct field *field,
                       struct number_range *range)
{
    const struct predicate *below = part->parts, *above = below ? below->next : NULL;

    if (part->operation == PREDICATE_EQUAL && part->constant.type == VALUE_NUMBER) {
        *range = (struct number_range){part->constant.number, part->constant.number};
        return part->field == field;
    }
    if (part->operation != PREDICATE_AND || !is_negated(below, PREDICATE_BELOW) ||
        !is_negated(above, PREDICATE_ABOVE) || above->next || below->parts->field != field ||
        above->parts->field != field)
        return false;
    *range = (struct number_range){below->parts->constant.number, above->parts->constant.number};
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct number_range *a = left, *b = right;

    return a->first < b->first ? -1 : a->first > b->first;
}

/* Joins those that meet or overlap. Returns how many are left. */
static size_t merge(struct number_range *ranges, size_t count)
{
    size_t merged = 0;

    qsort(ranges, count, sizeof *ranges, compare);
    for (size_t i = 1; i < count; i++) {
        struct number_range *last = &ranges[merged];
        if (ranges[i].first > last->last && ranges[i].first - last->last > 1)
            ranges[++merged] = ranges[i];
        else if (ranges[i].last > last->last)
            last->last = ranges[i].last;
    }
    return merged + 1;
}

struct predicate *parser_gather(struct parser *parser, struct predicate *either)
{
    const struct field *field = either->parts ? either->parts->field : NULL;
    struct number_range *ranges;
    size_t count = 0, i = 0;

    if (either->operation != PREDICATE_OR || !either->parts)
        return either;
    if (!field && either->parts->parts && either->parts->parts->parts)
        field = either->parts->parts->parts->field;
    for (const struct predicate *part = either->parts; part; part = part->next)
        count++;
    if (count < GATHERED_MIN || !field || field->type == VALUE_OWNERS)
        return either;
    ranges = parser_keep_bytes(parser, count * sizeof *ranges);
    if (!ranges)
        return NULL;
    for (const struct predicate *part = either->parts; part; part = part->next, i++)
        if (!take_range(part, field, &ranges[i]))
            return either;
    return parser_add(parser, (struct predicate){.operation = PREDICATE_AMONG,
                                                 .field = field,
                                                 .constant = {.type = VALUE_NUMBER},
                                                 .ranges = {ranges, merge(ranges, count)}});
}
