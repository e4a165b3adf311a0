/* SPDX-License-Identifier: MIT */
/* Reasons for which packets are dropped: what they mean, and whether anybody misses the packets. */
#ifndef FASTNET_DROP_REASONS_H
#define FASTNET_DROP_REASONS_H

#include <stdint.h>

#include "fastnet/text.h"

enum drop_class {
    DROP_IS_LOSS,     /* somebody wanted the packet */
    DROP_IS_POLICY,   /* it was dropped as somebody asked, or as the protocol wants it */
    DROP_IS_HARMLESS, /* nobody misses it */
};

/*
 * A reason by the kernel's name, without SKB_DROP_REASON_ (include/net/dropreason-core.h), or a
 * counter by its own name. Numbers of reasons differ from kernel to kernel.
 */
struct drop_reason {
    const char *name;
    const char *meaning; /* a sentence without a full stop */
    enum drop_class class;
};

/*
 * What is known of packets that this function of the kernel dropped for this reason: without a
 * reason the function tells more. function: may be empty, where it is not known. Returns NULL if
 * nothing is known.
 */
const struct drop_reason *drop_reason_find(struct text reason, struct text function);

/* The names of reasons: those that have a meaning here, then more(0), more(1), ... NULL: the end. */
const char *drop_reason_word(uint64_t i);

/* Sets where the names of the running kernel come from (drop_probe_kernel_word()). */
void drop_reasons_extend(const char *(*more)(size_t i));

#endif
