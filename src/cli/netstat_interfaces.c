/* net-tools netstat: interfaces (-i). */
#include "cli/netstat_options.h"

int netstat_interfaces(struct netstat_options *options, const char *program)
{
    return netstat_refuse_table(options, program);
}
