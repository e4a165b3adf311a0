/* SPDX-License-Identifier: MIT */
/* Compares two listings that were printed before (saved.h), and makes a row for each difference: a
 * row of the same kind with two more columns, `change` and `what`. A row that was closed has the
 * columns of the old listing, any other row those of the new listing.
 *
 * Rows are matched as kind.matching says: first by their object, such as the cookie of a socket, if
 * both listings are of one boot; then by their place, such as the protocol, address and port of a
 * listener. A row that the other listing lacks is opened or closed, unless the other listing is
 * incomplete: then nobody knows, and the row is only counted. */
#ifndef FASTNET_DIFFERENCES_H
#define FASTNET_DIFFERENCES_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/field.h"
#include "fastnet/kind.h"
#include "fastnet/saved.h"

/* How rows of a kind are found again in another listing. The members are names of columns,
 * separated by spaces; NULL: no columns. */
struct matching {
    /* Each object of the kernel has another value until the machine restarts. */
    const char *object;
    /* The columns that together are the place of a row. NULL: all fields with field.key. The
     * network namespace of the row always belongs to its place. */
    const char *place;
    /* Columns of the place. A row has no place if each of them is unknown or 0. NULL: each row has.
     */
    const char *named;
    /* A row in which one of these columns is known and not 0 is a connection. In one boot, another
     * object in its place is another connection. */
    const char *peer;
    /* Who holds the row. If another holds it, the row was replaced. */
    const char *holder;
    /* True if the kernel chose the port of this client, so that the port means nothing. Then the
     * columns of `client` stand for the columns of `named`, and the number of such rows is not
     * compared. NULL: no row is such a client. */
    bool (*is_client)(const struct record *record);
    const char *client;
    /* The default columns of a table for people, besides `change` and `what`. NULL: the key fields.
     */
    const char *shown;
};

enum difference {
    DIFFERENCE_OPENED,
    DIFFERENCE_CLOSED,
    DIFFERENCE_REPLACED,
    DIFFERENCE_CHANGED,
};

/* DIFFERENCE_COLUMNS: `change` and `what` */
enum { DIFFERENCE_FIELDS_MAX = 320, DIFFERENCE_COLUMNS = 2 };

/* A kind with the fields of another kind, then `change` and `what`. No field needs a lookup. */
struct difference_kind {
    struct kind kind;
    struct field fields[DIFFERENCE_FIELDS_MAX];
};

/* Makes dst->kind from kind `of`. */
void difference_kind_init(struct difference_kind *dst, const struct kind *of);

/* Makes the columns of rows with `change` and `what` before the columns `of`. kind: of differences.
 */
void difference_columns_init(struct saved_columns *dst, const struct kind *kind,
                             const struct saved_columns *of);

/* True if diff compares the column although no option names it: its value stays as it is until
 * somebody changes something. False for counters, gauges, times, views and names of hosts. */
bool difference_compares(const struct field *field);

struct difference_options {
    struct saved_source *old, *now; /* both of one kind; the differences close them */
    bool incomplete[2];             /* rows of the old, or of the new listing are missing already */
    const char *named; /* columns to compare in any case, as --columns has them; or NULL */
    /* Refuses a head whose question is not that of the first old head. Returns the message, or
     * NULL. May be NULL. */
    const char *(*refuses)(void *arg, const struct saved_head *head);
    void *arg;
};

struct difference_summary {
    uint64_t unknown[2]; /* rows that only the old, or only the new listing has: not known */
    bool incomplete[2];  /* rows of the old, or of the new listing may be missing */
    const char *refused; /* the listings cannot be compared, because ...; NULL: they can */
};

/* The differences as a source of rows of their own kind, for a listing. Borrows the texts of the
 * options. NULL: memory is short; then the caller still has the sources. */
struct saved_source *differences_open(const struct difference_options *options);
/* source: of differences_open(). Valid after the listing. */
const struct difference_summary *differences_summary(const struct saved_source *source);

#endif
