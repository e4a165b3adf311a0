/* SPDX-License-Identifier: MIT */
/* What happens to neighbours between two readings: MAC addresses that change, and machines that
 * give addresses of this machine as their own. */
#ifndef DOCTOR_NEIGHBOURS_H
#define DOCTOR_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/address.h"
#include "fastnet/arp_claims.h"

struct interface_address;
struct interface_record;
struct netlink;
struct record;

enum { FLAP_MACS = 4, FLAPS_KEPT = 4, CLAIMS_KEPT = 16, REMOVED_KEPT = 16, WATCHED_MAX = 64 };

/* A neighbour that got another MAC address, and then an earlier address again. */
struct neighbour_flap {
    struct address address;
    uint32_t interface, changes; /* index; how often its MAC address changed */
    uint8_t macs[FLAP_MACS][MAC_SIZE];
    uint8_t mac_count, again; /* at least 2; index of the address that came back */
};

/* A machine that gave an address of this machine as its own. */
struct neighbour_claim {
    struct arp_claim claim;
    uint32_t count; /* ARP packets */
};

struct neighbours_reading {
    size_t flap_count; /* how many neighbours flapped; the first FLAPS_KEPT are kept */
    struct neighbour_flap flaps[FLAPS_KEPT];
    size_t claim_count;
    struct neighbour_claim claims[CLAIMS_KEPT];
    bool
        unwatched; /* ARP is not watched here: WATCHED_MAX other network namespaces have a socket */
    size_t own_count, own_capacity;
    struct own_ipv4 *own; /* addresses on interfaces that use ARP */
};

/* Adds the interface's addresses for which ARP is watched. Returns 0 or -ENOMEM. */
int neighbours_take_interface(struct neighbours_reading *reading,
                              const struct interface_record *interface);

/* Returns whether the list has this address of this interface. */
bool own_ipv4_has(const struct own_ipv4 *list, size_t count, const struct own_ipv4 *address);

/* --- Between readings ------------------------------------------------------------------------- */

/* What all network namespaces share. */
struct neighbour_watcher {
    struct netlink *netlink;
    unsigned packet_sockets; /* closing each takes some 20 ms (synchronize_net() of the kernel) */
};
struct neighbour_watch; /* sockets of one network namespace, and its neighbours */

/* Returns NULL if memory is short. */
struct neighbour_watch *neighbour_watch_create(struct neighbour_watcher *watcher);
void neighbour_watch_destroy(struct neighbour_watch *watch);

/* Opens the sockets in this thread's network namespace, unless they are open. ARP is watched for
 * the reading's own addresses. */
void neighbour_watch_open(struct neighbour_watch *watch, struct neighbours_reading *reading);

/* Returns which parts are watched: READS_CHANGES, and READS_ARP unless a socket for
 * it is missing. */
unsigned neighbour_watch_reads(const struct neighbour_watch *watch);

/* Reads what came, so that the sockets do not overflow. */
void neighbour_watch_drain(struct neighbour_watch *watch);

/* Call these before and after the table of neighbours is read. The first function moves to the
 * reading what happened since the reading before. */
void neighbour_watch_begin_table(struct neighbour_watch *watch, struct neighbours_reading *reading);
void neighbour_watch_end_table(struct neighbour_watch *watch);

/* The past of a neighbour. HAD_MAC also if the past is unknown. */
enum neighbour_past { NEIGHBOUR_HAD_MAC, NEIGHBOUR_HAD_ENTRY, NEIGHBOUR_IS_NEW };

/* Takes a row of the table. Returns what the table of the reading before and later events say about
 * this neighbour. */
enum neighbour_past neighbour_watch_learn(struct neighbour_watch *watch,
                                          const struct record *record);

/* Take an event; arg: the watch. Tests call them, too. */
void neighbour_watch_take_event(const struct record *record, void *arg);
void neighbour_watch_take_removed(const struct interface_address *address, void *arg);
void neighbour_watch_take_claim(const struct arp_claim *claim, void *arg);

#endif
