/* SPDX-License-Identifier: MIT */
#include "lookup/firewall.h"

#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"

struct firewall *firewall_create(void)
{
    return calloc(1, sizeof(struct firewall));
}

void firewall_forget_programs(struct firewall *firewall)
{
    for (size_t i = 0; i < firewall->chain_count; i++) {
        struct firewall_chain *chain = &firewall->chains[i];
        for (size_t j = 0; chain->programs && j < FIREWALL_CLASSES; j++)
            free(chain->programs[j].entries);
        free(chain->programs);
        chain->programs = NULL;
    }
    firewall->class_count = 0;
}

void firewall_destroy(struct firewall *firewall)
{
    if (!firewall)
        return;
    firewall_forget_programs(firewall);
    for (size_t i = 0; i < firewall->chain_count; i++)
        free(firewall->chains[i].name.text);
    for (size_t i = 0; i < firewall->set_count; i++)
        free(firewall->sets[i].name.text);
    free(firewall->chains);
    free(firewall->sets);
    free(firewall->rules);
    free(firewall->steps);
    free(firewall->elements);
    free(firewall);
}

const char *firewall_unknown(const struct firewall *firewall)
{
    return !firewall->is_known && *firewall->unknown ? firewall->unknown : NULL;
}

/* --- Names ------------------------------------------------------------------------------------ */

/* Names of nftables have up to NFT_NAME_MAXLEN - 1 bytes, and no NUL. Returns false if the name is
 * longer, or empty. */
static bool firewall_join(struct firewall_name *name, uint8_t family, struct text table,
                          struct text own, char text[2 * NFT_NAME_MAXLEN])
{
    if (!table.length || !own.length || table.length >= NFT_NAME_MAXLEN ||
        own.length >= NFT_NAME_MAXLEN)
        return false;
    memset(text, 0, table.length + own.length + 2);
    memcpy(text, table.data, table.length);
    memcpy(text + table.length + 1, own.data, own.length);
    *name = (struct firewall_name){family, text, table.length + own.length + 2};
    return true;
}

static bool firewall_keep_name(struct firewall_name *name, uint8_t family, struct text table,
                               struct text own)
{
    char text[2 * NFT_NAME_MAXLEN], *kept;

    if (!firewall_join(name, family, table, own, text))
        return false;
    kept = malloc(name->length);
    name->text = kept;
    if (kept)
        memcpy(kept, text, name->length);
    return kept;
}

static int compare_firewall_names(const void *a, const void *b)
{
    const struct firewall_name *one = a, *other = b;

    if (one->family != other->family)
        return one->family - other->family;
    if (one->length != other->length)
        return one->length < other->length ? -1 : 1;
    return memcmp(one->text, other->text, one->length);
}

struct firewall_chain *firewall_add_chain(struct firewall *firewall, uint8_t family,
                                          struct text table, struct text name)
{
    struct firewall_chain *chain =
        ARRAY_ADD(firewall->chains, firewall->chain_count, firewall->chain_capacity);

    if (chain && !firewall_keep_name(&chain->name, family, table, name)) {
        firewall->chain_count--;
        return NULL;
    }
    return chain;
}

struct firewall_set *firewall_add_set(struct firewall *firewall, uint8_t family, struct text table,
                                      struct text name)
{
    struct firewall_set *set =
        ARRAY_ADD(firewall->sets, firewall->set_count, firewall->set_capacity);

    if (set && !firewall_keep_name(&set->name, family, table, name)) {
        firewall->set_count--;
        return NULL;
    }
    return set;
}

/* The name is the first member of both structs. */
void firewall_sort_names(struct firewall *firewall)
{
    if (firewall->chain_count)
        qsort(firewall->chains, firewall->chain_count, sizeof *firewall->chains,
              compare_firewall_names);
    if (firewall->set_count)
        qsort(firewall->sets, firewall->set_count, sizeof *firewall->sets, compare_firewall_names);
}

static int32_t firewall_find(const void *array, size_t count, size_t size, uint8_t family,
                             struct text table, struct text name)
{
    char text[2 * NFT_NAME_MAXLEN];
    struct firewall_name wanted;
    const char *found;

    if (!count || !firewall_join(&wanted, family, table, name, text))
        return NO_INDEX;
    found = bsearch(&wanted, array, count, size, compare_firewall_names);
    return found ? (int32_t)((size_t)(found - (const char *)array) / size) : NO_INDEX;
}

