/*
 * Which objects were listed already, by record.identity.
 *
 * The kernel resumes a dump by bucket and position, so a row that comes again comes close to where
 * a datagram or a read ended: a window over the last rows finds it in constant memory. To merge
 * two passes everything is remembered.
 */
#ifndef ENGINE_SEEN_H
#define ENGINE_SEEN_H

#include <stdbool.h>
#include <stdint.h>

struct seen;

/* NULL when memory is short. */
struct seen *seen_create(void);
void seen_destroy(struct seen *seen);

/* Forgets everything; remembers all that follows, or only the last rows. */
void seen_start(struct seen *seen, bool all);

/* Remembers identity (not 0). Returns 1 when it was there already, 0 when not, -ENOMEM. */
int seen_before(struct seen *seen, uint64_t identity);

#endif
