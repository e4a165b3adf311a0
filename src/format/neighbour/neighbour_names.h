/* What the kernel calls what neighbours hold. */
#ifndef FORMAT_NEIGHBOUR_NEIGHBOUR_NAMES_H
#define FORMAT_NEIGHBOUR_NEIGHBOUR_NAMES_H

#include <stdint.h>

#include "fastnet/value.h"

/* "REACHABLE" ...: one of NUD_* (linux/neighbour.h); NULL for what is none or several of them. */
const char *neighbour_state_name(uint64_t state);

/* NTF_* and, from bit 8 on, NTF_EXT_*. */
extern const struct flag_names neighbour_flag_names;

#endif
