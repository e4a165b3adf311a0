/* SPDX-License-Identifier: MIT */
#include "probes/packet/packet_flows.h"

#include <linux/if_ether.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/hash.h"
#include "fastnet/record/traffic.h"

_Static_assert(sizeof(struct flow_key) == 60, "a key has no padding");
_Static_assert(sizeof(struct flow) + 2 * sizeof(uint32_t) <= FLOW_BYTES, "FLOW_BYTES holds a flow");

enum { FRAGMENT_AGE = 30000 }; /* milliseconds; for IPv4, Linux waits as long (ipfrag_time) */

/* Number of hash slots to use for `count` flows: 4 per flow, at least LEAST, at most 2 *
 * capacity. */
static size_t slots_for(const struct packet_flows *flows, size_t count)
{
    enum { LEAST = 2048 };
    const size_t all = 2 * flows->capacity, wanted = count < LEAST / 4 ? LEAST : 4 * count;

    return wanted < all ? wanted : all;
}

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
    flows->used = slots_for(flows, 0);
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

void packet_flows_reset(struct packet_flows *flows)
{
    flows->used = slots_for(flows, flows->count);
    flows->count = 0;
    flows->made_room = (struct flow_totals){.flows = 0};
    memset(flows->slots, 0, flows->used * sizeof *flows->slots);
    memset(flows->fragments, 0, sizeof flows->fragments);
}

/* --- Lookup ----------------------------------------------------------------------------------- */

enum { ALWAYS = offsetof(struct flow_key, addresses[8]) }; /* bytes of a key that are always set */

/* Compares parts of constant size, because compilers inline these; a call is slower. */
static inline bool flows_is_same(const struct flow_key *a, const struct flow_key *b)
{
    const uint8_t *one = (const uint8_t *)a, *other = (const uint8_t *)b;

    if (memcmp(one, other, ALWAYS) != 0)
        return false;
    if (b->has & TRAFFIC_LLADDRS)
        return memcmp(one + ALWAYS, other + ALWAYS, sizeof *b - ALWAYS) == 0;
    return b->family == AF_INET ||
           memcmp(one + ALWAYS, other + ALWAYS, sizeof b->addresses - 8) == 0;
}

static inline uint32_t *slot_from(const struct packet_flows *flows, const struct flow_key *key,
                                  size_t at)
{
    const size_t count = flows->used;

    while (flows->slots[at] && !flows_is_same(&flows->flows[flows->slots[at] - 1].key, key))
        at = at + 1 < count ? at + 1 : 0;
    return &flows->slots[at];
}

static uint32_t *flows_slot_of(const struct packet_flows *flows, const struct flow_key *key)
{
    return slot_from(flows, key, packet_flows_slot(flows, key));
}

/* --- Growth and removal ----------------------------------------------------------------------- */

static void fill_slots(struct packet_flows *flows)
{
    memset(flows->slots, 0, flows->used * sizeof *flows->slots);
    for (size_t i = 0; i < flows->count; i++)
        *flows_slot_of(flows, &flows->flows[i].key) = (uint32_t)i + 1;
}

/* Enlarges the table before it is more than half full. Do not call it between packet_flows_expect()
 * and packet_flows_add(): the slots computed there would be wrong. */
static void flows_grow(struct packet_flows *flows)
{
    if (2 * flows->count <= flows->used || flows->used == 2 * flows->capacity)
        return;
    flows->used = slots_for(flows, flows->count);
    fill_slots(flows);
}

enum { RANK_BITS = 3, RANKS = 64 << RANK_BITS };

/* Returns a rank that grows with the number of packets, in 8 steps for each power of 2. */
static unsigned flows_rank_of(uint64_t packets)
{
    const unsigned top = 63U - (unsigned)__builtin_clzll(packets | 1);

    return top < RANK_BITS
               ? (unsigned)packets
               : (top << RANK_BITS) + (unsigned)(packets >> (top - RANK_BITS)) % (1U << RANK_BITS);
}

/* Removes a quarter of all flows: those with the fewest packets, and of equal ranks the oldest
 * first. */
static void flows_make_room(struct packet_flows *flows)
{
    size_t ranks[RANKS] = {0}, going = (flows->capacity + 3) / 4, kept = 0;
    unsigned last = 0;

    for (size_t i = 0; i < flows->count; i++)
        ranks[flows_rank_of(flows->flows[i].packets)]++;
    for (; ranks[last] < going; last++)
        going -= ranks[last];
    for (size_t i = 0; i < flows->count; i++) {
        const struct flow *flow = &flows->flows[i];
        const unsigned rank = flows_rank_of(flow->packets);
        if (rank < last || (rank == last && going && going--)) {
            flow_totals_add(&flows->made_room,
                            (struct flow_totals){1, flow->packets, flow->frames, flow->bytes});
            continue;
        }
        flows->flows[kept++] = *flow;
    }
    flows->count = kept;
    fill_slots(flows);
}

