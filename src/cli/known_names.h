/* SPDX-License-Identifier: MIT */
/* The names that words of a command line can mean now: of processes, units, containers, pods,
 * users, interfaces, services and states. */
#ifndef CLI_KNOWN_NAMES_H
#define CLI_KNOWN_NAMES_H

#include <stdbool.h>

#include "cli/common.h"
#include "fastnet/report.h"

/* Passes each unit, container or pod that has processes to `fn`, once. field: the column of
 * kind_socket that shows them. */
typedef void known_name_fn(const char *name, void *arg);
void known_groups(const struct field *field, known_name_fn *fn, void *arg);

/* True if a process has this name, or a name that this pattern matches, as fnmatch(3). root: /proc,
 * or another directory with its files. */
bool known_process(const char *root, const char *name);

/* Writes the name of a process that is near to `name`, or nothing. */
enum { KNOWN_NAME = 64 };
void known_process_nearest(const char *name, char nearest[KNOWN_NAME]);

/* Adds a note for each word of the command line that can only be a name, if nothing here has this
 * name. The note suggests the nearest name. near_only: adds no note without a suggestion. Does
 * nothing unless stderr is a terminal. */
void known_names_report(const struct common *common, const struct kind *kind, bool near_only,
                        struct report *report);

#endif
