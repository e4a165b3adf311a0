/* SPDX-License-Identifier: MIT */
/* Some bytes of the packets have a known value. A comparison of any other byte may be true or
 * false. */
#include "lookup/firewall_match.h"

#include <linux/if_ether.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_tables.h>
#include <net/if.h>
#include <string.h>

/* --- Registers -------------------------------------------------------------------------------- */

void judge_forget(struct judge *judge)
{
    memset(judge->registers.known, 0, sizeof judge->registers.known);
    judge->registers.not_index = judge->registers.not_name = NO_INDEX;
}

/* Forgets some bytes. An interface is forgotten even if it is elsewhere. */
static void judge_forget_part(struct judge *judge, unsigned from, unsigned length)
{
    memset(judge->registers.known + from, 0,
           from + length > REGISTER_BYTES ? REGISTER_BYTES - from : length);
    judge->registers.not_index = judge->registers.not_name = NO_INDEX;
}

/* The kernel fills the last register with zeroes. */
static void judge_set(struct judge *judge, unsigned to, const void *value, unsigned length)
{
    const unsigned padded = (length + 3) & ~3u;

    if (to + padded > REGISTER_BYTES)
        return;
    judge_forget_part(judge, to, padded);
    memset(judge->registers.values + to, 0, padded);
    memcpy(judge->registers.values + to, value, length);
    memset(judge->registers.known + to, 0xff, padded);
}

/* Sets those of the bytes [offset, offset + step->length) of a header that are in `value`, which is
 * at `at` in the header. */
static void judge_set_part(struct judge *judge, const struct firewall_step *step, unsigned at,
                           const void *value, unsigned length)
{
    for (unsigned i = 0; i < length; i++) {
        const unsigned byte = at + i, to = step->to + byte - step->offset;
        if (byte < step->offset || byte >= (unsigned)step->offset + step->length ||
            to >= REGISTER_BYTES)
            continue;
        judge->registers.values[to] = ((const uint8_t *)value)[i];
        judge->registers.known[to] = 0xff;
    }
}

/* --- Loading ---------------------------------------------------------------------------------- */

/* The header of IPv6 does not name the protocol if there are extension headers. */
static void judge_load_network(struct judge *judge, const struct firewall_step *step)
{
    const struct firewall_packet *packet = judge->packet;
    const struct address *destination = &packet->destination;

    if (packet->family == AF_INET)
        judge_set_part(judge, step, 9, &packet->protocol, 1);
    if (destination->family == packet->family)
        judge_set_part(judge, step, packet->family == AF_INET ? 16 : 24, destination->bytes,
                       (unsigned)address_size(destination));
}

static void judge_load_transport(struct judge *judge, const struct firewall_step *step)
{
    const uint8_t port[2] = {(uint8_t)(judge->packet->port >> 8), (uint8_t)judge->packet->port};

    if (judge->packet->has_port)
        judge_set_part(judge, step, 2, port, sizeof port);
}

/* True if a loaded header has bytes of the destination or its port. */
static bool judge_loads_end(const struct judge *judge, const struct firewall_step *step)
{
    const unsigned end = step->offset + step->length;

    return step->source == LOAD_NETWORK ? end > 16 : judge->packet->has_port && end > 2;
}

/* True if the packet may be a fragment of IPv6, whose protocol may be in another fragment. The
 * kernel has put fragments of IPv4 together before hook input. Only a proof that no packet passes
 * has to consider fragments: usual packets are whole. */
static bool judge_may_be_fragment(const struct judge *judge)
{
    return judge->packet->family == AF_INET6 && judge->firewall->sees_fragments &&
           judge->states & STATE_INVALID;
}

/* True if each packet has the bytes that are loaded. */
static bool judge_has_bytes(const struct judge *judge, const struct firewall_step *step)
{
    const unsigned end = step->offset + step->length;

    return step->source == LOAD_NETWORK
               ? end <= (judge->packet->family == AF_INET ? 20 : 40)
               : judge->packet->has_port && end <= 4 && !judge_may_be_fragment(judge);
}

static void judge_load_header(struct judge *judge, const struct firewall_step *step)
{
    const unsigned pad = step->length % 4 ? step->to + step->length : 0;

    judge->compares |= judge_loads_end(judge, step);
    judge_forget_part(judge, step->to, (step->length + 3u) & ~3u);
    if (step->source == LOAD_NETWORK)
        judge_load_network(judge, step);
    else
        judge_load_transport(judge, step);
    for (unsigned i = pad; pad && i % 4 && i < REGISTER_BYTES; i++) {
        judge->registers.values[i] = 0;
        judge->registers.known[i] = 0xff;
    }
}

