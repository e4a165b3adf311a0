/* SPDX-License-Identifier: MIT */
/* Numbers of sysctls: files below PROC_ROOT/sys, of the kernel or of a captured tree. */
#ifndef FASTNET_SYSCTL_H
#define FASTNET_SYSCTL_H

#include <stddef.h>
#include <stdint.h>

/* largest number of values that sysctl_numbers() reads */
enum { SYSCTL_NUMBERS_MAX = 4 };

/* Reads one number. name: as for sysctl(8), with slashes, "net/ipv4/tcp_max_orphans". Returns 0, or
 * -errno: an error of opening the file (proc_tree_open_file()), or -EBADMSG if the file is not
 * exactly one line with a number from 0 to UINT64_MAX. A line without its end may have lost digits,
 * so it is malformed, too. */
int sysctl_number(const char *proc_root, const char *name, uint64_t *number);

/* Reads a line of exactly `count` numbers (at most SYSCTL_NUMBERS_MAX), such as the three of
 * "net/ipv4/tcp_mem". Returns as sysctl_number(); on failure `numbers` stays unchanged. */
int sysctl_numbers(const char *proc_root, const char *name, uint64_t *numbers, size_t count);

/* Counts the numbers from `first` to `last` in a sorted list of numbers and ranges, such as
 * "40000-40010,45000" in "net/ipv4/ip_local_reserved_ports". The list may be empty or long. Returns
 * as sysctl_number(); on failure *count stays unchanged. */
int sysctl_count_listed(const char *proc_root, const char *name, uint64_t first, uint64_t last,
                        uint64_t *count);

#endif
