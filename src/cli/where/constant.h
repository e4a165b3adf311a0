/* SPDX-License-Identifier: MIT */
/* A value of --where while it is parsed. */
#ifndef CLI_WHERE_CONSTANT_H
#define CLI_WHERE_CONSTANT_H

#include "cli/where/parser.h"

struct constant {
    struct where_parser *parser;
    const struct field *field;
    enum token_type comparison; /* one of = < > ~ ~~ */
    struct token token;
    const char *text; /* text of the token, terminated and without quotes */
    size_t length;
};

static inline bool is_pattern(enum token_type comparison)
{
    return comparison == TOKEN_LIKE || comparison == TOKEN_GLOB;
}

/* Sets a message: the column takes `wanted`, and not this value. Returns NULL. */
struct predicate *constant_refuse(const struct constant *constant, const char *wanted);

/* Sets a message about < and >: these values ("addresses") have no order. Returns NULL. */
struct predicate *constant_refuse_order(const struct constant *constant, const char *what);

/* If the word names a column, makes a comparison with it. Returns false if it is a value. */
bool constant_column(const struct constant *constant, struct predicate **comparison);

#endif
