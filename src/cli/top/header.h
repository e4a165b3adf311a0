/* SPDX-License-Identifier: MIT */
/* The numbers above the table: of the kernel, and of interfaces beside their sockets. */
#ifndef CLI_TOP_HEADER_H
#define CLI_TOP_HEADER_H

#include "fastnet/live.h"

struct header;

enum { HEADER_INTERFACES = 16, HEADER_TEXT = 700 };

/* all_netns: interfaces and counters of all namespaces. NULL when memory is short. */
struct header *header_create(bool all_netns);
void header_destroy(struct header *header);

/*
 * Reads the numbers, unless they were read less than `least` nanoseconds ago. What the sockets that
 * the filter leaves have moved is compared with them.
 */
void header_read(struct header *header, const struct live *live, uint64_t least);

/* Whether the numbers were read twice, so that there are rates. */
bool header_has_rates(const struct header *header);

/* "... 0.3 % of segments sent again, 2 listen overflows/s"; "-" for what is not known. */
void header_put_kernel(const struct header *header, char text[HEADER_TEXT]);

/* Interfaces with traffic, each of which has a line. */
size_t header_interfaces(const struct header *header);
void header_put_interface(const struct header *header, size_t i, char text[HEADER_TEXT]);

#endif
