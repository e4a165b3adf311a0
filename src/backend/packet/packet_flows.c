/* SPDX-License-Identifier: MIT */
#include "backend/packet/packet_flows.h"

#include <linux/if_ether.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/hash.h"
#include "fastnet/record/traffic.h"

_Static_assert(sizeof(struct flow_key) == 60, "a key has padding");
_Static_assert(sizeof(struct flow) + 2 * sizeof(uint32_t) <= FLOW_BYTES, "a flow is too large");

enum {
    FRAGMENT_AGE = 30000, /* milliseconds: longer than any kernel waits */
    MILLISECOND = 1000000
};

struct packet_flows *packet_flows_create(size_t capacity)
{
    struct packet_flows *flows = calloc(1, sizeof *flows);
    uint64_t secret[2];

    if (!flows)
        return NULL;
    hash_secret(secret);
    for (size_t i = 0; i < COUNT(flows->secrets); i++)
        flows->secrets[i] = hash_word(secret[i % 2], i);
    flows->capacity = capacity;
    flows->flows = calloc(capacity, sizeof *flows->flows);
    flows->slots = calloc(2 * capacity, sizeof *flows->slots);
    if (flows->flows && flows->slots)
        return flows;
    packet_flows_destroy(flows);
    return NULL;
}

void packet_flows_destroy(struct packet_flows *flows)
{
    if (!flows)
        return;
    free(flows->flows);
    free(flows->slots);
    free(flows);
}

static void empty_slots(struct packet_flows *flows)
{
    memset(flows->slots, 0, 2 * flows->capacity * sizeof *flows->slots);
}

void packet_flows_reset(struct packet_flows *flows)
{
    flows->count = 0;
    flows->made_room = (struct flow_totals){.flows = 0};
    empty_slots(flows);
    memset(flows->fragments, 0, sizeof flows->fragments);
}

/* --- To find them ----------------------------------------------------------------------------- */

/* Of two words of a key. */
static inline uint64_t hash_pair(const struct packet_flows *flows, const struct flow_key *key,
                                 size_t first, size_t second)
{
    uint32_t a, b;

    memcpy(&a, (const uint8_t *)key + sizeof a * first, sizeof a);
    memcpy(&b, (const uint8_t *)key + sizeof b * second, sizeof b);
    return (flows->secrets[first] + a) * (flows->secrets[second] + b);
}

static inline uint64_t hash_addresses(const struct packet_flows *flows, const struct flow_key *key)
{
    uint64_t hash = hash_pair(flows, key, 0, 4) + key->interface * flows->secrets[10];

    for (size_t i = 1; i < 4 && key->family != AF_INET; i++) /* the other bytes are 0 */
        hash += hash_pair(flows, key, i, 4 + i);
    return hash;
}

/*
 * Where the flow with this key is or, free, where it belongs. Half of the slots are free. Sums of
 * such pairs are strongly universal (Lemire and Kaser, Strongly universal string hashing is fast),
 * but leave numbers in a row side by side: they are mixed once more.
 */
static inline size_t first_slot(const struct packet_flows *flows, const struct flow_key *key)
{
    uint64_t hash = hash_addresses(flows, key) + hash_pair(flows, key, 8, 9);

    if (key->has & TRAFFIC_LLADDRS)
        hash += hash_pair(flows, key, 11, 12) + hash_pair(flows, key, 13, 14);
    hash = (hash ^ hash >> 32) * UINT64_C(0xff51afd7ed558ccd);
    return (size_t)((hash >> 32) * (2 * flows->capacity) >> 32);
}

static inline bool is_same_from(const struct flow_key *a, const struct flow_key *b, size_t from,
                                size_t size)
{
    return memcmp((const uint8_t *)a + from, (const uint8_t *)b + from, size) == 0;
}

/* Of what they have: the rest is 0. In parts that compilers compare in place: a call is slower. */
static inline bool is_same(const struct flow_key *a, const struct flow_key *b)
{
    enum {
        DST = offsetof(struct flow_key, dst),
        ENDS = offsetof(struct flow_key, sport),
        LLADDRS = offsetof(struct flow_key, src_lladdr)
    };

    return is_same_from(a, b, ENDS, LLADDRS - ENDS) &&
           (a->family == AF_INET ? is_same_from(a, b, 0, 4) && is_same_from(a, b, DST, 4)
                                 : is_same_from(a, b, 0, ENDS)) &&
           (!(a->has & TRAFFIC_LLADDRS) || is_same_from(a, b, LLADDRS, sizeof *a - LLADDRS));
}

