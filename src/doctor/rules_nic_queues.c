/* SPDX-License-Identifier: MIT */
/* Queues of network cards: which of them drops packets, or gets nearly all packets. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "doctor/rules.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"

int nic_queues_take(struct nic_queues *queues, const struct record *record)
{
    const struct queue_record *queue = &record->queue;
    struct nic_queue *added;

    if (queues->count >= NIC_QUEUES_MAX)
        return 0;
    added = ARRAY_ADD(queues->list, queues->count, queues->capacity);
    if (!added)
        return -ENOMEM;
    *added = (struct nic_queue){
        .interface = queue->interface,
        .direction = queue->direction,
        .id = queue->id,
        .has = (uint32_t)record->has & ((1u << NIC_COUNTERS) - 1),
    };
    memcpy(added->counters, queue->counters, sizeof added->counters);
    return 0;
}

/* --- Growth ----------------------------------------------------------------------------------- */

/* A queue, and how much its counters grew between the readings; unknown counters did not grow. */
struct queue_growth {
    const struct nic_queue *queue; /* NULL: no queue */
    uint64_t moved[NIC_COUNTERS];
};

static bool is_same_queue(const struct nic_queue *one, const struct nic_queue *other)
{
    return one->interface == other->interface && one->direction == other->direction &&
           one->id == other->id;
}

/* Returns the growth of queue number `at` of the reading; .queue is NULL if the reading before
 * lacks this queue, or if its packets became fewer, because the driver was loaded again. */
static struct queue_growth queue_grew(const struct examination *examination, size_t at)
{
    const struct nic_queues *before = &examination->before->queues;
    const struct nic_queue *now = &examination->now->queues.list[at], *then = NULL;
    struct queue_growth growth = {.queue = NULL};

    /* nearly always the queue has the same place in both readings */
    for (size_t i = 0; i < before->count && !then; i++)
        if (is_same_queue(&before->list[(at + i) % before->count], now))
            then = &before->list[(at + i) % before->count];
    if (!then || now->counters[QUEUE_PACKETS] < then->counters[QUEUE_PACKETS])
        return growth;
    growth.queue = now;
    for (size_t i = 0; i < NIC_COUNTERS; i++)
        if (now->has & then->has & 1u << i && now->counters[i] > then->counters[i])
            growth.moved[i] = now->counters[i] - then->counters[i];
    return growth;
}

/* Drivers may count overruns without the sum of all drops. */
static uint64_t queue_dropped(const struct queue_growth *growth)
{
    const uint64_t drops = growth->moved[QUEUE_HW_DROPS];
    const uint64_t overruns = growth->moved[QUEUE_HW_DROP_OVERRUNS];

    return drops > overruns ? drops : overruns;
}

/* The queues of an interface in one direction. */
struct card {
    uint32_t interface;
    size_t queues; /* how many it has */
    size_t known;  /* how many of them are in both readings */
    uint64_t packets, dropped;
    /* The queues that got most packets, dropped most packets, dropped most for lack of buffers, and
     * got no memory or were full most often. */
    struct queue_growth busiest, worst, overrun, starved, fullest;
};

static void card_keep(struct queue_growth *kept, const struct queue_growth *growth, uint64_t value,
                      uint64_t least)
{
    if (!kept->queue || value > least)
        *kept = *growth;
}

static void card_add(struct card *card, const struct queue_growth *growth)
{
    const uint64_t *moved = growth->moved;

    card->queues++;
    if (!growth->queue)
        return;
    card_keep(&card->busiest, growth, moved[QUEUE_PACKETS], card->busiest.moved[QUEUE_PACKETS]);
    card_keep(&card->worst, growth, queue_dropped(growth), queue_dropped(&card->worst));
    card_keep(&card->overrun, growth, moved[QUEUE_HW_DROP_OVERRUNS],
              card->overrun.moved[QUEUE_HW_DROP_OVERRUNS]);
    card_keep(&card->starved, growth, moved[QUEUE_ALLOC_FAIL],
              card->starved.moved[QUEUE_ALLOC_FAIL]);
    card_keep(&card->fullest, growth, moved[QUEUE_STOP], card->fullest.moved[QUEUE_STOP]);
    card->known++;
    card->packets += moved[QUEUE_PACKETS];
    card->dropped += queue_dropped(growth);
}

