/* Chooses the tables of the kernel that an ss listing reads. */
#ifndef CLI_SS_SS_TABLES_H
#define CLI_SS_SS_TABLES_H

#include "cli/ss/ss.h"
#include "fastnet/engine.h"

/* The tables point at their predicates: it cannot be copied. */
struct ss_tables {
    struct listing_table tables[2 * SS_TABLES];
    struct predicate_tree where[SS_TABLES];
    size_t count;
};

/* The tables of a completed selection, in ss's order. */
void ss_choose_tables(struct ss_tables *tables, const struct ss_options *options);

#endif
