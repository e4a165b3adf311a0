/* SPDX-License-Identifier: MIT */
/* --at and --between: lists rows of a recording (fastnet/recording.h). */
#ifndef CLI_RECORDED_H
#define CLI_RECORDED_H

#include "cli/command.h"
#include "fastnet/saved.h"

/* True if an option asks for rows of a recording. */
static inline bool recorded_is_wanted(const struct common *common)
{
    return common->at || common->between;
}

/* Checks which options are combined with --at, --between and --record. Returns 0 or an exit
 * status. */
int recorded_check(const struct common *common);

/* Opens the recording. Returns 0, or an exit status after a line on stderr. */
int recorded_open(const struct common *common, const struct kind *kind,
                  struct saved_source **source);

/* `fastnet record --list`: prints the parts of the recording in `directory`; NULL: the default.
 * Returns the exit status. */
int recorded_list(const struct common *common, const char *directory);

#endif
