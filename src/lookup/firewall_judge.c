/* SPDX-License-Identifier: MIT */
/* Runs rules for all packets to one socket at once. Where a condition may be true or false, both
 * ways are followed. */
#include <linux/netfilter.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "lookup/firewall_match.h"

/* How a rule or chain may end, as bits. */
enum outcome { OUTCOME_ACCEPT = 1, OUTCOME_DROP = 2, OUTCOME_RETURN = 4, OUTCOME_NEXT = 8 };

/* Bits of the register for "ct state", as in NF_CT_STATE_BIT() of linux/netfilter. */
enum { STATE_INVALID = 1, STATE_ESTABLISHED = 2, STATE_NEW = 8, STATE_UNTRACKED = 64 };

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
        judge->firewall->is_known = false;
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

/* Returns the outcomes of a rule; OUTCOME_NEXT: the next rule follows. A rule begins with unknown
 * registers: the program nft never reads a register that an earlier rule has set. */
static unsigned judge_rule(struct judge *judge, const struct firewall_rule *rule)
{
    const struct firewall *firewall = judge->firewall;
    unsigned outcome = 0;
    enum judged judged = ALWAYS;
    bool goes_on;

    memset(judge->registers.known, 0, sizeof judge->registers.known);
    judge->registers.not_index = judge->registers.not_name = NO_INDEX;
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

/* --- Programs --------------------------------------------------------------------------------- */

/* Many listeners ask for the same chains. So each chain becomes a program for a class of packets,
 * in which only rules are left that look at the port or the destination. */

static const struct firewall_rule *entry_rule(const struct judge *judge,
                                              const struct firewall_entry *entry)
{
    return &judge->firewall->rules[entry->rule];
}

static bool entry_has_one_port(const struct judge *judge, const struct firewall_entry *entry)
{
    return entry->is_rule && entry_rule(judge, entry)->port == entry_rule(judge, entry)->port_last;
}

/* Adds a rule, or what rules do that follow each other. Returns false if memory is short. */
static bool program_add(struct firewall_program *program, struct firewall_entry added)
{
    struct firewall_entry *last = program->count ? &program->entries[program->count - 1] : NULL;

    if (!added.is_rule && last && !last->is_rule) {
        last->outcome = (uint8_t)((last->outcome & ~OUTCOME_NEXT) | added.outcome);
        return true;
    }
    last = ARRAY_ADD(program->entries, program->count, program->capacity);
    if (last)
        *last = added;
    return last;
}

static int compare_entries(const void *a, const void *b, void *arg)
{
    const struct firewall_rule *one = entry_rule(arg, a), *other = entry_rule(arg, b);

    return one->port - other->port;
}

/* Sorts rules for one port that follow each other by their ports. */
static bool program_sort_runs(struct judge *judge, struct firewall_program *program)
{
    enum { RUN_MIN = 16 };
    size_t first = 0;

    for (size_t i = 0; judge->packet->has_port && i <= program->count; i++) {
        if (i < program->count && entry_has_one_port(judge, &program->entries[i]))
            continue;
        if (i - first >= RUN_MIN) {
            if (sort_stable(&program->entries[first], i - first, sizeof *program->entries,
                            compare_entries, judge) < 0)
                return false;
            program->entries[first].run = (uint32_t)(i - first);
        }
        first = i + 1;
    }
    return true;
}

static bool program_make(struct judge *judge, const struct firewall_chain *chain,
                         struct firewall_program *program)
{
    const bool makes = judge->makes, compares = judge->compares;
    bool made = true;
    unsigned outcome = OUTCOME_NEXT;

    program->is_being_made = true;
    judge->makes = true;
    for (uint32_t i = 0; i < chain->count && outcome & OUTCOME_NEXT && made; i++) {
        judge->compares = false;
        outcome = judge_rule(judge, &judge->firewall->rules[chain->first + i]);
        if (judge->compares) {
            made = program_add(program, (struct firewall_entry){true, 0, chain->first + i, 0});
            outcome = OUTCOME_NEXT;
        } else if (outcome != OUTCOME_NEXT) {
            made = program_add(program, (struct firewall_entry){false, (uint8_t)outcome, 0, 0});
        }
    }
    judge->makes = makes;
    judge->compares = compares;
    program->is_being_made = false;
    program->is_made = made && program_sort_runs(judge, program);
    return program->is_made;
}

/* Returns the program of the chain, or NULL: memory is short, or chains call each other. */
static const struct firewall_program *judge_program(struct judge *judge,
                                                    struct firewall_chain *chain)
{
    struct firewall_program *program;

    if (!chain->programs)
        chain->programs = calloc(FIREWALL_CLASSES, sizeof *chain->programs);
    program = chain->programs ? &chain->programs[judge->class] : NULL;
    if (program && program->is_made)
        return program;
    if (!program || program->is_being_made || judge->depth > JUMPS_MAX) {
        judge->firewall->is_known = false;
        return NULL;
    }
    judge->depth++;
    if (!program_make(judge, chain, program))
        judge->firewall->is_known = false;
    judge->depth--;
    return program->is_made ? program : NULL;
}

/* Runs the rules for the packet's port, of entries sorted by port. */
static unsigned judge_run(struct judge *judge, const struct firewall_entry *entries)
{
    const uint16_t port = judge->packet->port;
    size_t from = 0, to = entries->run;
    unsigned outcome = OUTCOME_NEXT;

    while (from < to) {
        const size_t between = from + (to - from) / 2;
        if (entry_rule(judge, &entries[between])->port < port)
            from = between + 1;
        else
            to = between;
    }
    for (; from < entries->run && outcome & OUTCOME_NEXT &&
           entry_rule(judge, &entries[from])->port == port;
         from++)
        outcome = (outcome & ~(unsigned)OUTCOME_NEXT) |
                  judge_rule(judge, entry_rule(judge, &entries[from]));
    return outcome;
}

static unsigned judge_entry(struct judge *judge, const struct firewall_entry *entry)
{
    const struct firewall_rule *rule;

    if (!entry->is_rule)
        return entry->outcome;
    if (entry->run)
        return judge_run(judge, entry);
    rule = entry_rule(judge, entry);
    if (judge->packet->has_port &&
        (judge->packet->port < rule->port || judge->packet->port > rule->port_last))
        return OUTCOME_NEXT;
    return judge_rule(judge, rule);
}

static unsigned judge_entries(struct judge *judge, const struct firewall_program *program)
{
    unsigned outcome = 0, last = OUTCOME_NEXT;

    for (size_t i = 0; i < program->count && last & OUTCOME_NEXT;
         i += program->entries[i].run ? program->entries[i].run : 1) {
        last = judge_entry(judge, &program->entries[i]);
        outcome |= last & (OUTCOME_ACCEPT | OUTCOME_DROP | OUTCOME_RETURN);
    }
    return outcome | (last & OUTCOME_NEXT ? OUTCOME_RETURN : 0);
}

/* Returns the outcomes of a chain; OUTCOME_RETURN: the packet comes back from it. The chain that a
 * rule of a program in the making jumps to matters only if it does the same with each packet. The
 * rule that called the chain may go on to read its registers: other elements of a map. */
static unsigned judge_chain(struct judge *judge, struct firewall_chain *chain)
{
    const struct judge_registers registers = judge->registers;
    const struct firewall_program *program = judge_program(judge, chain);

    if (!program)
        return 0;
    judge->registers = registers;
    if (judge->makes && (program->count > 1 || (program->count && program->entries->is_rule))) {
        judge->compares = true;
        return OUTCOME_RETURN;
    }
    if (judge->makes || chain->run != judge->firewall->runs) {
        const unsigned outcome = judge_entries(judge, program);
        if (judge->makes)
            return outcome;
        chain->outcome = outcome;
        chain->run = judge->firewall->runs;
    }
    judge->registers = registers;
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

static bool judge_meets(const struct judge *judge, const struct firewall_chain *chain)
{
    const uint8_t family = chain->name.family;

    return chain->is_base && !chain->is_nat &&
           (family == NFPROTO_INET ||
            family == (judge->packet->family == AF_INET ? NFPROTO_IPV4 : NFPROTO_IPV6)) &&
           (chain->hook == NF_INET_LOCAL_IN ||
            (chain->hook == NF_INET_PRE_ROUTING && !judge->firewall->rewrites));
}

/* Returns the class of the packet. If there is no room for a new class, forgets all. */
static size_t judge_class(const struct judge *judge)
{
    struct firewall *firewall = judge->firewall;
    const struct firewall_class wanted = {judge->packet->family, judge->packet->protocol,
                                          (uint8_t)judge->state, judge->packet->has_port};
    size_t i = 0;

    while (i < firewall->class_count && memcmp(&firewall->classes[i], &wanted, sizeof wanted) != 0)
        i++;
    if (i == FIREWALL_CLASSES) {
        firewall_forget_programs(firewall);
        i = 0;
    }
    if (i == firewall->class_count)
        firewall->classes[firewall->class_count++] = wanted;
    return i;
}

/* A packet passes only if each base chain accepts it, so their order does not matter. Returns the
 * outcomes of all chains together. */
static unsigned judge_state(struct judge *judge, uint32_t state)
{
    unsigned all = OUTCOME_ACCEPT;

    judge->state = state;
    judge->class = judge_class(judge);
    judge->firewall->runs++;
    for (size_t i = 0; i < judge->firewall->chain_count && all & OUTCOME_ACCEPT; i++) {
        struct firewall_chain *chain = &judge->firewall->chains[i];
        const unsigned outcome = judge_meets(judge, chain) ? judge_base(judge, chain) : 0;
        if (judge_meets(judge, chain))
            all =
                (all & OUTCOME_DROP) | (outcome & OUTCOME_DROP) | (all & outcome & OUTCOME_ACCEPT);
    }
    return all;
}

/* Connection tracking may find a first packet new, invalid, or not see it at all. Rules that accept
 * only packets of established connections let nobody begin a connection. */
enum firewall_reach firewall_judge(struct firewall *firewall, const struct firewall_packet *packet)
{
    struct judge judge = {.firewall = firewall, .packet = packet};
    unsigned first, later, other;

    if (!firewall->is_known)
        return REACH_UNKNOWN;
    first = judge_state(&judge, STATE_NEW);
    later = judge_state(&judge, STATE_ESTABLISHED);
    other = judge_state(&judge, STATE_INVALID) | judge_state(&judge, STATE_UNTRACKED);
    if (!firewall->is_known)
        return REACH_UNKNOWN;
    if (!((first | other) & OUTCOME_ACCEPT))
        return REACH_NO;
    if (firewall->untracks)
        first |= other;
    return (first | later) == OUTCOME_ACCEPT && !firewall->rewrites && !firewall->drops_early
               ? REACH_YES
               : REACH_MAYBE;
}
