/*
 * Half-open TCP connections (SYN_RECV) have no socket of their own yet: inet_diag says 0 for their
 * user and counts retransmissions otherwise than /proc/net/tcp, which has the listener's user and
 * the number of timeouts (net/ipv4/inet_diag.c: inet_req_diag_fill; net/ipv4/tcp_ipv4.c:
 * get_openreq4). This reads the missing numbers from there, by the four-tuple.
 */
#ifndef BACKEND_SOCKET_HALF_OPEN_H
#define BACKEND_SOCKET_HALF_OPEN_H

#include "fastnet/query.h"

struct half_open;

/* Reads the half-open rows of query->table from /proc. NULL without memory, which is noted. */
struct half_open *half_open_create(const struct query *query);
void half_open_destroy(struct half_open *half_open);

/* Fills in uid, retransmits and probes where the connection is known. Accepts NULL. */
void half_open_complete(const struct half_open *half_open, struct record *record);

/* Notes why a connection of this family could not be completed, if its file was not read. */
void half_open_report(const struct half_open *half_open, const struct query *query, uint8_t family);

#endif
