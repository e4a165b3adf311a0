/* SPDX-License-Identifier: MIT */
/* The fields of queues of network cards. Counters have the kernel's names (netdev.yaml of its
 * Documentation/netlink/specs), without rx or tx: a row is about one direction. */
#include "model/fields/fields.h"

static WORDS(direction_name, "rx", "tx");

#define COUNTED(id, counter, ...)                                                                  \
    COUNTER(id, queue.counters[counter], QUEUE_COUNTER(counter), __VA_ARGS__)
#define PACKETS(id, counter, ...) COUNTED(id, counter, __VA_ARGS__, .unit = UNIT_PACKETS)
#define BYTES(id, counter, ...)   COUNTED(id, counter, __VA_ARGS__, .unit = UNIT_BYTES)

/* The order of --columns=help. Names and meanings never change after a release. */
static const struct field fields[] = {
    INTERFACE(interface, queue.interface, 0, "interface; its index if it no longer has a name",
              .key = true),
    NUMBER(interface_index, queue.interface, 0, "index of the interface", .moving = true),
    WORD(direction, queue.direction, direction_name, 0,
         "rx: the queue receives packets; tx: it sends packets", .key = true),
    NUMBER(queue_id, queue.id, 0, "number of the queue, from 0 on in each direction", .key = true),
    PACKETS(packets, QUEUE_PACKETS, "packets received, or sent"),
    BYTES(bytes, QUEUE_BYTES, "bytes received, or sent"),
    PACKETS(hw_drops, QUEUE_HW_DROPS,
            "packets that the card dropped, for any reason, also by its filters"),
    PACKETS(hw_drop_overruns, QUEUE_HW_DROP_OVERRUNS,
            "rx: packets dropped for lack of buffers or other resources; part of hw_drops"),
    PACKETS(hw_drop_errors, QUEUE_HW_DROP_ERRORS,
            "tx: packets dropped because they were malformed; part of hw_drops"),
    PACKETS(hw_drop_ratelimits, QUEUE_HW_DROP_RATELIMITS,
            "packets dropped by a limit of the device's rate; part of hw_drops"),
    COUNTED(alloc_fail, QUEUE_ALLOC_FAIL, "rx: times that no memory was left for a buffer"),
    PACKETS(csum_complete, QUEUE_CSUM_COMPLETE,
            "rx: packets for which the card computed the checksum of all bytes"),
    PACKETS(csum_unnecessary, QUEUE_CSUM_UNNECESSARY,
            "rx: packets whose checksum the card has checked"),
    PACKETS(csum_none, QUEUE_CSUM_NONE, "packets whose checksum the card did not handle"),
    PACKETS(csum_bad, QUEUE_CSUM_BAD, "rx: packets with a wrong checksum"),
    PACKETS(needs_csum, QUEUE_NEEDS_CSUM, "tx: packets whose checksum the card computed"),
    PACKETS(hw_gro_packets, QUEUE_HW_GRO_PACKETS, "rx: packets that the card made of others (GRO)"),
    BYTES(hw_gro_bytes, QUEUE_HW_GRO_BYTES, "rx: bytes of hw_gro_packets"),
    PACKETS(hw_gro_wire_packets, QUEUE_HW_GRO_WIRE_PACKETS,
            "rx: packets that became hw_gro_packets"),
    BYTES(hw_gro_wire_bytes, QUEUE_HW_GRO_WIRE_BYTES, "rx: bytes of hw_gro_wire_packets"),
    PACKETS(hw_gso_packets, QUEUE_HW_GSO_PACKETS,
            "tx: packets that the card cut into others (GSO)"),
    BYTES(hw_gso_bytes, QUEUE_HW_GSO_BYTES, "tx: bytes of hw_gso_packets"),
    PACKETS(hw_gso_wire_packets, QUEUE_HW_GSO_WIRE_PACKETS,
            "tx: packets that were made of hw_gso_packets"),
    BYTES(hw_gso_wire_bytes, QUEUE_HW_GSO_WIRE_BYTES, "tx: bytes of hw_gso_wire_packets"),
    COUNTED(stop, QUEUE_STOP, "tx: times that the queue was full, so that the driver stopped it"),
    COUNTED(wake, QUEUE_WAKE, "tx: times that the driver started the queue again"),
    NUMBER(napi, queue.napi, QUEUE_NAPI, "id of the NAPI instance that reads the queue"),
    NUMBER(irq, queue.irq, QUEUE_IRQ,
           "interrupt of the queue; /proc/irq/IRQ/smp_affinity_list has its CPUs"),
};

static const struct field_group groups[] = {{"hw", 0}, {"csum", 0}};

const struct kind kind_queue = {
    .name = "queues",
    .metric = "queue",
    .size = RECORD_SIZE(queue),
    FIELDS(fields),
    GROUPS(groups),
};
