/* SPDX-License-Identifier: MIT */
/* The rates of the machine above the table, in words. */
#ifndef CLI_TOP_HEADER_H
#define CLI_TOP_HEADER_H

#include "fastnet/machine_rates.h"

enum { HEADER_TEXT = 700 };

/* "... 0.3 % of segments sent again, 2 listen overflows/s"; "-" for what is not known. */
void header_put_kernel(const struct machine_rates *rates, char text[HEADER_TEXT]);

/* An interface with traffic; i: below machine_rates_interfaces(). */
void header_put_interface(const struct machine_rates *rates, size_t i, char text[HEADER_TEXT]);

#endif
