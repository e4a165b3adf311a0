/* SPDX-License-Identifier: MIT */
/* Shared by the files of --where. */
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
    TOKEN_STRANGE,    /* a character that begins no token */
};

#define TOKEN_SPACES " \t\n"                      /* these separate tokens */
#define TOKEN_ENDS   TOKEN_SPACES "()'\",=!<>~&|" /* these end a word */

struct token {
    enum token_type type;
    bool negated;     /* the comparison is the opposite of the type: != <= >= !~ !~~ */
    struct text text; /* as typed; for TOKEN_QUOTED without its quotes */
};

struct where_parser {
    struct where *where;
    const struct kind *kind;
    const char *start;  /* beginning of the text, for positions in messages */
    const char *before; /* end of the last token */
    const char *at;     /* end of the current token */
    struct token token;
    unsigned depth;
    bool viewed; /* the column is a view: its first field is compared */
    bool listed; /* the values are from an option, so messages must not name a column */
};

/* The type of a word of the language; TOKEN_WORD for other words. */
enum token_type token_word_type(struct text word);

/* Reads the next token. */
void parser_next(struct where_parser *parser);

/* Sets the message, unless an earlier error set it. */
void where_refuse(struct where *where, const struct misuse *misuse);

/* Sets the message, with the position of the token ("at 7: ..." or "at the end: ..."), unless an
 * earlier error set it. Returns NULL. */
struct predicate *parser_refuse(struct where_parser *parser, const struct token *token,
                                struct misuse misuse);
/* Like parser_refuse(), with a message that is formatted as by printf(3). */
#define parser_fail(parser, token, ...)                                                            \
    parser_refuse(parser, token, (struct misuse){.wrong = MESSAGE_TEXT(__VA_ARGS__)})

/* The token's text, escaped, for a message. */
#define TOKEN_TYPED(token) TYPED_BYTES((token)->text.data, (token)->text.length)

/* Memory that lives as long as the predicates. If it is exhausted: NULL, after a message. */
struct predicate *parser_add(struct where_parser *parser, struct predicate predicate);
char *parser_keep(struct where_parser *parser, const char *data, size_t length);
void *parser_keep_bytes(struct where_parser *parser, size_t size);

/* Join two predicates by `and` or `or`; negate a predicate. They return NULL if a part is NULL. */
struct predicate *parser_join(struct where_parser *parser, enum predicate_operator operation,
                              struct predicate *first, struct predicate *second);
struct predicate *parser_negate(struct where_parser *parser, struct predicate *part);

/* The word for a number of this field, or for a bit of its flags; NULL: no word. */
const char *where_word(const struct field *field, uint64_t number);
/* The other word for a value of this field, or NULL. */
const struct synonym *where_synonym(const struct kind *kind, const struct field *field);
/* True if the words differ only by case, '-' and '_': fin-wait-1 is FIN_WAIT1. */
bool where_is_spelled_like(const char *word, struct text typed);
/* Offers all words for values of a field. */
void where_offer_words(struct misuse *misuse, const struct kind *kind, const struct field *field);

/* True if the word is a unit of the numbers in this field, such as ms or MB. */
bool where_is_unit(const struct field *field, struct text word);
/* A value that the field, a number or a time, can be compared with. */
const char *where_example(const struct field *field);

/* Makes one comparison. Returns NULL if the value does not fit the field. */
struct predicate *parser_constant(struct where_parser *parser, const struct field *field,
                                  enum token_type comparison, const struct token *value);

#endif
