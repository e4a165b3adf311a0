/* SPDX-License-Identifier: MIT */
#include "fastnet/bpf_iterator.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "fastnet/array.h"
#include "fastnet/kernel_abi.h"
#include "sys/bpf_call.h"

/* --- The kernel's types ----------------------------------------------------------------------- */

static int copy(int fd, struct kernel_types *types)
{
    size_t have = 0;
    ssize_t length = 1;

    types->bytes = malloc(types->length);
    if (!types->bytes)
        return -ENOMEM;
    while (have < types->length && length) {
        length = read(fd, types->bytes + have, types->length - have);
        if (length < 0 && errno != EINTR)
            return -errno;
        have += length > 0 ? (size_t)length : 0;
    }
    return have == types->length ? 0 : -EIO;
}

/* Only a file of the kernel's own cannot become shorter while it is mapped. */
static int take_bytes(int fd, struct kernel_types *types)
{
    struct statfs system;
    struct stat status;
    void *bytes;

    if (fstatfs(fd, &system) < 0 || fstat(fd, &status) < 0)
        return -errno;
    if (system.f_type != SYSFS_MAGIC)
        return -ENOTSUP;
    if (status.st_size <= 0 || status.st_size > BTF_BYTES_MAX)
        return -EFBIG;
    types->length = (size_t)status.st_size;
    bytes = mmap(NULL, types->length, PROT_READ, MAP_PRIVATE, fd, 0); /* from Linux 6.16 on */
    types->mapped = bytes != MAP_FAILED;
    if (!types->mapped)
        return copy(fd, types);
    types->bytes = bytes;
    return 0;
}

int kernel_types_init(struct kernel_types *types)
{
    int fd, status;

    *types = (struct kernel_types){.bytes = NULL};
    do
        fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return -errno;
    status = take_bytes(fd, types);
    close(fd);
    return status < 0 ? status : btf_init(&types->btf, (struct text){types->bytes, types->length});
}

void kernel_types_finish(struct kernel_types *types)
{
    btf_finish(&types->btf);
    if (types->mapped)
        munmap(types->bytes, types->length);
    else
        free(types->bytes);
    *types = (struct kernel_types){.bytes = NULL};
}

/* --- Programs --------------------------------------------------------------------------------- */

int bpf_iterator_load(const struct bpf_insn *program, size_t count, uint32_t function,
                      const char *name)
{
    /* bpf_seq_write() is for programs that may be used under the GPL, too */
    static const char license[] = "Dual MIT/GPL";
    union bpf_attr attributes;

    memset(&attributes, 0, sizeof attributes);
    attributes.prog_type = BPF_PROG_TYPE_TRACING;
    attributes.expected_attach_type = BPF_TRACE_ITER;
    attributes.insns = (uintptr_t)program;
    attributes.insn_cnt = (uint32_t)count;
    attributes.license = (uintptr_t)license;
    attributes.attach_btf_id = function;
    strncpy(attributes.prog_name, name, sizeof attributes.prog_name - 1);
    return bpf_call_raised(RIGHT_ITERATORS, BPF_PROG_LOAD, &attributes);
}

/* A kernel that does not know the numbers of tasks here refuses them: E2BIG. */
static int link_to(int program, uint32_t task)
{
    const struct kernel_task_iterator info = {.tid = task};
    union bpf_attr attributes;

    memset(&attributes, 0, sizeof attributes);
    attributes.link_create.prog_fd = (uint32_t)program;
    attributes.link_create.attach_type = BPF_TRACE_ITER;
    if (task) {
        attributes.link_create.iter_info = (uintptr_t)&info;
        attributes.link_create.iter_info_len = sizeof info;
    }
    return bpf_call_raised(RIGHT_ITERATORS, BPF_LINK_CREATE, &attributes);
}

/* The iterator keeps the program, so the link need not stay. */
int bpf_iterator_start(int program, uint32_t task)
{
    const int link = link_to(program, task);
    union bpf_attr attributes;
    int fd;

    if (link < 0)
        return link;
    memset(&attributes, 0, sizeof attributes);
    attributes.iter_create.link_fd = (uint32_t)link;
    fd = bpf_call_raised(RIGHT_ITERATORS, BPF_ITER_CREATE, &attributes);
    close(link);
    return fd;
}

/* The numbers are fixed (linux/nsfs.h). */
bool bpf_iterator_is_in_first(const char *kind)
{
    static const char *const first[] = {"pid:[4026531836]", "user:[4026531837]"};
    char path[32], text[32];
    ssize_t length;

    snprintf(path, sizeof path, "/proc/self/ns/%s", kind);
    length = readlink(path, text, sizeof text);
    for (size_t i = 0; i < COUNT(first); i++)
        if (length == (ssize_t)strlen(first[i]) && memcmp(text, first[i], (size_t)length) == 0)
            return true;
    return false;
}

/* The kernel gives up after a million objects without output (EAGAIN); the next read goes on. */
ssize_t bpf_iterator_read(int fd, void *buffer, size_t size)
{
    ssize_t length;

    do
        length = read(fd, buffer, size);
    while (length < 0 && (errno == EINTR || errno == EAGAIN));
    return length < 0 ? -errno : length;
}