static inline uint32_t *slot_from(const struct packet_flows *flows, const struct flow_key *key,
                                  size_t at)
{
    const size_t count = 2 * flows->capacity;

    while (flows->slots[at] && !is_same(&flows->flows[flows->slots[at] - 1].key, key))
        at = at + 1 < count ? at + 1 : 0;
    return &flows->slots[at];
}

static uint32_t *slot_of(const struct packet_flows *flows, const struct flow_key *key)
{
    return slot_from(flows, key, first_slot(flows, key));
}

/* --- Room for new ones ------------------------------------------------------------------------ */

enum { RANK_BITS = 3, RANKS = 64 << RANK_BITS };

/* In the order of the numbers, to an eighth. */
static unsigned rank_of(uint64_t packets)
{
    const unsigned top = 63U - (unsigned)__builtin_clzll(packets | 1);

    return top < RANK_BITS
               ? (unsigned)packets
               : (top << RANK_BITS) + (unsigned)(packets >> (top - RANK_BITS)) % (1U << RANK_BITS);
}

/* A quarter of all goes: those with the fewest packets, and of alike ones those that came first. */
static void make_room(struct packet_flows *flows)
{
    size_t ranks[RANKS] = {0}, going = (flows->capacity + 3) / 4, kept = 0;
    unsigned last = 0;

    for (size_t i = 0; i < flows->count; i++)
        ranks[rank_of(flows->flows[i].packets)]++;
    for (; ranks[last] < going; last++)
        going -= ranks[last];
    empty_slots(flows);
    for (size_t i = 0; i < flows->count; i++) {
        const struct flow *flow = &flows->flows[i];
        const unsigned rank = rank_of(flow->packets);
        if (rank < last || (rank == last && going && going--)) {
            flow_totals_add(&flows->made_room,
                            (struct flow_totals){1, flow->packets, flow->frames, flow->bytes});
            continue;
        }
        flows->flows[kept] = *flow;
        *slot_of(flows, &flows->flows[kept].key) = (uint32_t)kept + 1;
        kept++;
    }
    flows->count = kept;
}

/* --- To count --------------------------------------------------------------------------------- */

/* A later fragment of IPv6 need not tell the protocol of what was sent. */
static void take_fragment(struct packet_flows *flows, struct packet *packet, uint32_t at)
{
    struct flow_key *key = &packet->key;
    const uint64_t number =
        packet->fragment_id | (key->family == AF_INET ? (uint64_t)key->protocol << 32 : 0);
    const uint64_t tag = hash_word(hash_addresses(flows, key), number);
    struct fragment_memory *memory = &flows->fragments[tag % FRAGMENTS];

    if (packet->fragment == FRAGMENT_FIRST && key->has & TRAFFIC_PORTS) {
        *memory = (struct fragment_memory){tag, key->sport, key->dport, key->protocol, at};
    } else if (packet->fragment == FRAGMENT_LATER && memory->tag == tag &&
               at - memory->at < FRAGMENT_AGE) {
        key->sport = memory->sport;
        key->dport = memory->dport;
        key->protocol = memory->protocol;
        key->has |= TRAFFIC_PORTS;
    }
}

static void add(struct packet_flows *flows, const struct counted *counted)
{
    const struct packet *packet = &counted->packet;
    const uint32_t at = counted->at;
    uint32_t *slot = slot_from(flows, &packet->key, counted->slot);
    struct flow *flow;

    if (!*slot && flows->count == flows->capacity) {
        make_room(flows);
        slot = slot_of(flows, &packet->key);
    }
    if (!*slot) {
        flows->flows[flows->count++] = (struct flow){.key = packet->key, .first = at, .last = at};
        *slot = (uint32_t)flows->count;
    }
    flow = &flows->flows[*slot - 1];
    flow->last = at;
    flow->tcp_flags |= packet->tcp_flags;
    flow->has_tcp |= packet->has_tcp;
    flow->packets += counted->packets;
    flow->frames++;
    flow->bytes += counted->bytes;
}

