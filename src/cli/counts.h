/* SPDX-License-Identifier: MIT */
/* Bytes of sockets that the kernel does not count: whether they are counted for a listing. */
#ifndef CLI_COUNTS_H
#define CLI_COUNTS_H

#include "fastnet/engine.h"

enum { COUNTS_TEXT = 96 };

/*
 * From now on they are counted, if the listing has byte_counts and may show such sockets; else
 * byte_counts are NULL then, and if that is a refusal, the report has it. text: which sockets are
 * counted, or are not, for people; empty if the listing shows no such sockets.
 */
void counts_begin(struct listing *listing, char text[COUNTS_TEXT], struct report *report);

#endif
