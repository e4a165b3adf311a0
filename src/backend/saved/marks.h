/* SPDX-License-Identifier: MIT */
/* Reads the marks of saved files and recordings (saved.h, recording.h). */
#ifndef BACKEND_SAVED_MARKS_H
#define BACKEND_SAVED_MARKS_H

#include "fastnet/saved.h"
#include "text/json.h"

/* A head with the memory of its texts. All zeroes: no head yet. */
struct mark_head {
    struct saved_head head;
    uint64_t format;    /* 0: the mark does not say it */
    char kind_name[64]; /* empty: the mark does not say it */
    bool segment;       /* the file is a part of a recording */
    char *texts;        /* owned */
    const char **arguments;
};

/* True if the row is a mark: an object whose first key is SAVED_MARK. */
bool mark_is(const struct json_row *row);
/* True if the row is this mark: "head", "end" ... */
bool mark_is_named(const struct json_row *row, const char *name);

/* A member of a mark, or NULL. */
const struct json_member *mark_member(const struct json_row *row, const char *key);
/* The number of a member, times 10^decimals. False: there is no such member, or its value is no
 * whole number then. */
bool mark_decimal(const struct json_row *row, const char *key, int decimals, uint64_t *number);
static inline bool mark_number(const struct json_row *row, const char *key, uint64_t *number)
{
    return mark_decimal(row, key, 0, number);
}
/* Copies the string of a member, cut to `size`; empty: there is no such string. */
void mark_copy(const struct json_row *row, const char *key, char *dst, size_t size);
bool mark_is_true(const struct json_row *row, const char *key);
/* The time of the mark, ns since 1970 (RFC 3339, UTC, microseconds). False: it has none. */
bool mark_time(const struct json_row *row, uint64_t *time);

/* Reads a head. file: name for messages, which must live as long. Returns 0 or -ENOMEM; then there
 * is no head. */
int mark_take_head(struct mark_head *mark, const struct json_row *row, const char *file);
/* Forgets the head: rows that follow have only the name of their file. */
void mark_forget_head(struct mark_head *mark, const char *file);

#endif
