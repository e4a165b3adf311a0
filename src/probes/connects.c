/* SPDX-License-Identifier: MIT */
#include "fastnet/connects.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fastnet/bpf_map.h"
#include "fastnet/bpf_program.h"
#include "fastnet/kernel_types.h"
#include "lookup/owners_bpf.h"
#include "probes/connects_decode.h"
#include "probes/dns_program.h"
#include "sys/bpf_ring.h"

enum { KEPT = 32768, KEPT_ANSWERS = 1024 };

/* Descriptors, or -1: notes of connections, of sends and of resets, the links of programs, and how
 * many events were lost. */
enum {
    MAP,
    SLOTS,
    ANSWERS,
    LINK,
    SEND_LINK,
    SENT_LINK,
    RECEIVED_LINK,
    RESENT_LINK,
    LOST,
    DESCRIPTORS
};
enum { RING_SIZE = 1 << 20 };
static const size_t slots_size = SEND_SLOTS * sizeof(struct send_slot);
/* Only some slots are mapped at a time: all would be a third of the memory of `fastnet record`. */
enum { WINDOW = 1024 };
static const size_t window_size = WINDOW * sizeof(struct send_slot);

struct connects {
    int fd[DESCRIPTORS];
    struct send_slot *window; /* memory of fd[SLOTS], from the slot `window_begin` on; or NULL */
    size_t window_begin;
    struct bpf_ring ring; /* events */
    const uint64_t *lost; /* memory of fd[LOST]; or NULL */
    bool begun;
    struct bpf_refusal refusal;
    struct drop_names reset_reasons;
};

struct connects *connects_create(void)
{
    struct connects *connects = calloc(1, sizeof *connects);

    for (size_t i = 0; connects && i < DESCRIPTORS; i++)
        connects->fd[i] = -1;
    if (connects)
        connects->ring.fd = -1;
    return connects;
}

static int connects_open_ring(struct connects *connects)
{
    const int status = bpf_ring_open(&connects->ring, RING_SIZE, "fastnet_ring");

    if (status < 0)
        return status;
    connects->fd[LOST] = bpf_map_create(sizeof *connects->lost, "fastnet_lost");
    if (connects->fd[LOST] < 0)
        return connects->fd[LOST];
    connects->lost = bpf_map_memory(connects->fd[LOST], 0, sizeof *connects->lost);
    return connects->lost ? 0 : -errno;
}

static void connects_unmap_window(struct connects *connects)
{
    if (connects->window)
        munmap(connects->window, window_size);
    connects->window = NULL;
}

/* Maps the slot. Returns NULL if sends are not noted, or if memory is short. */
static struct send_slot *connects_slot(struct connects *connects, size_t slot)
{
    const size_t begin = slot / WINDOW * WINDOW;

    if (begin != connects->window_begin)
        connects_unmap_window(connects);
    if (!connects->window && connects->fd[SLOTS] >= 0)
        connects->window =
            bpf_map_memory(connects->fd[SLOTS], begin * sizeof(struct send_slot), window_size);
    connects->window_begin = begin;
    return connects->window ? &connects->window[slot - begin] : NULL;
}

static void connects_end(struct connects *connects)
{
    connects_unmap_window(connects);
    if (connects->lost)
        munmap((void *)(uintptr_t)connects->lost, sizeof *connects->lost);
    connects->lost = NULL;
    bpf_ring_close(&connects->ring);
    for (size_t i = 0; i < DESCRIPTORS; i++) {
        bpf_close(connects->fd[i]);
        connects->fd[i] = -1;
    }
}

void connects_destroy(struct connects *connects)
{
    if (!connects)
        return;
    connects_end(connects);
    free(connects->reset_reasons.list);
    free(connects);
}

