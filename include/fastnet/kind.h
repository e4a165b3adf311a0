/*
 * Kinds of rows: sockets, flows, neighbours ... A kind is a value that states all that the engine
 * and the sinks have to know of its records, so that neither names a kind. Each is declared in the
 * header of its record (record/SUBJECT.h) and defined with its fields (format/SUBJECT/fields.c).
 */
#ifndef FASTNET_KIND_H
#define FASTNET_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field;
struct record;

/* A pointer and a count, next to each other in a record, of what the record borrows. */
struct borrowed {
    uint64_t fields; /* bits of record.has with which it is there; 0: always */
    size_t place;    /* bytes from the start of the record to the pointer */
    size_t unit;     /* bytes of what the count counts */
};

/* An address (struct address) of a record that may have a host name. */
struct named_address {
    uint64_t fields;
    size_t place;
    bool (*is_host)(const struct record *record); /* NULL: always */
};

struct kind {
    const char *name; /* of its rows, in messages: "sockets" */
    size_t size;      /* bytes of struct record that it fills, from its start */
    /*
     * Whether its rows have an identity, where that is known. If not, a row that one pass over
     * their table missed cannot be told from one that it listed.
     */
    bool identified;
    const struct field *fields; /* in the order in which --columns=help lists them */
    size_t field_count;
    const struct borrowed *borrowed;
    size_t borrowed_count;
    const struct named_address *hosts;
    size_t host_count;
    /* Bytes to the inode (uint64_t) of the socket whose holders own the row; 0: it has no owners.
     */
    size_t inode;
};

#endif
