/* SPDX-License-Identifier: MIT */
#include "fastnet/drop_watch.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/drop/drop_decode.h"
#include "backend/drop/drop_program.h"
#include "fastnet/array.h"
#include "fastnet/bpf_map.h"
#include "fastnet/clock.h"
#include "fastnet/rights.h"

enum { DROP_PART = DROP_PAGE / sizeof(struct drop_slot) };

struct drop_watch {
    int map, link; /* descriptors, or -1 */
    bool tells_receivers;
    bool has_subsystems; /* in reasons, too */
    struct drop_names reasons;
    struct drop_head *head; /* of the table, which is in the map */
    struct drop *drops;     /* room for DROP_SLOTS */
    size_t count;
    uint64_t lost;
    uint64_t since; /* when it began to count: CLOCK_MONOTONIC, nanoseconds */
};

/* --- Reasons ---------------------------------------------------------------------------------- */

/*
 * All of them, or only those of subsystems. Few kernels have any of these, so they are looked for
 * when the first one comes.
 */
static int find_reasons(struct drop_watch *watch, bool all)
{
    static const char *const enums[] = {"skb_drop_reason", "mac80211_drop_reason",
                                        "ovs_drop_reason"};
    struct kernel_types types;
    int status = kernel_types_init(&types);

    watch->has_subsystems = true;
    for (size_t i = !all; i < COUNT(enums) && status == 0; i++)
        status = drop_names_add(&watch->reasons, &types.btf,
                                btf_find(&types.btf, BTF_ENUM, enums[i]), i != 0);
    kernel_types_finish(&types);
    return status == -ENOMEM ? status : 0;
}

struct drop_watch *drop_watch_names(void)
{
    struct drop_watch *watch = calloc(1, sizeof *watch);

    if (!watch)
        return NULL;
    watch->map = watch->link = -1;
    (void)find_reasons(watch, true);
    return watch;
}

const char *drop_watch_reason(const struct drop_watch *watch, size_t i)
{
    return i < watch->reasons.count ? watch->reasons.list[i].name : NULL;
}

/* Without a name it is a number, as the kernel's own event has it. */
static struct text name_of(const struct drop_watch *watch, struct drop *drop)
{
    for (size_t i = 0; i < watch->reasons.count; i++)
        if (watch->reasons.list[i].number == drop->reason)
            return as_text(watch->reasons.list[i].name);
    snprintf(drop->unnamed, sizeof drop->unnamed, "0x%x", drop->reason);
    return as_text(drop->unnamed);
}

/* --- To begin, and to end --------------------------------------------------------------------- */

/* The program keeps the map, and what is attached the program. */
static int attach(struct drop_watch *watch, const struct drop_layout *layout)
{
    struct bpf_insn code[DROP_PROGRAM_MAX];

    watch->map = bpf_map_create(sizeof(struct drop_table), "fastnet_drops");
    if (watch->map < 0)
        return watch->map;
    watch->head = bpf_map_memory(watch->map, 0, sizeof *watch->head);
    if (!watch->head)
        return -errno;
    watch->link = bpf_tracepoint_attach(code, drop_program_make(layout, watch->map, code),
                                        layout->tracepoint, "fastnet_drops");
    watch->since = clock_nanoseconds(CLOCK_MONOTONIC);
    return watch->link < 0 ? watch->link : 0;
}

static int start(struct drop_watch *watch, struct bpf_refusal *refusal)
{
    struct kernel_types types;
    struct drop_layout layout = {.tracepoint = 0};
    int status = bpf_check_rights(refusal, "packets");

    if (status < 0)
        return status;
    status = kernel_types_init(&types);
    const bool has_reasons = status < 0 || drop_layout_init(&layout, &types.btf) == 0;
    if (status == 0 && has_reasons)
        status = drop_names_add(&watch->reasons, &types.btf, layout.reasons, false);
    kernel_types_finish(&types);
    if (!has_reasons)
        return bpf_refuse(refusal, -ENOTSUP, "this kernel tells no reasons (Linux 5.17 does)");
    if (status < 0)
        return bpf_refuse_step(refusal, status, "/sys/kernel/btf/vmlinux");
    watch->tells_receivers = layout.has_receiver;
    status = attach(watch, &layout);
    if (status == -EPERM)
        return bpf_refuse(refusal, status, "bpf(2): Operation not permitted (" REFUSED_BY ")");
    return bpf_refuse_step(refusal, status, "bpf(2)");
}

