/* SPDX-License-Identifier: MIT */
/*
 * Flows that are counted while packets come. There are never more than so many: where a new one
 * finds no room, those with the fewest packets go, a quarter of all at once. Nothing is allocated
 * after it was created.
 */
#ifndef BACKEND_PACKET_PACKET_FLOWS_H
#define BACKEND_PACKET_PACKET_FLOWS_H

#include "backend/packet/packet.h"
#include "fastnet/packet_watch.h"

struct flow {
    struct flow_key key;
    uint32_t first, last; /* milliseconds since an origin that the caller knows; may be negative */
    uint8_t tcp_flags;    /* of all packets */
    bool has_tcp;
    uint16_t idle; /* milliseconds that it has been kept without packets */
    uint64_t packets, frames, bytes;
};

/* With its slots, at most: so much memory is used for each flow that there is room for. */
enum { FLOW_BYTES = 104 };

/* Of a first fragment, by its addresses and number: the last one of each place is known. */
enum { FRAGMENTS = 256 };
struct fragment_memory {
    uint64_t tag;
    uint16_t sport, dport, protocol;
    uint32_t at;
};

struct packet_flows {
    struct flow *flows; /* in the order they came in */
    size_t count, capacity;
    uint32_t *slots; /* two for each flow; 1 + its index, 0: free */
    struct fragment_memory fragments[FRAGMENTS];
    uint64_t secrets[sizeof(struct flow_key) / 4]; /* one for each 32 bits of a key */
    struct flow_totals made_room;                  /* what is not among the flows any more */
};

/* capacity: at least 1, below 2^31. Returns NULL when memory is short. */
struct packet_flows *packet_flows_create(size_t capacity);
void packet_flows_destroy(struct packet_flows *flows);
/* Forgets all of them. */
void packet_flows_reset(struct packet_flows *flows);

/* A frame that is to be counted: it stands for so many packets. */
struct counted {
    struct packet packet;
    uint32_t bytes, packets;
    uint32_t at; /* milliseconds since the origin */
    size_t slot; /* where it is looked for: packet_flows_add() sets it */
};

/*
 * Counts these frames; several at once wait for memory together. Gives a later fragment the ports
 * of the first one, if that came before.
 */
void packet_flows_add(struct packet_flows *flows, struct counted *counted, size_t count);

/*
 * Keeps those of the table before this one that have no packets here, as far as there is room,
 * unless they had none for so long before. later: how much later the origin is; elapsed: the time
 * of this table; all in milliseconds.
 */
void packet_flows_keep(struct packet_flows *flows, const struct packet_flows *before, uint32_t most,
                       uint32_t later, uint32_t elapsed);

/*
 * A flow that is in several of these tables is counted in the first of them only, for all, and gone
 * from the others. Afterwards they can be kept and reset, no more.
 */
void packet_flows_join(struct packet_flows *const *tables, size_t count);

/*
 * The row of a flow, but for how long it was watched. origin: that of its times, in nanoseconds
 * since 1970.
 */
void packet_flow_tell(const struct flow *flow, uint64_t origin, struct record *record);

#endif
