/* SPDX-License-Identifier: MIT */
/* One step of a rule, for all packets to one socket at once. */
#ifndef LOOKUP_FIREWALL_MATCH_H
#define LOOKUP_FIREWALL_MATCH_H

#include "lookup/firewall.h"

/* Whether a condition is true. */
enum judged { NEVER, MAYBE, ALWAYS };

/* The kernel's registers. known: bits of which the value is known. */
struct judge_registers {
    uint8_t values[REGISTER_BYTES], known[REGISTER_BYTES];
    int not_index, not_name; /* where an interface is which is not lo; or NO_INDEX */
};

struct judge {
    struct firewall *firewall;
    const struct firewall_packet *packet;
    uint32_t state; /* a bit STATE_* */
    bool compares;  /* a rule looks at the port or the destination */
    bool makes;     /* a program is being made, so both are not known yet */
    size_t class;   /* index of the class of packet and state */
    unsigned depth; /* jumps from the base chain to the current chain */
    struct judge_registers registers;
};

/* Runs a step, except a verdict or a lookup in a map of verdicts. Returns whether the rule goes
 * on for each packet. */
enum judged judge_step(struct judge *judge, const struct firewall_step *step);

/* True if the elements of the set can be compared with the step's register. */
bool judge_can_read(const struct firewall_set *set, const struct firewall_step *step);
/* Returns whether the element has the key in the register `from`. */
enum judged judge_element(const struct judge *judge, const struct firewall_set *set,
                          const struct firewall_element *element, unsigned from);

#endif