static struct card card_of(const struct examination *examination, uint32_t interface,
                           enum queue_direction direction)
{
    const struct nic_queues *queues = &examination->now->queues;
    struct card card = {.interface = interface};

    for (size_t i = 0; i < queues->count; i++)
        if (queues->list[i].interface == interface && queues->list[i].direction == direction) {
            const struct queue_growth growth = queue_grew(examination, i);
            card_add(&card, &growth);
        }
    return card;
}

/* --- Evidence for other rules ----------------------------------------------------------------- */

void nic_queues_add_drops(struct finding *finding, const struct examination *examination,
                          uint32_t interface)
{
    const struct card card = card_of(examination, interface, QUEUE_RX);

    if (card.dropped)
        finding_evidence(finding, "receive queue %" PRIu32 " dropped %" PRIu64 " of %" PRIu64,
                         card.worst.queue->id, queue_dropped(&card.worst), card.dropped);
}

void nic_queues_add_stops(struct finding *finding, const struct examination *examination,
                          uint32_t interface)
{
    const struct card card = card_of(examination, interface, QUEUE_TX);

    if (card.fullest.queue && card.fullest.moved[QUEUE_STOP])
        finding_evidence(finding, "the driver stopped queue %" PRIu32 " %" PRIu64 " times",
                         card.fullest.queue->id, card.fullest.moved[QUEUE_STOP]);
}

static const char *card_name(const struct examination *examination, uint32_t interface)
{
    const struct reading *now = examination->now;

    for (size_t i = 0; i < now->interface_count; i++)
        if (now->interfaces[i].index == interface)
            return now->interfaces[i].name;
    return NULL;
}

/* Returns whether queue number `at` is the first queue of its interface. */
static bool begins_card(const struct nic_queues *queues, size_t at)
{
    return !at || queues->list[at].interface != queues->list[at - 1].interface;
}

void nic_queues_add_busiest(struct finding *finding, const struct examination *examination)
{
    const struct nic_queues *queues = &examination->now->queues;
    struct card most = {.packets = 0};

    for (size_t i = 0; i < queues->count; i++) {
        const struct card card = begins_card(queues, i)
                                     ? card_of(examination, queues->list[i].interface, QUEUE_RX)
                                     : most;
        if (card.busiest.moved[QUEUE_PACKETS] > most.busiest.moved[QUEUE_PACKETS])
            most = card;
    }
    if (most.packets && card_name(examination, most.interface))
        finding_evidence(
            finding,
            "receive queue %" PRIu32 " of %zu of %s got %" PRIu64 " of %" PRIu64 " packets",
            most.busiest.queue->id, most.queues, card_name(examination, most.interface),
            most.busiest.moved[QUEUE_PACKETS], most.packets);
}

/* --- The rule --------------------------------------------------------------------------------- */

/* A loss of 1 in 1000 packets halves TCP's rate over long distances. Drops whose reason is unknown
 * may be due to filters of the card, so they must be ten times as many. */
enum { NIC_LEAST = 10, NIC_PER_THOUSAND = 1, NIC_UNEXPLAINED_PER_THOUSAND = 10 };

/* Nearly all packets in one queue are a finding only if a CPU has trouble with them, or at a rate
 * that takes a large part of a CPU. With fewer queues, one flow is often most of the traffic. */
enum {
    UNEVEN_QUEUES = 4,
    UNEVEN_PERCENT = 90,
    UNEVEN_RATE = 10000, /* packets per second, if there is trouble */
    UNEVEN_RATE_ALONE = 100000,
    UNEVEN_SQUEEZED = 100,
};

