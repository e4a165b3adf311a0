/* The decoder of /proc/net/arp's lines, apart from the file that brings them. */
#ifndef BACKEND_NEIGHBOUR_PROC_ARP_H
#define BACKEND_NEIGHBOUR_PROC_ARP_H

#include "fastnet/query.h"

struct line;

/*
 * Fills the record from one line of PROC/net/arp. Returns 0, or -EBADMSG when the line is not of
 * that form, in which case nothing of the record may be used.
 */
int proc_arp_decode(const struct line *line, struct record *record);

#endif
