/* Messages about a wrong command line of conntrack. */
#ifndef CLI_CONNTRACK_CONNTRACK_FAIL_H
#define CLI_CONNTRACK_CONNTRACK_FAIL_H

#include "cli/conntrack/conntrack_parsing.h"

/* Says that this was wrong (`typed` is escaped), and where help is. Returns STATUS_PARAMETER. */
int conntrack_fail(const struct conntrack_parsing *parsing, const char *before, const char *typed,
                   const char *after);

/* The same for an option's argument, below a line that says which arguments it takes. */
int conntrack_fail_argument(const struct conntrack_parsing *parsing, const struct option *option,
                            const char *takes, const char *before, const char *typed,
                            const char *after);

/* Says where help is. */
void conntrack_hint(const char *program);

#endif
