/* SPDX-License-Identifier: MIT */
#include "fastnet/connect_failures.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fastnet/bpf_map.h"
#include "fastnet/bpf_program.h"
#include "fastnet/kernel_types.h"
#include "lookup/owners_bpf.h"
#include "probes/failures_program.h"

enum { NOTES_SIZE = FAILURE_NOTES * sizeof(struct failure_note) };

struct connect_failures {
    int map, link;              /* descriptors, or -1 */
    struct failure_note *notes; /* the memory of the map */
};

void connect_failures_destroy(struct connect_failures *failures)
{
    if (!failures)
        return;
    bpf_close(failures->link);
    bpf_close(failures->map);
    if (failures->notes)
        munmap(failures->notes, NOTES_SIZE);
    free(failures);
}

/* Creates the map and attaches the program, which keeps the map until the link is closed. */
static int failures_attach(struct connect_failures *failures, uint64_t netns,
                           struct bpf_refusal *refusal)
{
    struct bpf_insn code[FAILURES_PROGRAM_MAX];
    struct failures_layout layout = {.tracepoint = 0};
    struct kernel_types types;
    int status = kernel_types_init(&types);

    if (status == 0)
        status = failures_layout_init(&layout, &types.btf);
    kernel_types_finish(&types);
    if (status < 0)
        return bpf_refuse_step(refusal, status, "/sys/kernel/btf/vmlinux");
    failures->map = bpf_map_create(NOTES_SIZE, "fastnet_fails");
    if (failures->map < 0)
        return bpf_refuse_step(refusal, failures->map, "bpf(2)");
    failures->notes = bpf_map_memory(failures->map, 0, NOTES_SIZE);
    if (!failures->notes)
        return bpf_refuse_step(refusal, -errno, "bpf(2)");
    const size_t length = failures_program_make(&layout, netns, failures->map, code);
    failures->link = bpf_tracepoint_attach(code, length, layout.tracepoint, "fastnet_fails");
    return bpf_refuse_step(refusal, failures->link, "bpf(2)");
}

struct connect_failures *connect_failures_begin(uint64_t netns, struct bpf_refusal *refusal)
{
    struct connect_failures *failures =
        netns && owners_check_bpf(refusal) == 0 ? calloc(1, sizeof *failures) : NULL;

    if (!failures)
        return NULL;
    failures->map = failures->link = -1;
    if (failures_attach(failures, netns, refusal) == 0)
        return failures;
    connect_failures_destroy(failures);
    return NULL;
}

static struct connect_failure failures_take(struct failure_note *note)
{
    struct connect_failure failure = {.pid = (pid_t)note->pid};
    struct sockaddr_in in;
    struct sockaddr_in6 in6;

    failure.count = __atomic_exchange_n(&note->count, 0, __ATOMIC_RELAXED);
    memcpy(failure.name, note->name, sizeof failure.name);
    failure.name[sizeof failure.name - 1] = '\0';
    memcpy(&in, note->address, sizeof in);
    memcpy(&in6, note->address, sizeof in6);
    failure.port = ntohs(in.sin_port);
    failure.remote = in.sin_family == AF_INET6 ? address_make(AF_INET6, &in6.sin6_addr)
                                               : address_make(AF_INET, &in.sin_addr);
    return failure;
}

struct connect_failure connect_failures_take(struct connect_failures *failures, int error)
{
    return failures_take(&failures->notes[error]);
}

struct connect_failure connect_failures_take_queries(struct connect_failures *failures, int error)
{
    return failures_take(&failures->notes[CONNECT_ERRNOS + error]);
}
