/*
 * Half-open TCP connections (SYN_RECV) have no socket of their own yet. inet_diag says that their
 * user is 0, and counts their retransmissions differently (inet_req_diag_fill() in
 * net/ipv4/inet_diag.c). /proc/net/tcp has the user of the listener and the number of timeouts
 * (get_openreq4() in net/ipv4/tcp_ipv4.c). So this reads the file and finds a connection there by
 * both of its ends.
 */
#ifndef BACKEND_SOCKET_HALF_OPEN_H
#define BACKEND_SOCKET_HALF_OPEN_H

#include "fastnet/query.h"

struct half_open;

/* Reads the half-open rows of query->table from /proc. Returns NULL if memory is short. */
struct half_open *half_open_create(const struct query *query);
void half_open_destroy(struct half_open *half_open);

/* Fills in uid, retransmits and probes, if the file had the connection. Accepts NULL. */
void half_open_complete(const struct half_open *half_open, struct record *record);

/* Notes why a connection of this family could not be completed, if its file was not read. */
void half_open_report(const struct half_open *half_open, const struct query *query, uint8_t family);

#endif
