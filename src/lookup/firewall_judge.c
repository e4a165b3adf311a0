/* SPDX-License-Identifier: MIT */
/* Runs rules for all packets to one socket at once. Where a condition may be true or false, both
 * ways are followed. */
#include <linux/netfilter.h>

#include "lookup/firewall_match.h"

/* How a rule or chain may end, as bits. */
enum outcome { OUTCOME_ACCEPT = 1, OUTCOME_DROP = 2, OUTCOME_RETURN = 4, OUTCOME_NEXT = 8 };

/* --- Verdicts --------------------------------------------------------------------------------- */

static unsigned judge_chain(struct judge *judge, struct firewall_chain *chain);

static unsigned judge_verdict(struct judge *judge, uint8_t verdict, int32_t chain)
{
    unsigned outcome;

    switch (verdict) {
    case VERDICT_ACCEPT:
        return OUTCOME_ACCEPT;
    case VERDICT_DROP:
        return OUTCOME_DROP;
    case VERDICT_RETURN:
        return OUTCOME_RETURN;
    case VERDICT_JUMP:
        outcome = judge_chain(judge, &judge->firewall->chains[chain]);
        return (outcome & (OUTCOME_ACCEPT | OUTCOME_DROP)) |
               (outcome & OUTCOME_RETURN ? OUTCOME_NEXT : 0);
    case VERDICT_GOTO:
        return judge_chain(judge, &judge->firewall->chains[chain]);
    default:
        return OUTCOME_NEXT;
    }
}

/* A map of verdicts. Returns outcomes; *goes_on: an element may let the rule go on. */
static unsigned judge_map(struct judge *judge, const struct firewall_step *step, bool *goes_on)
{
    const struct firewall *firewall = judge->firewall;
    const struct firewall_set *set = &firewall->sets[step->index];
    unsigned outcome = OUTCOME_NEXT;

    *goes_on = false;
    if (!judge_can_read(set, step)) {
        judge->is_known = false;
        return outcome;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        const struct firewall_element *element = &firewall->elements[set->first + i];
        const enum judged judged = judge_element(judge, set, element, step->from);
        const unsigned kept = judged == ALWAYS ? 0 : outcome;
        if (judged == NEVER)
            continue;
        *goes_on = element->verdict == VERDICT_CONTINUE || (kept && *goes_on);
        outcome = kept | (element->verdict == VERDICT_CONTINUE
                              ? 0
                              : judge_verdict(judge, element->verdict, element->chain));
        if (judged == ALWAYS)
            break;
    }
    return outcome;
}

/* Returns the outcomes of the steps of a rule. A rule begins with unknown registers: the program
 * nft never reads a register that an earlier rule has set. */
static unsigned judge_steps(struct judge *judge, const struct firewall_rule *rule)
{
    const struct firewall *firewall = judge->firewall;
    unsigned outcome = 0;
    enum judged judged = ALWAYS;
    bool goes_on;

    judge_forget(judge);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): judge_rules() has rules */
    for (uint32_t i = 0; i < rule->count && judged != NEVER; i++) {
        const struct firewall_step *step = &firewall->steps[rule->first + i];
        if (step->operation == STEP_VERDICT)
            return outcome | judge_verdict(judge, step->source, step->index);
        if (step->operation != STEP_LOOKUP || !firewall->sets[step->index].has_verdicts) {
            judged = judge_step(judge, step);
            outcome |= judged == MAYBE ? OUTCOME_NEXT : 0;
            continue;
        }
        outcome |= judge_map(judge, step, &goes_on);
        if (!goes_on)
            return outcome;
    }
    return outcome | OUTCOME_NEXT;
}

/* Returns the outcomes of a rule; OUTCOME_NEXT: the next rule follows. Many listeners ask for the
 * same rules, so the outcomes of a rule that compares neither the port nor the destination are
 * kept. */
static unsigned judge_rule(struct judge *judge, struct firewall_rule *rule)
{
    const struct firewall_packet *packet = judge->packet;
    const bool compares = judge->compares;
    uint8_t *kept = judge->class < FIREWALL_CLASSES ? &rule->outcomes[judge->class] : NULL;
    unsigned outcome = kept ? *kept : 0;

    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
    if (packet->has_port && (packet->port < rule->port || packet->port > rule->port_last)) {
        judge->compares = true;
        return OUTCOME_NEXT;
    }
    if (outcome)
        return outcome;
    judge->compares = false;
    outcome = judge_steps(judge, rule);
    if (kept && !judge->compares && judge->is_known)
        *kept = (uint8_t)outcome;
    judge->compares |= compares;
    return outcome;
}

static unsigned judge_rules(struct judge *judge, const struct firewall_chain *chain)
{
    struct firewall_rule *rules = judge->firewall->rules;
    unsigned outcome = 0, last = OUTCOME_NEXT;

    for (uint32_t i = 0; rules && i < chain->count && last & OUTCOME_NEXT; i++) {
        last = judge_rule(judge, &rules[chain->first + i]);
        outcome |= last & (OUTCOME_ACCEPT | OUTCOME_DROP | OUTCOME_RETURN);
    }
    return outcome | (last & OUTCOME_NEXT ? OUTCOME_RETURN : 0);
}

