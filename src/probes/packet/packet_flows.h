/* SPDX-License-Identifier: MIT */
/*
 * Flows that are counted while packets come. There are never more than so many: where a new one
 * finds no room, those with the fewest packets go, a quarter of all at once. Nothing is allocated
 * after it was created.
 */
#ifndef PROBES_PACKET_PACKET_FLOWS_H
#define PROBES_PACKET_PACKET_FLOWS_H

#include "fastnet/packet_probe.h"
#include "probes/packet/packet.h"

/* What is read and written for each frame of IPv4 stands together, in 60 bytes. */
struct flow {
    uint64_t packets, frames, bytes;
    uint32_t first, last; /* milliseconds since an origin that the caller knows; may be negative */
    uint8_t tcp_flags;    /* of all packets */
    bool has_tcp;
    uint16_t idle; /* milliseconds that it has been kept without packets */
    struct flow_key key;
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
    uint32_t *slots; /* room for two for each flow; 1 + its index, 0: free */
    size_t used;     /* slots in use, at least two for each flow: few stay in the caches */
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
    uint32_t at;   /* milliseconds since the origin */
    uint32_t slot; /* where it is looked for: packet_flows_expect() sets it */
};

void packet_flows_take_fragment(struct packet_flows *flows, struct counted *counted);

static inline uint32_t flow_key_word(const struct flow_key *key, size_t word)
{
    uint32_t value;

    memcpy(&value, (const uint8_t *)key + sizeof value * word, sizeof value);
    return value;
}

/* Of this word of a key and the next. */
static inline uint64_t packet_flows_hash_pair(const struct packet_flows *flows,
                                              const struct flow_key *key, size_t word)
{
    return (flows->secrets[word] + flow_key_word(key, word)) *
           (flows->secrets[word + 1] + flow_key_word(key, word + 1));
}

enum { /* words of a key */
       FLOW_KEY_INTERFACE = offsetof(struct flow_key, interface) / 4,
       FLOW_KEY_ADDRESSES = offsetof(struct flow_key, addresses) / 4,
       FLOW_KEY_LLADDRS = offsetof(struct flow_key, src_lladdr) / 4,
};

static inline uint64_t packet_flows_hash_addresses(const struct packet_flows *flows,
                                                   const struct flow_key *key)
{
    uint64_t hash = packet_flows_hash_pair(flows, key, FLOW_KEY_ADDRESSES) +
                    key->interface * flows->secrets[FLOW_KEY_INTERFACE];

    /* the other bytes are 0 */
    for (size_t i = FLOW_KEY_ADDRESSES + 2; i < FLOW_KEY_LLADDRS && key->family != AF_INET; i += 2)
        hash += packet_flows_hash_pair(flows, key, i);
    return hash;
}

/*
 * Where the flow with this key is or, free, where it belongs. Half of the slots are free. Sums of
 * such pairs are strongly universal (Lemire and Kaser, Strongly universal string hashing is fast),
 * but leave numbers in a row side by side: they are mixed once more.
 */
static inline uint32_t packet_flows_slot(const struct packet_flows *flows,
                                         const struct flow_key *key)
{
    /* each as wide as it was just written: others would have to wait until it is in the cache */
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

/* Has the memory fetched that a frame will be counted in. A later fragment gets the ports of the
 * first one, if that came before. */
static inline void packet_flows_expect(struct packet_flows *flows, struct counted *counted)
{
    if (counted->packet.fragment != FRAGMENT_NONE)
        packet_flows_take_fragment(flows, counted);
    counted->slot = packet_flows_slot(flows, &counted->packet.key);
    __builtin_prefetch(&flows->slots[counted->slot]);
}

/* Counts frames that were expected; several at once wait for memory together. */
void packet_flows_add(struct packet_flows *flows, const struct counted *counted, size_t count);

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
