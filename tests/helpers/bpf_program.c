/* SPDX-License-Identifier: MIT */
/*
 * Whether the kernel has a BPF program.
 *
 *     bpf_program ID            prints "there", "gone", or why that is not known
 *     bpf_program named NAME    prints "program ID" or "map ID" of each that has this name
 *
 * /proc/PID/fdinfo tells the ID.
 */
#include <err.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
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

/* The name of what is open; of programs and of maps it is elsewhere. */
static int is_named(int fd, bool map, const char *name)
{
    struct bpf_prog_info program;
    struct bpf_map_info of_map;
    union bpf_attr attributes;

    memset(&program, 0, sizeof program);
    memset(&of_map, 0, sizeof of_map);
    memset(&attributes, 0, sizeof attributes);
    attributes.info.bpf_fd = (unsigned)fd;
    attributes.info.info_len = map ? sizeof of_map : sizeof program;
    attributes.info.info = map ? (uintptr_t)&of_map : (uintptr_t)&program;
    return call(BPF_OBJ_GET_INFO_BY_FD, &attributes) == 0 &&
           strncmp((const char *)(map ? of_map.name : program.name), name, BPF_OBJ_NAME_LEN) == 0;
}

static void print_named(const char *name, bool map)
{
    union bpf_attr attributes;
    unsigned id = 0;

    for (;;) {
        memset(&attributes, 0, sizeof attributes);
        attributes.start_id = id;
        if (call(map ? BPF_MAP_GET_NEXT_ID : BPF_PROG_GET_NEXT_ID, &attributes) < 0)
            return;
        id = attributes.next_id;
        memset(&attributes, 0, sizeof attributes);
        attributes.prog_id = id; /* map_id is at the same place */
        const int fd = call(map ? BPF_MAP_GET_FD_BY_ID : BPF_PROG_GET_FD_BY_ID, &attributes);
        if (fd >= 0 && is_named(fd, map, name))
            printf("%s %u\n", map ? "map" : "program", id);
        if (fd >= 0)
            close(fd);
    }
}

int main(int argc, char *argv[])
{
    if (argc == 3 && strcmp(argv[1], "named") == 0) {
        print_named(argv[2], false);
        print_named(argv[2], true);
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
