/* SPDX-License-Identifier: MIT */
#include "fastnet/bpf_iterator.h"

#include <stdio.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/kernel_abi.h"
#include "sys/bpf_call.h"

/* --- Walks ------------------------------------------------------------------------------------ */

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
    return bpf_call_raised(RIGHT_BPF, BPF_LINK_CREATE, &attributes);
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
    fd = bpf_call_raised(RIGHT_BPF, BPF_ITER_CREATE, &attributes);
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
