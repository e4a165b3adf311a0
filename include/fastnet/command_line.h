/* SPDX-License-Identifier: MIT */
/* The arguments of a process. */
#ifndef FASTNET_COMMAND_LINE_H
#define FASTNET_COMMAND_LINE_H

#include <stddef.h>
#include <sys/types.h>

/* Writes the arguments of process `pid` to `text`, separated by spaces and escaped; "-" if they
 * cannot be read. size: bytes of `text`, with the NUL. proc_root: "/proc", for example. Returns
 * text. */
const char *process_command_line(const char *proc_root, pid_t pid, char *text, size_t size);

#endif