int32_t firewall_find_chain(const struct firewall *firewall, uint8_t family, struct text table,
                            struct text name)
{
    return firewall_find(firewall->chains, firewall->chain_count, sizeof *firewall->chains, family,
                         table, name);
}

int32_t firewall_find_set(const struct firewall *firewall, uint8_t family, struct text table,
                          struct text name)
{
    return firewall_find(firewall->sets, firewall->set_count, sizeof *firewall->sets, family, table,
                         name);
}

/* --- Sets ------------------------------------------------------------------------------------- */

/* The end of an interval comes before a begin with the same key. */
static int compare_firewall_elements(const void *a, const void *b)
{
    const struct firewall_element *one = a, *other = b;
    const int order = memcmp(one->first, other->first, KEY_BYTES);

    return one->any != other->any ? one->any - other->any : order ? order : other->ends - one->ends;
}

/* Subtracts 1 from a number in network byte order. */
static void key_before(uint8_t key[KEY_BYTES], size_t length)
{
    while (length-- > 0 && key[length]-- == 0)
        continue;
}

/* An interval has two elements: its first key, and the first key after it, which is missing if the
 * interval has no end. Or it has one element, with both ends. */
void firewall_finish_set(struct firewall *firewall, struct firewall_set *set)
{
    struct firewall_element *elements;
    uint32_t count = 0;

    set->is_read = true;
    if (!set->count)
        return;
    elements = firewall->elements + set->first;
    qsort(elements, set->count, sizeof *elements, compare_firewall_elements);
    if (!(set->flags & NFT_SET_INTERVAL) || set->flags & NFT_SET_CONCAT)
        return;
    for (uint32_t i = 0; i < set->count; i++) {
        struct firewall_element element = elements[i];
        if (element.ends)
            continue;
        const bool has_last = memcmp(element.first, element.last, KEY_BYTES) != 0;
        if (!has_last)
            memset(element.last, 0xff, sizeof element.last);
        if (!has_last && !element.any && i + 1 < set->count && !elements[i + 1].any) {
            memcpy(element.last, elements[i + 1].first, sizeof element.last);
            key_before(element.last, set->key_length);
        }
        elements[count++] = element;
    }
    set->count = count;
}

/* --- What the chains of each hook may do ------------------------------------------------------ */

/* Hooks as far as they matter here. */
enum firewall_hook { HOOK_OTHER, HOOK_DEVICE, HOOK_PREROUTING, HOOK_INPUT, FIREWALL_HOOKS };

/* The effects with which nothing can be proven. A rule at hook input may give a packet the port of
 * another listener, after the earlier rules have seen the first port. A rule at hook prerouting may
 * do so, too, but hook input comes later and sees the new port. */
static const unsigned hook_harms[FIREWALL_HOOKS] = {
    [HOOK_OTHER] = EFFECT_COPIES,
    [HOOK_DEVICE] = EFFECT_COPIES | EFFECT_DIVERTS,
    [HOOK_PREROUTING] = EFFECT_COPIES | EFFECT_DIVERTS,
    [HOOK_INPUT] = EFFECT_COPIES | EFFECT_DIVERTS | EFFECT_REWRITES,
};

/* A walk from the base chains of a hook over all chains that they call. */
struct firewall_walk {
    struct firewall *firewall;
    enum firewall_hook hook;
    unsigned depth;
    unsigned effects;    /* bits enum firewall_effect that the chains have */
    const char *culprit; /* an expression with a harmful effect; NULL: none */
};

static enum firewall_hook firewall_hook_of(const struct firewall_chain *chain)
{
    enum { INET_INGRESS = 5 }; /* NF_INET_INGRESS of linux/netfilter.h, Linux 5.10 */

    switch (chain->name.family) {
    case NFPROTO_NETDEV:
        return HOOK_DEVICE;
    case NFPROTO_INET:
    case NFPROTO_IPV4:
    case NFPROTO_IPV6:
        return chain->hook == NF_INET_PRE_ROUTING ? HOOK_PREROUTING
               : chain->hook == NF_INET_LOCAL_IN  ? HOOK_INPUT
               : chain->hook == INET_INGRESS      ? HOOK_DEVICE
                                                  : HOOK_OTHER;
    default:
        return HOOK_OTHER;
    }
}

static void walk_chain(struct firewall_walk *walk, struct firewall_chain *chain);

