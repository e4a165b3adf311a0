/* SPDX-License-Identifier: MIT */
/* The lines about the whole machine, above the table. */
#ifndef CLI_TOP_HEADER_H
#define CLI_TOP_HEADER_H

#include "cli/terminal/screen.h"
#include "fastnet/machine_rates.h"

enum { HEADER_TEXT = 700 };

/* Text: "retransmitted 0.30 % of segments, listen overflows 2/s", with "-" for unknown numbers. */
void header_put_kernel(const struct machine_rates *rates, char text[HEADER_TEXT]);

/* Text about an interface with traffic. i: below machine_rates_interfaces(). state: whether rates
 * are in bits. */
void header_put_interface(const struct screen_state *state, const struct machine_rates *rates,
                          size_t i, char text[HEADER_TEXT]);

#endif
