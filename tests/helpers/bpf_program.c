/* SPDX-License-Identifier: MIT */
/*
 * Whether the kernel has a BPF program.
 *
 *     bpf_program ID
 *
 * Prints "there", "gone", or why that is not known. /proc/PID/fdinfo tells the ID.
 */
#include <err.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char *argv[])
{
    union bpf_attr attributes;

    if (argc != 2)
        errx(2, "usage: bpf_program ID");
    memset(&attributes, 0, sizeof attributes);
    attributes.prog_id = (unsigned)strtoul(argv[1], NULL, 10);
    if (syscall(SYS_bpf, BPF_PROG_GET_FD_BY_ID, &attributes, sizeof attributes) >= 0)
        puts("there");
    else
        puts(errno == ENOENT ? "gone" : strerror(errno));
    return 0;
}
