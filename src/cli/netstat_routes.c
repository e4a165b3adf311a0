/* net-tools netstat: the routing tables (-r). */
#include "cli/netstat_options.h"

int netstat_routes(struct netstat_options *options, const char *program)
{
    return netstat_refuse_table(options, program);
}