/* Attaches the programs that note resets. If that fails, it is unknown how connections end. */
static void connects_attach_resets(struct connects *connects, const struct connect_layout *layout,
                                   uint64_t netns)
{
    struct bpf_insn code[CONNECT_PROGRAM_MAX];
    int *const fd = connects->fd;
    const struct connect_ring ring = {connects->ring.fd, fd[LOST]};
    size_t count;

    if (!layout->send_reset)
        return;
    if (layout->has_answers)
        fd[ANSWERS] = bpf_map_create_recent(sizeof(struct reset_key), sizeof(struct reset_answer),
                                            KEPT_ANSWERS, "fastnet_rst");
    count = send_reset_program_make(layout, netns, fd[MAP], fd[ANSWERS], &ring, code);
    fd[SENT_LINK] = bpf_tracepoint_attach(code, count, layout->send_reset, "fastnet_rst");
    count = receive_reset_program_make(layout, netns, fd[MAP], fd[ANSWERS], &ring, code);
    fd[RECEIVED_LINK] = bpf_tracepoint_attach(code, count, layout->receive_reset, "fastnet_rst");
}

/* Attaches the programs that note connections, and with a ring also their retransmissions. */
static int connects_attach_states(struct connects *connects, const struct connect_layout *layout,
                                  uint64_t netns)
{
    struct bpf_insn code[CONNECT_PROGRAM_MAX];
    int *const fd = connects->fd;
    const struct connect_ring ring = {connects->ring.fd, fd[LOST]};
    size_t count;

    connects_attach_resets(connects, layout, netns);
    if (ring.ring >= 0 && layout->retransmit) {
        count = retransmit_program_make(layout, netns, fd[MAP], &ring, code);
        fd[RESENT_LINK] = bpf_tracepoint_attach(code, count, layout->retransmit, "fastnet_rtx");
    }
    count = connect_program_make(layout, netns, fd[MAP], &ring, code);
    fd[LINK] = bpf_tracepoint_attach(code, count, layout->tracepoint, "fastnet_conn");
    return fd[LINK];
}

/* Attaches the program that notes sends, and also queries unless `queries` is NULL. */
static int connects_attach_sends(struct connects *connects, const struct connect_layout *layout,
                                 uint64_t netns, const struct query_part *queries)
{
    struct bpf_insn code[SEND_PROGRAM_MAX];
    int *const fd = connects->fd;
    size_t count;

    fd[SLOTS] = bpf_map_create(slots_size, "fastnet_send");
    if (fd[SLOTS] < 0)
        return fd[SLOTS];
    if (!connects_slot(connects, 0))
        return -errno;
    count = send_program_make(layout, netns, fd[SLOTS], queries, code);
    fd[SEND_LINK] = bpf_tracepoint_attach(code, count, layout->sends, "fastnet_send");
    return fd[SEND_LINK] < 0 ? fd[SEND_LINK] : 0;
}

/* Creates the maps and attaches the programs, which keep the maps until the links are closed. */
static int connects_attach(struct connects *connects, unsigned what,
                           const struct connect_layout *layout, uint64_t netns)
{
    int *const fd = connects->fd;

    if (what & NOTE_CONNECTS) {
        int status;
        fd[MAP] = bpf_map_create_recent(sizeof(uint64_t), sizeof(struct connect_note), KEPT,
                                        "fastnet_conn");
        if (fd[MAP] < 0)
            return fd[MAP];
        status = what & NOTE_EVENTS ? connects_open_ring(connects) : 0;
        if (status < 0)
            return status;
        status = connects_attach_states(connects, layout, netns);
        if (status < 0)
            return status;
    }
    if (!(what & NOTE_SENDS) || !layout->sends)
        return 0;
    return connects_attach_sends(connects, layout, netns, NULL);
}

static int start(struct connects *connects, unsigned what, uint64_t netns)
{
    struct kernel_types types;
    struct connect_layout layout = {.tracepoint = 0};
    int status = owners_check_bpf(&connects->refusal);

    if (status < 0)
        return status;
    status = kernel_types_init(&types);
    if (status == 0)
        status = connect_layout_init(&layout, &types.btf, what);
    if (status == 0 && layout.has_reasons)
        status = drop_names_add(&connects->reset_reasons, &types.btf,
                                btf_find(&types.btf, BTF_ENUM, "sk_rst_reason"), RESET_REASONS);
    kernel_types_finish(&types);
    if (status < 0)
        return bpf_refuse_step(&connects->refusal, status, "/sys/kernel/btf/vmlinux");
    status = connects_attach(connects, what, &layout, netns);
    if (status == 0)
        return 0;
    connects_end(connects);
    return bpf_refuse_step(&connects->refusal, status, "bpf(2)");
}

