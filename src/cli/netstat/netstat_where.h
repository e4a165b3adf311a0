/* Which sockets netstat shows: it goes by the remote end, not by the state. */
#ifndef CLI_NETSTAT_NETSTAT_WHERE_H
#define CLI_NETSTAT_NETSTAT_WHERE_H

#include "fastnet/layouts.h"
#include "fastnet/predicate.h"
#include "fastnet/query.h"

/* Makes the predicate for sockets of this table; NULL: all are shown. */
const struct predicate *netstat_where(struct predicate_tree *where, const struct table *table,
                                      enum show show);

#endif
