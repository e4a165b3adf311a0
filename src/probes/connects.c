/* SPDX-License-Identifier: MIT */
#include "fastnet/connects.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fastnet/bpf_map.h"
#include "fastnet/bpf_program.h"
#include "fastnet/kernel_types.h"
#include "lookup/owners_bpf.h"
#include "probes/connects_program.h"

enum { KEPT = 32768 };

struct connects {
    int map, link; /* descriptors, or -1 */
    struct bpf_refusal refusal;
};

struct connects *connects_create(void)
{
    struct connects *connects = calloc(1, sizeof *connects);

    if (connects)
        connects->map = connects->link = -1;
    return connects;
}

static void connects_end(struct connects *connects)
{
    if (connects->link >= 0)
        close(connects->link);
    if (connects->map >= 0)
        close(connects->map);
    connects->map = connects->link = -1;
}

void connects_destroy(struct connects *connects)
{
    if (connects)
        connects_end(connects);
    free(connects);
}

/* Creates the map and attaches the program, which keeps the map until the link is closed. */
static int connects_attach(struct connects *connects, const struct connect_layout *layout,
                           uint64_t netns)
{
    struct bpf_insn code[CONNECT_PROGRAM_MAX];

    connects->map =
        bpf_map_create_recent(sizeof(uint64_t), sizeof(struct connect_note), KEPT, "fastnet_conn");
    if (connects->map < 0)
        return connects->map;
    connects->link =
        bpf_tracepoint_attach(code, connect_program_make(layout, netns, connects->map, code),
                              layout->tracepoint, "fastnet_conn");
    return connects->link < 0 ? connects->link : 0;
}

static int start(struct connects *connects, uint64_t netns)
{
    struct kernel_types types;
    struct connect_layout layout = {.tracepoint = 0};
    int status = owners_check_bpf(&connects->refusal);

    if (status < 0)
        return status;
    status = kernel_types_init(&types);
    if (status == 0)
        status = connect_layout_init(&layout, &types.btf);
    kernel_types_finish(&types);
    if (status < 0)
        return bpf_refuse_step(&connects->refusal, status, "/sys/kernel/btf/vmlinux");
    status = connects_attach(connects, &layout, netns);
    if (status == 0)
        return 0;
    connects_end(connects);
    return bpf_refuse_step(&connects->refusal, status, "bpf(2)");
}

int connects_begin(struct connects *connects, uint64_t netns, struct bpf_refusal *refusal)
{
    if (connects->link < 0 && !connects->refusal.error)
        (void)start(connects, netns);
    if (refusal)
        *refusal = connects->refusal;
    return connects->refusal.error;
}

bool connects_take(struct connects *connects, uint64_t cookie, struct connect *made)
{
    struct connect_note note;

    if (connects->map < 0 || bpf_map_take_one(connects->map, &cookie, &note) < 0)
        return false;
    *made = (struct connect){
        .time = note.time,
        .ended = note.ended,
        .accepted = note.accepted,
        .pid = (pid_t)note.pid,
        .uid = note.uid,
        .cgroup = note.cgroup,
        .failed = note.failed,
        .closed = note.closed,
        .given_up = note.given_up,
        .error = (int)note.error,
        .remote = address_make((uint8_t)note.family, note.family == AF_INET ? note.v4 : note.v6),
        .local = address_make((uint8_t)note.family,
                              note.family == AF_INET ? note.local_v4 : note.local_v6),
        .port = ntohs(note.port),
    };
    memcpy(made->name, note.name, sizeof note.name);
    made->name[sizeof made->name - 1] = '\0';
    return true;
}
