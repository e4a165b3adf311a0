/* SPDX-License-Identifier: MIT */
/* Reasons why the kernel sends a TCP reset: enum sk_rst_reason of include/net/rstreason.h, which
 * the tracepoint tcp:tcp_send_reset has since Linux 6.10. */
#ifndef FASTNET_RESET_REASONS_H
#define FASTNET_RESET_REASONS_H

#include <stdint.h>

#include "fastnet/btf.h"
#include "fastnet/text.h"

/* Returns what a reason means, as a sentence without a full stop; NULL if it is not described. The
 * sentence is about the end that sends the reset. reason: the kernel's name without SK_RST_REASON_,
 * because the numbers differ from kernel to kernel. */
const char *reset_reason_meaning(struct text reason);

/* Returns name number i of all described reasons; NULL after the last name. */
const char *reset_reason_word(uint64_t i);

/* Names by the numbers of the running kernel, without SK_RST_REASON_; an empty name is unknown. */
enum { RESET_REASONS_MAX = 64, RESET_REASON_NAME = 32 };
struct reset_reason_names {
    char name[RESET_REASONS_MAX][RESET_REASON_NAME];
};

/* Reads the names from the kernel's types. All names are empty before Linux 6.10. */
void reset_reason_names_init(struct reset_reason_names *names, const struct btf *btf);

#endif
