/* SPDX-License-Identifier: MIT */
/* The name of the machine. */
#ifndef FASTNET_MACHINE_H
#define FASTNET_MACHINE_H

/* Writes the name of this machine, or of the machine that a tree was captured on
 * (sys/kernel/hostname in the tree). host: empty if the name is unknown. */
void machine_name(const char *proc_root, char host[65]);

#endif
