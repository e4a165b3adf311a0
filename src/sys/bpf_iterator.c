#include "fastnet/bpf_iterator.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>

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

static int load(const struct bpf_insn *program, size_t count, uint32_t function, const char *name)
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

/* The link keeps the program. */
int bpf_iterator_load(const struct bpf_insn *program, size_t count, uint32_t function,
                      const char *name)
{
    const int fd = load(program, count, function, name);
    union bpf_attr attributes;
    int link;

    if (fd < 0)
        return fd;
    memset(&attributes, 0, sizeof attributes);
    attributes.link_create.prog_fd = (uint32_t)fd;
    attributes.link_create.attach_type = BPF_TRACE_ITER;
    link = bpf_call_raised(RIGHT_ITERATORS, BPF_LINK_CREATE, &attributes);
    close(fd);
    return link;
}

int bpf_iterator_start(int iterator)
{
    union bpf_attr attributes;

    memset(&attributes, 0, sizeof attributes);
    attributes.iter_create.link_fd = (uint32_t)iterator;
    return bpf_call_raised(RIGHT_ITERATORS, BPF_ITER_CREATE, &attributes);
}