static void walk_verdict(struct firewall_walk *walk, uint8_t verdict, int32_t chain)
{
    if (verdict != VERDICT_JUMP && verdict != VERDICT_GOTO)
        return;
    if (chain == NO_INDEX)
        walk->effects |= EFFECT_DIVERTS;
    else
        walk_chain(walk, &walk->firewall->chains[chain]);
}

/* A map of verdicts that was not read may lead to any chain. */
static void walk_set(struct firewall_walk *walk, const struct firewall_set *set)
{
    const struct firewall_element *elements = walk->firewall->elements;

    if (set->has_verdicts && !set->is_read)
        walk->effects |= EFFECT_DIVERTS;
    for (uint32_t i = 0; set->has_verdicts && set->is_read && i < set->count; i++)
        walk_verdict(walk, elements[set->first + i].verdict, elements[set->first + i].chain);
}

static void walk_step(struct firewall_walk *walk, const struct firewall_step *step)
{
    if (step->operation == STEP_VERDICT)
        walk_verdict(walk, step->source, step->index);
    else if (step->operation == STEP_LOOKUP && step->index != NO_INDEX)
        walk_set(walk, &walk->firewall->sets[step->index]);
}

static void walk_chain(struct firewall_walk *walk, struct firewall_chain *chain)
{
    const struct firewall *firewall = walk->firewall;

    if (chain->seen >> walk->hook & 1)
        return;
    if (walk->depth == JUMPS_MAX) {
        walk->effects |= EFFECT_DIVERTS;
        return;
    }
    walk->depth++;
    chain->seen |= 1u << walk->hook;
    walk->effects |= chain->effects;
    if (chain->effects & hook_harms[walk->hook])
        walk->culprit = chain->culprit;
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct firewall_rule *rule = &firewall->rules[chain->first + i];
        for (uint32_t j = 0; j < rule->count; j++)
            walk_step(walk, &firewall->steps[rule->first + j]);
    }
    walk->depth--;
}

/* Sets the ports of a rule that begins with a comparison of the destination port. The packets to
 * other ports come to no later step. */
static void firewall_limit_rule(const struct firewall *firewall, struct firewall_rule *rule)
{
    rule->port_last = UINT16_MAX;
    for (uint32_t i = 0; i + 1 < rule->count; i++) {
        const struct firewall_step *load = &firewall->steps[rule->first + i], *next = load + 1;
        if (load->operation != STEP_LOAD && load->operation != STEP_COMPARE)
            return;
        if (load->operation != STEP_LOAD || load->source != LOAD_TRANSPORT || load->offset != 2 ||
            load->length != 2 || next->operation != STEP_COMPARE || next->source != NFT_CMP_EQ ||
            next->from != load->to || next->length != 2)
            continue;
        rule->port = rule->port_last = (uint16_t)(next->first[0] << 8 | next->first[1]);
        return;
    }
}

void firewall_finish(struct firewall *firewall)
{
    unsigned effects[FIREWALL_HOOKS] = {0};

    firewall->is_known = true;
    for (size_t i = 0; i < firewall->rule_count; i++)
        firewall_limit_rule(firewall, &firewall->rules[i]);
    for (int hook = 0; hook < FIREWALL_HOOKS; hook++) {
        struct firewall_walk walk = {.firewall = firewall, .hook = (enum firewall_hook)hook};
        for (size_t i = 0; i < firewall->chain_count; i++) {
            struct firewall_chain *chain = &firewall->chains[i];
            if (!chain->is_base || firewall_hook_of(chain) != walk.hook)
                continue;
            firewall->drops_early |= hook == HOOK_DEVICE || chain->name.family == NFPROTO_BRIDGE;
            firewall->untracks |= hook == HOOK_PREROUTING && chain->is_early;
            walk_chain(&walk, chain);
        }
        effects[hook] = walk.effects;
        if (!(walk.effects & hook_harms[hook]))
            continue;
        firewall->is_known = false;
        snprintf(firewall->unknown, sizeof firewall->unknown,
                 "rules of nftables may do anything: %s",
                 walk.culprit && *walk.culprit ? walk.culprit : "by a map, or offloaded");
    }
    firewall->rewrites = effects[HOOK_PREROUTING] & EFFECT_REWRITES;
    firewall->untracks |= (effects[HOOK_DEVICE] | effects[HOOK_PREROUTING]) & EFFECT_UNTRACKS;
}
