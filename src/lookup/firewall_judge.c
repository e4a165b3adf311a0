/* SPDX-License-Identifier: MIT */
/* Runs rules for all packets to one socket at once. Of some bytes of a packet the value is known;
 * for all others a comparison may be true or not, and both ways are followed. */
#include <linux/if_ether.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "lookup/firewall.h"

/* Whether a condition is true. */
enum judged { NEVER, MAYBE, ALWAYS };

/* How a rule or chain may end, as bits. */
enum outcome { OUTCOME_ACCEPT = 1, OUTCOME_DROP = 2, OUTCOME_RETURN = 4, OUTCOME_NEXT = 8 };

/* Bits of the register for "ct state", as in NF_CT_STATE_BIT() of linux/netfilter. */
enum { STATE_INVALID = 1, STATE_ESTABLISHED = 2, STATE_NEW = 8, STATE_UNTRACKED = 64 };

/* The kernel's registers. known: bits of which the value is known. */
struct judge_registers {
    uint8_t values[REGISTER_BYTES], known[REGISTER_BYTES];
    int not_index, not_name; /* where an interface is which is not lo; or NO_INDEX */
};

struct judge {
    struct firewall *firewall;
    const struct firewall_packet *packet;
    uint32_t state;  /* of connection tracking */
    bool compares;   /* a rule looks at the port or the destination */
    bool makes;      /* a program is being made, so both are not known yet */
    size_t class;    /* of the packet, in the state */
    unsigned depth;  /* of jumps */
    struct judge_registers registers;
};

/* --- Registers -------------------------------------------------------------------------------- */

static void judge_forget(struct judge *judge, unsigned from, unsigned length)
{
    const unsigned size = from + length > REGISTER_BYTES ? REGISTER_BYTES - from : length;

    memset(judge->registers.known + from, 0, size);
    if (judge->registers.not_index >= (int)from - 3 && judge->registers.not_index < (int)(from + size))
        judge->registers.not_index = NO_INDEX;
    if (judge->registers.not_name >= (int)from - (IFNAMSIZ - 1) && judge->registers.not_name < (int)(from + size))
        judge->registers.not_name = NO_INDEX;
}

/* The kernel fills the last register with zeroes. */
static void judge_set(struct judge *judge, unsigned to, const void *value, unsigned length)
{
    const unsigned padded = (length + 3) & ~3u;

    if (to + padded > REGISTER_BYTES)
        return;
    judge_forget(judge, to, padded);
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

/* --- What is loaded --------------------------------------------------------------------------- */

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

/* True if each packet has the bytes that are loaded. */
static bool judge_has_bytes(const struct judge *judge, const struct firewall_step *step)
{
    const unsigned end = step->offset + step->length;

    return step->source == LOAD_NETWORK
               ? end <= (judge->packet->family == AF_INET ? 20 : 40)
               : judge->packet->has_port && end <= 4;
}

static void judge_load_header(struct judge *judge, const struct firewall_step *step)
{
    const unsigned pad = step->length % 4 ? step->to + step->length : 0;

    judge->compares |= judge_loads_end(judge, step);
    judge_forget(judge, step->to, (step->length + 3u) & ~3u);
    if (step->source == LOAD_NETWORK)
        judge_load_network(judge, step);
    else
        judge_load_transport(judge, step);
    for (unsigned i = pad; pad && i % 4 && i < REGISTER_BYTES; i++) {
        judge->registers.values[i] = 0;
        judge->registers.known[i] = 0xff;
    }
}

/* Returns whether each packet has what is loaded; without it the rule does not match. */
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
        return ALWAYS;
    case LOAD_STATE:
        judge_set(judge, step->to, &judge->state, sizeof judge->state);
        return ALWAYS;
    case LOAD_INTERFACE:
        judge_forget(judge, step->to, 4);
        judge->registers.not_index = step->to;
        return ALWAYS;
    case LOAD_INTERFACE_NAME:
        judge_forget(judge, step->to, IFNAMSIZ);
        judge->registers.not_name = step->to;
        return ALWAYS;
    case LOAD_NETWORK:
    case LOAD_TRANSPORT:
        judge_load_header(judge, step);
        return judge_has_bytes(judge, step) ? ALWAYS : MAYBE;
    default:
        judge_forget(judge, step->to, REGISTER_BYTES);
        return MAYBE;
    }
}

