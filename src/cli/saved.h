/* SPDX-License-Identifier: MIT */
/* --save and --from: writes and lists rows that were printed before (fastnet/saved.h). */
#ifndef CLI_SAVED_H
#define CLI_SAVED_H

#include "cli/command.h"

/* Checks which options are combined with --save and --from. --save chooses the form of the output.
 * Returns 0 or an exit status. */
int saved_check(struct common *common);

/* For --from: reads the first row, and makes the listing one of saved rows. Changes `common`, which
 * must live as long as the listing: groups are listed by the columns that they were counted by.
 * Returns 0, or an exit status after a line on stderr. */
int saved_begin(struct listing_command *command, struct common *common, struct report *report);
void saved_finish(struct listing_command *command);

/* True if a saved listing has the column, or a live listing may have it. */
bool saved_has(const struct listing_command *command, const struct field *field);

/* Returns a column in the filter that was not saved, or NULL. Call it before the rows are read. */
const struct field *saved_lacks(const struct listing_command *command,
                                const struct predicate *where);

/* `fastnet --from=FILE`, without an option that chooses a table: lists the file with the command
 * that lists its kind. Returns the exit status. */
int saved_run(const struct common *common, int argc, char *const argv[]);

/* --save: write the mark before a listing, and the mark after it, which says if the listing is
 * complete. */
void saved_put_head(const struct listing_command *command, struct writer *writer);
void saved_put_end(struct sink *sink, bool complete);

/* The parts of a mark: its begin; a member with a text, or null if the text is empty; the members
 * `host` and `boot_id` of this machine or of a captured tree; the member `time`. */
void saved_put_mark(struct writer *writer, const char *mark);
void saved_put_member(struct writer *writer, const char *name, const char *text);
void saved_put_machine(struct writer *writer, const char *proc_root);
void saved_put_time(struct writer *writer, uint64_t time);

#endif
