/* SPDX-License-Identifier: MIT */
/* Memory and messages for the files of --where. */
#include "cli/where/constant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct where_part {
    struct where_part *next;
    _Alignas(max_align_t) char bytes[];
};

/* In bytes. Even with the 16 MiB of a file (ss -F), a filter takes less than 64 MiB. */
enum { PARTS_MAX = 44 << 20, MALLOC_ADDS = 16 };

void *parser_keep_bytes(struct where_parser *parser, size_t size)
{
    struct where *where = parser->where;
    struct where_part *part = NULL;

    where->size += sizeof *part + size + MALLOC_ADDS;
    if (where->size <= PARTS_MAX)
        part = calloc(1, sizeof *part + size);
    if (!part) {
        snprintf(where->message, sizeof where->message, "%s",
                 where->size > PARTS_MAX ? "the filter is too long: its conditions take over 44 MiB"
                                         : "out of memory");
        return NULL;
    }
    part->next = where->parts;
    where->parts = part;
    return part->bytes;
}

struct predicate *parser_add(struct where_parser *parser, struct predicate predicate)
{
    struct predicate *added = parser_keep_bytes(parser, sizeof *added);

    if (added)
        *added = predicate;
    return added;
}

struct predicate *parser_join(struct where_parser *parser, enum predicate_operator operation,
                              struct predicate *first, struct predicate *second)
{
    const struct predicate none = {.operation = operation};
    struct predicate *whole = first && second ? parser_add(parser, none) : NULL;

    if (whole) {
        predicate_add(whole, first);
        predicate_add(whole, second);
    }
    return whole;
}

struct predicate *parser_negate(struct where_parser *parser, struct predicate *part)
{
    return part ? parser_add(parser, (struct predicate){.operation = PREDICATE_NOT, .parts = part})
                : NULL;
}

char *parser_keep(struct where_parser *parser, const char *data, size_t length)
{
    char *kept = parser_keep_bytes(parser, length + 1);

    return kept ? memcpy(kept, data, length) : NULL;
}

void where_refuse(struct where *where, const struct misuse *misuse)
{
    if (!where->message[0])
        misuse_put(misuse, where->message, sizeof where->message);
}

struct predicate *parser_refuse(struct where_parser *parser, const struct token *token,
                                struct misuse misuse)
{
    char subject[32] = "at the end";

    if (token->type != TOKEN_END)
        snprintf(subject, sizeof subject, "at %zu", (size_t)(token->text.data - parser->start) + 1);
    misuse.subject = subject;
    where_refuse(parser->where, &misuse);
    return NULL;
}

void where_finish(struct where *where)
{
    struct where_part *part = where->parts;

    while (part) {
        struct where_part *next = part->next;
        free(part);
        part = next;
    }
    where->parts = NULL;
    where->size = 0;
}

struct predicate *constant_refuse(const struct constant *constant, const char *wanted)
{
    return parser_fail(constant->parser, &constant->token, "%s takes %s, not '%s'",
                       constant->parser->listed ? "it" : constant->field->name, wanted,
                       TOKEN_TYPED(&constant->token));
}

struct predicate *constant_refuse_order(const struct constant *constant, const char *what)
{
    return parser_fail(constant->parser, &constant->token, "%s: %s cannot be compared with < or >",
                       constant->field->name, what);
}
