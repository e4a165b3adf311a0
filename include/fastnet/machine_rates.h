/* SPDX-License-Identifier: MIT */
/*
 * Rates of the machine, beside those of the rows that `top` lists: of counters of the kernel, and
 * of interfaces, with what the listed sockets move through each of them.
 */
#ifndef FASTNET_MACHINE_RATES_H
#define FASTNET_MACHINE_RATES_H

#include "fastnet/kernel_number.h"
#include "fastnet/live.h"
#include "fastnet/namespace.h"

struct machine_rates;

struct interface_rate {
    uint64_t key;   /* of its namespace and its index */
    uint64_t bytes; /* that it has sent and received */
    double rate;    /* bytes a second */
    double moved;   /* bytes a second of the sockets that use it */
    char name[INTERFACE_TEXT_MAX + 1];
    struct netns netns; /* id 0: the namespace of this process, or the only one */
};

/* NULL when memory is short. */
struct machine_rates *machine_rates_create(bool all_netns);
void machine_rates_destroy(struct machine_rates *rates);

/* Reads counters that were read at least that many nanoseconds ago, and what the sockets moved. */
void machine_rates_read(struct machine_rates *rates, const struct live *live, uint64_t age);

/* Whether the counters were read twice, so that there are rates. */
bool machine_rates_known(const struct machine_rates *rates);

/* By how much a number of table_counters grows a second, in all namespaces that are listed. */
double machine_rates_of(const struct machine_rates *rates, enum kernel_number number);

/* Interfaces with traffic, the busiest first; none while no socket has a rate to compare with. */
size_t machine_rates_interfaces(const struct machine_rates *rates);

/* *unplaced: bytes a second of sockets in its namespace that may use it, or any other interface. */
const struct interface_rate *machine_rates_interface(const struct machine_rates *rates, size_t i,
                                                     double *unplaced);

#endif
