/* SPDX-License-Identifier: MIT */
/* Listings whose rows are taken in place of being written. */
#ifndef DOCTOR_GATHER_H
#define DOCTOR_GATHER_H

#include "fastnet/engine.h"

/*
 * Hands each row to fn, whose first error (-errno) does not end the listing but is returned.
 * Returns 0, or -errno of an error that ended it.
 */
int gather(struct engine *engine, const struct listing *listing, record_fn fn, void *arg,
           struct report *report);

/* Hands on what a report says if rows may be missing. */
void report_hand_on(struct report *report, const struct report *losses);

#endif