int connects_begin(struct connects *connects, unsigned what, uint64_t netns,
                   struct bpf_refusal *refusal)
{
    if (!connects->begun)
        (void)start(connects, what, netns);
    connects->begun = true;
    if (refusal)
        *refusal = connects->refusal;
    return connects->refusal.error;
}

bool connects_begin_queries(struct connects *connects, uint64_t netns,
                            const struct query_part *queries)
{
    if (!connects || connects->begun)
        return false;
    connects->begun =
        connects_attach_sends(connects, &queries->layout->connect, netns, queries) == 0;
    if (!connects->begun)
        connects_end(connects);
    return connects->begun;
}

bool connects_note_sends(const struct connects *connects)
{
    return connects->fd[SEND_LINK] >= 0;
}

/* --- Notes ------------------------------------------------------------------------------------ */

/* Whether the programs that note resets run. */
static bool connects_see_resets(const struct connects *connects)
{
    return connects->fd[SENT_LINK] >= 0 && connects->fd[RECEIVED_LINK] >= 0;
}

/* Returns the cookie, or 0 if the slot has no note, or if the program wrote another note into it
 * meanwhile. */
static uint64_t connects_read_slot(struct connect *made, const struct send_slot *slot)
{
    const uint64_t cookie = __atomic_load_n(&slot->cookie, __ATOMIC_ACQUIRE);
    const bool v4 = slot->family == AF_INET;

    if (!cookie)
        return 0;
    *made = (struct connect){
        .time = slot->time,
        .sent = true,
        .pid = (pid_t)slot->pid,
        .uid = slot->pid ? slot->uid : 0,
        .cgroup = slot->pid ? slot->cgroup : 0,
        .remote = address_make((uint8_t)slot->family, v4 ? slot->v4 : slot->v6),
        .local = address_make((uint8_t)slot->family, v4 ? slot->local_v4 : slot->local_v6),
        .port = ntohs(slot->port),
        .local_port = slot->local_port,
    };
    if (made->pid)
        memcpy(made->name, slot->name, sizeof made->name - 1);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&slot->cookie, __ATOMIC_RELAXED) == cookie ? cookie : 0;
}

/* Copies the note of the socket, and removes it if `take`. */
static bool connects_read(struct connects *connects, uint64_t cookie, bool take,
                          struct connect *made)
{
    struct connect_note note = {.time = 0};
    struct send_slot *slot;

    if (connects->fd[MAP] >= 0 &&
        (take ? bpf_map_take_one : bpf_map_find_one)(connects->fd[MAP], &cookie, &note) == 0) {
        connect_note_decode(&note, &connects->reset_reasons, made);
        made->end.sees_resets = connects_see_resets(connects);
        return true;
    }
    slot = connects_slot(connects, cookie % SEND_SLOTS);
    if (!slot || connects_read_slot(made, slot) != cookie)
        return false;
    if (take)
        slot->cookie = 0;
    return true;
}

bool connects_take(struct connects *connects, uint64_t cookie, struct connect *made)
{
    return connects_read(connects, cookie, true, made);
}

bool connects_find(struct connects *connects, uint64_t cookie, struct connect *made)
{
    return connects_read(connects, cookie, false, made);
}

int connects_descriptor(const struct connects *connects)
{
    return connects->ring.fd;
}

uint64_t connects_lost(const struct connects *connects)
{
    return connects->lost ? __atomic_load_n(connects->lost, __ATOMIC_RELAXED) : 0;
}

bool connects_next(struct connects *connects, struct connect_happened *happened)
{
    _Alignas(struct connect_note) char event[sizeof(struct connect_note)];
    size_t length;

    do {
        length = bpf_ring_take(&connects->ring, event, sizeof event);
        if (!length)
            return false;
    } while (
        !connect_event_decode((struct text){event, length}, &connects->reset_reasons, happened));
    happened->note.end.sees_resets = connects_see_resets(connects);
    return true;
}

void connects_each_send(struct connects *connects,
                        void (*fn)(const struct connect *sent, void *arg), void *arg)
{
    const struct send_slot *slot;
    struct connect made;

    for (size_t i = 0; i < SEND_SLOTS && (slot = connects_slot(connects, i)); i++)
        if (connects_read_slot(&made, slot))
            fn(&made, arg);
}
