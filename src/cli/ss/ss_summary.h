/* ss -s: how many sockets there are. */
#ifndef CLI_SS_SS_SUMMARY_H
#define CLI_SS_SS_SUMMARY_H

#include "cli/ss/ss.h"

/* Prints the summary. Returns the exit status. */
int ss_summary(const struct ss_options *options);

#endif
