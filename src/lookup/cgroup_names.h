/* SPDX-License-Identifier: MIT */
/* Patterns of the names that container runtimes give to directories and files. */
#ifndef LOOKUP_CGROUP_NAMES_H
#define LOOKUP_CGROUP_NAMES_H

#include <stdbool.h>

#include "fastnet/text.h"

enum { CONTAINER_ID_SHOWN = 12 }; /* digits */

/* Returns whether the text has the form of the pattern. In a pattern, * is any bytes, and these are
 * a part of the text that *found is set to:
 *
 *     %i  an id of 64 hexadecimal digits
 *     %u  the uid of a pod: a UUID, with _ in place of - in slices, or 32 digits
 *     %n  a name: the text up to the rest of the pattern */
bool name_matches(const char *pattern, struct text text, struct text *found);

#endif
