/* SPDX-License-Identifier: MIT */
/* Hardware types of interfaces: ARPHRD_* of linux/if_arp.h. */
#ifndef FASTNET_HARDWARE_H
#define FASTNET_HARDWARE_H

#include <stdbool.h>
#include <stdint.h>

/* stands for all types that net-tools does not know */
enum { HARDWARE_UNSPECIFIED = -1 };

/* The members from net_tools on describe net-tools 2.10 (Debian's build). A member is 0 if
 * net-tools does not know the type. */
struct hardware {
    int type;              /* ARPHRD_* */
    const char *name;      /* name that ip-link(8) writes after "link/" */
    const char *net_tools; /* net-tools' name; NULL: it does not know the type */
    const char *title;     /* heading of netstat -ie, such as "Ethernet"; NULL: it has none */
    bool arp;              /* arp(8) resolves addresses of this type */
    uint8_t bytes;         /* bytes of an address that netstat -ie shows */
    char separator;        /* character between the bytes */
    bool capitals;         /* hexadecimal digits are capitals */
    bool empty;            /* netstat -ie shows a space instead of the address */
};

/* Find a type by its number, or by net-tools' name. Return NULL if it is unknown. */
const struct hardware *hardware_by_type(int type);
const struct hardware *hardware_by_net_tools(const char *name);

/* Returns the name that ip-link(8) writes; NULL if the type is unknown. */
const char *hardware_name(uint64_t type);

#endif
