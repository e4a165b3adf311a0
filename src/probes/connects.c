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
#include "probes/connects_program.h"
#include "probes/dns_program.h"
#include "probes/drop/drop_decode.h"

enum { KEPT = 32768, KEPT_ANSWERS = 1024 };

/* Descriptors, or -1: notes of connections, of sends and of resets, the links of programs, events,
 * and how many events were lost. */
enum {
    MAP,
    SLOTS,
    ANSWERS,
    LINK,
    SEND_LINK,
    SENT_LINK,
    RECEIVED_LINK,
    RESENT_LINK,
    RING,
    LOST,
    DESCRIPTORS
};
enum { RING_SIZE = 1 << 20 };
static const size_t slots_size = SEND_SLOTS * sizeof(struct send_slot);

struct connects {
    int fd[DESCRIPTORS];
    struct send_slot *slots; /* the memory of fd[SLOTS]; or NULL */
    uint64_t *taken;         /* memory of fd[RING]: bytes that connects_next() took; or NULL */
    const char *ring;        /* memory of fd[RING]: bytes that came, and after a page the events */
    const uint64_t *lost;    /* memory of fd[LOST] */
    bool begun;
    struct bpf_refusal refusal;
    struct drop_names reset_reasons;
};

struct connects *connects_create(void)
{
    struct connects *connects = calloc(1, sizeof *connects);

    for (size_t i = 0; connects && i < DESCRIPTORS; i++)
        connects->fd[i] = -1;
    return connects;
}

/* Offset of the events in connects.ring. */
static size_t ring_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void connects_unmap_ring(struct connects *connects)
{
    if (connects->lost)
        munmap((void *)(uintptr_t)connects->lost, sizeof *connects->lost);
    if (connects->taken)
        munmap(connects->taken, ring_page());
    if (connects->ring)
        munmap((void *)(uintptr_t)connects->ring, ring_page() + (size_t)2 * RING_SIZE);
    connects->lost = NULL;
    connects->taken = NULL;
    connects->ring = NULL;
}

/* Creates the ring of events (kernel/bpf/ringbuf.c), whose memory has the events twice, one after
 * the other, so that no event is in two pieces. */
static int connects_map_ring(struct connects *connects)
{
    int *const fd = connects->fd;
    void *ring;

    fd[RING] = bpf_map_create_ring(RING_SIZE, "fastnet_ring");
    if (fd[RING] < 0)
        return fd[RING];
    fd[LOST] = bpf_map_create(sizeof *connects->lost, "fastnet_lost");
    if (fd[LOST] < 0)
        return fd[LOST];
    connects->lost = bpf_map_memory(fd[LOST], 0, sizeof *connects->lost);
    connects->taken = bpf_map_memory(fd[RING], 0, ring_page());
    ring = mmap(NULL, ring_page() + (size_t)2 * RING_SIZE, PROT_READ, MAP_SHARED, fd[RING],
                (off_t)ring_page());
    connects->ring = ring == MAP_FAILED ? NULL : ring;
    return connects->lost && connects->taken && connects->ring ? 0 : -errno;
}

static void connects_end(struct connects *connects)
{
    if (connects->slots)
        munmap(connects->slots, slots_size);
    connects->slots = NULL;
    connects_unmap_ring(connects);
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
    const struct connect_ring ring = {fd[RING], fd[LOST]};
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
    const struct connect_ring ring = {fd[RING], fd[LOST]};
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
    connects->slots = bpf_map_memory(fd[SLOTS], 0, slots_size);
    if (!connects->slots)
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
        status = what & NOTE_EVENTS ? connects_map_ring(connects) : 0;
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

static void connects_read_note(const struct connects *connects, struct connect *made,
                               const struct connect_note *note)
{
    const bool v4 = note->family == AF_INET;
    const char *const reason =
        note->reset_reason ? drop_names_find(&connects->reset_reasons, note->reset_reason - 1U)
                           : NULL;

    *made = (struct connect){
        .time = note->time,
        .connected = note->connected,
        .ended = note->ended,
        .end = {.state = note->old_state,
                .reset_state = note->reset_state,
                .error = (int)note->end_error,
                .received_reset = note->received_reset,
                .sees_resets = connects->fd[SENT_LINK] >= 0 && connects->fd[RECEIVED_LINK] >= 0},
        .accepted = note->accepted,
        .pid = (pid_t)note->pid,
        .uid = note->uid,
        .cgroup = note->cgroup,
        .failed = note->failed,
        .closed = note->closed,
        .given_up = note->given_up,
        .error = (int)note->error,
        .remote = address_make((uint8_t)note->family, v4 ? note->v4 : note->v6),
        .local = address_make((uint8_t)note->family, v4 ? note->local_v4 : note->local_v6),
        .port = ntohs(note->port),
    };
    memcpy(made->name, note->name, sizeof note->name);
    made->name[sizeof made->name - 1] = '\0';
    if (reason && strlen(reason) < sizeof made->end.reset_reason)
        snprintf(made->end.reset_reason, sizeof made->end.reset_reason, "%s", reason);
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
static bool connects_read(const struct connects *connects, uint64_t cookie, bool take,
                          struct connect *made)
{
    struct send_slot *slot = connects->slots ? &connects->slots[cookie % SEND_SLOTS] : NULL;
    struct connect_note note = {.time = 0};

    if (slot && connects_read_slot(made, slot) == cookie) {
        if (take)
            slot->cookie = 0;
        return true;
    }
    if (connects->fd[MAP] < 0 ||
        (take ? bpf_map_take_one : bpf_map_find_one)(connects->fd[MAP], &cookie, &note) < 0)
        return false;
    connects_read_note(connects, made, &note);
    return true;
}

bool connects_take(struct connects *connects, uint64_t cookie, struct connect *made)
{
    return connects_read(connects, cookie, true, made);
}

bool connects_find(const struct connects *connects, uint64_t cookie, struct connect *made)
{
    return connects_read(connects, cookie, false, made);
}

int connects_descriptor(const struct connects *connects)
{
    return connects->fd[RING];
}

uint64_t connects_lost(const struct connects *connects)
{
    return connects->lost ? __atomic_load_n(connects->lost, __ATOMIC_RELAXED) : 0;
}

/* Before each event are 8 bytes: its length, whose highest bit says that a program still writes
 * it, and a number of the kernel's own. Both counters only grow, and their type is a long. */
bool connects_next(struct connects *connects, struct connect_happened *happened)
{
    enum { HEAD = 8 };
    unsigned long *const taken = (unsigned long *)(void *)connects->taken;
    const unsigned long came =
        __atomic_load_n((const unsigned long *)(const void *)connects->ring, __ATOMIC_ACQUIRE);
    const char *at = connects->ring + ring_page() + (*taken & (RING_SIZE - 1));
    struct connect_note note;

    if (*taken == came || __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE) &
                              BPF_RINGBUF_BUSY_BIT)
        return false;
    memcpy(&note, at + HEAD, sizeof note);
    __atomic_store_n(taken, *taken + HEAD + sizeof note, __ATOMIC_RELEASE);
    happened->event = note.event;
    happened->cookie = note.cookie;
    happened->port = ntohs((uint16_t)note.local_port);
    connects_read_note(connects, &happened->note, &note);
    return true;
}

void connects_each_send(const struct connects *connects,
                        void (*fn)(const struct connect *sent, void *arg), void *arg)
{
    struct connect made;

    for (size_t i = 0; connects->slots && i < SEND_SLOTS; i++)
        if (connects_read_slot(&made, &connects->slots[i]))
            fn(&made, arg);
}
