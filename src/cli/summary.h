/* --summary, which several personalities have. */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include "cli/common.h"

/* The text of --help. */
#define SUMMARY_HELP "number and memory of sockets, and limits"

/* The message for an option that chooses sockets. */
#define SUMMARY_OF_ALL                                                                             \
    "--summary shows all sockets: it cannot be combined with options that choose some of them"

/* Lists the summary; returns the exit status. */
int summary_list(const struct common *common);

#endif
