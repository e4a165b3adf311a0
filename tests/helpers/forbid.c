/* SPDX-License-Identifier: MIT */
/*
 * Makes a group of cgroup2 in which connect(2) to addresses of IPv4 and IPv6 fails with EPERM, by
 * BPF programs, as long as the command runs.
 *
 *     forbid DIRECTORY COMMAND [ARGUMENT...]   runs the command in the group, which is made there
 */
#include <err.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int call(int command, union bpf_attr *attributes)
{
    return (int)syscall(SYS_bpf, command, attributes, sizeof *attributes);
}

/* A program that returns 0, which is no. */
static int load(enum bpf_attach_type type)
{
    static const struct bpf_insn program[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
        {.code = BPF_JMP | BPF_EXIT},
    };
    union bpf_attr attributes;

    memset(&attributes, 0, sizeof attributes);
    attributes.prog_type = BPF_PROG_TYPE_CGROUP_SOCK_ADDR;
    attributes.expected_attach_type = type;
    attributes.insns = (uintptr_t)program;
    attributes.insn_cnt = 2;
    attributes.license = (uintptr_t) "GPL";
    return call(BPF_PROG_LOAD, &attributes);
}

/* The kernel forgets a program with the last descriptor of its link, which the command has. */
static int attach(int group, enum bpf_attach_type type)
{
    union bpf_attr attributes;
    const int program = load(type);
    int link;

    memset(&attributes, 0, sizeof attributes);
    attributes.link_create.prog_fd = (uint32_t)program;
    attributes.link_create.target_fd = (uint32_t)group;
    attributes.link_create.attach_type = type;
    link = program < 0 ? -1 : call(BPF_LINK_CREATE, &attributes);
    return link < 0 ? -1 : fcntl(link, F_SETFD, 0);
}

int main(int argc, char **argv)
{
    int group, members;

    if (argc < 3)
        errx(2, "usage: forbid DIRECTORY COMMAND [ARGUMENT...]");
    if (mkdir(argv[1], 0755) < 0 || (group = open(argv[1], O_RDONLY | O_DIRECTORY)) < 0)
        err(2, "%s", argv[1]);
    if (attach(group, BPF_CGROUP_INET4_CONNECT) < 0 || attach(group, BPF_CGROUP_INET6_CONNECT) < 0)
        err(2, "bpf");
    members = openat(group, "cgroup.procs", O_WRONLY);
    if (members < 0 || write(members, "0", 1) != 1)
        err(2, "cgroup.procs");
    execvp(argv[2], argv + 2);
    err(2, "%s", argv[2]);
}
