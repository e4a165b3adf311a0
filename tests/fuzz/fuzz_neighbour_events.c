/* SPDX-License-Identifier: MIT */
/*
 * What the doctor hears between two readings. The first byte is 0: the rest is an ARP packet, which
 * the filter passes only if it is a claim to 10.3.0.1. Otherwise datagrams with events of
 * neighbours and addresses (datagrams.h), before and after a table was read.
 */
#include <linux/filter.h>
#include <string.h>

#include "datagrams.h"
#include "doctor/neighbours.h"
#include "fastnet/neighbour_events.h"
#include "fastnet/record.h"
#include "fuzz.h"
#include "kernel_filter.h"

static void check_packet(const uint8_t *packet, size_t length)
{
    static const struct own_ipv4 own = {1, {10, 3, 0, 1}};
    static struct sock_filter code[ARP_PROGRAM_MAX];
    const struct sock_fprog program = {.len = (unsigned short)arp_program_make(&own, 1, code),
                                       .filter = code};
    const struct kernel_packet received = {.bytes = packet, .length = length};
    struct arp_claim claim;

    require(kernel_filter_ends(&program));
    const bool passes = kernel_filter_run(&program, &received) > 0;
    if (arp_claim_decode(packet, length, &claim))
        require(passes == (memcmp(claim.to.bytes, own.bytes, sizeof own.bytes) == 0));
}

static void check_reading(const struct neighbours_reading *reading)
{
    for (size_t i = 0; i < reading->flap_count && i < FLAPS_KEPT; i++) {
        const struct neighbour_flap *flap = &reading->flaps[i];
        require_address(&flap->address, flap->address.family);
        require(flap->mac_count >= 2 && flap->mac_count <= FLAP_MACS && flap->changes >= 2);
        require(memcmp(flap->macs[0], flap->macs[1], MAC_SIZE) != 0);
    }
}

static void watch_datagrams(struct datagrams *datagrams)
{
    const struct netlink_peer peer = datagrams_peer(datagrams);
    struct neighbour_watch *watch = neighbour_watch_create(NULL);
    const struct neighbour_events events = {neighbour_watch_take_event,
                                            neighbour_watch_take_removed, watch};

    require(watch != NULL);
    for (int i = 0; i < 3; i++) {
        struct netlink *netlink = netlink_create(&peer);
        struct neighbours_reading reading = {.flap_count = 0};
        require(netlink != NULL);
        neighbour_watch_begin_table(watch, &reading);
        check_reading(&reading);
        if (i == 1)
            require(neighbour_events_read(netlink, -1, &events) <= 0);
        neighbour_watch_end_table(watch);
        require(neighbour_events_read(netlink, -1, &events) <= 0);
        netlink_destroy(netlink);
    }
    neighbour_watch_destroy(watch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct datagrams datagrams = {size ? data + 1 : data, size ? size - 1 : 0, 0, true};

    if (size && !data[0])
        check_packet(data + 1, size - 1);
    else if (size)
        watch_datagrams(&datagrams);
    return 0;
}
