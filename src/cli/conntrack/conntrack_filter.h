/* Which flows or expectations are wanted, as the options of a command line say. */
#ifndef CLI_CONNTRACK_CONNTRACK_FILTER_H
#define CLI_CONNTRACK_CONNTRACK_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/predicate.h"

/* The translation of an end: all of the given members, or any if neither is given. */
struct conntrack_nat {
    bool has_address, has_port;
    struct address address;
    uint16_t port; /* host byte order */
};

/* Options of NAT: of the source, of the destination, of one of both. */
enum conntrack_nat_option { NAT_SOURCE, NAT_DESTINATION, NAT_ANY, NAT_OPTIONS };

/* The predicate that one of them makes. */
struct conntrack_nat_filter {
    bool given;
    struct predicate whole, ends[2], parts[2][2];
};

enum { FILTER_PARTS_MAX = 32 }; /* more than there are fields that options are about */

/* Its predicates point at each other: it cannot be copied. */
struct conntrack_filter {
    uint8_t family;                           /* AF_UNSPEC: any */
    struct predicate parts[FILTER_PARTS_MAX]; /* of the fields that options gave a value */
    size_t count;
    struct conntrack_nat_filter nat[NAT_OPTIONS];
    struct predicate where, of_family;
    struct record key; /* of the flow or expectation that -G asks for */
};

/*
 * What was gathered, for rows of this kind; NULL when all are wanted. Of expectations only the
 * family counts.
 */
const struct predicate *conntrack_filter_where(struct conntrack_filter *filter,
                                               const struct kind *kind);

/* The record by which -G asks for one row of this kind. */
const struct record *conntrack_filter_key(struct conntrack_filter *filter, const struct kind *kind);

/* Whether it is about more than the family. */
bool conntrack_filter_given(const struct conntrack_filter *filter);

#endif
