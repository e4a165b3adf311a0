/* arp's command line, parsed. */
#ifndef CLI_ARP_OPTIONS_H
#define CLI_ARP_OPTIONS_H

#include <stdbool.h>

#include "cli/common.h"
#include "fastnet/hardware.h"

/* net-tools' arp ends so when something was wrong with what it was asked: exit(-1). */
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

extern const struct grammar arp_grammar;

/*
 * Returns 0, or an exit status after a line on stderr. *done is set when the answer was printed
 * already (--help, --version, --completion).
 */
int arp_parse(struct arp_options *options, int argc, char *const argv[], bool *done);

#endif
