/* net-tools netstat: multicast memberships (-g). */
#include "cli/netstat_options.h"

int netstat_groups(struct netstat_options *options, const char *program)
{
    return netstat_refuse_table(options, program);
}
