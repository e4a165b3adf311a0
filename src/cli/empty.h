/* SPDX-License-Identifier: MIT */
/* Explains an empty listing to its user. */
#ifndef CLI_EMPTY_H
#define CLI_EMPTY_H

struct listing;
struct listing_command;
struct report;

/* Adds notes to the report of a finished run: why it may have no row. Adds nothing if the run
 * listed rows, or if it is a repetition (-c). */
void empty_explain(const struct listing_command *command, struct report *report);

/* As empty_explain(), but before a listing that does not end by itself. Adds only facts because of
 * which no row can pass the filter now. */
void empty_foresee(const struct listing *listing, struct report *report);

#endif
