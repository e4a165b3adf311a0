/*
 * Fields: everything that can be shown, sorted by, counted or filtered of a record, one line each
 * in the table of the record's kind. A field yields a value; a sink decides how the value is
 * written, the engine how it compares. The names of fields are a promise: columns, JSON keys and
 * filters.
 */
#ifndef FASTNET_FIELD_H
#define FASTNET_FIELD_H

#include "fastnet/needs.h"
#include "fastnet/record.h"
#include "fastnet/value.h"

struct owners;
struct users;
struct services;
struct hosts;
struct interfaces;
struct labels;
struct senders;
struct networks;

/* The names that were built for a listing; a member is NULL when nobody needs it. */
struct context {
    struct owners *owners;
    struct users *users;
    struct services *services;
    struct hosts *hosts;
    struct interfaces *interfaces;
    struct labels *labels;
    struct senders *senders;
    struct networks *networks;
};

/* The type of a record's member that a field is made from. */
enum member_type {
    MEMBER_NONE,
    MEMBER_UINT8, /* this and the next three: host byte order */
    MEMBER_UINT16,
    MEMBER_UINT32,
    MEMBER_UINT64,
    MEMBER_TEXT,    /* struct text */
    MEMBER_ADDRESS, /* struct address */
};

enum unit { UNIT_NONE, UNIT_BYTES, UNIT_SECONDS, UNIT_PACKETS };

/* One field of one record: what a value is made from. */
struct cell {
    const struct field *field;
    const struct record *record;
    const struct context *context;
};

struct field {
    const char *name; /* in --columns, JSON and CSV; in capitals over a table */
    const char *help; /* one line */
    enum value_type type;
    enum unit unit;
    bool key;           /* part of what identifies a row, from one listing to the next */
    bool counter;       /* only grows, until it is reset: it has a rate */
    uint64_t grows;     /* ... in rows that have these fields; 0: in all */
    bool gauge;         /* a number that rises and falls */
    bool coloured;      /* its values are states: a table may colour them */
    struct needs needs; /* what the backend must have filled for it to be known, and lookups */
    uint64_t optional;  /* fields that are asked for as well, but may be absent */
    /* The member of struct record that it is made from, if it is made from one. */
    enum member_type member;
    size_t place; /* bytes from the start of the record */
    union {
        const struct flag_names *flags;       /* the names of a member's bits */
        const char *(*word)(uint64_t number); /* the name of a member's number, or NULL */
        size_t index;                         /* of what the record holds several of */
    };
    /*
     * Called by field_value() when all that it needs is filled. Borrows from the record and the
     * context. The value's type is field->type, or unknown.
     */
    struct value (*value)(const struct cell *cell);
};

static inline struct value field_value(const struct field *field, const struct record *record,
                                       const struct context *context)
{
    const struct cell cell = {field, record, context};

    if (field->needs.fields & ~record->has)
        return (struct value){.type = VALUE_UNKNOWN};
    return field->value(&cell);
}

/* The member that a field is made from, as a number; a counter has 32 or 64 bits and can be set. */
uint64_t field_number(const struct field *field, const struct record *record);
void field_set_number(const struct field *field, struct record *record, uint64_t number);

/* What is to be asked for so that the field can be shown. */
static inline struct needs field_needs(const struct field *field)
{
    return (struct needs){field->needs.fields | field->optional, field->needs.lookups};
}

/* NULL when the kind has no field of that name (length bytes). */
const struct field *field_find(const struct kind *kind, const char *name, size_t length);

/* Makes *dst the field of kind_count that shows values[index], under the name of `of`. */
void field_counted(struct field *dst, const struct field *of, size_t index);

/* The number of records in a group of kind_count. */
extern const struct field field_count;

#endif
