/* The decoders of /proc/net's lines, apart from the files that bring them. */
#ifndef BACKEND_SOCKET_PROC_NET_H
#define BACKEND_SOCKET_PROC_NET_H

#include "fastnet/query.h"

struct line;

/*
 * Fill the record from one line of PROC/net/tcp, udp, udplite, raw (or their 6) and of
 * PROC/net/unix. Return 0, or -EBADMSG when the line is not of that form, in which case nothing
 * of the record may be used. The unix record borrows its path from the line.
 */
int proc_net_decode_inet(const struct line *line, const struct table *table, struct record *record);
int proc_net_decode_unix(const struct line *line, struct record *record);

#endif