static bool is_lost(uint64_t lost, uint64_t per_thousand, uint64_t packets)
{
    return lost >= NIC_LEAST && lost * 1000 >= (packets + lost) * per_thousand;
}

/* Adds the growth of a counter to the evidence, if the driver has this counter. */
static void add_queue_growth(struct finding *finding, const struct queue_growth *growth,
                             enum queue_counter counter, const char *name)
{
    if (growth->queue->has & 1u << counter)
        finding_evidence(finding, "%s grew by %" PRIu64, name, growth->moved[counter]);
}

/* Reports a queue that dropped packets for lack of buffers, or else the queue that dropped most.
 * Returns whether there is a finding. */
static bool emit_nic_drops(struct examination *examination, const struct card *card,
                           const char *name)
{
    const uint64_t overruns = card->overrun.moved[QUEUE_HW_DROP_OVERRUNS];
    const bool overrun = is_lost(overruns, NIC_PER_THOUSAND, card->overrun.moved[QUEUE_PACKETS]);
    const struct queue_growth *worst = overrun ? &card->overrun : &card->worst;
    const uint64_t dropped = overrun ? overruns : queue_dropped(worst);
    const uint64_t packets = worst->moved[QUEUE_PACKETS];
    const bool limited = worst->moved[QUEUE_HW_DROP_RATELIMITS] * 2 >= dropped;
    struct finding finding;

    if (!overrun && !is_lost(dropped, NIC_UNEXPLAINED_PER_THOUSAND, packets))
        return false;
    finding_begin(&finding, examination, overrun ? SEVERITY_FAULT : SEVERITY_WARNING, "%s", name);
    finding_summary(
        &finding,
        "%s: receive queue %" PRIu32 " dropped %" PRIu64 " of %" PRIu64 " packets in %.7g s%s",
        name, worst->queue->id, dropped, packets + dropped, seconds_between(examination),
        overrun   ? ", because no buffer was free"
        : limited ? ", because a limit of their rate was exceeded"
                  : "; the card does not say why");
    add_queue_growth(&finding, worst, QUEUE_HW_DROPS, "hw_drops");
    add_queue_growth(&finding, worst, QUEUE_HW_DROP_OVERRUNS, "hw_drop_overruns");
    add_queue_growth(&finding, worst, QUEUE_HW_DROP_RATELIMITS, "hw_drop_ratelimits");
    finding_evidence(&finding, "receive queues: %zu, drops of all: %" PRIu64, card->queues,
                     card->dropped);
    if (!overrun)
        finding.record.finding.advice = as_text(
            limited ? "the device limits the rate of packets: send and receive fewer packets, or "
                      "raise the limit of this (virtual) card"
                    : "see which counter of ethtool -S grows: besides lack of buffers, rules "
                      "(ethtool -n) and filters of the card drop packets");
    finding_emit(&finding, examination, dropped, ABSENT, dropped);
    return true;
}

static bool emit_starved(struct examination *examination, const struct card *card, const char *name)
{
    const uint64_t failed = card->starved.moved[QUEUE_ALLOC_FAIL];
    struct finding finding;

    if (!is_lost(failed, NIC_PER_THOUSAND, card->starved.moved[QUEUE_PACKETS]))
        return false;
    finding_begin(&finding, examination, SEVERITY_WARNING, "%s", name);
    finding_summary(&finding,
                    "%s: receive queue %" PRIu32 " got no memory for packets %" PRIu64
                    " times in %.7g s",
                    name, card->starved.queue->id, failed, seconds_between(examination));
    finding_evidence(&finding, "alloc_fail grew by %" PRIu64 ", packets by %" PRIu64, failed,
                     card->starved.moved[QUEUE_PACKETS]);
    finding.record.finding.advice =
        as_text("see what uses the memory of this machine; raise vm.min_free_kbytes");
    finding_emit(&finding, examination, failed, ABSENT, failed);
    return true;
}

/* Returns whether one connection of this network namespace received at least half of the packets:
 * a card cannot spread these over queues. */
