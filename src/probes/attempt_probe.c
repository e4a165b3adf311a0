/* SPDX-License-Identifier: MIT */
#include "fastnet/attempt_probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "fastnet/array.h"
#include "fastnet/bpf_map.h"
#include "fastnet/bpf_program.h"
#include "fastnet/hash.h"
#include "fastnet/kernel_types.h"
#include "probes/drop/drop_decode.h"
#include "probes/drop/reset_program.h"

struct attempt_probe {
    int map, drops, sent, received; /* descriptors, or -1: the map, and the links of the programs */
    struct drop_table *table;       /* the memory of the map */
    struct drop_names drop_reasons, reset_reasons;
    struct attempt_event *events;
    size_t count, capacity;
};

/* --- Start and end ---------------------------------------------------------------------------- */

struct attempt_layouts {
    struct drop_layout drops;
    struct reset_layout sent, received;
    bool has_drops, has_sent, has_received;
};

/* Finds layouts and the names of reasons. A kernel may lack drop reasons, or resets. */
static int attempt_probe_read_types(struct attempt_probe *probe, struct attempt_layouts *layouts,
                                    const struct btf *btf)
{
    int status;

    layouts->has_drops = drop_layout_init(&layouts->drops, btf) == 0;
    layouts->has_sent = reset_layout_init(&layouts->sent, &layouts->drops, btf, true) == 0;
    layouts->has_received = reset_layout_init(&layouts->received, &layouts->drops, btf, false) == 0;
    status = drop_names_add(&probe->drop_reasons, btf, layouts->drops.reasons, SKB_DROP_REASONS);
    if (status == 0)
        status = drop_names_add(&probe->reset_reasons, btf, layouts->sent.reasons, RESET_REASONS);
    return status;
}

static int attempt_probe_attach_resets(struct attempt_probe *probe, bool sent,
                                       const struct attempt_layouts *layouts,
                                       const struct drop_filter *filter)
{
    const struct reset_layout *layout = sent ? &layouts->sent : &layouts->received;
    struct bpf_insn code[DROP_PROGRAM_MAX];

    return bpf_tracepoint_attach(
        code, reset_program_make(layout, &layouts->drops, filter, sent, probe->map, code),
        layout->tracepoint, "fastnet_resets");
}

/* The programs keep the map until the links are closed. */
static int attempt_probe_attach(struct attempt_probe *probe, const struct attempt_layouts *layouts,
                                const struct drop_filter *filter)
{
    struct bpf_insn code[DROP_PROGRAM_MAX];

    probe->map = bpf_map_create(sizeof(struct drop_table), "fastnet_tries");
    if (probe->map < 0)
        return probe->map;
    probe->table = bpf_map_memory(probe->map, 0, sizeof *probe->table);
    if (!probe->table)
        return -errno;
    probe->drops =
        !layouts->has_drops
            ? -ENOTSUP
            : bpf_tracepoint_attach(
                  code, drop_program_make(&layouts->drops, filter, NULL, probe->map, code),
                  layouts->drops.tracepoint, "fastnet_tries");
    if (filter->protocol == IPPROTO_TCP && layouts->has_sent)
        probe->sent = attempt_probe_attach_resets(probe, true, layouts, filter);
    if (filter->protocol == IPPROTO_TCP && layouts->has_received)
        probe->received = attempt_probe_attach_resets(probe, false, layouts, filter);
    return probe->drops < 0 ? probe->drops : 0;
}

static int attempt_probe_start(struct attempt_probe *probe, const struct drop_filter *filter,
                               struct bpf_refusal *refusal)
{
    struct kernel_types types;
    struct attempt_layouts layouts = {.has_drops = false};
    int status = bpf_check_rights(refusal, "packets");

    if (status < 0)
        return status;
    status = kernel_types_init(&types);
    if (status == 0)
        status = attempt_probe_read_types(probe, &layouts, &types.btf);
    kernel_types_finish(&types);
    if (status < 0)
        return bpf_refuse_step(refusal, status, "/sys/kernel/btf/vmlinux");
    status = attempt_probe_attach(probe, &layouts, filter);
    return status == -ENOTSUP ? bpf_refuse(refusal, status, DROPS_UNREPORTED)
                              : bpf_refuse_step(refusal, status, "bpf(2)");
}

