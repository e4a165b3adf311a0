/* SPDX-License-Identifier: MIT */
/* A hash table of flows that are counted while packets come, with a fixed capacity. If a new flow
 * finds no room, the quarter of all flows with the fewest packets is removed. Nothing is allocated
 * after packet_flows_create(). */
#ifndef PROBES_PACKET_PACKET_FLOWS_H
#define PROBES_PACKET_PACKET_FLOWS_H

#include "fastnet/packet_probe.h"
#include "probes/packet/packet.h"

/* The first 60 bytes have all members that a frame of IPv4 reads or writes. */
struct flow {
    uint64_t packets, frames, bytes;
    uint32_t first, last; /* milliseconds since an origin that the caller knows, modulo 2^32 */
    uint8_t tcp_flags;    /* flags of all packets, in one byte */
    bool has_tcp;
    uint16_t idle; /* milliseconds that the flow was kept without packets */
    struct flow_key key;
};

/* Bytes of memory that a table needs at most for each flow of its capacity, with its slots. */
enum { FLOW_BYTES = 104 };

/* Ports of a first fragment. `tag` is a hash of its addresses and id. Its index in packet_flows is
 * tag % FRAGMENTS, so a newer first fragment may overwrite it. */
enum { FRAGMENTS = 256 };
struct fragment_memory {
    uint64_t tag;
    uint16_t sport, dport, protocol;
    uint32_t at;
};

struct packet_flows {
    struct flow *flows; /* in order of arrival */
    size_t count, capacity;
    uint32_t *slots; /* 2 * capacity slots: 1 + the index of a flow, or 0: free */
    size_t used;     /* slots in use, at least two for each flow: a small table fits into caches */
    struct fragment_memory fragments[FRAGMENTS];
    uint64_t secrets[sizeof(struct flow_key) / 4]; /* a secret for each 32 bits of a key */
    struct flow_totals made_room;                  /* totals of flows that were removed */
};

/* capacity: at least 1, below 2^31. Returns NULL when memory is short. */
struct packet_flows *packet_flows_create(size_t capacity);
void packet_flows_destroy(struct packet_flows *flows);
/* Removes all flows. */
void packet_flows_reset(struct packet_flows *flows);

/* A frame that has to be counted. packets: the number of packets in it. */
struct counted {
    struct packet packet;
    uint32_t bytes, packets;
    uint32_t at;   /* milliseconds since the origin */
    uint32_t slot; /* where the search for its flow begins; packet_flows_expect() sets it */
};

void packet_flows_take_fragment(struct packet_flows *flows, struct counted *counted);

static inline uint32_t flow_key_word(const struct flow_key *key, size_t word)
{
    uint32_t value;

    memcpy(&value, (const uint8_t *)key + sizeof value * word, sizeof value);
    return value;
}

/* Hashes word number `word` of a key and the next word. */
static inline uint64_t packet_flows_hash_pair(const struct packet_flows *flows,
                                              const struct flow_key *key, size_t word)
{
    return (flows->secrets[word] + flow_key_word(key, word)) *
           (flows->secrets[word + 1] + flow_key_word(key, word + 1));
}

enum { /* index of 32-bit words in a key */
       FLOW_KEY_INTERFACE = offsetof(struct flow_key, interface) / 4,
       FLOW_KEY_ADDRESSES = offsetof(struct flow_key, addresses) / 4,
       FLOW_KEY_LLADDRS = offsetof(struct flow_key, src_lladdr) / 4,
};

static inline uint64_t packet_flows_hash_addresses(const struct packet_flows *flows,
                                                   const struct flow_key *key)
{
    uint64_t hash = packet_flows_hash_pair(flows, key, FLOW_KEY_ADDRESSES) +
                    key->interface * flows->secrets[FLOW_KEY_INTERFACE];

    /* IPv4 addresses have no more words, and the bytes after them are not hashed */
    for (size_t i = FLOW_KEY_ADDRESSES + 2; i < FLOW_KEY_LLADDRS && key->family != AF_INET; i += 2)
        hash += packet_flows_hash_pair(flows, key, i);
    return hash;
}

/* Returns the slot where the search for this key begins: the flow's slot, or a free slot, is there
 * or follows. Half of the slots are free. Sums of products of pairs are strongly universal (Lemire
 * and Kaser, Strongly universal string hashing is fast), but put consecutive numbers side by side,
 * so the sum is mixed once more. */
static inline uint32_t packet_flows_slot(const struct packet_flows *flows,
                                         const struct flow_key *key)
{
    /* reads each part with the width in which it was just written: other widths wait longer */
    uint64_t hash =
        packet_flows_hash_addresses(flows, key) +
        (flows->secrets[0] + flow_key_word(key, 0)) * (flows->secrets[1] + key->protocol) +
        key->vlan * flows->secrets[3];

    if (key->has & TRAFFIC_LLADDRS)
        hash += packet_flows_hash_pair(flows, key, FLOW_KEY_LLADDRS) +
                flow_key_word(key, FLOW_KEY_LLADDRS + 2) * flows->secrets[FLOW_KEY_LLADDRS + 2];
    hash = (hash ^ hash >> 32) * UINT64_C(0xff51afd7ed558ccd);
    return (uint32_t)((hash >> 32) * flows->used >> 32);
}

/* Finds the frame's slot and prefetches its memory. A later fragment gets the ports of the first
 * fragment, if the first came before. */
static inline void packet_flows_expect(struct packet_flows *flows, struct counted *counted)
{
    if (counted->packet.fragment != FRAGMENT_NONE)
        packet_flows_take_fragment(flows, counted);
    counted->slot = packet_flows_slot(flows, &counted->packet.key);
    __builtin_prefetch(&flows->slots[counted->slot]);
}

/* Counts frames, after packet_flows_expect(). If there are several, their cache misses overlap. */
void packet_flows_add(struct packet_flows *flows, const struct counted *counted, size_t count);

/* Copies flows of the table `before` that have no packets in this table, while there is room, if
 * they were idle for less than `most`. later: time from the origin of `before` to this table's
 * origin; elapsed: this table's interval. All in milliseconds. */
void packet_flows_keep(struct packet_flows *flows, const struct packet_flows *before, uint32_t most,
                       uint32_t later, uint32_t elapsed);

/* If a flow is in several tables, adds it up in the first of these, and removes it from the others.
 * After that, the tables may only be read, kept (as `before`) or reset. */
void packet_flows_join(struct packet_flows *const *tables, size_t count);

/* Fills the row of a flow, except elapsed, lost and undescribed. origin: origin of the flow's
 * times, nanoseconds since 1970. */
void packet_flow_fill_record(const struct flow *flow, uint64_t origin, struct record *record);

#endif
