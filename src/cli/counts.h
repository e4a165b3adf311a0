/* SPDX-License-Identifier: MIT */
/* Decides whether a listing counts the bytes of sockets for which the kernel has no counter. */
#ifndef CLI_COUNTS_H
#define CLI_COUNTS_H

#include "fastnet/engine.h"

enum { COUNTS_TEXT = 96 };

/* Starts to count if listing->byte_counts is set and the listing may show sockets without counters.
 * Otherwise, or after a refusal, which is reported, sets byte_counts to NULL. `text` says for
 * people which sockets are counted or not; it is empty if the listing shows no such sockets. */
void counts_begin(struct listing *listing, char text[COUNTS_TEXT], struct report *report);

#endif
