/* SPDX-License-Identifier: MIT */
/* Decoders for lines of /proc/net/igmp and igmp6. */
#ifndef BACKEND_GROUP_PROC_IGMP_H
#define BACKEND_GROUP_PROC_IGMP_H

#include "backend/proc/lines.h"
#include "fastnet/query.h"

/* The interface that the following lines of igmp belong to. */
struct igmp_interface {
    uint32_t index;
    size_t length; /* bytes of the name; 0: no interface yet */
    char name[INTERFACE_TEXT_MAX];
};

/* Decodes a line of igmp after the heading. Returns 0 for a group, NO_ROW (proc_file.h) for a line
 * that names an interface, or -EBADMSG. The record borrows the interface's name. */
int igmp_decode(const struct line *line, struct igmp_interface *interface, struct record *record);

/* Decodes a line of igmp6. Returns 0 or -EBADMSG. The record borrows from the line. */
int igmp6_decode(const struct line *line, struct record *record);

#endif
