/* SPDX-License-Identifier: MIT */
/*
 * The language of --where: conditions on the columns of a kind, made into a predicate.
 *
 *     state = CLOSE_WAIT and (remote_address in 10.0.0.0/8 or local_port in 8000-8999,443)
 *
 * fastnet(8) describes it. Its short forms (--port=443) are lists of values for several columns.
 */
#ifndef CLI_WHERE_H
#define CLI_WHERE_H

#include <stdio.h>

#include "fastnet/kind.h"
#include "fastnet/predicate.h"

enum { WHERE_MESSAGE = 512 };

struct option_table;

/* Owns the predicates that were parsed. Zeroed: none. */
struct where {
    struct where_part *parts;
    const struct option_table *options; /* their names are no columns, or NULL */
    bool interfaces_are_here;           /* an address may have only one of this namespace */
    char message[WHERE_MESSAGE];        /* what was wrong: one line, escaped */
    size_t size;                        /* bytes of the parts */
};

/* Returns NULL, and sets the message, if the text is wrong or memory is short. Borrows the text. */
const struct predicate *where_parse(struct where *where, const struct kind *kind, const char *text);

/*
 * The same for a list of values: it holds if one of the columns has one of them. columns: names,
 * separated by blanks, of which the kind has some. A leading '!' negates.
 */
const struct predicate *where_parse_list(struct where *where, const struct kind *kind,
                                         const char *columns, const char *text);

/* The same for one column and one text, in which no sign means anything. Borrows the text. */
const struct predicate *where_text(struct where *where, const struct kind *kind, const char *column,
                                   const char *text);

/*
 * One of these fields that are rates is above 0. NULL if none of them is a rate, or memory is
 * short.
 */
const struct predicate *where_moved(struct where *where, const struct field *const *fields,
                                    size_t count);

/* Both must hold. Either may be NULL: always true. NULL, and a message, if memory is short. */
const struct predicate *where_both(struct where *where, const struct predicate *one,
                                   const struct predicate *other);

/*
 * Writes a predicate in the language, with comparisons as they were typed: where_parse() makes an
 * equal one of the text, if all its fields are columns of the kind.
 */
void where_put(FILE *stream, const struct predicate *where);

void where_finish(struct where *where);

#endif
