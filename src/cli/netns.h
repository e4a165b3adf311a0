/* --netns and ss -N: another network namespace. */
#ifndef CLI_NETNS_H
#define CLI_NETNS_H

#include "cli/common.h"

/*
 * Enters the namespace that was named, if one was; common->home is the one before. Call it before
 * anything is looked up or read. Returns 0, or an exit status after a line on stderr.
 */
int netns_enter(struct common *common);

#endif
