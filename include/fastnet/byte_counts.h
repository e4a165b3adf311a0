/* SPDX-License-Identifier: MIT */
/*
 * The bytes of sockets for which the kernel keeps no counters (UDP, raw, unix ...): BPF programs
 * count them where programs send and receive (Linux 6.3), without a look at packets. Nothing of it
 * is left when this process ends.
 */
#ifndef FASTNET_BYTE_COUNTS_H
#define FASTNET_BYTE_COUNTS_H

#include "fastnet/bpf_refusal.h"
#include "fastnet/record.h"

struct byte_counts;

/* NULL when memory is short. */
struct byte_counts *byte_counts_create(void);
void byte_counts_destroy(struct byte_counts *counts);

/*
 * From now on bytes are counted, in all network namespaces: those of the 32,768 sockets that moved
 * last. Returns 0, or -errno with the refusal. Uses RIGHT_BPF.
 */
int byte_counts_begin(struct byte_counts *counts, struct bpf_refusal *refusal);

/* Reads what was counted so far. Returns 0, or -errno: then it is what was read before. */
int byte_counts_read(struct byte_counts *counts);

/*
 * Completes a socket that has a cookie and no counters of its own, by what was read last: its bytes
 * since byte_counts_begin(). Neither this nor byte_counts_take() does anything if counts are NULL.
 */
void byte_counts_tell(const struct byte_counts *counts, struct record *record);

/* The same for a socket that has ended: what was counted up to its end is taken out. */
void byte_counts_take(const struct byte_counts *counts, struct record *record);

#endif
