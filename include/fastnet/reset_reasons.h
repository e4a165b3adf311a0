/* SPDX-License-Identifier: MIT */
/* Reasons why the kernel sends a TCP reset: enum sk_rst_reason of include/net/rstreason.h, which
 * the tracepoint tcp:tcp_send_reset has since Linux 6.10. */
#ifndef FASTNET_RESET_REASONS_H
#define FASTNET_RESET_REASONS_H

#include <stdint.h>

#include "fastnet/text.h"

enum { RESET_REASON_NAME = 32 /* room for a name, with the NUL */ };

/* Returns what a reason means, as a sentence without a full stop; NULL if it is not described. The
 * sentence is about the end that sends the reset. reason: the kernel's name without SK_RST_REASON_,
 * because the numbers differ from kernel to kernel. */
const char *reset_reason_meaning(struct text reason);

/* Returns name number i of all described reasons; NULL after the last name. */
const char *reset_reason_word(uint64_t i);

#endif
