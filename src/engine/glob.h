/* Patterns: those of --where, and those of file names, as ss has them. */
#ifndef ENGINE_GLOB_H
#define ENGINE_GLOB_H

#include <stdbool.h>

#include "fastnet/text.h"

/*
 * Whether the whole text matches: * any bytes, ? one byte, \ takes the next one as it is. loose:
 * [a-z] and [!a-z] are one of these or none of these, the case of ASCII letters does not count, and
 * a NUL of the text is an @. The time is at most that of the lengths multiplied.
 */
bool glob_matches(struct text pattern, struct text text, bool loose);

#endif
