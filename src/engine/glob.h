/* Patterns of file names, as the shell and ss have them. */
#ifndef ENGINE_GLOB_H
#define ENGINE_GLOB_H

#include <stdbool.h>

#include "fastnet/text.h"

/*
 * Whether the whole name matches: * any bytes, ? one byte, [a-z] and [!a-z] one of these or none of
 * these, \ takes the next one as it is. The case of ASCII letters does not count; a NUL of the name
 * is an @. The time is at most that of the lengths multiplied.
 */
bool glob_matches(struct text pattern, struct text name);

#endif
