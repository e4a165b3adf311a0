/* SPDX-License-Identifier: MIT */
/*
 * Kinds of rows: sockets, flows, neighbours ... A kind tells the engine and the sinks all they need
 * to know about its records, so their code names no kind. Each kind is declared in the header of
 * its record (record/SUBJECT.h) and defined with its fields (format/SUBJECT/fields.c).
 */
#ifndef FASTNET_KIND_H
#define FASTNET_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/text.h"

struct field;
struct record;

/* Data that a record borrows: a pointer in the record, and a count right after it. */
struct borrowed {
    uint64_t fields; /* present if record.has has these bits; 0: always */
    size_t offset;   /* bytes from the start of the record to the pointer */
    size_t unit;     /* bytes of one counted element */
    /* A struct of the kernel's, of which rows that wait keep the parts that are needed (field.h).
     * A kind has at most two. */
    bool parted;
};

/* An address (struct address) of a record that may have a host name. */
struct named_address {
    uint64_t fields;
    size_t offset;
    bool (*is_host)(const struct record *record); /* NULL: always */
};

/*
 * Columns that can be chosen together: those that need one of these fields, and those whose names
 * begin with the group's name and '_'. A column belongs to the first group that fits.
 */
struct field_group {
    const char *name;
    uint64_t fields;
};

/* Another word for a value of a column: filters take both, and some tables show this one. */
struct synonym {
    const char *column, *word, *other;
};

/* The word that these tables show. It ends with a NUL byte if `word` does. */
static inline struct text synonym_of(const struct synonym *synonym, struct text word)
{
    return text_is(word, synonym->word) ? as_text(synonym->other) : word;
}

/* How long a row has lived, or at least: it was there when fastnet looked first. */
struct age {
    uint64_t ms; /* milliseconds */
    bool at_least;
};

/* Of rows that go on (live.h), what the engine tells: offsets in the record, and presence bits. */
struct lasting {
    size_t event, age; /* uint8_t (enum live_event), struct age */
    uint64_t has_event, has_age;
    size_t state;     /* offset of its state (uint8_t), of which there are LIVE_STATES at most */
    uint8_t over;     /* state of rows that have ended and are still listed */
    uint8_t closed;   /* ... of those that are not listed and whose end the kernel will tell */
    const char *idle; /* the column that says for how long it has not moved */
};

struct kind {
    const char *name; /* plural, for messages and in metrics of --count-by: "sockets" */
    size_t size;      /* bytes that it uses of struct record, from the start */
    /*
     * What names of metrics (sink_prometheus_create()) begin with after "fastnet_". They are a
     * promise as names of fields are. NULL: its rows are too many for metrics, and those of
     * --count-by are offered; count_by has the columns to offer then.
     */
    const char *metric, *count_by;
    /*
     * True if a row counts all network namespaces together, also if it is read in one. NULL: no row
     * does.
     */
    bool (*is_of_machine)(const struct record *record);
    /*
     * Whether its rows can have an identity. Without it nobody can know whether a pass has listed a
     * row or missed it.
     */
    bool identified;
    /* Two counters of bytes, each way one: their rates together are bytes_per_second (rates.h). */
    const struct field *both_ways;
    const char *rates; /* counters whose rates --delta shows beside the default columns; or NULL */
    const struct field *fields; /* in the order in which --columns=help lists them */
    size_t field_count;
    const struct field_group *groups;
    size_t group_count;
    const char *const (*views)[2]; /* names of views (VALUE_VIEW), and of the compared fields */
    size_t view_count;
    const struct synonym *synonym; /* or NULL */
    const struct borrowed *borrowed;
    size_t borrowed_count;
    const struct named_address *hosts;
    size_t host_count;
    /* Offset of the inode (uint64_t) of the row's socket. Processes that hold the socket own the
     * row. 0: rows have no owners. */
    size_t inode;
    uint64_t cgroup; /* the field that tells the control group of the row; 0: none does */
    /* For events: offset of their time (uint64_t, nanoseconds since 1970). */
    size_t received;
    uint64_t event;                /* present if record.has has this bit */
    const struct lasting *lasting; /* NULL: its rows cannot be looked at one by one */
};

#endif
