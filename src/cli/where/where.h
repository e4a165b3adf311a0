/* SPDX-License-Identifier: MIT */
/* The language of --where: conditions on the columns of a kind, made into a predicate.
 *
 *     state = CLOSE_WAIT and (remote_address in 10.0.0.0/8 or local_port in 8000-8999,443)
 *
 * fastnet(8) describes it. Its short forms (--port=443) are lists of values for several columns. */
#ifndef CLI_WHERE_H
#define CLI_WHERE_H

#include <stdio.h>

#include "fastnet/kind.h"
#include "fastnet/predicate.h"

enum { WHERE_MESSAGE = 512 };

/* The columns with the port of an end. Where a kind has no column `port`, this name stands for all
 * of them: `port = 443` holds if one of them is 443. */
#define WHERE_PORTS                                                                                \
    "local_port remote_port orig_sport orig_dport reply_sport reply_dport sport dport"

struct option_table;

/* Owns the predicates that were parsed. Zeroed: no predicates. */
struct where {
    struct where_part *parts;
    const struct option_table *options; /* options whose names users take for columns; or NULL */
    bool interfaces_are_own;     /* an address may only name interfaces of the current netns */
    char message[WHERE_MESSAGE]; /* the error: one line, escaped */
    size_t size;                 /* bytes of the parts */
};

/* Parses a condition. Returns NULL and sets the message on errors. Borrows the text. */
const struct predicate *where_parse(struct where *where, const struct kind *kind, const char *text);

/* Like where_parse(), for a list of values: one of the columns must have one of the values.
 * columns: names with spaces between; the kind has at least one. A leading '!' negates the list. */
const struct predicate *where_parse_list(struct where *where, const struct kind *kind,
                                         const char *columns, const char *text);

/* Like where_parse(), for one column. No sign of the text has a special meaning. Borrows it. */
const struct predicate *where_text(struct where *where, const struct kind *kind, const char *column,
                                   const char *text);

/* Makes a condition: one of the fields that are rates is above 0. Returns NULL if no field is a
 * rate, or if memory is exhausted. */
const struct predicate *where_any_rate(struct where *where, const struct field *const *fields,
                                       size_t count);

/* Joins two conditions by and; NULL is always true. Returns NULL, after a message, on errors. */
const struct predicate *where_both(struct where *where, const struct predicate *one,
                                   const struct predicate *other);

/* Writes a predicate in the language, with comparisons as the user typed them. where_parse() makes
 * an equal predicate of the text, if all fields are columns of the kind. */
void where_put(FILE *stream, const struct predicate *where);

/* Writes a text as a value of the language, in quotes where it needs them. */
void where_put_value(FILE *stream, const char *text);

/* Copies a text into memory that lives as long as the predicates. NULL, after a message: no memory.
 */
const char *where_keep(struct where *where, const char *text);

void where_finish(struct where *where);

#endif
