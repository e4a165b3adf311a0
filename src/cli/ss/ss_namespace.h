/* ss -N: another network namespace. */
#ifndef CLI_SS_SS_NAMESPACE_H
#define CLI_SS_SS_NAMESPACE_H

#include "cli/ss/ss.h"

/*
 * Enters the namespace that was named, if one was, and gives up the rights to do so. Call it before
 * anything is looked up or read. Returns 0, or an exit status after a line on stderr.
 */
int ss_enter_namespace(const struct ss_options *options);

#endif
