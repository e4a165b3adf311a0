/* SPDX-License-Identifier: MIT */
/* Half-open TCP connections (SYN_RECV) have no socket of their own yet. inet_diag says that their
 * user is 0, and counts their retransmissions differently (inet_req_diag_fill() in
 * net/ipv4/inet_diag.c). /proc/net/tcp has the user of the listener and the number of timeouts
 * (get_openreq4() in net/ipv4/tcp_ipv4.c). So the file is read, and a connection is found there by
 * both of its ends. */
#ifndef BACKEND_SOCKET_HALF_OPEN_H
#define BACKEND_SOCKET_HALF_OPEN_H

#include "fastnet/query.h"

/* All members 0: the files were not read yet. */
struct half_open {
    struct socket_record *sockets; /* sorted by family and the two ends */
    size_t count, capacity;
    bool read;
    int errors[2]; /* -errno of reading the files of IPv4 and IPv6 */
};

/* Sets uid, retransmits and probes if /proc has the connection. The first call reads the files of
 * query->table. If a file could not be read, a note says why. */
void half_open_complete(struct half_open *half_open, const struct query *query,
                        struct record *record);
void half_open_finish(struct half_open *half_open);

#endif