void packet_flows_add(struct packet_flows *flows, struct counted *counted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (counted[i].packet.fragment != FRAGMENT_NONE)
            take_fragment(flows, &counted[i].packet, counted[i].at);
        counted[i].slot = first_slot(flows, &counted[i].packet.key);
        __builtin_prefetch(&flows->slots[counted[i].slot]);
    }
    for (size_t i = 0; i < count; i++) {
        /* a slot has 1 + the index; of a free one some memory in front of them is fetched */
        const uintptr_t end = (uintptr_t)&flows->flows[flows->slots[counted[i].slot]];
        __builtin_prefetch((const void *)(end - sizeof(struct flow)), 1);
        __builtin_prefetch((const void *)(end - 1), 1);
    }
    for (size_t i = 0; i < count; i++)
        add(flows, &counted[i]);
}

/* --- Those without packets -------------------------------------------------------------------- */

void packet_flows_keep(struct packet_flows *flows, const struct packet_flows *before, uint32_t most,
                       uint32_t later, uint32_t elapsed)
{
    for (size_t i = 0; i < before->count && flows->count < flows->capacity; i++) {
        struct flow flow = before->flows[i];
        const uint64_t idle = (uint64_t)flow.idle + elapsed + 1;
        uint32_t *slot = slot_of(flows, &flow.key);
        if (*slot || flow.idle >= most)
            continue;
        flow.first -= later; /* before the origin they are negative */
        flow.last -= later;
        flow.idle = idle < UINT16_MAX ? (uint16_t)idle : UINT16_MAX;
        flow.packets = flow.frames = flow.bytes = 0;
        flows->flows[flows->count++] = flow;
        *slot = (uint32_t)flows->count;
    }
}

/* --- Tables of several threads ---------------------------------------------------------------- */

static void join(struct flow *flow, const struct flow *other)
{
    if ((int32_t)other->first < (int32_t)flow->first)
        flow->first = other->first;
    if ((int32_t)other->last > (int32_t)flow->last)
        flow->last = other->last;
    flow->tcp_flags |= other->tcp_flags;
    flow->has_tcp |= other->has_tcp;
    flow->packets += other->packets;
    flow->frames += other->frames;
    flow->bytes += other->bytes;
    flow->idle = flow->frames ? 0 : flow->idle;
}

void packet_flows_join(struct packet_flows *const *tables, size_t count)
{
    while (count-- > 1) {
        struct packet_flows *last = tables[count];
        size_t left = 0;
        for (size_t i = 0; i < last->count; i++) {
            const struct flow *flow = &last->flows[i];
            uint32_t slot = 0;
            size_t table = 0;
            while (table < count && !(slot = *slot_of(tables[table], &flow->key)))
                table++;
            if (slot)
                join(&tables[table]->flows[slot - 1], flow);
            else
                last->flows[left++] = *flow;
        }
        last->count = left;
    }
}

/* --- As rows ---------------------------------------------------------------------------------- */

void packet_flow_tell(const struct flow *flow, uint64_t origin, struct record *record)
{
    const struct flow_key *key = &flow->key;
    struct traffic_record *traffic = &record->traffic;
    const bool is_ip = key->has & TRAFFIC_ADDRESSES;

    record_begin(record, &kind_traffic, sizeof *traffic);
    record->has = key->has | (flow->has_tcp ? TRAFFIC_TCP : 0);
    record->rows = flow->packets ? flow->packets : NO_ROWS;
    if (is_ip) {
        traffic->src = address_make(key->family, key->src);
        traffic->dst = address_make(key->family, key->dst);
    }
    traffic->sport = key->sport;
    traffic->dport = key->dport;
    traffic->protocol = key->protocol;
    traffic->ethertype = !is_ip ? key->protocol : key->family == AF_INET ? ETH_P_IP : ETH_P_IPV6;
    if (traffic->ethertype < TRAFFIC_ETHERTYPES)
        traffic->ethertype &= 0xff;
    traffic->vlan = key->vlan;
    traffic->tcp_flags = flow->tcp_flags;
    memcpy(traffic->src_lladdr, key->src_lladdr, sizeof traffic->src_lladdr);
    memcpy(traffic->dst_lladdr, key->dst_lladdr, sizeof traffic->dst_lladdr);
    traffic->interface = key->interface;
    traffic->packets = flow->packets;
    traffic->frames = flow->frames;
    traffic->bytes = flow->bytes;
    traffic->first = origin + (uint64_t)((int32_t)flow->first * (int64_t)MILLISECOND);
    traffic->last = origin + (uint64_t)((int32_t)flow->last * (int64_t)MILLISECOND);
}
