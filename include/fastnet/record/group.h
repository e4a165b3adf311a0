/* SPDX-License-Identifier: MIT */
/* Multicast groups. */
#ifndef FASTNET_RECORD_GROUP_H
#define FASTNET_RECORD_GROUP_H

#include <stdint.h>

#include "fastnet/address.h"
#include "fastnet/kind.h"
#include "fastnet/text.h"

extern const struct kind kind_group;

/* A multicast group that an interface has joined: /proc/net/igmp, /proc/net/igmp6. */
#define GROUP_INTERFACE (UINT64_C(1) << 0) /* its name and index */
#define GROUP_ADDRESS   (UINT64_C(1) << 1)
#define GROUP_USERS     (UINT64_C(1) << 2)

struct group_record {
    struct address address;
    uint32_t index;        /* index of the interface */
    uint32_t users;        /* sockets and parts of the kernel that joined it */
    struct text interface; /* name of the interface, at most INTERFACE_TEXT_MAX bytes */
};

#endif
