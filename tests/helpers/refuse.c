/* SPDX-License-Identifier: MIT */
/*
 * Runs a program to which the kernel refuses something.
 *
 *     refuse ERROR PROGRAM [ARGUMENT...]       netlink sockets
 *     refuse bpf:ERROR PROGRAM [ARGUMENT...]   bpf(2)
 *     refuse membarrier PROGRAM [ARGUMENT...]  membarrier(2), as processors without ticks do
 *     refuse looks PROGRAM [ARGUMENT...]       access to other processes (ptrace(2))
 *     refuse connect PROGRAM [ARGUMENT...]     connections of TCP, by landlock(7); Linux 6.7
 *     refuse container PROGRAM [ARGUMENT...]   what containers are usually refused
 *
 * ERROR is a name such as EPERM. A seccomp filter (seccomp(2)) answers socket(AF_NETLINK, ...) or
 * bpf(2) with it; everything else is as it was. A process that landlock(7)
 * restricts has no access to processes that it does not restrict, with any rights.
 *
 * The usual seccomp profile of containers lists the allowed system calls. This program refuses the
 * other calls that fastnet could make, also with EPERM, and clone3(2) with ENOSYS, because a filter
 * cannot read its flags.
 */
#include <err.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fastnet/kernel_abi.h"

/* The half of an argument that a number of 32 bits is in. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { LOW_HALF = 4 };
#else
enum { LOW_HALF = 0 };
#endif

static uint32_t error_named(const char *name)
{
    static const struct {
        const char *name;
        uint32_t number;
    } errors[] = {
        {"EPERM", EPERM},
        {"EACCES", EACCES},
        {"ENOENT", ENOENT},
        {"ENOSYS", ENOSYS},
        {"EOPNOTSUPP", EOPNOTSUPP},
        {"EPROTONOSUPPORT", EPROTONOSUPPORT},
        {"EAFNOSUPPORT", EAFNOSUPPORT},
        {"ESOCKTNOSUPPORT", ESOCKTNOSUPPORT},
        {"EMFILE", EMFILE},
        {"ENOBUFS", ENOBUFS},
    };

    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strcmp(errors[i].name, name) == 0)
            return errors[i].number;
    errx(2, "no error is named %s", name);
}

static void install(struct sock_filter *filter, size_t count)
{
    const struct sock_fprog program = {.len = (unsigned short)count, .filter = filter};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
        err(2, "seccomp");
}

static void refuse_call(uint32_t number, uint32_t error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };

    install(filter, sizeof filter / sizeof *filter);
}

/* The first members of struct landlock_ruleset_attr; installed headers may lack the second. */
struct refused_access {
    uint64_t files, network;
};

static void refuse_access(struct refused_access access)
{
    const size_t size = access.network ? sizeof access : sizeof access.files;
    const int fd = (int)syscall(SYS_landlock_create_ruleset, &access, size, 0);

    if (fd < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        syscall(SYS_landlock_restrict_self, fd, 0) < 0)
        err(2, "landlock");
    close(fd);
}

static void refuse_netlink(uint32_t error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + LOW_HALF),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };

    install(filter, sizeof filter / sizeof *filter);
}

static void refuse_of_containers(void)
{
    static const uint32_t calls[] = {
        SYS_bpf,          SYS_setns,        SYS_unshare,           SYS_perf_event_open,
        SYS_keyctl,       SYS_add_key,      SYS_request_key,       SYS_open_by_handle_at,
        SYS_mount,        SYS_umount2,      SYS_userfaultfd,       SYS_process_vm_readv,
        SYS_kcmp,         SYS_pidfd_getfd,  SYS_fanotify_init,     SYS_syslog,
        SYS_init_module,  SYS_finit_module, SYS_process_vm_writev, SYS_io_uring_setup,
        SYS_clock_settime};
    enum { CALLS = sizeof calls / sizeof *calls, NEW_NAMESPACES = 0x7e020000 /* CLONE_NEW... */ };
    const struct sock_filter rest[] = {
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + LOW_HALF),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACES, 4, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + LOW_HALF),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_VSOCK, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_ALG, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_filter filter[1 + 2 * CALLS + sizeof rest / sizeof *rest] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};

    for (size_t i = 0; i < CALLS; i++) {
        filter[1 + 2 * i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
        filter[2 + 2 * i] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
    memcpy(filter + 1 + (size_t)2 * CALLS, rest, sizeof rest);
    install(filter, sizeof filter / sizeof *filter);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        errx(2, "usage: refuse ERROR|bpf:ERROR|looks|connect|container PROGRAM [ARGUMENT...]");
    if (strcmp(argv[1], "looks") == 0)
        /* LANDLOCK_ACCESS_FS_MAKE_FIFO: a right that the program does not need */
        refuse_access((struct refused_access){.files = 1 << 10});
    else if (strcmp(argv[1], "connect") == 0)
        refuse_access(
            (struct refused_access){.network = 1 << 1}); /* LANDLOCK_ACCESS_NET_CONNECT_TCP */
    else if (strcmp(argv[1], "container") == 0)
        refuse_of_containers();
    else if (strncmp(argv[1], "bpf:", 4) == 0)
        refuse_call(SYS_bpf, error_named(argv[1] + 4));
    else if (strcmp(argv[1], "membarrier") == 0)
        refuse_call(SYS_membarrier, EINVAL);
    else
        refuse_netlink(error_named(argv[1]));
    execvp(argv[2], argv + 2);
    err(2, "%s", argv[2]);
}
