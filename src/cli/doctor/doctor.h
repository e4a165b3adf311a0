/* SPDX-License-Identifier: MIT */
/* The doctor: its command line, and its two listings: what is wrong, and what is exposed. */
#ifndef CLI_DOCTOR_DOCTOR_H
#define CLI_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/common.h"

struct doctor_command {
    struct common common;  /* first */
    uint64_t rules;        /* bit n: doctor_rule(n) is tried */
    unsigned milliseconds; /* between the two readings */
    bool list, exposed, nagios, verbose;
};

/* Lists sockets that other machines can reach. Returns the exit status. */
int doctor_exposed(const struct doctor_command *command);

#endif
