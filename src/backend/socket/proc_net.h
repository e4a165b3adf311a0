/* Decoders for lines of the files of sockets in /proc/net. */
#ifndef BACKEND_SOCKET_PROC_NET_H
#define BACKEND_SOCKET_PROC_NET_H

#include "fastnet/query.h"

struct line;

/* A word in the heading of the file of unix sockets. */
#define UNIX_HEADING "RefCount"

/*
 * Fill the record from one line of PROC_ROOT/net/tcp, udp, udplite or raw (or of those with a 6),
 * and of PROC_ROOT/net/unix. Return 0, or -EBADMSG if the line does not have that form; the record
 * is then of no use. The record of a unix socket borrows its path from the line.
 */
int proc_net_decode_inet(const struct line *line, const struct table *table, struct record *record);
int proc_net_decode_unix(const struct line *line, struct record *record);

#endif
