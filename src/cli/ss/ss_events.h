/* ss -E: sockets as they are closed. */
#ifndef CLI_SS_SS_EVENTS_H
#define CLI_SS_SS_EVENTS_H

#include "cli/command.h"
#include "cli/ss/ss.h"

/* Checks and completes the options. Returns 0, or an exit status after a line on stderr. */
int ss_events_choose(struct ss_options *options);

/* Lists events, as the command says, until a signal ends it. Returns the exit status. */
int ss_events(const struct ss_options *options, const struct listing_command *listed);

#endif
