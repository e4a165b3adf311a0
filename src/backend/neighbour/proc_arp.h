/* SPDX-License-Identifier: MIT */
/* Decoder for lines of /proc/net/arp. */
#ifndef BACKEND_NEIGHBOUR_PROC_ARP_H
#define BACKEND_NEIGHBOUR_PROC_ARP_H

#include "fastnet/query.h"

struct line;

/*
 * Fills the record from one line of PROC_ROOT/net/arp. Returns 0, or -EBADMSG if the line does not
 * have that form; the record is then of no use.
 */
int proc_arp_decode(const struct line *line, struct record *record);

#endif
