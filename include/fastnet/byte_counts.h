/* SPDX-License-Identifier: MIT */
/* Bytes of sockets for which the kernel keeps no counters (UDP, raw, unix ...). BPF programs count
 * them at the calls that send and receive (Linux 6.3), without reading packets. The programs end
 * with this process. */
#ifndef FASTNET_BYTE_COUNTS_H
#define FASTNET_BYTE_COUNTS_H

#include "fastnet/bpf_refusal.h"
#include "fastnet/record.h"

struct byte_counts;

/* Returns NULL if memory is short. */
struct byte_counts *byte_counts_create(void);
void byte_counts_destroy(struct byte_counts *counts);

/* Starts counting in all network namespaces, for the 32,768 sockets that sent or received last.
 * Returns 0, or -errno with the refusal (may be NULL). Uses RIGHT_BPF. */
int byte_counts_begin(struct byte_counts *counts, struct bpf_refusal *refusal);

/* Reads all counters. Returns 0, or -errno: then the counters of the last successful call stay. */
int byte_counts_read(struct byte_counts *counts);

/* Sets the bytes of a socket record: those since byte_counts_begin(), as of the last
 * byte_counts_read(). Changes only records that have a cookie and no counters of the kernel. This
 * function and byte_counts_take() do nothing if `counts` is NULL. */
void byte_counts_complete(const struct byte_counts *counts, struct record *record);

/* Sets the bytes of a socket that has ended, up to its end, and removes its counter. */
void byte_counts_take(const struct byte_counts *counts, struct record *record);

#endif
