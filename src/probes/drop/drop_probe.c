/* SPDX-License-Identifier: MIT */
#include "fastnet/drop_probe.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/bpf_map.h"
#include "fastnet/bpf_program.h"
#include "fastnet/clock.h"
#include "fastnet/kernel_types.h"
#include "fastnet/rights.h"
#include "probes/drop/drop_decode.h"
#include "probes/drop/drop_program.h"
#include "probes/drop/scan_program.h"

enum { DROP_PART = DROP_PAGE / sizeof(struct drop_slot) };

struct drop_probe {
    int map, link;          /* descriptors, or -1 */
    struct scan_part scans; /* map -1: scans are not seen */
    struct drop_layout layout;
    bool has_subsystems; /* `reasons` has reasons of subsystems, too */
    struct drop_names reasons;
    struct drop_head *head; /* head of the drop table, in the map's memory */
    struct drop *drops;     /* array of DROP_SLOTS */
    size_t count;
    uint64_t lost;
    uint64_t since; /* start of the interval: CLOCK_MONOTONIC, nanoseconds */
};

/* --- Reasons ---------------------------------------------------------------------------------- */

/* Reads the names of all drop reasons, or only of subsystems' reasons. Few kernels report reasons
 * of subsystems, so their names are read when the first such reason comes. */
static int find_reasons(struct drop_probe *probe, bool all)
{
    static const char *const enums[] = {"skb_drop_reason", "mac80211_drop_reason",
                                        "ovs_drop_reason"};
    struct kernel_types types;
    int status = kernel_types_init(&types);

    probe->has_subsystems = true;
    for (size_t i = !all; i < COUNT(enums) && status == 0; i++)
        status =
            drop_names_add(&probe->reasons, &types.btf, btf_find(&types.btf, BTF_ENUM, enums[i]),
                           i ? SUBSYSTEM_REASONS : SKB_DROP_REASONS);
    kernel_types_finish(&types);
    return status == -ENOMEM ? status : 0;
}

const char *drop_probe_kernel_word(size_t i)
{
    static struct drop_probe *kernel;

    if (!kernel && (kernel = calloc(1, sizeof *kernel))) {
        kernel->map = kernel->link = -1;
        (void)find_reasons(kernel, true);
    }
    return kernel ? drop_probe_reason(kernel, i) : NULL;
}

const char *drop_probe_reason(const struct drop_probe *probe, size_t i)
{
    return i < probe->reasons.count ? probe->reasons.list[i].name : NULL;
}

/* Returns the number of a reason of the running kernel; 0: the kernel lacks it. */
static uint32_t drop_probe_number(const struct drop_probe *probe, const char *reason)
{
    const struct drop_names *names = &probe->reasons;

    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->list[i].name, reason) == 0)
            return names->list[i].number;
    return 0;
}

/* The name of the drop's reason, or else its number, in the form that the kernel's own event
 * prints. */
static struct text drop_probe_name_of(const struct drop_probe *probe, struct drop *drop)
{
    const char *name = drop_names_find(&probe->reasons, drop->reason);

    if (name)
        return as_text(name);
    snprintf(drop->unnamed, sizeof drop->unnamed, "0x%x", drop->reason);
    return as_text(drop->unnamed);
}

/* --- Start and end ---------------------------------------------------------------------------- */

/* Returns the link, which keeps the program and its maps, or -errno. */
static int drop_probe_attach_program(const struct drop_probe *probe)
{
    const struct drop_layout *const layout = &probe->layout;
    const struct scan_part *const scans = drop_probe_sees_scans(probe) ? &probe->scans : NULL;
    struct bpf_insn code[DROP_PROGRAM_MAX];

    return bpf_tracepoint_attach(code, drop_program_make(layout, NULL, scans, probe->map, code),
                                 layout->tracepoint, "fastnet_drops");
}

/* The reasons of packets that rules of the doctor know by their destinations: the rules for stale
 * NAT, for multicast, and two about sources, which leave out broadcasts. A kernel may lack some. */
