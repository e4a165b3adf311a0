/* SPDX-License-Identifier: MIT */
/* Why a BPF program does not run: a right is missing, or the kernel refuses it. */
#ifndef FASTNET_BPF_REFUSAL_H
#define FASTNET_BPF_REFUSAL_H

#include <stdbool.h>

struct bpf_refusal {
    int error;        /* -errno; 0: nothing was refused */
    char reason[160]; /* text for a message */
};

/* Sets *refusal, unless it is NULL. Returns `error`. */
int bpf_refuse(struct bpf_refusal *refusal, int error, const char *reason);
/* If `error` is negative, sets *refusal to a step and its error: "bpf(2): Invalid argument".
 * -ENOBUFS: as from bpf_program_load(). Returns `error`; 0 for success. */
int bpf_refuse_step(struct bpf_refusal *refusal, int error, const char *step);

/* Checks the rights to load a program that shows activity of other users. Rights that a user has
 * only from file capabilities or set-user-ID are not enough. lent: the word for this activity in
 * the refusal ("packets"); NULL: the refusal names the capabilities. Returns 0 or -EPERM. */
int bpf_check_rights(struct bpf_refusal *refusal, const char *lent);

/* Checks that this process is in the first user namespace, because BPF needs rights there, and with
 * `pids` in the first pid namespace. Returns 0; -EPERM if not, or if /proc does not show it. */
int bpf_check_namespaces(struct bpf_refusal *refusal, bool pids);

#endif
