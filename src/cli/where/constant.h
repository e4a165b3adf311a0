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

/* Sets a message about < and >: values such as `what` ("addresses") have no order. Returns NULL. */
struct predicate *constant_refuse_order(const struct constant *constant, const char *what);

/* If the word names a column, makes a comparison with it. Returns false if it is a value. */
bool constant_column(const struct constant *constant, struct predicate **comparison);

/* --- Comparisons ------------------------------------------------------------------------------ */

/* Parses a text as a value of the field. Returns false for other texts. */
typedef bool (*read_fn)(const struct field *field, const char *text, struct value *value);

/* Functions of type read_fn. where_read_digits() reads the number of a value that has a name. */
bool where_read_address(const struct field *field, const char *text, struct value *value);
bool where_read_digits(const struct field *field, const char *text, struct value *value);

struct value where_a_number(uint64_t number);
struct value where_a_text(const char *text, size_t length);

/* Compare the field with a value: where_compare_by() by `operation`, where_compare() by the sign
 * that was typed. */
struct predicate *where_compare_by(const struct constant *constant,
                                   enum predicate_operator operation, struct value value);
struct predicate *where_compare(const struct constant *constant, struct value value);

/* Makes a range: not below `first`, and not above `last`. take_range() in where.c recognizes the
 * two comparisons in this order. */
struct predicate *where_make_range(const struct constant *constant, const struct value *first,
                                   const struct value *last);
/* Parses a text that read() accepts, or two such texts with '-' between; or returns false. */
bool where_parse_range(const struct constant *constant, read_fn read, struct predicate **made);

/* Splits a text in two at the sign. Returns false if the text cannot be split. */
enum { PART_MAX = 200 };
bool where_cut(const char *text, char sign, char first[PART_MAX], const char **second);

/* The network of IPv4-mapped addresses. It is a part of IPv6, but users do not mean it by IPv6:
 * where_without_mapped() excludes it from a comparison. */
extern const struct network where_mapped;
struct predicate *where_without_mapped(const struct constant *constant, struct predicate *part);

/* True if the field has words for its numbers. A 32-bit number that is shown without a name has
 * words for its bits instead. */
bool where_has_words(const struct field *field);

/* If tables show names of unix sockets in this column ("local"), returns the column of names. */
const struct field *where_shows_paths(const struct where_parser *parser, const struct field *field);

/* Users type what tables show, where some bytes are escaped (\x40). Returns the text without these
 * escapes. Its data is NULL if the text has none, or if memory is exhausted. */
struct text where_as_shown(const struct constant *constant);

/* --- Values by type: each function makes a comparison, or returns NULL after a message ---------
 */

struct predicate *where_parse_numbers(const struct constant *constant);
struct predicate *where_parse_word(const struct constant *constant);
struct predicate *where_parse_text(const struct constant *constant);
struct predicate *where_parse_of_group(const struct constant *constant);
struct predicate *where_parse_socket_name(const struct constant *constant);
struct predicate *where_parse_flag(const struct constant *constant);
struct predicate *where_parse_addresses(const struct constant *constant);
struct predicate *where_parse_lladdr(const struct constant *constant);

#endif
