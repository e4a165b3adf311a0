/* SPDX-License-Identifier: MIT */
/* The queues of network cards in a reading. */
#ifndef DOCTOR_NIC_QUEUES_H
#define DOCTOR_NIC_QUEUES_H

#include <stddef.h>
#include <stdint.h>

#include "fastnet/record.h"

struct examination;
struct finding;

/* The counters that rules compare are the first of enum queue_counter. */
enum { NIC_COUNTERS = QUEUE_STOP + 1, NIC_QUEUES_MAX = 4096 };

struct nic_queue {
    uint32_t interface, direction, id;
    uint32_t has; /* bits 1 << enum queue_counter: the driver counts this */
    uint64_t counters[NIC_COUNTERS];
};

/* In the order of the kernel, which lists the queues of an interface together. Further queues than
 * NIC_QUEUES_MAX are ignored. */
struct nic_queues {
    struct nic_queue *list;
    size_t count, capacity;
};

/* Takes a row of table_queues. Returns 0 or -ENOMEM. */
int nic_queues_take(struct nic_queues *queues, const struct record *record);

/* Each adds evidence to a finding about packets, if the driver counts packets by queue: which
 * receive queue of the interface dropped most; which queue for sending was full; which receive
 * queue of all interfaces got most packets. */
void nic_queues_add_drops(struct finding *finding, const struct examination *examination,
                          uint32_t interface);
void nic_queues_add_stops(struct finding *finding, const struct examination *examination,
                          uint32_t interface);
void nic_queues_add_busiest(struct finding *finding, const struct examination *examination);

#endif
