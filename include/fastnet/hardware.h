/* Hardware types of interfaces: ARPHRD_* of linux/if_arp.h. */
#ifndef FASTNET_HARDWARE_H
#define FASTNET_HARDWARE_H

#include <stdbool.h>
#include <stdint.h>

/* No interface has it: what net-tools shows of types that it does not know. */
enum { HARDWARE_UNSPECIFIED = -1 };

/* What net-tools 2.10 (as Debian builds it) knows of a type; of others these members are 0. */
struct hardware {
    int type;              /* ARPHRD_* */
    const char *name;      /* as ip-link(8) writes it behind "link/" */
    const char *net_tools; /* as net-tools writes it; NULL: it does not know the type */
    const char *title;     /* "Ethernet"; NULL: netstat -ie does not know the type */
    bool arp;              /* has addresses that arp(8) resolves */
    uint8_t bytes;         /* of an address, as netstat -ie shows it */
    char separator;        /* between them */
    bool capitals;         /* of hexadecimal letters */
    bool empty;            /* a blank stands for the address */
};

/* NULL when the type, or net-tools' name for one, is not known. */
const struct hardware *hardware_by_type(int type);
const struct hardware *hardware_by_net_tools(const char *name);

/* As ip-link(8) writes it; NULL when the type is not known. */
const char *hardware_name(uint64_t type);

#endif
