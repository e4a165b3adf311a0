/* SPDX-License-Identifier: MIT */
/* The fields of multicast groups. */
#include "model/fields/fields.h"

/* The order of --columns=help. Names and meanings never change after a release. */
static const struct field fields[] = {
    TEXT(interface, group.interface, GROUP_INTERFACE, "interface that is in the group",
         .key = true),
    NUMBER(interface_index, group.index, GROUP_INTERFACE, "number of the interface"),
    WORD(family, group.address.family, family_name, GROUP_ADDRESS, "inet or inet6"),
    ADDRESS(group, group.address, GROUP_ADDRESS, "multicast address", .key = true),
    HOST(group_host, group.address, GROUP_ADDRESS, "host name of that address"),
    GAUGE(users, group.users, GROUP_USERS,
          "users of the group on that interface: sockets, and the kernel itself"),
};

static const struct borrowed borrowed[] = {BORROWED_TEXT(group.interface, GROUP_INTERFACE)};
static const struct named_address hosts[] = {NAMED_ADDRESS(group.address, GROUP_ADDRESS)};

const struct kind kind_group = {
    .name = "multicast groups",
    .count_by = "interface",
    .size = RECORD_SIZE(group),
    FIELDS(fields),
    BORROWED(borrowed),
    HOSTS(hosts),
};