/* Returns the outcomes of a chain; OUTCOME_RETURN: the packet comes back from it. In each run a
 * chain is judged once. Chains that call each other are not known. The rule that called the chain
 * may go on to read its registers: other elements of a map. */
static unsigned judge_chain(struct judge *judge, struct firewall_chain *chain)
{
    const struct judge_registers registers = judge->registers;
    const bool compares = judge->compares;

    if (chain->run != judge->firewall->runs) {
        chain->run = judge->firewall->runs;
        chain->outcome = 0;
        judge->compares = false;
        judge->is_known &= ++judge->depth <= JUMPS_MAX;
        if (judge->is_known)
            chain->outcome = judge_rules(judge, chain);
        judge->depth--;
        chain->compares = judge->compares;
        judge->registers = registers;
    }
    judge->is_known &= chain->outcome != 0;
    judge->compares = compares || chain->compares;
    return chain->outcome;
}

static unsigned judge_base(struct judge *judge, struct firewall_chain *chain)
{
    const unsigned outcome = judge_chain(judge, chain);

    return (outcome & (OUTCOME_ACCEPT | OUTCOME_DROP)) | (!(outcome & OUTCOME_RETURN) ? 0
                                                          : chain->drops              ? OUTCOME_DROP
                                                                         : OUTCOME_ACCEPT);
}

/* --- Hooks ------------------------------------------------------------------------------------ */

/* Chains of type nat see only first packets that are tracked. */
static bool judge_meets(const struct judge *judge, const struct firewall_chain *chain)
{
    const uint8_t family = chain->name.family;

    return chain->is_base && (!chain->is_nat || judge->states == STATE_NEW) &&
           (family == NFPROTO_INET ||
            family == (judge->packet->family == AF_INET ? NFPROTO_IPV4 : NFPROTO_IPV6)) &&
           (chain->hook == HOOK_INPUT ||
            (chain->hook == HOOK_PREROUTING && !judge->firewall->rewrites));
}

/* The order of the values is that of class_states. */
enum { BEGINS, IS_NEW, IS_ESTABLISHED, CLASSES_OF_STATES };

/* A packet passes only if each base chain accepts it, so their order does not matter. Returns the
 * outcomes of all chains together. */
static unsigned judge_state(struct judge *judge, unsigned class)
{
    static const uint32_t class_states[] = {
        [BEGINS] = STATE_NEW | STATE_INVALID | STATE_UNTRACKED,
        [IS_NEW] = STATE_NEW,
        [IS_ESTABLISHED] = STATE_ESTABLISHED,
    };
    const struct firewall_packet *packet = judge->packet;
    unsigned all = OUTCOME_ACCEPT;

    judge->states = class_states[class];
    if (class == BEGINS && judge->firewall->expects)
        judge->states |= STATE_RELATED;
    judge->class = class + (packet->family == AF_INET6 ? CLASSES_OF_STATES : 0) +
                   (packet->protocol == IPPROTO_UDP ? 2 * CLASSES_OF_STATES : 0);
    if (!packet->has_port || (packet->protocol != IPPROTO_TCP && packet->protocol != IPPROTO_UDP))
        judge->class = FIREWALL_CLASSES; /* nothing is kept */
    judge->firewall->runs++;
    for (size_t i = 0; i < judge->firewall->chain_count && all & OUTCOME_ACCEPT; i++) {
        struct firewall_chain *chain = &judge->firewall->chains[i];
        if (judge_meets(judge, chain)) {
            const unsigned outcome = judge_base(judge, chain);
            all =
                (all & OUTCOME_DROP) | (outcome & OUTCOME_DROP) | (all & outcome & OUTCOME_ACCEPT);
        }
    }
    return all;
}

/* Connection tracking may find a first packet new, invalid, or not see it at all. Rules that accept
 * only packets of established connections let nobody begin a connection. */
enum firewall_reach firewall_judge(struct firewall *firewall, const struct firewall_packet *packet)
{
    struct judge judge = {.firewall = firewall, .packet = packet, .is_known = firewall->is_known};
    unsigned first, later;

    if (!judge.is_known)
        return REACH_UNKNOWN;
    first = judge_state(&judge, BEGINS);
    if (judge.is_known && !(first & OUTCOME_ACCEPT))
        return REACH_NO;
    if (!firewall->untracks)
        first = judge_state(&judge, IS_NEW);
    later = judge_state(&judge, IS_ESTABLISHED);
    if (!judge.is_known)
        return REACH_UNKNOWN;
    return (first | later) == OUTCOME_ACCEPT && !firewall->rewrites && !firewall->drops_early
               ? REACH_YES
               : REACH_MAYBE;
}
