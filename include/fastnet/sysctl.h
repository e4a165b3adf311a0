/* SPDX-License-Identifier: MIT */
/* Numbers of sysctls: the files below PROC_ROOT/sys, of the kernel or of a captured tree. */
#ifndef FASTNET_SYSCTL_H
#define FASTNET_SYSCTL_H

#include <stddef.h>
#include <stdint.h>

/* As many numbers as a list has that can be read. */
enum { SYSCTL_NUMBERS_MAX = 4 };

/*
 * name: as sysctl(8) takes it with slashes, "net/ipv4/tcp_max_orphans". Returns 0, or -errno: that
 * of opening the file (proc_tree_open_file()), or -EBADMSG if it does not hold one line with a
 * number from 0 to UINT64_MAX and nothing else. A line without its end may have lost digits, so
 * that is malformed, too.
 */
int sysctl_number(const char *proc_root, const char *name, uint64_t *number);

/*
 * The same for a line of exactly so many numbers, at most SYSCTL_NUMBERS_MAX, such as the three of
 * "net/ipv4/tcp_mem". On failure the numbers stay untouched.
 */
int sysctl_numbers(const char *proc_root, const char *name, uint64_t *numbers, size_t count);

/*
 * How many numbers from first to last there are in a list of numbers and ranges in order, such as
 * "40000-40010,45000" of "net/ipv4/ip_local_reserved_ports", which may be empty and long. Returns 0
 * or an error as above. On failure *count stays untouched.
 */
int sysctl_count_listed(const char *proc_root, const char *name, uint64_t first, uint64_t last,
                        uint64_t *count);

#endif
