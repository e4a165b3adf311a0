/* What the kernel and net-tools call what interfaces hold. */
#ifndef FORMAT_INTERFACE_INTERFACE_NAMES_H
#define FORMAT_INTERFACE_INTERFACE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/column.h"

/* IFF_* (linux/if.h), by their bits. */
extern const struct flag_names interface_flag_names;

/* "UP" ...: IF_OPER_* (linux/if.h, RFC 2863); NULL for a number that has no name. */
const char *interface_state_name(uint8_t state);

/* A kind of hardware as net-tools shows it, with the first bytes of its address. */
struct hardware {
    uint16_t type;     /* ARPHRD_* (linux/if_arp.h) */
    uint8_t bytes;     /* of the address that are shown */
    char separator;    /* between them */
    bool capitals;     /* of hexadecimal letters */
    bool empty;        /* a blank stands for the address */
    const char *name;  /* "ether" */
    const char *title; /* "Ethernet" */
};

/* NULL for a type that net-tools does not know. */
const struct hardware *hardware_of(uint16_t type);

/* What it shows in place of these. */
extern const struct hardware hardware_unspecified;

#endif
