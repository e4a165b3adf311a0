/* The kernel's names of the states that all sockets share, and of those of neighbours. */
#ifndef FORMAT_STATES_H
#define FORMAT_STATES_H

#include <stdint.h>

/* "ESTABLISHED" for TCP_ESTABLISHED ...; NULL for a state that the kernel does not have. */
const char *state_name(uint8_t state);

/* "REACHABLE" for NUD_REACHABLE ...; NULL for what is no state of a neighbour. */
const char *neighbour_state_name(uint16_t state);

#endif
