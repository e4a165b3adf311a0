/* Which columns a listing shows: --columns, --count-by; and what there is to choose from. */
#ifndef CLI_COLUMNS_H
#define CLI_COLUMNS_H

#include "cli/command.h"

/* Sets the columns that are shown, and what they need. Returns 0 or an exit status. */
int columns_resolve(struct listing_command *command);

/*
 * --columns=help: prints type, unit and text of each column, in JSON or CSV as rows. Returns the
 * exit status.
 */
int columns_help(struct listing_command *command);

/* True if rows are shown in columns, and not in the personality's own layout. */
bool columns_used(const struct listing_command *command);

/* Says that rows of the listing have no such column. Returns the exit status. */
int columns_misuse(const struct listing_command *command, const char *option, struct text name);

#endif