static bool is_one_connection(const struct examination *examination, uint64_t packets)
{
    const struct busy_receiver *now = examination->now->sockets.receivers;
    const struct busy_receiver *before = examination->before->sockets.receivers;

    for (size_t i = 0; i < RECEIVERS; i++)
        for (size_t j = 0; j < RECEIVERS; j++)
            if (now[i].cookie && now[i].cookie == before[j].cookie &&
                (uint64_t)(now[i].segments - before[j].segments) * 2 >= packets)
                return true;
    return false;
}

/* Returns whether nearly all packets of the card are in one queue, and that does harm. */
static bool is_uneven(const struct examination *examination, const struct card *card)
{
    const uint64_t *moved = card->busiest.moved;
    const uint64_t passed = examination->now->at - examination->before->at;
    const uint64_t rate = passed ? card->packets * CLOCK_SECOND / passed : 0;
    const bool same_cpus = examination->before->cpus == examination->now->cpus;
    const bool trouble =
        queue_dropped(&card->busiest) || moved[QUEUE_ALLOC_FAIL] ||
        (same_cpus && (counter_moved(examination, SOFTNET_DROPPED) ||
                       counter_moved(examination, SOFTNET_SQUEEZED) >= UNEVEN_SQUEEZED));

    if (card->queues < UNEVEN_QUEUES || card->known != card->queues || rate < UNEVEN_RATE ||
        !reaches(moved[QUEUE_PACKETS], UNEVEN_PERCENT, card->packets))
        return false;
    return trouble ||
           (rate >= UNEVEN_RATE_ALONE && !(examination->lacking & (READS_TCP | READS_TCP_INFO)) &&
            !is_one_connection(examination, moved[QUEUE_PACKETS]));
}

static void emit_uneven(struct examination *examination, const struct card *card, const char *name)
{
    const uint64_t packets = card->busiest.moved[QUEUE_PACKETS];
    struct finding finding;

    if (!is_uneven(examination, card))
        return;
    finding_begin(&finding, examination, SEVERITY_WARNING, "%s", name);
    finding_summary(&finding,
                    "%s: %" PRIu64 " of %" PRIu64 " packets came through receive queue %" PRIu32
                    " of %zu in %.7g s, so that one CPU handles them (one flow?)",
                    name, packets, card->packets, card->busiest.queue->id, card->queues,
                    seconds_between(examination));
    finding_evidence(&finding, "softnet: time_squeeze grew by %" PRIu64 ", dropped by %" PRIu64,
                     counter_moved(examination, SOFTNET_SQUEEZED),
                     counter_moved(examination, SOFTNET_DROPPED));
    if (queue_dropped(&card->busiest) || card->busiest.moved[QUEUE_ALLOC_FAIL])
        finding_evidence(&finding, "the queue lost %" PRIu64 " packets",
                         queue_dropped(&card->busiest) + card->busiest.moved[QUEUE_ALLOC_FAIL]);
    finding.record.finding.advice = as_text(
        "see whether it is one flow, which no card can spread (fastnet traffic): if so, RPS "
        "spreads "
        "what is inside of a tunnel; if not, check the spreading of the card (ethtool -x, ethtool "
        "-n INTERFACE rx-flow-hash)");
    finding_emit(&finding, examination, packets, ABSENT, packets);
}

void rule_nic_queue(struct examination *examination)
{
    const struct nic_queues *queues = &examination->now->queues;

    if (!examination->before->at)
        return;
    for (size_t i = 0; i < queues->count; i++) {
        const uint32_t interface = queues->list[i].interface;
        const char *name = begins_card(queues, i) ? card_name(examination, interface) : NULL;
        if (!name)
            continue;
        const struct card card = card_of(examination, interface, QUEUE_RX);
        const bool found = emit_nic_drops(examination, &card, name);
        if (!emit_starved(examination, &card, name) && !found)
            emit_uneven(examination, &card, name);
    }
}