/* If the packet has one of several states, all other bits are known to be 0. */
static void judge_load_state(struct judge *judge, unsigned to)
{
    const bool is_one = !(judge->states & (judge->states - 1));
    const uint32_t value = is_one ? judge->states : 0, known = is_one ? UINT32_MAX : ~judge->states;

    judge_set(judge, to, &value, sizeof value);
    memcpy(judge->registers.known + to, &known, sizeof known);
}

/* If no rule translates addresses, no packet has IPS_DST_NAT of nf_conntrack_common.h. The kernel
 * ends the rule for a packet that is not tracked. */
static void judge_load_status(struct judge *judge, unsigned to)
{
    const uint32_t translated = judge->firewall->rewrites ? 0 : IPS_DST_NAT;

    judge_forget_part(judge, to, sizeof translated);
    memset(judge->registers.values + to, 0, sizeof translated);
    memcpy(judge->registers.known + to, &translated, sizeof translated);
}

/* Returns whether each packet has the loaded bytes. The kernel ends the rule for a packet that
 * lacks them. */
static enum judged judge_load(struct judge *judge, const struct firewall_step *step)
{
    const bool ipv4 = judge->packet->family == AF_INET;
    const uint8_t ethertype[2] = {ipv4 ? ETH_P_IP >> 8 : ETH_P_IPV6 >> 8,
                                  ipv4 ? ETH_P_IP & 0xff : ETH_P_IPV6 & 0xff};
    const uint8_t family = ipv4 ? NFPROTO_IPV4 : NFPROTO_IPV6;

    switch (step->source) {
    case LOAD_ETHERTYPE:
        judge_set(judge, step->to, ethertype, sizeof ethertype);
        return ALWAYS;
    case LOAD_FAMILY:
        judge_set(judge, step->to, &family, 1);
        return ALWAYS;
    case LOAD_PROTOCOL:
        judge_set(judge, step->to, &judge->packet->protocol, 1);
        return judge_may_be_fragment(judge) ? MAYBE : ALWAYS;
    case LOAD_STATE:
        judge_load_state(judge, step->to);
        return ALWAYS;
    case LOAD_STATUS:
        judge_load_status(judge, step->to);
        return MAYBE;
    case LOAD_INTERFACE:
        judge_forget_part(judge, step->to, 4);
        judge->registers.not_index = step->to;
        return ALWAYS;
    case LOAD_INTERFACE_NAME:
        judge_forget_part(judge, step->to, IFNAMSIZ);
        judge->registers.not_name = step->to;
        return ALWAYS;
    default: /* LOAD_NETWORK, LOAD_TRANSPORT */
        judge_load_header(judge, step);
        return judge_has_bytes(judge, step) ? ALWAYS : MAYBE;
    }
}

static void judge_bitwise(struct judge *judge, const struct firewall_step *step)
{
    uint8_t values[16] = {0}, known[16] = {0};

    for (unsigned i = 0; i < step->length; i++) {
        const unsigned from = step->from + i;
        values[i] = (uint8_t)((judge->registers.values[from] & step->first[i]) ^ step->second[i]);
        known[i] = (uint8_t)(judge->registers.known[from] | ~step->first[i]);
    }
    judge_forget_part(judge, step->to, (step->length + 3u) & ~3u);
    memcpy(judge->registers.values + step->to, values, step->length);
    memcpy(judge->registers.known + step->to, known, step->length);
}

/* --- Comparisons ------------------------------------------------------------------------------ */

static enum judged judged_not(enum judged judged)
{
    return ALWAYS - judged;
}

/* lo is the interface with index 1 in each network namespace; firewall_read() checks its name. */
static bool judge_is_lo(const struct judge *judge, unsigned from, const uint8_t *value,
                        unsigned length)
{
    static const uint32_t index = 1;
    static const char name[IFNAMSIZ] = "lo";

    return (judge->registers.not_index == (int)from && length == sizeof index &&
            memcmp(value, &index, sizeof index) == 0) ||
           (judge->registers.not_name == (int)from && length >= sizeof "lo" && length <= IFNAMSIZ &&
            memcmp(value, name, length) == 0);
}

static enum judged judge_equal(const struct judge *judge, unsigned from, const uint8_t *value,
                               unsigned length)
{
    bool all = true;

    if (judge_is_lo(judge, from, value, length))
        return NEVER;
    for (unsigned i = 0; i < length; i++) {
        if ((judge->registers.values[from + i] ^ value[i]) & judge->registers.known[from + i])
            return NEVER;
        all &= judge->registers.known[from + i] == 0xff;
    }
    return all ? ALWAYS : MAYBE;
}

/* Returns whether the register is below the value, or equal if `equal` is true. */
static enum judged judge_below(const struct judge *judge, unsigned from, const uint8_t *value,
                               unsigned length, bool equal)
{
    for (unsigned i = 0; i < length; i++) {
        if (judge->registers.known[from + i] != 0xff)
            return MAYBE;
        if (judge->registers.values[from + i] != value[i])
            return judge->registers.values[from + i] < value[i] ? ALWAYS : NEVER;
    }
    return equal ? ALWAYS : NEVER;
}