static void drop_probe_set_apart(struct drop_probe *probe)
{
    static const char *const reasons[DROP_APART_REASONS] = {
        "NOT_SPECIFIED",   "IP_INNOROUTES", "IP_OUTNOROUTES",
        "IP_INADDRERRORS", "IP_RPFILTER",   "IP_LOCAL_SOURCE",
    };

    for (size_t i = 0; i < DROP_APART_REASONS; i++)
        probe->layout.apart[i] = drop_probe_number(probe, reasons[i]);
}

/* Creates the map and attaches the program. A kernel that refuses a program with scans may take one
 * without them. */
static int drop_probe_attach(struct drop_probe *probe)
{
    struct scan_part *const scans = &probe->scans;

    scans->no_socket = drop_probe_number(probe, "NO_SOCKET");
    scans->filtered = drop_probe_number(probe, "NETFILTER_DROP");
    if (!scans->no_socket || !scans->filtered)
        scans->map = -1;
    probe->map = bpf_map_create(sizeof(struct drop_table), "fastnet_drops");
    if (probe->map < 0)
        return probe->map;
    probe->head = bpf_map_memory(probe->map, 0, sizeof *probe->head);
    if (!probe->head)
        return -errno;
    probe->link = drop_probe_attach_program(probe);
    if (probe->link < 0 && drop_probe_sees_scans(probe)) {
        scans->map = -1;
        probe->link = drop_probe_attach_program(probe);
    }
    probe->since = clock_nanoseconds(CLOCK_MONOTONIC);
    return probe->link < 0 ? probe->link : 0;
}

static int drop_probe_start(struct drop_probe *probe, bool apart, struct bpf_refusal *refusal)
{
    struct drop_layout *const layout = &probe->layout;
    struct kernel_types types;
    int status = bpf_check_rights(refusal, "packets");

    if (status < 0)
        return status;
    status = kernel_types_init(&types);
    const bool has_reasons = status < 0 || drop_layout_init(layout, &types.btf) == 0;
    if (status == 0 && has_reasons)
        status = drop_names_add(&probe->reasons, &types.btf, layout->reasons, SKB_DROP_REASONS);
    kernel_types_finish(&types);
    if (!has_reasons)
        return bpf_refuse(refusal, -ENOTSUP, DROPS_UNREPORTED);
    if (status < 0)
        return bpf_refuse_step(refusal, status, "/sys/kernel/btf/vmlinux");
    if (apart)
        drop_probe_set_apart(probe);
    status = drop_probe_attach(probe);
    if (status == -EPERM && bpf_check_namespaces(refusal, false) == 0)
        return bpf_refuse(refusal, status, "bpf(2): Operation not permitted (" REFUSED_BY ")");
    return status == -EPERM ? status : bpf_refuse_step(refusal, status, "bpf(2)");
}

struct drop_probe *drop_probe_create(int scans, bool apart, struct bpf_refusal *refusal)
{
    struct drop_probe *probe = calloc(1, sizeof *probe);

    if (!probe) {
        bpf_refuse_step(refusal, -ENOMEM, "memory");
        return NULL;
    }
    probe->map = probe->link = -1;
    probe->scans.map = scans;
    if (drop_probe_start(probe, apart, refusal) == 0)
        return probe;
    drop_probe_destroy(probe);
    return NULL;
}

void drop_probe_destroy(struct drop_probe *probe)
{
    if (!probe)
        return;
    bpf_close(probe->link);
    bpf_close(probe->map);
    if (probe->head)
        munmap(probe->head, sizeof *probe->head);
    free(probe->reasons.list);
    free(probe->drops);
    free(probe);
}

bool drop_probe_sees_scans(const struct drop_probe *probe)
{
    return probe && probe->scans.map >= 0;
}

/* --- Counts ----------------------------------------------------------------------------------- */

