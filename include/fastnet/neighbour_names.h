/* The names that the kernel has for the values of neighbours. */
#ifndef FASTNET_NEIGHBOUR_NAMES_H
#define FASTNET_NEIGHBOUR_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "fastnet/value.h"

/* "REACHABLE" ... of one of NUD_* (linux/neighbour.h); NULL for any other number. */
const char *neighbour_state_name(uint64_t state);
/* The NUD_* of this name, in capitals or not; -1 if no state has it. */
int neighbour_state_number(const char *name, size_t length);

/* NTF_* and, from bit 8 on, NTF_EXT_*. */
extern const struct flag_names neighbour_flag_names;

#endif
