/*
 * Columns: what can be shown of a record, under names that are a promise. A column yields a value;
 * how a value is written is the sink's matter, how it compares the engine's.
 */
#ifndef FASTNET_COLUMN_H
#define FASTNET_COLUMN_H

#include <stdbool.h>

#include "fastnet/record.h"

struct owners;
struct owner;
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

enum value_type {
    VALUE_UNKNOWN, /* null in JSON, "-" in a table, empty in CSV */
    VALUE_NUMBER,
    VALUE_SIGNED,      /* a number that may be negative */
    VALUE_DECIMAL,     /* three decimals, held as thousandths: seconds as milliseconds */
    VALUE_TEXT,        /* to be escaped */
    VALUE_SOCKET_NAME, /* text too; escape_socket_name() writes it, JSON has the bytes themselves */
    VALUE_NAME,        /* a name, or the number's digits where it has none; text in JSON */
    VALUE_ADDRESS,     /* an IPv4-mapped one is yielded as AF_INET */
    VALUE_OWNERS,
    VALUE_LLADDR, /* a link-layer address: as IP where family says so, else its bytes */
    VALUE_FLAGS,  /* names of set bits: joined by commas, an array in JSON */
};

/* The names of bits; one that has none (NULL, or past the count) is shown as its number. */
struct flag_names {
    const char *const *names;
    size_t count;
};

enum { VALUE_FLAG_BITS = 128 };

struct value {
    enum value_type type;
    uint8_t family; /* of an address; of a link-layer address AF_UNSPEC, if it is not one of IP */
    union {
        uint64_t number;
        struct {
            uint64_t magnitude;
            bool negative; /* of 0 it is false */
        } integer;
        struct text text; /* and the bytes of a VALUE_LLADDR, at most LLADDR_MAX */
        struct {
            const char *string; /* or NULL */
            uint64_t number;
        } name;
        uint8_t address[16];
        struct {
            const struct owner *first;
            size_t count;
        } owners;
        struct {
            const struct flag_names *names;
            uint64_t bits[VALUE_FLAG_BITS / 64]; /* bit n is bit n % 64 of word n / 64 */
        } flags;
    };
};

/* The type of a record's member that a column is made from. */
enum member_type {
    MEMBER_NONE,
    MEMBER_UINT8, /* this and the next three: host byte order */
    MEMBER_UINT16,
    MEMBER_UINT32,
    MEMBER_UINT64,
    MEMBER_TEXT,    /* struct text */
    MEMBER_ADDRESS, /* 16 bytes, as in struct endpoint */
};

struct column {
    const char *name;    /* in --columns, JSON and CSV */
    const char *heading; /* over a table */
    const char *help;    /* one line */
    uint64_t needs;      /* fields and lookups */
    enum value_type type;
    bool coloured; /* its values are states: a table may colour them */
    /* What a function that serves many columns is to look at in this one. */
    enum member_type member;
    size_t place; /* bytes from the record to that member; if counted: which of count.values */
    /* Borrows from the record and the context. The value's type is column->type, or unknown. */
    struct value (*value)(const struct column *column, const struct record *record,
                          const struct context *context);
};

struct column_table {
    enum record_kind kind;
    const struct column *columns;
    size_t count;
};

/* The columns of a record kind; none for RECORD_COUNT, whose columns are made for each listing. */
const struct column_table *columns_of(enum record_kind kind);

/* NULL when the kind has no column of that name (length bytes). */
const struct column *column_find(enum record_kind kind, const char *name, size_t length);

/* Makes *dst the column of RECORD_COUNT that shows values[index], under the name of `of`. */
void column_counted(struct column *dst, const struct column *of, size_t index);

/* The number of records in a group of RECORD_COUNT. */
extern const struct column column_count;

/* Upper bound of what value_write() writes for this value. */
size_t value_bound(const struct value *value);

/*
 * Plain text of a value, escaped, the delimiters too. It is never empty: unknown and empty are
 * "-", and a text that is just "-" becomes \x2d. Owners are name/pid/fd joined by commas, with
 * blank, comma, slash and '"' in names escaped too. Returns the end.
 */
char *value_write(char *dst, const struct value *value, const char *delimiters);

#endif