/* --- Counting --------------------------------------------------------------------------------- */

/* Gives the ports of a first fragment to later fragments. In IPv6 a later fragment may have another
 * next header than the first, so the tag does not contain the protocol. */
void packet_flows_take_fragment(struct packet_flows *flows, struct counted *counted)
{
    const struct packet *packet = &counted->packet;
    struct flow_key *key = &counted->packet.key;
    const uint64_t number =
        packet->fragment_id | (key->family == AF_INET ? (uint64_t)key->protocol << 32 : 0);
    const uint64_t tag = hash_word(packet_flows_hash_addresses(flows, key), number);
    struct fragment_memory *memory = &flows->fragments[tag % FRAGMENTS];

    if (packet->fragment == FRAGMENT_FIRST && key->has & TRAFFIC_PORTS) {
        *memory = (struct fragment_memory){tag, key->sport, key->dport, key->protocol, counted->at};
    } else if (packet->fragment == FRAGMENT_LATER && memory->tag == tag &&
               counted->at - memory->at < FRAGMENT_AGE) {
        key->sport = memory->sport;
        key->dport = memory->dport;
        key->protocol = memory->protocol;
        key->has |= TRAFFIC_PORTS;
    }
}

static void flows_add(struct packet_flows *flows, const struct counted *counted)
{
    const struct packet *packet = &counted->packet;
    const uint32_t at = counted->at;
    uint32_t *slot = slot_from(flows, &packet->key, counted->slot);
    struct flow *flow;

    if (!*slot && flows->count == flows->capacity) {
        flows_make_room(flows);
        slot = flows_slot_of(flows, &packet->key);
    }
    if (!*slot) {
        flow = &flows->flows[flows->count++];
        *flow = (struct flow){.key = packet->key, .first = at, .last = at};
        if (packet->key.family == AF_INET && !(packet->key.has & TRAFFIC_LLADDRS))
            memset((uint8_t *)&flow->key + ALWAYS, 0, sizeof flow->key - ALWAYS);
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

void packet_flows_add(struct packet_flows *flows, const struct counted *counted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        /* a slot holds 1 + index; for a free slot this fetches memory in front of the array */
        const struct flow *flow =
            (void *)((uintptr_t)(flows->flows + flows->slots[counted[i].slot]) - sizeof *flow);
        __builtin_prefetch(flow, 1);
        __builtin_prefetch((const uint8_t *)&flow->key + ALWAYS - 1, 1);
    }
    for (size_t i = 0; i < count; i++)
        flows_add(flows, &counted[i]);
    flows_grow(flows);
}

/* --- Idle flows ------------------------------------------------------------------------------- */

void packet_flows_keep(struct packet_flows *flows, const struct packet_flows *before, uint32_t most,
                       uint32_t later, uint32_t elapsed)
{
    for (size_t i = 0; i < before->count && flows->count < flows->capacity; i++) {
        struct flow flow = before->flows[i];
        const uint64_t idle = (uint64_t)flow.idle + elapsed + 1;
        uint32_t *slot = flows_slot_of(flows, &flow.key);
        if (*slot || flow.idle >= most)
            continue;
        flow.first -= later; /* negative: before the origin */
        flow.last -= later;
        flow.idle = idle < UINT16_MAX ? (uint16_t)idle : UINT16_MAX;
        flow.packets = flow.frames = flow.bytes = 0;
        flows->flows[flows->count++] = flow;
        *slot = (uint32_t)flows->count;
        flows_grow(flows);
    }
}

/* --- Tables of several threads ---------------------------------------------------------------- */

static void flows_join(struct flow *flow, const struct flow *other)
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
            while (table < count && !(slot = *flows_slot_of(tables[table], &flow->key)))
                table++;
            if (slot)
                flows_join(&tables[table]->flows[slot - 1], flow);
            else
                last->flows[left++] = *flow;
        }
        last->count = left;
    }
}

/* --- Rows ------------------------------------------------------------------------------------- */

void packet_flow_fill_record(const struct flow *flow, uint64_t origin, struct record *record)
{
    const struct flow_key *key = &flow->key;
    struct traffic_record *traffic = &record->traffic;
    const bool is_ip = key->has & TRAFFIC_ADDRESSES;

    record_begin(record, &kind_traffic, sizeof *traffic);
    record->has = key->has | (flow->has_tcp ? TRAFFIC_TCP : 0);
    record->rows = flow->packets ? flow->packets : NO_ROWS;
    if (is_ip) {
        traffic->src = address_make(key->family, key->addresses);
        traffic->dst = address_make(key->family, key->addresses + flow_key_address(key));
    }
    traffic->sport = ntohs(key->sport);
    traffic->dport = ntohs(key->dport);
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
    traffic->first = origin + (uint64_t)((int32_t)flow->first * (int64_t)CLOCK_MILLISECOND);
    traffic->last = origin + (uint64_t)((int32_t)flow->last * (int64_t)CLOCK_MILLISECOND);
}
