/* SPDX-License-Identifier: MIT */
/* Patterns: those of --where, and those of file names, as ss has them. */
#ifndef ENGINE_GLOB_H
#define ENGINE_GLOB_H

#include <stdbool.h>

#include "fastnet/text.h"

/*
 * Whether the whole text matches: * any bytes, ? one byte, \ takes the next one as it is. The time
 * is at most that of the lengths multiplied.
 */
bool glob_matches(struct text pattern, struct text text);

/* As fnmatch(3) with FNM_CASEFOLD, where a NUL of the text is an @. */
bool glob_matches_loosely(const char *pattern, struct text text);

#endif
