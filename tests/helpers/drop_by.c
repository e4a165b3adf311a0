/* SPDX-License-Identifier: MIT */
/*
 * Drops all packets that come in by an interface, with a BPF program.
 *
 *     drop_by xdp|tc INTERFACE
 *
 * Prints "ready" when it does, or says on stderr why it cannot; ends when stdin does.
 */
#include <err.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <linux/pkt_cls.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TCX_INGRESS = 46 /* BPF_TCX_INGRESS, Linux 6.6 */ };

static int call(int command, union bpf_attr *attributes)
{
    return (int)syscall(SYS_bpf, command, attributes, sizeof *attributes);
}

int main(int argc, char *argv[])
{
    const int xdp = argc > 1 && strcmp(argv[1], "xdp") == 0;
    const struct bpf_insn program[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = xdp ? XDP_DROP : TC_ACT_SHOT},
        {.code = BPF_JMP | BPF_EXIT},
    };
    union bpf_attr attributes;
    char byte;
    int fd;

    if (argc != 3)
        errx(2, "usage: drop_by xdp|tc INTERFACE");
    memset(&attributes, 0, sizeof attributes);
    attributes.prog_type = xdp ? BPF_PROG_TYPE_XDP : BPF_PROG_TYPE_SCHED_CLS;
    attributes.insns = (uintptr_t)program;
    attributes.insn_cnt = 2;
    attributes.license = (uintptr_t) "MIT";
    fd = call(BPF_PROG_LOAD, &attributes);
    if (fd < 0)
        err(1, "BPF_PROG_LOAD");
    memset(&attributes, 0, sizeof attributes);
    attributes.link_create.prog_fd = (uint32_t)fd;
    attributes.link_create.target_ifindex = if_nametoindex(argv[2]);
    attributes.link_create.attach_type = xdp ? BPF_XDP : TCX_INGRESS;
    attributes.link_create.flags = xdp ? XDP_FLAGS_SKB_MODE : 0;
    if (call(BPF_LINK_CREATE, &attributes) < 0)
        err(1, "BPF_LINK_CREATE");
    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    return 0;
}
