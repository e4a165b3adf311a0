/* SPDX-License-Identifier: MIT */
/* Interfaces, and packets that the kernel loses before any socket sees them. */
#include <inttypes.h>
#include <string.h>

#include "doctor/rules.h"

/* Packets that a CPU could not process in its time are only late. They are a finding if they are
 * more than one percent, and at least SQUEEZED_LEAST. */
enum { SQUEEZED_PERCENT = 1, SQUEEZED_LEAST = 100 };

void rule_softnet(struct examination *examination)
{
    /* a CPU that comes online brings its earlier counts */
    const bool same = examination->before->cpus == examination->now->cpus;
    const uint64_t dropped = same ? counter_moved(examination, SOFTNET_DROPPED) : 0;
    const uint64_t squeezed = same ? counter_moved(examination, SOFTNET_SQUEEZED) : 0;
    const uint64_t processed = counter_moved(examination, SOFTNET_PROCESSED);
    const bool late = squeezed >= SQUEEZED_LEAST && reaches(squeezed, SQUEEZED_PERCENT, processed);
    struct finding finding;

    if (!dropped && !late) {
        emit_past(examination, counter_total(examination, SOFTNET_DROPPED), "softnet_stat, dropped",
                  &(struct loss){"packet was", "packets were",
                                 "dropped because the queue of a CPU was full"});
        return;
    }
    finding_begin(&finding, examination, dropped ? SEVERITY_FAULT : SEVERITY_WARNING, "softnet");
    if (dropped)
        finding_summary(&finding,
                        "%" PRIu64 " packet%s dropped in %.7g s because the queue of a CPU "
                        "was full",
                        dropped, dropped == 1 ? " was" : "s were", seconds_between(examination));
    else
        finding_summary(&finding,
                        "CPUs ran out of time for packets %" PRIu64 " times in %.7g s: "
                        "packets are handled late",
                        squeezed, seconds_between(examination));
    finding_evidence(&finding,
                     "dropped grew by %" PRIu64 ", time_squeeze by %" PRIu64 ", of %" PRIu64
                     " packets",
                     dropped, squeezed, processed);
    nic_queues_add_busiest(&finding, examination);
    finding_emit(&finding, examination, dropped ? dropped : squeezed, ABSENT,
                 dropped ? dropped : squeezed);
}

/* A loss of 1 in 1000 packets halves TCP's rate over long distances. Below LOST_LEAST: harmless. */
enum { LOST_PER_THOUSAND = 1, LOST_LEAST = 10 };

static const struct interface_reading *same_before(const struct reading *before,
                                                   const struct interface_reading *interface)
{
    for (size_t i = 0; i < before->interface_count; i++)
        if (before->interfaces[i].index == interface->index &&
            strcmp(before->interfaces[i].name, interface->name) == 0)
            return &before->interfaces[i];
    return NULL;
}

typedef void (*interface_rule)(struct examination *examination, const struct interface_reading *now,
                               const struct interface_reading *before);

static void interfaces_compare(struct examination *examination, interface_rule emit)
{
    const struct reading *now = examination->now;

    for (size_t i = 0; i < now->interface_count; i++) {
        const struct interface_reading *before =
            same_before(examination->before, &now->interfaces[i]);
        /* counters become smaller when the driver is loaded again */
        if (before && now->interfaces[i].received >= before->received &&
            now->interfaces[i].sent >= before->sent)
            emit(examination, &now->interfaces[i], before);
    }
}

static void emit_interface(struct examination *examination, const struct interface_reading *now,
                           const struct interface_reading *before)
{
    const uint64_t lost = now->lost - before->lost, broken = now->broken - before->broken;
    const uint64_t packets = now->received - before->received + now->sent - before->sent;
    struct finding finding;

    if ((!lost && !broken) || now->lost < before->lost || now->broken < before->broken)
        return;
    const bool many =
        lost + broken >= LOST_LEAST && (lost + broken) * 1000 >= packets * LOST_PER_THOUSAND;
    finding_begin(&finding, examination, many ? SEVERITY_FAULT : SEVERITY_WARNING, "%s", now->name);
    finding_summary(&finding, "%s %s: %" PRIu64 " of %" PRIu64 " packets in %.7g s", now->name,
                    lost ? "loses packets" : "has errors", lost + broken, packets + lost + broken,
                    seconds_between(examination));
    finding_evidence(&finding, "missed or overrun grew by %" PRIu64, lost);
    finding_evidence(&finding, "errors of receiving and sending grew by %" PRIu64, broken);
    nic_queues_add_drops(&finding, examination, now->index);
    finding_emit(&finding, examination, lost + broken, ABSENT, lost + broken);
}

void rule_interfaces(struct examination *examination)
{
    interfaces_compare(examination, emit_interface);
}

/* A shaper drops some packets to slow TCP down, but that takes less than one percent. */
enum { QUEUE_DROPS_PERCENT = 1, QUEUE_DROPS_LEAST = 10 };

static void emit_queue(struct examination *examination, const struct interface_reading *now,
                       const struct interface_reading *before)
{
    const uint64_t dropped = now->queue_drops - before->queue_drops;
    const uint64_t packets = now->sent - before->sent + dropped;
    struct finding finding;

    if (!now->has_queue_drops || !before->has_queue_drops ||
        now->queue_drops < before->queue_drops || dropped < QUEUE_DROPS_LEAST ||
        !reaches(dropped, QUEUE_DROPS_PERCENT, packets))
        return;
    finding_begin(&finding, examination, SEVERITY_WARNING, "%s", now->name);
    finding_summary(&finding, "%s: its queue dropped %" PRIu64 " of %" PRIu64 " packets in %.7g s",
                    now->name, dropped, packets, seconds_between(examination));
    finding_evidence(&finding, "tx_queue_drops grew by %" PRIu64, dropped);
    finding_evidence(&finding, "tx_packets grew by %" PRIu64, now->sent - before->sent);
    nic_queues_add_stops(&finding, examination, now->index);
    finding_emit(&finding, examination, dropped, ABSENT, dropped);
}

void rule_queue_drops(struct examination *examination)
{
    interfaces_compare(examination, emit_queue);
}

void rule_duplicate_address(struct examination *examination)
{
    const struct reading *now = examination->now;

    for (size_t i = 0; i < now->interface_count; i++) {
        const struct interface_reading *interface = &now->interfaces[i];
        char address[TEXT_NETWORK_MAX + 1];
        struct finding finding;
        if (interface->duplicate.address.family == AF_UNSPEC)
            continue;
        *text_network(address, &interface->duplicate) = '\0';
        finding_begin(&finding, examination, SEVERITY_FAULT, "%s", interface->name);
        finding_summary(&finding,
                        "%s has the address %s, which another machine has, too, so "
                        "this machine does not use it",
                        interface->name, address);
        finding_evidence(&finding, "the address has the flag dadfailed");
        finding_emit(&finding, examination, ABSENT, ABSENT, ABSENT);
    }
}