static void judge_bitwise(struct judge *judge, const struct firewall_step *step)
{
    uint8_t values[16], known[16];

    for (unsigned i = 0; i < step->length; i++) {
        const unsigned from = step->from + i;
        values[i] = (uint8_t)((judge->registers.values[from] & step->first[i]) ^ step->second[i]);
        known[i] = (uint8_t)(judge->registers.known[from] | ~step->first[i]);
    }
    judge_forget(judge, step->to, (step->length + 3u) & ~3u);
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

/* Matches of iptables, which read the packet and not a register. */
static enum judged judge_ports(struct judge *judge, const struct firewall_step *step)
{
    const uint16_t port = judge->packet->port;
    bool found = false;

    if (!judge->packet->has_port)
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
    const bool found = judge->state & step->states;

    return found == step->inverted ? NEVER : ALWAYS;
}

/* --- Sets ------------------------------------------------------------------------------------- */

/* An interval of a concatenation has an interval in each of its parts. */
static enum judged judge_element(const struct judge *judge, const struct firewall_set *set,
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

static bool judge_can_read(const struct firewall_set *set, const struct firewall_step *step)
{
    return set->is_read && set->key_length && step->from + set->key_length <= REGISTER_BYTES;
}

/* Returns the number of elements that may have the key before the first that comes after it. The
 * elements are sorted by their first key, and do not overlap. */
static uint32_t judge_count_before(const struct judge *judge, const struct firewall_set *set,
                                   unsigned from)
{
    const struct firewall_element *elements = judge->firewall->elements + set->first;
    uint32_t first = 0, end = set->count;

    while (first < end) {
        const uint32_t between = first + (end - first) / 2;
        if (!elements[between].any &&
            memcmp(elements[between].first, judge->registers.values + from, set->key_length) <= 0)
            first = between + 1;
        else
            end = between;
    }
    return first;
}

static bool judge_knows(const struct judge *judge, unsigned from, unsigned length)
{
    bool all = true;

    for (unsigned i = from; i < from + length; i++)
        all &= judge->registers.known[i] == 0xff;
    return all;
}

/* If the whole key is known, only one element can match, besides the last element if that is for all
 * other keys. */
static enum judged judge_lookup(struct judge *judge, const struct firewall_step *step)
{
    const struct firewall *firewall = judge->firewall;
    const struct firewall_set *set = &firewall->sets[step->index];
    const bool can_read = judge_can_read(set, step);
    enum judged judged = can_read ? NEVER : MAYBE;
    uint32_t i = 0, end = can_read ? set->count : 0;

    if (can_read && set->count && judge_knows(judge, step->from, set->key_length) &&
        (set->flags & (NFT_SET_INTERVAL | NFT_SET_CONCAT)) != (NFT_SET_INTERVAL | NFT_SET_CONCAT)) {
        end = judge_count_before(judge, set, step->from);
        i = end ? end - 1 : 0;
        if (firewall->elements[set->first + set->count - 1].any)
            judged = MAYBE;
    }
    for (; judged != ALWAYS && i < end; i++) {
        const enum judged element =
            judge_element(judge, set, &firewall->elements[set->first + i], step->from);
        judged = element > judged ? element : judged;
    }
    if (step->maps)
        judge_forget(judge, step->to, REGISTER_BYTES);
    return step->inverted ? judged_not(judged) : judged;
}

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

/* The registers of another chain are not those of this rule, so a rule never goes on after a jump
 * within it: the kernel ends it there. */
static unsigned judge_rule(struct judge *judge, const struct firewall_rule *rule)
{
    unsigned outcome = 0;
    enum judged judged;
    bool goes_on;

    memset(judge->registers.known, 0, sizeof judge->registers.known);
    judge->registers.not_index = judge->registers.not_name = NO_INDEX;
    for (uint32_t i = 0; i < rule->count; i++) {
        const struct firewall_step *step = &judge->firewall->steps[rule->first + i];
        switch (step->operation) {
        case STEP_LOAD:
            judged = judge_load(judge, step);
            break;
        case STEP_CONSTANT:
            judge_set(judge, step->to, step->first, step->length);
            continue;
        case STEP_BITWISE:
            judge_bitwise(judge, step);
            continue;
        case STEP_COMPARE:
            judged = judge_compare(judge, step);
            break;
        case STEP_RANGE:
            judged = judge_range(judge, step);
            break;
        case STEP_PORTS:
            judged = judge_ports(judge, step);
            break;
        case STEP_STATES:
            judged = judge_states(judge, step);
            break;
        case STEP_LOOKUP:
            if (judge->firewall->sets[step->index].has_verdicts) {
                outcome |= judge_map(judge, step, &goes_on);
                if (!goes_on)
                    return outcome;
                judged = MAYBE;
            } else {
                judged = judge_lookup(judge, step);
            }
            break;
        case STEP_VERDICT:
            return outcome | judge_verdict(judge, step->source, step->index);
        default:
            judged = MAYBE;
            break;
        }
        if (judged == NEVER)
            return outcome | OUTCOME_NEXT;
        if (judged == MAYBE)
            outcome |= OUTCOME_NEXT;
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
    struct firewall_entry *last =
        program->count ? &program->entries[program->count - 1] : NULL;

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

    return (outcome & (OUTCOME_ACCEPT | OUTCOME_DROP)) |
           (!(outcome & OUTCOME_RETURN) ? 0
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

    while (i < firewall->class_count &&
           memcmp(&firewall->classes[i], &wanted, sizeof wanted) != 0)
        i++;
    if (i == FIREWALL_CLASSES) {
        firewall_forget_programs(firewall);
        i = 0;
    }
    if (i == firewall->class_count)
        firewall->classes[firewall->class_count++] = wanted;
    return i;
}

/* A packet must be accepted by each base chain that it meets, in whatever order. Returns the
 * outcomes of all of them. */
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
            all = (all & OUTCOME_DROP) | (outcome & OUTCOME_DROP) | (all & outcome & OUTCOME_ACCEPT);
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
