/* net-tools netstat: masqueraded connections (-M). */
#include "cli/netstat_options.h"

int netstat_masquerade(struct netstat_options *options, const char *program)
{
    return netstat_refuse_table(options, program);
}
