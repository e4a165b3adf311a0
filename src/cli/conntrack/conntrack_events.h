/* Events that wait for the end, where --sort shows them: there must be a bound to how many. */
#ifndef CLI_CONNTRACK_CONNTRACK_EVENTS_H
#define CLI_CONNTRACK_CONNTRACK_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/flow_filter.h"

enum { EVENTS_KEPT_MAX = 1000000 }; /* some 350 MB */

struct event_bound {
    const struct flow_filter *filter; /* which events count; NULL: all */
    size_t most;
    size_t *kept; /* how many have been, 0 to start with */
    int stop;     /* an eventfd(2), which can be read when that is the most */
};

/* For struct listing.keep: arg is a struct event_bound. */
bool event_bound_keeps(const struct record *record, const void *arg);

#endif
