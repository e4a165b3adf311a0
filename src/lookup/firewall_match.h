/* SPDX-License-Identifier: MIT */
/* Judges one step of a rule for all packets to one socket. */
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
    uint32_t states; /* bits STATE_*: the packet has one of these states */
    bool is_known;   /* else the packet is REACH_UNKNOWN */
    bool compares;   /* a rule looks at the port or the destination */
    unsigned class;  /* index of the outcomes that rules keep: packet and states */
    unsigned depth;  /* jumps from the base chain to the current chain */
    struct judge_registers registers;
};

/* Bits of the register for "ct state", as in NF_CT_STATE_BIT() of linux/netfilter. */
enum {
    STATE_INVALID = 1,
    STATE_ESTABLISHED = 2,
    STATE_RELATED = 4,
    STATE_NEW = 8,
    STATE_UNTRACKED = 64
};

/* Forgets the content of all registers. */
void judge_forget(struct judge *judge);

/* Runs a step, except a verdict or a lookup in a map of verdicts. Returns whether the rule goes
 * on for each packet. */
enum judged judge_step(struct judge *judge, const struct firewall_step *step);

/* True if the elements of the set can be compared with the step's register. */
bool judge_can_read(const struct firewall_set *set, const struct firewall_step *step);
/* Returns whether the element has the key in the register `from`. */
enum judged judge_element(const struct judge *judge, const struct firewall_set *set,
                          const struct firewall_element *element, unsigned from);

#endif
