/* What the kernel and net-tools call what interfaces hold. */
#ifndef FORMAT_INTERFACE_INTERFACE_NAMES_H
#define FORMAT_INTERFACE_INTERFACE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/value.h"

/* IFF_* (linux/if.h), by their bits. */
extern const struct flag_names interface_flag_names;

/* "UP" ...: IF_OPER_* (linux/if.h, RFC 2863); NULL for a number that has no name. */
const char *interface_state_name(uint64_t state);

#endif
