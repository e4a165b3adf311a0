/* SPDX-License-Identifier: MIT */
/*
 * Whether the kernel has a BPF program.
 *
 *     bpf_program ID            prints "there", "gone", or why that is not known
 *     bpf_program named NAME    prints the ID of each that has this name
 *
 * /proc/PID/fdinfo tells the ID.
 */
#include <err.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int call(int command, union bpf_attr *attributes)
{
    return (int)syscall(SYS_bpf, command, attributes, sizeof *attributes);
}

static int open_program(unsigned id)
{
    union bpf_attr attributes;

    memset(&attributes, 0, sizeof attributes);
    attributes.prog_id = id;
    return call(BPF_PROG_GET_FD_BY_ID, &attributes);
}

static void print_named(const char *name)
{
    union bpf_attr next;

    memset(&next, 0, sizeof next);
    while (call(BPF_PROG_GET_NEXT_ID, &next) == 0) {
        const unsigned id = next.next_id;
        const int fd = open_program(id);
        struct bpf_prog_info info;
        union bpf_attr attributes;
        memset(&info, 0, sizeof info);
        memset(&attributes, 0, sizeof attributes);
        attributes.info.bpf_fd = (unsigned)fd;
        attributes.info.info_len = sizeof info;
        attributes.info.info = (uintptr_t)&info;
        if (fd >= 0 && call(BPF_OBJ_GET_INFO_BY_FD, &attributes) == 0 &&
            strncmp((const char *)info.name, name, sizeof info.name) == 0)
            printf("%u\n", id);
        if (fd >= 0)
            close(fd);
        memset(&next, 0, sizeof next);
        next.start_id = id;
    }
}

int main(int argc, char *argv[])
{
    if (argc == 3 && strcmp(argv[1], "named") == 0) {
        print_named(argv[2]);
        return 0;
    }
    if (argc != 2)
        errx(2, "usage: bpf_program ID | named NAME");
    if (open_program((unsigned)strtoul(argv[1], NULL, 10)) >= 0)
        puts("there");
    else
        puts(errno == ENOENT ? "gone" : strerror(errno));
    return 0;
}
