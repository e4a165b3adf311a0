/* net-tools netstat: counters of protocols (-s). */
#include "cli/netstat_options.h"

int netstat_statistics(struct netstat_options *options, const char *program)
{
    return netstat_refuse_table(options, program);
}
