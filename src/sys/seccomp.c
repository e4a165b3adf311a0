/* SPDX-License-Identifier: MIT */
/* A system call that is not listed fails with ENOSYS, as in an old kernel: the kernel does nothing,
 * and the C library uses another call if it has one. Killing the process (SECCOMP_RET_KILL_PROCESS)
 * would protect no better, and a new call at the end of a thread in a later C library would end
 * every listing. Calls with the numbers of another architecture do kill the process: this program
 * makes none. */
#include "fastnet/array.h"
#include "fastnet/rights.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined FASTNET_SANITIZED
#define MACHINE 0 /* a sanitizer needs system calls of its own */
#elif defined __x86_64__
#define MACHINE AUDIT_ARCH_X86_64
#elif defined __i386__
#define MACHINE AUDIT_ARCH_I386
#elif defined __AARCH64EL__
#define MACHINE AUDIT_ARCH_AARCH64
#elif defined __ARMEL__
#define MACHINE AUDIT_ARCH_ARM
#elif defined __riscv && __riscv_xlen == 64
#define MACHINE AUDIT_ARCH_RISCV64
#elif defined __powerpc64__ && defined __LITTLE_ENDIAN__
#define MACHINE AUDIT_ARCH_PPC64LE
#elif defined __s390x__
#define MACHINE AUDIT_ARCH_S390X
#else
#define MACHINE 0
#endif

enum { CALLS_MAX = 64 };

/* Calls that end a thread in glibc and musl, and restart_syscall(2), which continues an interrupted
 * call. */
static const int always[] = {
    SYS_exit,         SYS_restart_syscall, SYS_rt_sigprocmask, SYS_futex,
#ifdef SYS_futex_time64
    SYS_futex_time64,
#endif
    SYS_munmap,       SYS_madvise,
};

static struct sock_filter *put_calls(struct sock_filter *at, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        *at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ, (uint32_t)calls[i], 0, 1);
        *at++ = (struct sock_filter)BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW);
    }
    return at;
}

int seccomp_only(const int *calls, size_t count)
{
    struct sock_filter code[2 * CALLS_MAX + 5] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ, MACHINE, 1, 0),
        BPF_STMT(BPF_RET, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    };
    struct sock_filter *at = code + 4;
    struct sock_fprog program = {.filter = code};

    if (!MACHINE)
        return -ENOSYS;
    if (count > CALLS_MAX - COUNT(always))
        return -E2BIG;
    at = put_calls(put_calls(at, always, COUNT(always)), calls, count);
    *at++ = (struct sock_filter)BPF_STMT(BPF_RET, SECCOMP_RET_ERRNO | ENOSYS);
    program.len = (unsigned short)(at - code);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) < 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
        return -errno;
    return 0;
}