struct drop_watch *drop_watch_create(struct bpf_refusal *refusal)
{
    struct drop_watch *watch = calloc(1, sizeof *watch);

    if (!watch) {
        bpf_refuse_step(refusal, -ENOMEM, "memory");
        return NULL;
    }
    watch->map = watch->link = -1;
    if (start(watch, refusal) == 0)
        return watch;
    drop_watch_destroy(watch);
    return NULL;
}

void drop_watch_destroy(struct drop_watch *watch)
{
    if (!watch)
        return;
    if (watch->link >= 0)
        close(watch->link);
    if (watch->map >= 0)
        close(watch->map);
    if (watch->head)
        munmap(watch->head, sizeof *watch->head);
    free(watch->reasons.list);
    free(watch->drops);
    free(watch);
}

/* --- What was counted ------------------------------------------------------------------------- */

static int most_first(const void *a, const void *b)
{
    const struct drop *one = a, *other = b;

    return (one->record.drop.drops < other->record.drop.drops) -
           (one->record.drop.drops > other->record.drop.drops);
}

/*
 * Returns when all programs that run now have ended. membarrier(2) is refused where processors run
 * without ticks (nohz_full=, kernel/sched/membarrier.c), and in some sandboxes.
 */
static int wait_for_programs(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0 ? 0 : bpf_map_wait();
}

/*
 * Slots are closed, and taken when no program is on its way to one that was open: each packet is
 * counted before or after.
 */
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

static int take_slot(struct drop_watch *watch, struct drop_slot *slot)
{
    struct drop *drop = &watch->drops[watch->count++];
    int status = 0;

    if (slot->key.reason >> 16 && !watch->has_subsystems)
        status = find_reasons(watch, false);
    drop_decode(&slot->key, &slot->seen, drop);
    drop->reason = slot->key.reason;
    memset(slot, 0, sizeof *slot);
    return status;
}

/* From slot `first` on, of which only so many are in this process's memory. */
static int take_slots(struct drop_watch *watch, size_t first)
{
    uint64_t *tags = watch->head->tags + first;
    struct drop_slot *slots = NULL;
    int status = 0;

    for (size_t i = 0; i < DROP_PART && status == 0; i++) {
        if (tags[i] != DROP_CLOSED)
            continue;
        if (!slots)
            slots = bpf_map_memory(
                watch->map, offsetof(struct drop_table, slots) + first * sizeof *slots, DROP_PAGE);
        if (!slots)
            return -errno;
        status = take_slot(watch, &slots[i]);
        __atomic_store_n(&tags[i], DROP_FREE, __ATOMIC_RELEASE);
    }
    if (slots)
        munmap(slots, DROP_PAGE);
    return status;
}

int drop_watch_take(struct drop_watch *watch)
{
    const uint64_t since = watch->since;
    int status = 0;

    watch->count = 0;
    if (!watch->drops && !(watch->drops = calloc(DROP_SLOTS, sizeof *watch->drops)))
        return -ENOMEM;
    status = close_slots(watch->head);
    if (status < 0)
        return status;
    watch->lost = __atomic_exchange_n(&watch->head->lost, 0, __ATOMIC_RELAXED);
    watch->since = clock_nanoseconds(CLOCK_MONOTONIC);
    for (size_t i = 0; i < DROP_SLOTS && status == 0; i += DROP_PART)
        status = take_slots(watch, i);
    if (watch->count)
        qsort(watch->drops, watch->count, sizeof *watch->drops, most_first);
    for (size_t i = 0; i < watch->count; i++) { /* now that neither drops nor names move any more */
        watch->drops[i].record.drop.elapsed = watch->since - since;
        watch->drops[i].record.drop.reason = name_of(watch, &watch->drops[i]);
    }
    return status;
}

size_t drop_watch_count(const struct drop_watch *watch)
{
    return watch->count;
}

const struct drop *drop_watch_at(const struct drop_watch *watch, size_t i)
{
    return &watch->drops[i];
}

uint64_t drop_watch_lost(const struct drop_watch *watch)
{
    return watch->lost;
}

bool drop_watch_tells_receivers(const struct drop_watch *watch)
{
    return watch->tells_receivers;
}
