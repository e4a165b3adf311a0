/* SPDX-License-Identifier: MIT */
/* Why a BPF program does not run: a right is missing, or the kernel refused it. */
#ifndef FASTNET_BPF_REFUSAL_H
#define FASTNET_BPF_REFUSAL_H

#include <stdbool.h>

struct bpf_refusal {
    int error;        /* -errno; 0: nothing was refused */
    char reason[160]; /* for a message */
};

/* Sets the refusal, unless it is NULL. Returns the error. */
int bpf_refuse(struct bpf_refusal *refusal, int error, const char *reason);
/* The same for a step that returned an error: "bpf(2): Invalid argument". Returns 0 for no error.
 */
int bpf_refuse_step(struct bpf_refusal *refusal, int error, const char *step);

/*
 * Checks the rights for a program that shows what other users do: a user to whom rights are lent
 * may not see it. lent: the word for it in the refusal of such a user ("packets"); NULL: the
 * refusal names the capabilities. Returns 0 or -EPERM.
 */
int bpf_check_rights(struct bpf_refusal *refusal, const char *lent);

/*
 * Checks that this process is in the user namespace that the machine began with, whose rights
 * count, and in its first pid namespace (pids). Not if /proc does not say it. Returns 0 or -EPERM.
 */
int bpf_check_namespaces(struct bpf_refusal *refusal, bool pids);

#endif
