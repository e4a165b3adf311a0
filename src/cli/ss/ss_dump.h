/* ss -D, and TCPDIAG_FILE, which names a file that -D made. */
#ifndef CLI_SS_SS_DUMP_H
#define CLI_SS_SS_DUMP_H

#include "cli/command.h"
#include "cli/ss/ss.h"

/*
 * Limits the selection to what -D saves. Returns 0, or an exit status after a line on stderr. *done
 * is set if there is nothing to save.
 */
int ss_dump_choose(struct ss_options *options, bool *done);

/* Lists as the command says, to the file of -D. Returns the exit status. */
int ss_dump(const struct ss_options *options, struct listing_command *command);

/* The file that TCPDIAG_FILE names, or NULL. A line on stderr says why it is ignored, if it is. */
const char *ss_diag_file(const struct ss_options *options);

#endif
