/* Hardware types of interfaces: ARPHRD_* of linux/if_arp.h. */
#ifndef FASTNET_HARDWARE_H
#define FASTNET_HARDWARE_H

#include <stdbool.h>

struct hardware {
    const char *name; /* as ip-link(8) writes it behind "link/" */
    /* As net-tools 2.10 (Debian's) writes it; NULL where it does not know the type. */
    const char *arp_name;
    int type; /* ARPHRD_* */
    bool arp; /* has addresses that arp(8) would resolve */
};

/* NULL when the type, or arp's name for one, is not known. */
const struct hardware *hardware_by_type(int type);
const struct hardware *hardware_by_arp_name(const char *name);

#endif
