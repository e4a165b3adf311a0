/* SPDX-License-Identifier: MIT */
/* Remembers which objects were listed, by record.identity.
 *
 * The kernel resumes a dump by bucket and position, so a repeat comes soon after the end of a
 * datagram or a read. A window over the last rows finds it in constant memory. To merge two passes,
 * all rows are remembered. */
#ifndef ENGINE_SEEN_H
#define ENGINE_SEEN_H

#include <stdbool.h>
#include <stdint.h>

struct seen;

/* NULL when memory is short. */
struct seen *seen_create(void);
void seen_destroy(struct seen *seen);

/* Forgets all rows. From now on remembers all rows, or only the last rows (all = false). */
void seen_start(struct seen *seen, bool all);

/* Remembers identity (not 0). Returns 1 if it was known already, 0 if not, or -ENOMEM. */
int seen_before(struct seen *seen, uint64_t identity);

/* True if the identity is remembered. */
bool seen_has(const struct seen *seen, uint64_t identity);

#endif
