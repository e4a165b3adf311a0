/* SPDX-License-Identifier: MIT */
/* The parsed command line of arp. */
#ifndef CLI_ARP_ARP_H
#define CLI_ARP_ARP_H

#include <stdbool.h>

#include "cli/common.h"
#include "fastnet/hardware.h"

/* The exit status of net-tools' arp for a wrong argument: exit(-1). */
enum { STATUS_ARP_FAILURE = 255 };

struct arp_options {
    struct common common;
    bool all;         /* -a */
    bool linux_style; /* -e */
    bool numeric, verbose;
    const struct hardware *hardware; /* -H, or NULL */
    const char *device;              /* -i as typed, or NULL */
    const char *host;                /* as typed, or NULL */
};

/* Parses a command line of arp. Returns PARSED or an exit status, as common_parse() does. */
int arp_parse(struct arp_options *options, int argc, char *const argv[]);

#endif
