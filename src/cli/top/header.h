/* SPDX-License-Identifier: MIT */
/* The lines about the whole machine, above the table. */
#ifndef CLI_TOP_HEADER_H
#define CLI_TOP_HEADER_H

#include "cli/terminal/screen.h"
#include "fastnet/machine_rates.h"

enum { HEADER_TEXT = 700 };

/* Text: "sent 1.2MB/s, received 310KB/s, opened 24/s, closed 23/s, retransmitted 0.30 % of
 * segments, listen overflows 2/s", with "-" for unknown numbers. */
void header_put_rates(const struct screen_state *state, const struct machine_rates *rates,
                      const struct live_summary *summary, char text[HEADER_TEXT]);

/* Text about an interface with traffic. i: below machine_rates_interfaces(). state: whether rates
 * are in bits. */
void header_put_interface(const struct screen_state *state, const struct machine_rates *rates,
                          size_t i, char text[HEADER_TEXT]);

#endif