static enum judged judge_compare(const struct judge *judge, const struct firewall_step *step)
{
    const unsigned from = step->from, length = step->length;

    switch (step->source) {
    case NFT_CMP_EQ:
        return judge_equal(judge, from, step->first, length);
    case NFT_CMP_NEQ:
        return judged_not(judge_equal(judge, from, step->first, length));
    case NFT_CMP_LT:
        return judge_below(judge, from, step->first, length, false);
    case NFT_CMP_LTE:
        return judge_below(judge, from, step->first, length, true);
    case NFT_CMP_GT:
        return judged_not(judge_below(judge, from, step->first, length, true));
    case NFT_CMP_GTE:
        return judged_not(judge_below(judge, from, step->first, length, false));
    default:
        return MAYBE;
    }
}

static enum judged judge_between(const struct judge *judge, unsigned from, const uint8_t *first,
                                 const uint8_t *last, unsigned length)
{
    const enum judged above = judged_not(judge_below(judge, from, first, length, false)),
                      below = judge_below(judge, from, last, length, true);

    return above < below ? above : below;
}

static enum judged judge_range(const struct judge *judge, const struct firewall_step *step)
{
    const enum judged judged =
        judge_between(judge, step->from, step->first, step->second, step->length);

    return step->inverted ? judged_not(judged) : judged;
}

/* Matches of iptables read the packet, not a register. */
static enum judged judge_ports(struct judge *judge, const struct firewall_step *step)
{
    const uint16_t port = judge->packet->port;
    bool found = false;

    if (!judge->packet->has_port || judge_may_be_fragment(judge))
        return MAYBE;
    judge->compares = true;
    for (unsigned i = 0; i < step->length; i++) {
        const bool is_range = step->ranges >> i & 1 && i + 1 < step->length;
        const uint16_t last = step->ports[is_range ? i + 1 : i];
        found |= port >= step->ports[i] && port <= last;
        i += is_range;
    }
    return found == step->inverted ? NEVER : step->partly ? MAYBE : ALWAYS;
}

static enum judged judge_states(const struct judge *judge, const struct firewall_step *step)
{
    const uint32_t found = judge->states & step->states;
    const enum judged judged = !found ? NEVER : found == judge->states ? ALWAYS : MAYBE;

    return step->inverted ? judged_not(judged) : judged;
}

/* --- Sets ------------------------------------------------------------------------------------- */

/* An interval of a concatenation has an interval in each of its parts. */
enum judged judge_element(const struct judge *judge, const struct firewall_set *set,
                          const struct firewall_element *element, unsigned from)
{
    enum judged judged;

    if (element->any)
        return MAYBE;
    if (!(set->flags & NFT_SET_INTERVAL) ||
        memcmp(element->first, element->last, sizeof element->first) == 0)
        judged = judge_equal(judge, from, element->first, set->key_length);
    else if (set->flags & NFT_SET_CONCAT)
        judged = MAYBE;
    else
        judged = judge_between(judge, from, element->first, element->last, set->key_length);
    return judged == ALWAYS && element->maybe ? MAYBE : judged;
}

bool judge_can_read(const struct firewall_set *set, const struct firewall_step *step)
{
    return set->is_read && set->key_length && step->from + set->key_length <= REGISTER_BYTES;
}

static enum judged judge_lookup(struct judge *judge, const struct firewall_step *step)
{
    const struct firewall *firewall = judge->firewall;
    const struct firewall_set *set = &firewall->sets[step->index];
    const bool can_read = judge_can_read(set, step);
    enum judged judged = can_read ? NEVER : MAYBE;

    for (uint32_t i = 0; can_read && judged != ALWAYS && i < set->count; i++) {
        const enum judged element =
            judge_element(judge, set, &firewall->elements[set->first + i], step->from);
        judged = element > judged ? element : judged;
    }
    if (step->maps)
        judge_forget(judge);
    return step->inverted ? judged_not(judged) : judged;
}

/* --- Steps ------------------------------------------------------------------------------------ */

enum judged judge_step(struct judge *judge, const struct firewall_step *step)
{
    switch (step->operation) {
    case STEP_LOAD:
        return judge_load(judge, step);
    case STEP_CONSTANT:
        judge_set(judge, step->to, step->first, step->length);
        return ALWAYS;
    case STEP_BITWISE:
        judge_bitwise(judge, step);
        return ALWAYS;
    case STEP_COMPARE:
        return judge_compare(judge, step);
    case STEP_RANGE:
        return judge_range(judge, step);
    case STEP_LOOKUP:
        return judge_lookup(judge, step);
    case STEP_PORTS:
        return judge_ports(judge, step);
    case STEP_STATES:
        return judge_states(judge, step);
    default:
        judge_forget(judge);
        return MAYBE;
    }
}
