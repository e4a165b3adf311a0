/* SPDX-License-Identifier: MIT */
/* --warn, --crit, --for-each and --nagios: which groups of --count-by need attention. */
#ifndef CLI_THRESHOLDS_H
#define CLI_THRESHOLDS_H

#include "cli/command.h"
#include "fastnet/report.h"

/* Checks which options are combined with these. Returns 0 or an exit status. */
int thresholds_check(struct common *common);

/* A step of command_resolve(): parses the conditions and names. */
int thresholds_resolve(struct listing_command *command);

/* Ends a run, which may have failed: writes the line of --nagios. */
void thresholds_end(const struct listing_command *command, struct sink *sink, struct report *report,
                    bool failed);

/* Returns the exit status of a run. status: the exit status without conditions. */
int thresholds_status(const struct listing_command *command, const struct report *report,
                      int status);

#endif
