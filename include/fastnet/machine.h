/* SPDX-License-Identifier: MIT */
/* The name of the machine. */
#ifndef FASTNET_MACHINE_H
#define FASTNET_MACHINE_H

/*
 * The name of this machine, or of the one that a tree was captured on, which sys/kernel/hostname
 * has; empty if it is unknown.
 */
void machine_name(const char *proc_root, char host[65]);

#endif
