/* SPDX-License-Identifier: MIT */
/* Patterns of the names that runtimes of containers give to directories and files. */
#ifndef LOOKUP_CGROUP_NAMES_H
#define LOOKUP_CGROUP_NAMES_H

#include <stdbool.h>

#include "fastnet/text.h"

enum { CONTAINER_ID_SHOWN = 12 }; /* digits */

/*
 * Whether the text has the form of the pattern. In it * stands for any bytes, and these for what
 * *told is then:
 *
 *     %i  an id of 64 hexadecimal digits
 *     %u  the uid of a pod: a UUID, with _ in place of - in slices, or 32 digits
 *     %n  a name: all up to what stands behind it in the pattern
 */
bool name_matches(const char *pattern, struct text text, struct text *told);

#endif
