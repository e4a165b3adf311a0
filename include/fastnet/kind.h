/* SPDX-License-Identifier: MIT */
/* Kinds of rows: sockets, flows, neighbours ... A kind describes its records, so that the code of
 * the engine and of sinks names no kind. Each kind is declared beside its record (record/SUBJECT.h)
 * and defined with its fields (model/SUBJECT/fields.c). */
#ifndef FASTNET_KIND_H
#define FASTNET_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/text.h"

struct field;
struct matching;
struct record;

/* Data outside of the record: a pointer in the record, and a count right after the pointer. */
struct borrowed {
    uint64_t fields; /* bits of record.has with which the data is present; 0: always */
    size_t offset;   /* bytes from the start of the record to the pointer */
    size_t unit;     /* bytes of one element */
    /* The data is a struct of the kernel. Rows that wait keep only its needed parts (field.h). A
     * kind has at most two such members. */
    bool parted;
};

/* An address of a record (struct address) that may have a host name. */
struct named_address {
    uint64_t fields;
    size_t offset;
    bool (*is_host)(const struct record *record); /* NULL: always */
};

/* A group of columns that users choose together: fields that need a bit of `fields`, and fields
 * whose names begin with the group's name and '_'. A column belongs to the first group that
 * fits. */
struct field_group {
    const char *name;
    uint64_t fields;
};

/* Another word for a value of a column. Filters accept both; some tables show `other`. */
struct synonym {
    const char *column, *word, *other;
};

/* Returns synonym->other if `word` is synonym->word, otherwise `word`. The result ends with NUL if
 * `word` does. */
static inline struct text synonym_of(const struct synonym *synonym, struct text word)
{
    return text_is(word, synonym->word) ? as_text(synonym->other) : word;
}

/* The age of a row, or a lower bound if the row existed before fastnet's first sample. */
struct age {
    uint64_t ms;
    bool at_least;
};

/* Members that the engine fills in rows of the live store (live.h): offsets in the record, and
 * presence bits. */
struct lasting {
    size_t event, age; /* event is a uint8_t (enum live_event), age a struct age */
    uint64_t has_event, has_age;
    size_t state;     /* offset of the row's state (uint8_t), below LIVE_STATES */
    uint8_t over;     /* state of rows that have ended and are still listed */
    uint8_t closed;   /* state of rows that are no longer listed, before their end is reported */
    const char *idle; /* name of the column with the time since the row's last change */
};

struct kind {
    const char *name; /* plural, for messages and for metrics of --count-by: "sockets" */
    size_t size;      /* bytes of struct record that the kind uses, from the start */
    /* Names of its metrics (sink_prometheus_create()) begin with "fastnet_" and `metric`; they stay
     * after a release, as names of fields do. NULL: too many rows for metrics; a message offers
     * --count-by with the columns in `count_by` instead. */
    const char *metric, *count_by;
    /* True if the row is about all network namespaces together, although it was read in one. NULL:
     * no row is. */
    bool (*is_of_machine)(const struct record *record);
    /* True if rows of this kind can have an identity. Without it, nobody can know whether a second
     * reading has the same row or another. */
    bool identified;
    /* Two counters of bytes, one for each direction. The sum of their rates is bytes_per_second
     * (rates.h). */
    const struct field *both_ways;
    const char *rates; /* counters whose rates --delta shows after the default columns; or NULL */
    const struct field *fields; /* in the order of --columns=help */
    size_t field_count;
    const struct field_group *groups;
    size_t group_count;
    const char *const (*views)[2]; /* names of views, each with its field to compare */
    size_t view_count;
    const struct synonym *synonym;
    const struct borrowed *borrowed;
    size_t borrowed_count;
    const struct named_address *hosts;
    size_t host_count;
    /* Offset of the inode (uint64_t) of the row's socket: processes that hold this socket own the
     * row. 0: rows have no owners. other_inode: of its second socket; 0: it has none. */
    size_t inode, other_inode;
    /* Offset of a struct text with the origin of a socket that has ended (struct socket_origin),
     * and its presence bit; 0: rows have no origin. */
    size_t origin;
    uint64_t has_origin;
    size_t protocol; /* offset of that socket's IPPROTO_* (uint16_t); 0: no such member */
    uint64_t cgroup; /* presence bit of the field with the row's control group; 0: no such field */
    /* For events: offset of their time (uint64_t, ns since 1970). */
    size_t received;
    uint64_t event;                /* presence bit of that time in record.has */
    const struct lasting *lasting; /* NULL: single rows cannot be read */
    /* How rows are found again in another listing (differences.h). NULL: by their key fields. */
    const struct matching *matching;
    /* Sets members of a saved row that no column has. Plain members are set before, computed
     * members after it. Returns the presence bits of the members that it has set. */
    uint64_t (*complete)(struct record *record);
};

#endif
