/* SPDX-License-Identifier: MIT */
/* Matches and targets of iptables in rules of nftables (iptables-nft). Matches only read a packet,
 * so a match that is not known here may be true or false. */
#include <linux/netfilter/xt_conntrack.h>
#include <linux/netfilter/xt_multiport.h>
#include <linux/netfilter/xt_state.h>
#include <linux/netfilter/xt_tcpudp.h>
#include <string.h>

#include "backend/firewall/nftables.h"
#include "backend/netlink/attributes.h"

static bool xtables_take_ports(struct firewall_step *step, const uint16_t ports[2], bool inverted,
                               bool partly)
{
    step->operation = STEP_PORTS;
    step->length = 2;
    step->ranges = 1;
    memcpy(step->ports, ports, 2 * sizeof *ports);
    step->inverted = inverted;
    step->partly = partly;
    return true;
}

static bool xtables_take_tcp(struct text info, struct firewall_step *step)
{
    struct xt_tcp tcp;

    return attribute_bytes(info, &tcp, sizeof tcp) &&
           xtables_take_ports(step, tcp.dpts, tcp.invflags & XT_TCP_INV_DSTPT, true);
}

static bool xtables_take_udp(struct text info, struct firewall_step *step)
{
    struct xt_udp udp;

    return attribute_bytes(info, &udp, sizeof udp) &&
           xtables_take_ports(step, udp.dpts, udp.invflags & XT_UDP_INV_DSTPT, true);
}

static bool xtables_take_multiport(struct text info, struct firewall_step *step)
{
    struct xt_multiport_v1 multiport;

    if (!attribute_bytes(info, &multiport, sizeof multiport) ||
        multiport.flags != XT_MULTIPORT_DESTINATION || multiport.count > PORTS_MAX)
        return false;
    step->operation = STEP_PORTS;
    step->length = multiport.count;
    step->inverted = multiport.invert;
    memcpy(step->ports, multiport.ports, sizeof step->ports);
    for (unsigned i = 0; i < PORTS_MAX; i++)
        step->ranges |= (uint16_t)((multiport.pflags[i] != 0) << i);
    return true;
}

/* The bits of INVALID, ESTABLISHED, RELATED and NEW are those of STEP_STATES. */
static bool xtables_take_states(struct firewall_step *step, uint32_t states, uint32_t untracked,
                                bool inverted)
{
    enum { COMMON = 15, UNTRACKED = 64 };

    step->operation = STEP_STATES;
    step->states = (states & COMMON) | ((states & untracked) ? UNTRACKED : 0);
    step->inverted = inverted;
    return !(states & ~(COMMON | untracked));
}

static bool xtables_take_state(struct text info, struct firewall_step *step)
{
    uint32_t states; /* struct xt_state_info */

    return attribute_u32(info, &states) &&
           xtables_take_states(step, states, XT_STATE_UNTRACKED, false);
}

/* XT_CONNTRACK_STATE_ALIAS: the rule was written with -m state; the kernel ignores this flag. */
static bool xtables_take_conntrack(struct text info, struct firewall_step *step)
{
    struct xt_conntrack_mtinfo3 conntrack;

    return attribute_bytes(info, &conntrack, sizeof conntrack) &&
           (conntrack.match_flags & ~XT_CONNTRACK_STATE_ALIAS) == XT_CONNTRACK_STATE &&
           xtables_take_states(step, conntrack.state_mask, XT_CONNTRACK_STATE_UNTRACKED,
                               conntrack.invert_flags & XT_CONNTRACK_STATE);
}

void xtables_take_match(struct text name, uint32_t revision, struct text info,
                        struct firewall_step *step)
{
    static const struct {
        char name[12];
        uint8_t revision;
        bool (*take)(struct text info, struct firewall_step *step);
    } matches[] = {
        {"tcp", 0, xtables_take_tcp},
        {"udp", 0, xtables_take_udp},
        {"multiport", 1, xtables_take_multiport},
        {"state", 0, xtables_take_state},
        {"conntrack", 3, xtables_take_conntrack},
    };

    for (size_t i = 0; name.data && i < COUNT(matches); i++)
        if (text_is(name, matches[i].name) && revision == matches[i].revision &&
            matches[i].take(info, step))
            return;
    *step = (struct firewall_step){.operation = STEP_MAYBE, .index = NO_INDEX};
}

bool xtables_take_target(struct text name, struct firewall_step *step, unsigned *effects)
{
    static const struct {
        char name[12];
        uint8_t operation, verdict, effects;
    } targets[] = {
        {"LOG", STEP_NOTHING, 0, 0},
        {"NFLOG", STEP_NOTHING, 0, 0},
        {"MARK", STEP_NOTHING, 0, 0},
        {"CONNMARK", STEP_NOTHING, 0, 0},
        {"CT", STEP_NOTHING, 0, EFFECT_UNTRACKS | EFFECT_EXPECTS},
        {"TCPMSS", STEP_NOTHING, 0, 0},
        {"CHECKSUM", STEP_NOTHING, 0, 0},
        {"TRACE", STEP_NOTHING, 0, 0},
        {"REJECT", STEP_VERDICT, VERDICT_DROP, 0},
        {"SNAT", STEP_VERDICT, VERDICT_ACCEPT, 0},
        {"MASQUERADE", STEP_VERDICT, VERDICT_ACCEPT, 0},
        {"DNAT", STEP_VERDICT, VERDICT_ACCEPT, EFFECT_TRANSLATES},
        {"REDIRECT", STEP_VERDICT, VERDICT_ACCEPT, EFFECT_TRANSLATES},
    };

    for (size_t i = 0; name.data && i < COUNT(targets); i++)
        if (text_is(name, targets[i].name)) {
            step->operation = targets[i].operation;
            step->source = targets[i].verdict;
            *effects |= targets[i].effects;
            return true;
        }
    return false;
}
