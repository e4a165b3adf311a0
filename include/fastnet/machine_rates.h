/* SPDX-License-Identifier: MIT */
/* Rates that `top` shows above its rows: growth of kernel counters, and traffic of interfaces, with
 * the part that the listed sockets have in it. All are means of the last 3 seconds (mean.h). */
#ifndef FASTNET_MACHINE_RATES_H
#define FASTNET_MACHINE_RATES_H

#include "fastnet/kernel_number.h"
#include "fastnet/live.h"
#include "fastnet/mean.h"
#include "fastnet/namespace.h"

struct machine_rates;

struct interface_rate {
    uint64_t key;   /* made of the network namespace's id and the interface's index */
    uint64_t bytes; /* sent and received */
    double rate;    /* bytes per second of the interface */
    double moved;   /* bytes per second of the sockets that use it */
    float grown[MEAN_SLOTS], carried[MEAN_SLOTS]; /* slots: growth of `bytes`; bytes of sockets */
    char name[INTERFACE_TEXT_MAX + 1];
    struct netns netns; /* id 0: the own netns, or the only one */
};

/* Returns NULL if memory is short. */
struct machine_rates *machine_rates_create(bool all_netns);
void machine_rates_destroy(struct machine_rates *rates);

/* Reads counters whose last reading is at least `age` nanoseconds old, and the rates of the
 * sockets. */
void machine_rates_read(struct machine_rates *rates, const struct live *live, uint64_t age);

/* Call it when the filter of the sockets has changed: bytes that sockets moved before the next
 * reading are then ignored. */
void machine_rates_forget_sockets(struct machine_rates *rates);

/* Whether the counters were read twice, which rates need. */
bool machine_rates_known(const struct machine_rates *rates);

/* Growth per second of a number of table_counters, in all listed network namespaces together. */
double machine_rates_of(const struct machine_rates *rates, enum kernel_number number);

/* TCP connections per second in all listed network namespaces. Opened: attempts to connect, and
 * connections that listeners got. Closed: TCP sockets that ended, without TIME_WAIT: the opened
 * connections, less the growth of the number of TCP sockets; false if that number is unknown. */
double machine_rates_opened(const struct machine_rates *rates);
bool machine_rates_closed(const struct machine_rates *rates, double *closed);

/* Returns the number of interfaces with traffic; 0 while no socket has a rate. */
size_t machine_rates_interfaces(const struct machine_rates *rates);

/* Returns interface i, busiest first. *unplaced: bytes per second of sockets in its network
 * namespace that use this interface or another. */
const struct interface_rate *machine_rates_interface(const struct machine_rates *rates, size_t i,
                                                     double *unplaced);

#endif
