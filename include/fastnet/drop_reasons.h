/* SPDX-License-Identifier: MIT */
/* Reasons why the kernel drops packets: what a reason means, and whether a drop is a loss. */
#ifndef FASTNET_DROP_REASONS_H
#define FASTNET_DROP_REASONS_H

#include <stdint.h>

#include "fastnet/text.h"

/* Whether somebody misses a dropped packet. */
enum drop_class {
    DROP_IS_LOSS,     /* somebody wanted the packet */
    DROP_IS_POLICY,   /* a rule of the user, or the protocol, demands the drop */
    DROP_IS_HARMLESS, /* nobody misses the packet */
};

/* A reason by the kernel's name, without SKB_DROP_REASON_ (include/net/dropreason-core.h), or a
 * counter by its name. Numbers of reasons differ from kernel to kernel. */
struct drop_reason {
    const char *name;
    const char *meaning; /* a sentence without a full stop */
    enum drop_class class;
};

/* Finds the description of drops for this reason. If the kernel gave no reason (NOT_SPECIFIED), the
 * function that dropped the packets decides. function: empty if unknown. Returns NULL if there is
 * no description. */
const struct drop_reason *drop_reason_find(struct text reason, struct text function);

/* Returns name number i of all reasons: first the names described here, then those of
 * drop_reasons_extend(). NULL after the last name. */
const char *drop_reason_word(uint64_t i);

/* Adds names of the running kernel: more(0), more(1) and so on, until more() returns NULL
 * (drop_probe_kernel_word()). */
void drop_reasons_extend(const char *(*more)(size_t i));

#endif
