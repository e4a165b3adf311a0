#include "cli/conntrack/conntrack_events.h"

#include <sys/eventfd.h>

bool event_bound_keeps(const struct record *record, const void *arg)
{
    const struct event_bound *bound = arg;

    if (*bound->kept == bound->most || (bound->filter && !flow_filter_keeps(record, bound->filter)))
        return false;
    if (++*bound->kept == bound->most)
        eventfd_write(bound->stop, 1);
    return true;
}
