/* SPDX-License-Identifier: MIT */
#include "fastnet/bpf_refusal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/rights.h"

int bpf_refuse(struct bpf_refusal *refusal, int error, const char *reason)
{
    if (refusal) {
        refusal->error = error;
        snprintf(refusal->reason, sizeof refusal->reason, "%s", reason);
    }
    return error;
}

int bpf_refuse_step(struct bpf_refusal *refusal, int error, const char *step)
{
    char reason[sizeof refusal->reason];

    if (error >= 0)
        return 0;
    snprintf(reason, sizeof reason, "%s: %s", step,
             error == -ENOBUFS ? "the program is longer than fastnet expected (please report this)"
                               : strerror(-error));
    return bpf_refuse(refusal, error, reason);
}

int bpf_check_rights(struct bpf_refusal *refusal, const char *lent)
{
    char reason[sizeof refusal->reason];

    if (!rights_elevated() && rights_have_all_of(RIGHT_BPF))
        return 0;
    if (!rights_elevated() || !lent)
        return bpf_refuse(refusal, -EPERM, RIGHTS_MISSING("CAP_BPF and CAP_PERFMON"));
    snprintf(reason, sizeof reason,
             "file capabilities and set-user-ID do not permit showing other users' %s (try sudo)",
             lent);
    return bpf_refuse(refusal, -EPERM, reason);
}

/* link: text of the link to the machine's first namespace; its number is fixed (linux/nsfs.h). */
static bool is_in_first(const char *file, const char *link)
{
    char text[32];
    const ssize_t length = readlink(file, text, sizeof text);

    return length == (ssize_t)strlen(link) && memcmp(text, link, (size_t)length) == 0;
}

int bpf_check_namespaces(struct bpf_refusal *refusal, bool pids)
{
    if (pids && !is_in_first("/proc/self/ns/pid", "pid:[4026531836]"))
        return bpf_refuse(refusal, -EPERM,
                          "not possible inside a pid namespace (container, unshare -p)");
    if (!is_in_first("/proc/self/ns/user", "user:[4026531837]"))
        return bpf_refuse(refusal, -EPERM,
                          "not possible inside a user namespace (rootless container, unshare -U)");
    return 0;
}
