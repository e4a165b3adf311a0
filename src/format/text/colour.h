/* Colours of states on a terminal. */
#ifndef FORMAT_TEXT_COLOUR_H
#define FORMAT_TEXT_COLOUR_H

#include <stddef.h>

/* Ends what colour_of_state() starts (ECMA-48, SGR). */
#define COLOUR_RESET "\033[0m"

/* Bytes of the longest result of colour_of_state(). */
enum { COLOUR_MAX = 5 };

/* The escape sequence for a state, by its kernel name or netstat's; NULL for none. */
const char *colour_of_state(const char *name, size_t length);

#endif
