/* SPDX-License-Identifier: MIT */
/* What the files of --where share. */
#ifndef CLI_WHERE_PARSER_H
#define CLI_WHERE_PARSER_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/misuse.h"
#include "cli/where/where.h"
#include "fastnet/text.h"

enum token_type {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_QUOTED, /* 'text' or "text"; a quote inside is written twice */
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_COMMA,
    TOKEN_AND,
    TOKEN_OR,
    TOKEN_NOT,
    TOKEN_NULL,
    TOKEN_EQUAL, /* from here on: comparisons */
    TOKEN_LESS,
    TOKEN_GREATER,
    TOKEN_LIKE,
    TOKEN_GLOB,
    TOKEN_IN,
    TOKEN_UNFINISHED, /* a quote without its end */
    TOKEN_STRANGE,    /* a character that begins nothing */
};

#define TOKEN_BLANKS " \t\n" /* between tokens */

struct token {
    enum token_type type;
    bool negated;     /* a comparison whose opposite the type is: != <= >= !~ !~~ */
    struct text text; /* as typed; of a quoted one what is between the quotes */
};

struct where_parser {
    struct where *where;
    const struct kind *kind;
    const char *start;  /* of the text, for places */
    const char *before; /* behind the token before */
    const char *at;     /* behind the token */
    struct token token;
    unsigned depth;
    bool viewed; /* the column is a view, whose first field is compared */
    bool listed; /* an option takes the values: it, and not a column, is what messages are about */
};

/* A word of the language, or TOKEN_WORD. */
enum token_type token_word_type(struct text word);

/* Reads the next token. */
void parser_next(struct where_parser *parser);

/* Sets the message. An earlier message stays. */
void where_refuse(struct where *where, const struct misuse *misuse);

/*
 * Sets the message, with the place of the token: "at 7: ..." or "at the end: ...". Returns NULL.
 * An earlier message stays.
 */
struct predicate *parser_refuse(struct where_parser *parser, const struct token *token,
                                struct misuse misuse);
/* The same in words alone, made as printf(3) does. */
#define parser_fail(parser, token, ...)                                                            \
    parser_refuse(parser, token, (struct misuse){.wrong = SAID(__VA_ARGS__)})

/* The token's text, escaped, for a message. */
#define TOKEN_SAID(token) TYPED_BYTES((token)->text.data, (token)->text.length)

/* Memory of the predicates. Both return NULL, with a message, when it is short. */
struct predicate *parser_add(struct where_parser *parser, struct predicate predicate);
char *parser_keep(struct where_parser *parser, const char *data, size_t length);
void *parser_keep_bytes(struct where_parser *parser, size_t size);

/* The two joined by and or or, and the opposite of one. NULL if a part is NULL. */
struct predicate *parser_join(struct where_parser *parser, enum predicate_operator operation,
                              struct predicate *first, struct predicate *second);
struct predicate *parser_negate(struct where_parser *parser, struct predicate *part);

/* The word that stands for a number of this field, or for a bit of its flags; NULL if none does. */
const char *where_word(const struct field *field, uint64_t number);
/* The other word for one of its values, or NULL. */
const struct synonym *where_synonym(const struct kind *kind, const struct field *field);
/* Offers all words of a field that has some. */
void where_offer_words(struct misuse *misuse, const struct kind *kind, const struct field *field);

/* One comparison: NULL where the value does not fit the field. */
struct predicate *parser_constant(struct where_parser *parser, const struct field *field,
                                  enum token_type comparison, const struct token *value);

#endif