struct attempt_probe *attempt_probe_create(uint8_t protocol, uint16_t port,
                                           struct attempt_probe_blind *blind,
                                           struct bpf_refusal *refusal)
{
    struct attempt_probe *probe = calloc(1, sizeof *probe);
    struct drop_filter filter = {.protocol = protocol, .port = port};
    uint64_t secret[2];

    if (!probe) {
        bpf_refuse_step(refusal, -ENOMEM, "memory");
        return NULL;
    }
    hash_secret(secret);
    filter.secret = secret[0];
    probe->map = probe->drops = probe->sent = probe->received = -1;
    if (attempt_probe_start(probe, &filter, refusal) < 0 && probe->sent < 0 &&
        probe->received < 0) {
        attempt_probe_destroy(probe);
        return NULL;
    }
    blind->drops = probe->drops < 0;
    blind->resets = protocol == IPPROTO_TCP && (probe->sent < 0 || probe->received < 0);
    blind->reset_reasons = !probe->reset_reasons.count;
    return probe;
}

void attempt_probe_destroy(struct attempt_probe *probe)
{
    if (!probe)
        return;
    const int descriptors[] = {probe->map, probe->drops, probe->sent, probe->received};
    for (size_t i = 0; i < COUNT(descriptors); i++)
        bpf_close(descriptors[i]);
    if (probe->table)
        munmap(probe->table, sizeof *probe->table);
    free(probe->drop_reasons.list);
    free(probe->reset_reasons.list);
    free(probe->events);
    free(probe);
}

/* --- Events ----------------------------------------------------------------------------------- */

static int attempt_probe_first_first(const void *a, const void *b)
{
    const struct attempt_event *one = a, *other = b;

    return (one->first > other->first) - (one->first < other->first);
}

/* True if the packet or ICMP message had arrived, and was in the queue of a socket that was closed.
 */
static bool attempt_probe_has_arrived(const char *reason)
{
    return reason && (strcmp(reason, "QUEUE_PURGE") == 0 || strcmp(reason, "SOCKET_CLOSE") == 0);
}

/* The program writes the time after the other members, with a barrier. A slot without a time is not
 * complete yet: the next call passes it. */
static int attempt_probe_take(struct attempt_probe *probe, const struct drop_slot *slot)
{
    const bool is_drop = !(slot->packet.what & (PACKET_RESET_SENT | PACKET_RESET_RECEIVED));
    struct attempt_event *event;
    const char *reason;

    if (!__atomic_load_n(&slot->seen.time, __ATOMIC_ACQUIRE))
        return 0;
    reason = is_drop ? drop_names_find(&probe->drop_reasons, slot->key.reason)
             : slot->packet.what & PACKET_RESET_SENT
                 ? drop_names_find(&probe->reset_reasons, slot->key.reason)
                 : NULL; /* the kernel reports none */
    if (is_drop && attempt_probe_has_arrived(reason))
        return 0;
    event = ARRAY_ADD(probe->events, probe->count, probe->capacity);
    if (!event)
        return -ENOMEM;
    attempt_decode(slot, event);
    event->reason = reason;
    return 0;
}

int attempt_probe_each(struct attempt_probe *probe,
                       void (*fn)(const struct attempt_event *event, void *arg), void *arg,
                       uint64_t *lost)
{
    const struct drop_head *head = &probe->table->head;
    int status = 0;

    probe->count = 0;
    *lost = __atomic_load_n(&head->lost, __ATOMIC_RELAXED);
    for (size_t i = 0; i < DROP_SLOTS && status == 0; i++)
        if (__atomic_load_n(&head->tags[i], __ATOMIC_RELAXED))
            status = attempt_probe_take(probe, &probe->table->slots[i]);
    if (probe->count)
        qsort(probe->events, probe->count, sizeof *probe->events, attempt_probe_first_first);
    for (size_t i = 0; i < probe->count; i++)
        fn(&probe->events[i], arg);
    return status;
}
