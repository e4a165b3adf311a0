/* SPDX-License-Identifier: MIT */
/* Hardware types of interfaces: ARPHRD_* of linux/if_arp.h. */
#ifndef FASTNET_HARDWARE_H
#define FASTNET_HARDWARE_H

#include <stdbool.h>
#include <stdint.h>

/* Stands for all types that net-tools does not know. */
enum { HARDWARE_UNSPECIFIED = -1 };

/* The members from net_tools on are as in net-tools 2.10 (Debian's build). 0: it does not know. */
struct hardware {
    int type;              /* ARPHRD_* */
    const char *name;      /* as ip-link(8) writes it after "link/" */
    const char *net_tools; /* as net-tools writes it; NULL: it does not know the type */
    const char *title;     /* "Ethernet"; NULL: netstat -ie does not know the type */
    bool arp;              /* has addresses that arp(8) resolves */
    uint8_t bytes;         /* of an address, as netstat -ie shows it */
    char separator;        /* between the bytes */
    bool capitals;         /* hexadecimal digits in capitals */
    bool empty;            /* the address is shown as a blank */
};

/* By type, or by net-tools' name for it. NULL when it is not known. */
const struct hardware *hardware_by_type(int type);
const struct hardware *hardware_by_net_tools(const char *name);

/* As ip-link(8) writes it; NULL when the type is not known. */
const char *hardware_name(uint64_t type);

#endif