static int drop_probe_most_first(const void *a, const void *b)
{
    const struct drop *one = a, *other = b;

    return (one->record.drop.drops < other->record.drop.drops) -
           (one->record.drop.drops > other->record.drop.drops);
}

/* Returns when all BPF programs that run now have ended. The kernel refuses membarrier(2) if CPUs
 * run without ticks (nohz_full=, kernel/sched/membarrier.c), and some sandboxes do. */
static int wait_for_programs(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0 ? 0 : bpf_map_wait();
}

/* Marks used slots as closed, then waits until each BPF program that found one open has ended.
 * After that each packet counts either in these slots or in the next interval. */
static int close_slots(struct drop_head *head)
{
    bool any = false;

    for (size_t i = 0; i < DROP_SLOTS; i++)
        if (__atomic_load_n(&head->tags[i], __ATOMIC_RELAXED)) {
            __atomic_store_n(&head->tags[i], DROP_CLOSED, __ATOMIC_RELAXED);
            any = true;
        }
    return any ? wait_for_programs() : 0;
}

static int take_slot(struct drop_probe *probe, struct drop_slot *slot)
{
    struct drop *drop = &probe->drops[probe->count++];
    int status = 0;

    if (slot->key.reason >> 16 && !probe->has_subsystems)
        status = find_reasons(probe, false);
    drop_decode(&slot->key, &slot->seen, drop);
    drop->reason = slot->key.reason;
    drop->cookie = slot->cookie;
    drop->others = slot->destination == DROP_OTHERS;
    memset(slot, 0, sizeof *slot);
    return status;
}

/* Takes the closed slots of one page, from slot `first` on. Only that page is mapped. */
static int take_slots(struct drop_probe *probe, size_t first)
{
    uint64_t *tags = probe->head->tags + first;
    struct drop_slot *slots = NULL;
    int status = 0;

    for (size_t i = 0; i < DROP_PART && status == 0; i++) {
        if (tags[i] != DROP_CLOSED)
            continue;
        if (!slots)
            slots = bpf_map_memory(
                probe->map, offsetof(struct drop_table, slots) + first * sizeof *slots, DROP_PAGE);
        if (!slots)
            return -errno;
        status = take_slot(probe, &slots[i]);
        __atomic_store_n(&tags[i], DROP_FREE, __ATOMIC_RELEASE);
    }
    if (slots)
        munmap(slots, DROP_PAGE);
    return status;
}

int drop_probe_take(struct drop_probe *probe)
{
    const uint64_t since = probe->since;
    int status = 0;

    probe->count = 0;
    if (!probe->drops && !(probe->drops = calloc(DROP_SLOTS, sizeof *probe->drops)))
        return -ENOMEM;
    status = close_slots(probe->head);
    if (status < 0)
        return status;
    probe->lost = __atomic_exchange_n(&probe->head->lost, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&probe->head->apart, 0, __ATOMIC_RELAXED);
    probe->since = clock_nanoseconds(CLOCK_MONOTONIC);
    for (size_t i = 0; i < DROP_SLOTS && status == 0; i += DROP_PART)
        status = take_slots(probe, i);
    if (probe->count)
        qsort(probe->drops, probe->count, sizeof *probe->drops, drop_probe_most_first);
    for (size_t i = 0; i < probe->count;
         i++) { /* only now: names and drops no longer move in memory */
        probe->drops[i].record.drop.elapsed = probe->since - since;
        probe->drops[i].record.drop.reason = drop_probe_name_of(probe, &probe->drops[i]);
    }
    return status;
}

size_t drop_probe_count(const struct drop_probe *probe)
{
    return probe->count;
}

const struct drop *drop_probe_at(const struct drop_probe *probe, size_t i)
{
    return &probe->drops[i];
}

uint64_t drop_probe_lost(const struct drop_probe *probe)
{
    return probe->lost;
}

bool drop_probe_knows_receivers(const struct drop_probe *probe)
{
    return probe->layout.has_receiver;
}
