/* SPDX-License-Identifier: MIT */
/* Rows of dropped packets that wait for other packets of the same row. */
#ifndef MAKERS_DROP_ROWS_H
#define MAKERS_DROP_ROWS_H

#include <stdbool.h>

#include "fastnet/hash_table.h"
#include "fastnet/record.h"

struct owners;

/* A struct of zeroes has no rows. */
struct drop_rows {
    bool by_reason;         /* one row for each reason and function, without other fields */
    const char *processes;  /* the directory with the processes, as /proc */
    struct hash_table list; /* struct drop_row */
    struct owners *owners;  /* read when two rows differ only in their sockets; or NULL */
    bool searched;          /* owners were searched */
};

/* Adds packets to the row with the same reason, function, interface, process and destination, or
 * adds a row. origin: the process that connected or sent first; pid 0: unknown. Texts of the record
 * are borrowed. Returns 0 or -ENOMEM. */
int drop_rows_add(struct drop_rows *rows, const struct record *record,
                  const struct socket_origin *origin);

/* Passes all rows to `fn` in the order in which they were added, until fn returns less than 0.
 * Returns that value, or 0. */
int drop_rows_each(struct drop_rows *rows, int (*fn)(const struct record *record, void *arg),
                   void *arg);

/* Forgets all rows, and the owners. */
void drop_rows_clear(struct drop_rows *rows);

#endif
